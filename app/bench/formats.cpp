// The subcommands that measure general sparse formats, one by one and as a cocktail of several.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/file_bytes.hpp"
#include "core/split_mix.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "image/naming.hpp"
#include "measure.hpp"
#include "output/atomic_file.hpp"
#include "output/npy.hpp"
#include "spmv/generators.hpp"
#include "spmv/hybrid/hybrid.hpp"
#include "spmv/matrix_market.hpp"
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
  std::string save;     ///< Of formats.
  std::string profile;  ///< Of cocktail.
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

/// A matrix's vectors on a device, its product by the definition, and how to measure products.
class SparseBench {
 public:
  /// `copy`: the rate of a copy in this run, GB/s.
  SparseBench(Context& context, const CsrMatrix& matrix, double copy, int repeats)
      : context_(context),
        matrix_(matrix),
        copy_(copy),
        repeats_(repeats),
        in_(context.allocate<float>(matrix.cols, "a vector")),
        out_(context.allocate<float>(matrix.rows, "a product")) {
    SplitMix random(17);
    std::vector<float> x(matrix.cols);
    for (float& each : x) each = random.value();
    in_.upload(x);
    expected_ = reference_product(matrix, std::vector<double>(x.begin(), x.end()), &magnitude_);
  }

  /// "product", "milliseconds", "gflops" of two operations for each non-zero (padding does not
  /// count), "bytes" and their rate, "share_of_copy", "scaled_error" (the largest error over u
  /// times the sum of the terms' magnitudes), and whether it is over the bound for a row's terms,
  /// "wrong".
  nlohmann::json measure(const std::string& name, const SparseProduct& product) {
    if (matrix_.rows > 0) out_.fill(std::nanf(""));
    product.product(in_, out_);
    const std::vector<float> result = out_.download();
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
    const double milliseconds =
        median_milliseconds(context_, repeats_, [&] { product.product(in_, out_); });
    const auto rate = [&](double of) {
      return milliseconds > 0.0 ? 1e-6 * of / milliseconds : 0.0;
    };
    const double bandwidth = rate(static_cast<double>(product.bytes()));
    return {{"product", name},
            {"milliseconds", milliseconds},
            {"gflops", rate(2.0 * static_cast<double>(matrix_.nonzeros()))},
            {"bytes", product.bytes()},
            {"gigabytes_per_second", bandwidth},
            {"share_of_copy", bandwidth / copy_},
            {"scaled_error", largest},
            {"wrong", wrong}};
  }
  const CsrMatrix& matrix() const { return matrix_; }

 private:
  Context& context_;
  const CsrMatrix& matrix_;
  double copy_;
  int repeats_;
  Buffer<float> in_;
  Buffer<float> out_;
  std::vector<double> expected_;
  std::vector<double> magnitude_;
};

/// With the padding that a format may add to be measured: with more it cannot be the fastest.
ProductOptions bench_options() {
  ProductOptions options;
  options.limits.fill = 3.0;
  return options;
}

/// Measures and prints every implementation of `which` that suits the matrix.
nlohmann::json measure_formats(Context& context, SparseBench& bench,
                               const std::vector<Implementation>& which) {
  const ProductOptions options = bench_options();
  nlohmann::json all = nlohmann::json::array();
  for (const Implementation& each : which) {
    try {
      const auto product = make_product(context, bench.matrix(), each, options);
      all.push_back(bench.measure(to_string(each), product));
      print_product(all.back());
    } catch (const InputError&) {  // The format does not suit the matrix.
    } catch (const DeviceError& error) {
      // Another format may still fit.
      fmt::print("  {:<24}left out: {}\n", to_string(each), error.what());
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

FormatProfile profile_for(const SparseOptions& options, const DeviceInfo& device) {
  if (!options.profile.empty()) {
    const std::string text = naming(fmt::format("the profile '{}'", options.profile),
                                    [&] { return read_text(options.profile, "a profile"); });
    return parse_format_profile(text, options.profile);
  }
  const FoundProfile<FormatProfile> choice = find_format_profile(device);
  if (!choice.origin.note.empty()) fmt::print("note: {}\n", choice.origin.note);
  if (!choice.profile) {
    throw ConfigError(
        fmt::format("there is no profile of {}: run 'diacut-bench tune' first", device.name));
  }
  fmt::print("profile: {}\n", choice.origin.source);
  return *choice.profile;
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

/// Measures the hybrid and the best single format again, in turns, so that what else the machine
/// does then meets both; the least time of each counts. Prints the single format's figures, and
/// returns the hybrid's speed over the single format's.
double measure_in_turns(Context& context, SparseBench& bench, const std::string& best_single,
                        const SparseProduct& hybrid, nlohmann::json& figures) {
  const auto rival =
      make_product(context, bench.matrix(), implementation_named(best_single), bench_options());
  nlohmann::json rival_figures = bench.measure(best_single, rival);
  constexpr int kTurns = 2;
  const auto keep_faster = [&](const std::string& name, const SparseProduct& product,
                               nlohmann::json& fastest) {
    const nlohmann::json again = bench.measure(name, product);
    if (milliseconds_of(again) < milliseconds_of(fastest)) fastest = again;
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    keep_faster("cocktail", hybrid, figures);
    keep_faster(best_single, rival, rival_figures);
  }
  print_product(rival_figures);
  return milliseconds_of(rival_figures) / milliseconds_of(figures);
}

/// Measures and prints the hybrid product of a matrix against the best single format.
nlohmann::json compare(Context& context, SparseBench& bench, const FormatProfile& profile,
                       const std::string& best_single) {
  const app::Stopwatch stopwatch;
  const HybridChoice choice = choose_hybrid(context, bench.matrix(), profile);
  const double choosing = stopwatch.milliseconds();
  nlohmann::json figures = bench.measure("cocktail", choice.product);
  const std::string plan = to_string(choice.plan);
  // A single format is as fast as itself, whatever two measurements of it say.
  const double ratio = plan == best_single
                           ? 1.0
                           : measure_in_turns(context, bench, best_single, choice.product, figures);
  const double products = choice.analysis_milliseconds / milliseconds_of(figures);
  print_product(figures);
  fmt::print(
      "  {}: {:.2f} of the best single format, {}; analysis {:.3f} ms or {:.1f} products, {} "
      "products sampled, conversions and compiling {:.0f} ms\n",
      plan, ratio, best_single, choice.analysis_milliseconds, products, choice.sampled_products,
      choosing - choice.analysis_milliseconds);
  return {{"cocktail", figures},
          {"plan", plan},
          {"best_single", best_single},
          {"ratio_to_best_single", ratio},
          {"analysis_milliseconds", choice.analysis_milliseconds},
          {"analysis_products", products},
          {"sampled_products", choice.sampled_products}};
}

/// Measures the single formats and, where `cocktail` says so, what the profile chooses.
void run(const SparseOptions& options, bool cocktail) {
  Context context(options.common.device, options.common.kernel_dir);
  std::optional<FormatProfile> profile;
  if (cocktail) profile = profile_for(options, context.info());
  const std::vector<Implementation> which = chosen_implementations(options.formats, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json all = nlohmann::json::array();
  std::vector<double> ratios[2];  // Of irregular matrices, and of regular ones.
  for_each_matrix(options, [&](const BenchMatrix& each) {
    if (!options.save.empty()) save_matrix(options.save, each);
    print_matrix(each);
    SparseBench bench(context, each.matrix, copy.gigabytes_per_second, options.common.repeats);
    const nlohmann::json singles = measure_formats(context, bench, which);
    all.insert(all.end(), singles.begin(), singles.end());
    nlohmann::json figures = {{"matrix", each.name},
                              {"rows", each.matrix.rows},
                              {"cols", each.matrix.cols},
                              {"nonzeros", each.matrix.nonzeros()},
                              {"products", singles}};
    if (profile) {
      const auto best = std::min_element(singles.begin(), singles.end(),
                                         [](const nlohmann::json& a, const nlohmann::json& b) {
                                           return milliseconds_of(a) < milliseconds_of(b);
                                         });
      if (best == singles.end()) return;
      figures["regular"] = each.regular;
      figures.update(compare(context, bench, *profile, (*best)["product"]));
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
  write_figures(options.common, context.info(), {{"copy", copy}, {"results", results}});
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
  command->add_option("--profile", options->profile,
                      "A profile written by tune (default: the device's)");
  add_common_options(*command, options->common);
  command->callback([options] { run(*options, true); });
}

}  // namespace diacut::bench
