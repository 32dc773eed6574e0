#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "sparse_bench.hpp"
#include "spmv/hybrid/choice.hpp"

namespace diacut::bench {

namespace {

struct Options {
  CommonOptions common;
  MatrixOptions matrices;
  std::string profile;
  std::vector<std::string> formats = {"all"};
};

std::string profile_text(const std::string& path) {
  try {
    return read_text(path, "a profile");
  } catch (const InputError& error) {
    throw InputError(fmt::format("the profile '{}': {}", path, error.what()));
  }
}

FormatProfile profile_for(const Options& options, const DeviceInfo& device) {
  if (!options.profile.empty()) {
    return parse_format_profile(profile_text(options.profile), options.profile);
  }
  const FormatProfileChoice choice = find_format_profile(device);
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

/// The hybrid product of a matrix, measured against the best single format.
struct Comparison {
  HybridChoice choice;
  SparseFigures figures;
  double ratio = 1.0;  ///< The hybrid's speed over the best single format's.
  double choosing_milliseconds = 0.0;

  /// How many products take the time of the analysis.
  double analysis_products() const { return choice.analysis_milliseconds / figures.milliseconds; }
};

/// Measures the hybrid and the best single format again, in turns, so that what else the machine
/// does then meets both; the least time of each counts. Prints the single format's figures.
void measure_in_turns(Context& context, SparseBench& bench, const std::string& best_single,
                      Comparison& comparison) {
  ProductOptions limited;
  limited.limits = bench_limits();
  const auto rival =
      make_product(context, bench.matrix(), implementation_named(best_single), limited);
  SparseFigures rival_figures = bench.measure(best_single, *rival);
  constexpr int kTurns = 2;
  const auto keep_faster = [&](const std::string& name, SparseProduct& product,
                               SparseFigures& fastest) {
    const SparseFigures again = bench.measure(name, product);
    if (again.milliseconds < fastest.milliseconds) fastest = again;
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    keep_faster("cocktail", *comparison.choice.product, comparison.figures);
    keep_faster(best_single, *rival, rival_figures);
  }
  print_figures(rival_figures);
  comparison.ratio = rival_figures.milliseconds / comparison.figures.milliseconds;
}

Comparison compare(Context& context, SparseBench& bench, const FormatProfile& profile,
                   const std::string& best_single) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Comparison comparison;
  comparison.choice = choose_hybrid(context, bench.matrix(), profile);
  comparison.choosing_milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  comparison.figures = bench.measure("cocktail", *comparison.choice.product);
  // A single format is as fast as itself, whatever two measurements of it say.
  if (to_string(comparison.choice.plan) != best_single) {
    measure_in_turns(context, bench, best_single, comparison);
  }
  return comparison;
}

void print(const Comparison& comparison, const std::string& best_single) {
  const HybridChoice& choice = comparison.choice;
  print_figures(comparison.figures);
  fmt::print(
      "  {}: {:.2f} of the best single format, {}; analysis {:.3f} ms or {:.1f} products, {} "
      "products sampled, conversions and compiling {:.0f} ms\n",
      to_string(choice.plan), comparison.ratio, best_single, choice.analysis_milliseconds,
      comparison.analysis_products(), choice.sampled_products,
      comparison.choosing_milliseconds - choice.analysis_milliseconds);
}

nlohmann::json cocktail_json(const BenchMatrix& matrix, const std::vector<SparseFigures>& singles,
                             const Comparison& comparison, const std::string& best_single) {
  nlohmann::json result = bench::to_json(matrix, singles);
  result.update({{"regular", matrix.regular},
                 {"cocktail", bench::to_json(comparison.figures)},
                 {"plan", to_string(comparison.choice.plan)},
                 {"best_single", best_single},
                 {"ratio_to_best_single", comparison.ratio},
                 {"analysis_milliseconds", comparison.choice.analysis_milliseconds},
                 {"analysis_products", comparison.analysis_products()},
                 {"sampled_products", comparison.choice.sampled_products}});
  return result;
}

void run(const Options& options) {
  Context context(options.common.device, options.common.kernel_dir);
  const FormatProfile profile = profile_for(options, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  const std::vector<Implementation> implementations =
      chosen_implementations(options.formats, false, context.info());
  nlohmann::json results = nlohmann::json::array();
  std::vector<SparseFigures> all;
  std::vector<double> regular;
  std::vector<double> irregular;
  for_each_matrix(options.matrices, [&](const BenchMatrix& each) {
    print_matrix(each);
    SparseBench bench(context, each.matrix, copy.gigabytes_per_second, options.common.repeats);
    const std::vector<SparseFigures> singles =
        measure_formats(context, bench, implementations, false);
    all.insert(all.end(), singles.begin(), singles.end());
    const auto best = std::min_element(singles.begin(), singles.end(),
                                       [](const SparseFigures& a, const SparseFigures& b) {
                                         return a.milliseconds < b.milliseconds;
                                       });
    if (best == singles.end()) return;
    const Comparison comparison = compare(context, bench, profile, best->name);
    print(comparison, best->name);
    all.push_back(comparison.figures);
    (each.regular ? regular : irregular).push_back(comparison.ratio);
    results.push_back(cocktail_json(each, singles, comparison, best->name));
  });
  fmt::print("\ncocktail to best single format, geometric mean: regular {:.3f}, irregular {:.3f}\n",
             geometric_mean(regular), geometric_mean(irregular));
  write_results(options.common, context, copy, results);
  check_right(all);
}

}  // namespace

Command cocktail_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cocktail",
                                         "The formats that the device's profile chooses for a "
                                         "matrix, compared with the best single one.");
  const auto options = std::make_shared<Options>();
  add_matrix_options(*command, options->matrices);
  add_formats_option(*command, options->formats,
                     "Single formats or products to compare with, by name, or all");
  command->add_option("--profile", options->profile,
                      "A profile written by tune (default: the device's)");
  add_common_options(*command, options->common);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
