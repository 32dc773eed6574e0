#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "commands.hpp"
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

FormatProfile profile_for(const Options& options, const DeviceInfo& device) {
  if (!options.profile.empty()) {
    std::ifstream stream(options.profile, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw InputError(fmt::format("cannot read the profile '{}'", options.profile));
    return parse_format_profile(text.str(), options.profile);
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

/// The geometric mean, as ratios are averaged.
double mean(const std::vector<double>& ratios) {
  double product = 0.0;
  for (const double ratio : ratios) product += std::log(ratio);
  return ratios.empty() ? 1.0 : std::exp(product / static_cast<double>(ratios.size()));
}

void run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  Context context(options.common.device, options.common.kernel_dir);
  const FormatProfile profile = profile_for(options, context.info());
  const CopyBandwidth copy = best_copy_bandwidth(context, yardstick_bytes(context, options.common),
                                                 options.common.repeats);
  fmt::print("{} ({}): a copy reaches {:.1f} GB/s\n", context.info().name, context.info().platform,
             copy.gigabytes_per_second);
  const std::vector<Implementation> singles_of =
      chosen_implementations(options.formats, false, context.info());
  nlohmann::json results = nlohmann::json::array();
  std::vector<SparseFigures> all;
  std::vector<double> regular;
  std::vector<double> irregular;
  for_each_matrix(options.matrices, [&](const BenchMatrix& each) {
    fmt::print("\n{}: {} x {}, {} non-zeros\n", each.name, each.matrix.rows, each.matrix.cols,
               each.matrix.nonzeros());
    print_figures_head();
    SparseBench bench(context, each.matrix, copy.gigabytes_per_second, options.common.repeats);
    const std::vector<SparseFigures> singles = measure_formats(context, bench, singles_of, false);
    all.insert(all.end(), singles.begin(), singles.end());
    const auto best = std::min_element(singles.begin(), singles.end(),
                                       [](const SparseFigures& a, const SparseFigures& b) {
                                         return a.milliseconds < b.milliseconds;
                                       });
    if (best == singles.end()) return;
    const Clock::time_point start = Clock::now();
    const HybridChoice choice = choose_hybrid(context, each.matrix, profile);
    const double spent = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    SparseFigures figures = bench.measure("cocktail", *choice.product);
    double ratio = 1.0;
    // The best format itself is no faster or slower than itself, whatever two measurements say.
    if (to_string(choice.plan) != best->name) {
      ProductOptions limited;
      limited.limits = bench_limits();
      const auto rival =
          make_product(context, each.matrix, implementation_named(best->name), limited);
      SparseFigures rival_figures = bench.measure(best->name, *rival);
      // In turns: what else the machine does then is the same for both.
      constexpr int kTurns = 2;
      for (int turn = 0; turn < kTurns; ++turn) {
        const SparseFigures again = bench.measure("cocktail", *choice.product);
        if (again.milliseconds < figures.milliseconds) figures = again;
        const SparseFigures rival_again = bench.measure(best->name, *rival);
        if (rival_again.milliseconds < rival_figures.milliseconds) rival_figures = rival_again;
      }
      print_figures(rival_figures);
      ratio = rival_figures.milliseconds / figures.milliseconds;
    }
    all.push_back(figures);
    print_figures(figures);
    const double analysis = choice.analysis_milliseconds / figures.milliseconds;
    (each.regular ? regular : irregular).push_back(ratio);
    fmt::print(
        "  {}: {:.2f} of the best single format, {}; analysis {:.3f} ms or {:.1f} products, {} "
        "products sampled, conversions and compiling {:.0f} ms\n",
        to_string(choice.plan), ratio, best->name, choice.analysis_milliseconds, analysis,
        choice.sampled_products, spent - choice.analysis_milliseconds);
    nlohmann::json result = to_json(each, singles);
    result.update({{"regular", each.regular},
                   {"cocktail", to_json(figures)},
                   {"plan", to_string(choice.plan)},
                   {"best_single", best->name},
                   {"ratio_to_best_single", ratio},
                   {"analysis_milliseconds", choice.analysis_milliseconds},
                   {"analysis_products", analysis},
                   {"sampled_products", choice.sampled_products}});
    results.push_back(result);
  });
  fmt::print("\ncocktail to best single format, geometric mean: regular {:.3f}, irregular {:.3f}\n",
             mean(regular), mean(irregular));
  write_results(options.common, context, copy, results);
  check_right(all);
}

}  // namespace

Command cocktail_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "cocktail",
      "The formats that the device's profile chooses for a matrix, against the best single one");
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
