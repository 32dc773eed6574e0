// The subcommands that measure general sparse formats, one by one and as a cocktail of several.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/split_mix.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "measure.hpp"
#include "opencl/device_queue.hpp"
#include "output/atomic_file.hpp"
#include "output/npy.hpp"
#include "spmv/generators.hpp"
#include "stopwatch.hpp"

namespace diacut::bench {

void add_formats_option(CLI::App& app, std::vector<std::string>& formats, const char* meaning) {
  app.add_option("--formats", formats, meaning)->delimiter(',');
}

std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   const DeviceInfo& device) {
  std::vector<Implementation> result;
  for (Implementation& each : implementations(device)) {
    for (const std::string& name : formats) {
      if (name != "all" && name != to_string(each.format) && name != to_string(each)) continue;
      result.push_back(std::move(each));
      break;
    }
  }
  if (result.empty()) {
    std::string known;
    for (const Format format : all_formats()) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(format));
    }
    throw ConfigError(fmt::format(
        "--formats: none of these is measured on {}; name some of {}, or one product such as "
        "csr/scalar",
        device.name, known));
  }
  return result;
}

namespace {

/// What a subcommand measures.
struct SparseOptions {
  CommonOptions common;
  std::vector<std::string> formats = {"all"};
  std::string save;  ///< Of formats.
  // The matrices: Matrix Market files, or generated classes.
  std::vector<std::string> files;
  std::vector<std::string> classes = {"all"};
  double scale = 1.0;
  std::uint64_t seed = 1;
};

void add_matrix_options(CLI::App& app, SparseOptions& options) {
  app.add_option("files", options.files, "Matrix Market files, instead of generated matrices")
      ->default_str("");
  app.add_option("--classes", options.classes, "Classes of generated matrices by name, or all")
      ->delimiter(',');
  app.add_option("--scale", options.scale, "Size of generated matrices, 1 as in the literature")
      ->check(CLI::Range(1e-4, 100.0));
  app.add_option("--seed", options.seed, "Seed of generated matrices");
}

struct BenchMatrix {
  std::string name;
  bool regular = false;  ///< Whether one format suits the whole matrix.
  CsrMatrix matrix;
};

/// Calls `visit` for each matrix and holds one matrix at a time. Throws ConfigError before the
/// first one when a class is unknown.
void for_each_matrix(const SparseOptions& options,
                     const std::function<void(const BenchMatrix&)>& visit) {
  if (!options.files.empty()) {
    for (const std::string& file : options.files) {
      visit({file, false, read_matrix_market(file)});
    }
    return;
  }
  std::vector<const MatrixClass*> wanted;
  for (const std::string& name : options.classes) {
    for (const MatrixClass& each : matrix_classes()) {
      if (name == "all" || name == each.name) wanted.push_back(&each);
    }
    // For its message.
    if (wanted.empty() || (name != "all" && wanted.back()->name != name)) {
      generate_matrix(name, 1e-3, options.seed);
    }
  }
  for (const MatrixClass* each : wanted) {
    visit({each->name, each->regular, each->make(options.scale, options.seed)});
  }
}

constexpr std::array<Column, 6> kProductColumns = {
    {{"product", "product", -24},
     {"milliseconds", "ms", 10, "{:.4f}"},
     {"gflops", "GFLOP/s", 10, "{:.1f}"},
     {"gigabytes_per_second", "GB/s", 10, "{:.1f}"},
     {"share_of_copy", "of copy", 10, "{:.1f}%", 100},
     {"scaled_error", "error/u", 10, "{:.2f}"}}};

/// The matrix's name and sizes, and the head of the table whose lines print_product() writes.
void print_matrix(const BenchMatrix& matrix) {
  fmt::print("\n{}: {} x {}, {} non-zeros\n", matrix.name, matrix.matrix.rows, matrix.matrix.cols,
             matrix.matrix.nonzeros());
  print_head(kProductColumns, 2);
}

void print_product(const nlohmann::json& figures) { print_row(kProductColumns, figures, 2); }

/// A matrix, its product by the definition, and how to measure products on a device.
class SparseBench {
 public:
  SparseBench(const DeviceQueue& queue, const CsrMatrix& matrix, int repeats)
      : queue_(queue), matrix_(matrix), repeats_(repeats) {
    SplitMix random(17);
    x_.resize(matrix.cols);
    for (float& each : x_) each = random.value();
    expected_ = reference_product(matrix, std::vector<double>(x_.begin(), x_.end()), &magnitude_);
  }

  /// In the formats that the device's profile proposes, or in a named one. Throws InputError where
  /// that does not suit the matrix.
  SparseMatrix on_device(const std::string& format = {}) const {
    return {queue_, matrix_, {.format = format}};
  }

  /// "product", "milliseconds", "gflops" of two operations for each non-zero (padding does not
  /// count), "bytes" and their rate, "share_of_copy", "scaled_error" (the largest error over u
  /// times the sum of the terms' magnitudes), and whether it is over the bound for a row's terms,
  /// "wrong".
  nlohmann::json measure(const std::string& name, const SparseMatrix& product) const {
    std::vector<float> result(matrix_.rows, std::nanf(""));
    product.multiply(x_, result);
    double largest = 0.0;
    bool wrong = false;
    for (std::size_t row = 0; row < matrix_.rows; ++row) {
      const double error = std::abs(result[row] - expected_[row]);
      const double unit = std::ldexp(magnitude_[row], -24);
      const double scaled = error == 0.0 ? 0.0 : error / unit;
      // False for a NaN.
      const bool within = scaled <= static_cast<double>(matrix_.row_length(row)) + 2.0;
      wrong = wrong || !within;
      largest = larger_error(largest, scaled);
    }
    const ProductRate rate = measure_product(product, repeats_);
    return {{"product", name},
            {"milliseconds", rate.milliseconds},
            {"gflops", rate.gflops},
            {"bytes", product.bytes()},
            {"gigabytes_per_second", rate.gigabytes_per_second},
            {"share_of_copy", rate.share_of_copy()},
            {"scaled_error", largest},
            {"wrong", wrong}};
  }
  const CsrMatrix& matrix() const { return matrix_; }

 private:
  const DeviceQueue& queue_;
  const CsrMatrix& matrix_;
  int repeats_;
  std::vector<float> x_;
  std::vector<double> expected_;
  std::vector<double> magnitude_;
};

/// Measures and prints every implementation of `which` that suits the matrix.
nlohmann::json measure_formats(SparseBench& bench, const std::vector<Implementation>& which) {
  nlohmann::json all = nlohmann::json::array();
  for (const Implementation& each : which) {
    const std::string name = to_string(each);
    try {
      all.push_back(bench.measure(name, bench.on_device(name)));
      print_product(all.back());
    } catch (const InputError&) {  // The format does not suit the matrix.
    } catch (const DeviceError& error) {
      // Another format may still fit.
      fmt::print("  {:<24}left out: {}\n", name, error.what());
    }
  }
  return all;
}

/// A matrix for other programs: NAME/{starts,columns,values}.npy, as CSR.
void save_matrix(const std::string& folder, const BenchMatrix& each) {
  const std::filesystem::path path = std::filesystem::path(folder) / each.name;
  make_folder(path.string());
  const std::vector<std::int64_t> starts(each.matrix.starts.begin(), each.matrix.starts.end());
  const std::vector<std::int64_t> columns(each.matrix.columns.begin(), each.matrix.columns.end());
  write_file((path / "starts.npy").string(), encode_npy<std::int64_t>(starts, {starts.size()}));
  write_file((path / "columns.npy").string(), encode_npy<std::int64_t>(columns, {columns.size()}));
  write_file((path / "values.npy").string(),
             encode_npy<float>(each.matrix.values, {each.matrix.values.size()}));
}

/// 1 without ratios.
double geometric_mean(const std::vector<double>& ratios) {
  double product = 0.0;
  for (const double ratio : ratios) product += std::log(ratio);
  return ratios.empty() ? 1.0 : std::exp(product / static_cast<double>(ratios.size()));
}

double milliseconds_of(const nlohmann::json& figures) {
  return figures["milliseconds"].get<double>();
}

/// Measures and prints what the device's profile chooses against the best single format.
nlohmann::json compare(SparseBench& bench, const std::string& best_single) {
  const app::Stopwatch stopwatch;
  const SparseMatrix cocktail = bench.on_device();
  const double choosing = stopwatch.milliseconds();
  nlohmann::json figures = bench.measure("cocktail", cocktail);
  double ratio = 1;
  // A single format is as fast as itself, whatever two measurements of it say. Others are measured
  // in turns, so that what else the machine does meets both; the least time of each counts.
  if (cocktail.format() != best_single) {
    const SparseMatrix rival = bench.on_device(best_single);
    nlohmann::json rival_figures = bench.measure(best_single, rival);
    constexpr int kTurns = 2;
    const auto keep_faster = [&](const SparseMatrix& product, nlohmann::json& fastest) {
      const nlohmann::json again = bench.measure(fastest["product"], product);
      if (milliseconds_of(again) < milliseconds_of(fastest)) fastest = again;
    };
    for (int turn = 0; turn < kTurns; ++turn) {
      keep_faster(cocktail, figures);
      keep_faster(rival, rival_figures);
    }
    print_product(rival_figures);
    ratio = milliseconds_of(rival_figures) / milliseconds_of(figures);
  }
  print_product(figures);
  fmt::print(
      "  {}: {:.2f} of the best single format, {}; chosen, converted and compiled in {:.0f} ms\n",
      cocktail.format(), ratio, best_single, choosing);
  return {{"cocktail", figures},
          {"format", cocktail.format()},
          {"best_single", best_single},
          {"ratio_to_best_single", ratio},
          {"choosing_milliseconds", choosing}};
}

/// Measures the single formats and, where `cocktail` says so, what the profile chooses.
void run(const SparseOptions& options, bool cocktail) {
  const DeviceQueue queue(options.common.device, options.common.kernel_dir);
  const std::vector<Implementation> which = chosen_implementations(options.formats, queue.device());
  const CopyBandwidth copy = printed_copy_bandwidth(queue.state().context, options.common);
  queue.state().copy = copy.gigabytes_per_second;
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json all = nlohmann::json::array();
  std::vector<double> ratios[2];  // Of irregular matrices, and of regular ones.
  for_each_matrix(options, [&](const BenchMatrix& each) {
    if (!options.save.empty()) save_matrix(options.save, each);
    print_matrix(each);
    SparseBench bench(queue, each.matrix, options.common.repeats);
    const nlohmann::json singles = measure_formats(bench, which);
    all.insert(all.end(), singles.begin(), singles.end());
    nlohmann::json figures = {{"matrix", each.name},
                              {"rows", each.matrix.rows},
                              {"cols", each.matrix.cols},
                              {"nonzeros", each.matrix.nonzeros()},
                              {"products", singles}};
    if (cocktail) {
      const auto best = std::min_element(singles.begin(), singles.end(),
                                         [](const nlohmann::json& a, const nlohmann::json& b) {
                                           return milliseconds_of(a) < milliseconds_of(b);
                                         });
      if (best == singles.end()) return;
      figures["regular"] = each.regular;
      figures.update(compare(bench, (*best)["product"]));
      all.push_back(figures["cocktail"]);
      ratios[each.regular ? 1 : 0].push_back(figures["ratio_to_best_single"]);
    }
    results.push_back(std::move(figures));
  });
  if (cocktail) {
    fmt::print(
        "\ncocktail to best single format, geometric mean: regular {:.3f}, irregular {:.3f}\n",
        geometric_mean(ratios[1]), geometric_mean(ratios[0]));
  }
  write_figures(options.common, queue.device(), {{"copy", copy}, {"results", results}});
  check_right(all);
}

}  // namespace

void formats_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "formats",
      "Every sparse format and its kernels on matrices of many kinds, compared with a copy.");
  const auto options = std::make_shared<SparseOptions>();
  add_matrix_options(*command, *options);
  add_formats_option(*command, options->formats, "Formats or products by name, or all");
  command->add_option("--save", options->save,
                      "Write the matrices to this folder, for other programs");
  add_common_options(*command, options->common);
  command->callback([options] { run(*options, false); });
}

void cocktail_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cocktail",
                                         "The formats that the device's profile chooses for a "
                                         "matrix, compared with the best single one.");
  const auto options = std::make_shared<SparseOptions>();
  add_matrix_options(*command, *options);
  add_formats_option(*command, options->formats,
                     "Single formats or products to compare with, by name, or all");
  add_common_options(*command, options->common);
  command->callback([options] { run(*options, true); });
}

}  // namespace diacut::bench
