#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "matrix/device_profile.hpp"
#include "matrix/matvec.hpp"
#include "measure.hpp"
#include "output/atomic_file.hpp"
#include "spmv/format_profile.hpp"
#include "spmv/generators.hpp"
#include "spmv/product.hpp"
#include "stencil_problem.hpp"

namespace diacut::bench {

namespace {

struct TuneOptions {
  CommonOptions common;
  std::string output;
  std::vector<std::string> formats = {"all"};
  std::size_t most = std::size_t{1} << 23;
};

/// The largest stencil matrix has this many times the elements of the largest matrix of another
/// format, because its layout needs no building.
constexpr std::size_t kStencilShare = 256;

/// Measures and prints one kernel.
MatvecProfile::Rate stencil_rate(StencilProblem& on, const MatvecChoice& kernel, int repeats) {
  const double milliseconds = on.measure(kernel, repeats);
  const DiaShape& shape = on.matrix.shape;
  const double gflops = 2e-6 * static_cast<double>(shape.rows * shape.diagonals()) / milliseconds;
  fmt::print("{}x{} {:<20}{:>10.1f} GFLOP/s\n", on.grid.width, on.grid.height, kernel.name(),
             gflops);
  return {shape.rows, kernel.kind, kernel.storage, gflops};
}

/// The fastest of the kernels that read the whole matrix.
MatvecProfile::Rate fastest_whole(StencilProblem& on, int repeats) {
  MatvecProfile::Rate best;
  for (const std::string_view name : kMatvecNames.names) {
    const MatvecKind kind = matvec_kind(std::string(name));
    if (kind == MatvecKind::kAuto || kind == MatvecKind::kSymmetric) continue;
    if (choose_matvec({kind}, on.queue.device(), on.matrix.shape).kind != kind) continue;
    const MatvecProfile::Rate rate = stencil_rate(on, {kind, {}, {}}, repeats);
    if (rate.gflops > best.gflops) best = rate;
  }
  return best;
}

/// Every kernel of the stencil's product at the sizes of small and large photographs.
MatvecProfile tune_matvec(const DeviceQueue& queue, const TuneOptions& options) {
  MatvecProfile profile;
  const Stencil stencil = disc_stencil(5);
  for (const int width : {240, 481, 1024, 2048}) {
    const Grid grid{width, width * 2 / 3};
    if (dia_shape(grid, stencil).stored() > kStencilShare * options.most) continue;
    StencilProblem on(queue, grid, stencil);
    profile.rates.push_back(fastest_whole(on, options.common.repeats));
    for (const std::string_view name : kMatvecStorageNames.names) {
      const MatvecStorage storage = matvec_storage(std::string(name));
      if (storage == MatvecStorage::kAuto) continue;
      profile.rates.push_back(
          stencil_rate(on, {MatvecKind::kSymmetric, storage, {}}, options.common.repeats));
    }
  }
  return profile;
}

/// The elements that the table counts: the padding of blocks is counted too.
double stored_elements(const CsrMatrix& matrix, const Implementation& implementation) {
  if (implementation.block == BlockSize{}) return static_cast<double>(matrix.nonzeros());
  return static_cast<double>(count_blocks(matrix, implementation.block) *
                             implementation.block.elements());
}

/// Matrices of one size for all formats.
struct TuningMatrices {
  CsrMatrix scattered;
  CsrMatrix diagonals;  ///< For DIA and BDIA.
};

/// GFLOP/s of one implementation; nothing if it cannot be measured, and why is printed.
std::optional<double> measured_rate(Context& context, const TuningMatrices& matrices,
                                    const Implementation& implementation, std::size_t row_length,
                                    int repeats) {
  const bool diagonal =
      implementation.format == Format::kDia || implementation.format == Format::kBdia;
  // A program for each of a thousand offsets is slow to build, and nobody would run it.
  constexpr std::size_t kMostDiagonals = 512;
  if (diagonal && row_length > kMostDiagonals) return std::nullopt;
  const CsrMatrix& matrix = diagonal ? matrices.diagonals : matrices.scattered;
  ProductOptions unlimited;
  unlimited.limits.fill = 64.0;
  try {
    const SparseProduct product = make_product(context, matrix, implementation, unlimited);
    Buffer<float> in = context.allocate<float>(matrix.cols, "a vector");
    Buffer<float> out = context.allocate<float>(matrix.rows, "a product");
    in.fill(1.0F);
    const double milliseconds =
        median_milliseconds(context, repeats, [&] { product.product(in, out, {}); });
    if (!(milliseconds > 0.0)) return std::nullopt;
    const double stored = diagonal ? static_cast<double>(matrix.rows * row_length)
                                   : stored_elements(matrix, implementation);
    return 2e-6 * stored / milliseconds;
  } catch (const DeviceError& error) {
    fmt::print("  {} left out: {}\n", to_string(implementation), error.what());
    return std::nullopt;
  }
}

/// The profile without the rate of a copy, by matrices of at most that many elements.
FormatProfile tune_formats(Context& context, const std::vector<Implementation>& implementations,
                           std::size_t most_elements, int repeats) {
  FormatProfile profile;
  profile.device = profiled_device(context.info());
  profile.rows = {4096, 65'536, 524'288};
  profile.row_lengths = {4, 16, 64, 256, 2048};
  for (const Implementation& each : implementations) {
    profile.rates.push_back(
        {each, std::vector<double>(profile.rows.size() * profile.row_lengths.size(), 0.0)});
  }
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    for (std::size_t j = 0; j < profile.row_lengths.size(); ++j) {
      const auto rows = static_cast<std::size_t>(profile.rows[i]);
      const auto length = static_cast<std::size_t>(profile.row_lengths[j]);
      if (rows * length > most_elements || length > rows) continue;
      fmt::print("{} rows of {}\n", rows, length);
      std::fflush(stdout);
      const TuningMatrices matrices{scattered_runs(rows, length, 1),
                                    adjacent_diagonals(rows, length, 1)};
      for (FormatProfile::Rates& rates : profile.rates) {
        rates.gflops[i * profile.row_lengths.size() + j] =
            measured_rate(context, matrices, rates.implementation, length, repeats).value_or(0.0);
      }
    }
  }
  return profile;
}

void run(const TuneOptions& options) {
  const DeviceQueue queue(options.common.device, options.common.kernel_dir);
  Context& context = queue.state().context;
  const std::string output = options.output.empty() ? profile_path(context.info()) : options.output;
  if (output.empty()) {
    throw ConfigError(
        "neither XDG_DATA_HOME nor HOME names a folder for the profile; give --output FILE");
  }
  const std::vector<Implementation> implementations =
      chosen_implementations(options.formats, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  queue.state().copy = copy.gigabytes_per_second;
  FormatProfile formats =
      tune_formats(context, implementations, options.most, options.common.repeats);
  formats.copy = copy.gigabytes_per_second;
  const MatvecProfile matvec = tune_matvec(queue, options);
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  if (!folder.empty()) make_folder(folder.string());
  write_file(output, profile_text(formats.device,
                                  {format_profile_part(formats), matvec_profile_part(matvec)}));
  fmt::print("profile written to {}\n", output);
}

}  // namespace

void tune_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tune",
                         "Measures the products on the device and writes its profile, from which "
                         "segment --matvec auto and cocktail choose.");
  const auto options = std::make_shared<TuneOptions>();
  options->common.repeats = 3;
  command->add_option("--output", options->output,
                      "The profile (default: diacut/profiles in the user's data folder)");
  add_formats_option(*command, options->formats,
                     "Formats or products by name, or all; the profile knows no others");
  command->add_option("--most", options->most, "Elements of the largest matrix")
      ->check(CLI::Range(std::size_t{1} << 14, std::size_t{1} << 30));
  add_common_options(*command, options->common);
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
