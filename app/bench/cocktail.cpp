#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "measure.hpp"
#include "sparse_bench.hpp"
#include "spmv/hybrid/choice.hpp"
#include "stopwatch.hpp"

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

double milliseconds_of(const nlohmann::json& figures) {
  return figures["milliseconds"].get<double>();
}

/// Measures the hybrid and the best single format again, in turns, so that what else the machine
/// does then meets both; the least time of each counts. Prints the single format's figures, and
/// returns the hybrid's speed over the single format's.
double measure_in_turns(Context& context, SparseBench& bench, const std::string& best_single,
                        SparseProduct& hybrid, nlohmann::json& figures) {
  ProductOptions limited;
  limited.limits = bench_limits();
  const auto rival =
      make_product(context, bench.matrix(), implementation_named(best_single), limited);
  nlohmann::json rival_figures = bench.measure(best_single, *rival);
  constexpr int kTurns = 2;
  const auto keep_faster = [&](const std::string& name, SparseProduct& product,
                               nlohmann::json& fastest) {
    const nlohmann::json again = bench.measure(name, product);
    if (milliseconds_of(again) < milliseconds_of(fastest)) fastest = again;
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    keep_faster("cocktail", hybrid, figures);
    keep_faster(best_single, *rival, rival_figures);
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
  nlohmann::json figures = bench.measure("cocktail", *choice.product);
  const std::string plan = to_string(choice.plan);
  // A single format is as fast as itself, whatever two measurements of it say.
  const double ratio =
      plan == best_single ? 1.0
                          : measure_in_turns(context, bench, best_single, *choice.product, figures);
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

void run(const Options& options) {
  Context context(options.common.device, options.common.kernel_dir);
  const FormatProfile profile = profile_for(options, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  const std::vector<Implementation> implementations =
      chosen_implementations(options.formats, false, context.info());
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json all = nlohmann::json::array();
  std::vector<double> regular;
  std::vector<double> irregular;
  for_each_matrix(options.matrices, [&](const BenchMatrix& each) {
    print_matrix(each);
    SparseBench bench(context, each.matrix, copy.gigabytes_per_second, options.common.repeats);
    const nlohmann::json singles = measure_formats(context, bench, implementations, false);
    all.insert(all.end(), singles.begin(), singles.end());
    const auto best = std::min_element(singles.begin(), singles.end(),
                                       [](const nlohmann::json& a, const nlohmann::json& b) {
                                         return milliseconds_of(a) < milliseconds_of(b);
                                       });
    if (best == singles.end()) return;
    const nlohmann::json comparison = compare(context, bench, profile, (*best)["product"]);
    all.push_back(comparison["cocktail"]);
    (each.regular ? regular : irregular).push_back(comparison["ratio_to_best_single"]);
    results.push_back(to_json(each, singles));
    results.back()["regular"] = each.regular;
    results.back().update(comparison);
  });
  fmt::print("\ncocktail to best single format, geometric mean: regular {:.3f}, irregular {:.3f}\n",
             geometric_mean(regular), geometric_mean(irregular));
  write_figures(options.common, context.info(), {{"copy", to_json(copy)}, {"results", results}});
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
