#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "measure.hpp"
#include "output/npy.hpp"
#include "sparse_bench.hpp"

namespace diacut::bench {

namespace {

struct FormatsOptions {
  CommonOptions common;
  MatrixOptions matrices;
  std::vector<std::string> formats = {"all"};
  std::string save;
  bool every = false;
};

/// A matrix for other programs: NAME/{starts,columns,values}.npy, as CSR.
void save_matrix(const std::string& folder, const BenchMatrix& each) {
  const std::filesystem::path path = std::filesystem::path(folder) / each.name;
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) {
    throw InputError(fmt::format("--save: cannot make '{}': {}", path.string(), code.message()));
  }
  const std::vector<std::int64_t> starts(each.matrix.starts.begin(), each.matrix.starts.end());
  const std::vector<std::int64_t> columns(each.matrix.columns.begin(), each.matrix.columns.end());
  write_file((path / "starts.npy").string(), encode_npy<std::int64_t>(starts, {starts.size()}));
  write_file((path / "columns.npy").string(), encode_npy<std::int64_t>(columns, {columns.size()}));
  write_file((path / "values.npy").string(),
             encode_npy<float>(each.matrix.values, {each.matrix.values.size()}));
}

void run(const FormatsOptions& options) {
  Context context(options.common.device, options.common.kernel_dir);
  const std::vector<Implementation> which =
      chosen_implementations(options.formats, options.every, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  nlohmann::json results = nlohmann::json::array();
  for_each_matrix(options.matrices, [&](const BenchMatrix& each) {
    if (!options.save.empty()) save_matrix(options.save, each);
    print_matrix(each);
    SparseBench bench(context, each.matrix, copy.gigabytes_per_second, options.common.repeats);
    results.push_back(to_json(each, measure_formats(context, bench, which, options.every)));
  });
  write_figures(options.common, context.info(), {{"copy", to_json(copy)}, {"results", results}});
  for (const nlohmann::json& each : results) check_right(each["products"]);
}

}  // namespace

Command formats_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "formats",
      "Every sparse format and its kernels on matrices of many kinds, compared with a copy.");
  const auto options = std::make_shared<FormatsOptions>();
  add_matrix_options(*command, options->matrices);
  add_formats_option(*command, options->formats, "Formats or products by name, or all");
  command->add_flag("--every", options->every,
                    "Also kernels that do not suit the device; say what is left out");
  command->add_option("--save", options->save,
                      "Write the matrices to this folder, for other programs");
  add_common_options(*command, options->common);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
