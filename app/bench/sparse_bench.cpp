#include "sparse_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "diacut/errors.hpp"
#include "spmv/generators.hpp"
#include "spmv/matrix_market.hpp"
#include "spmv/split_mix.hpp"

namespace diacut::bench {

void add_matrix_options(CLI::App& app, MatrixOptions& options) {
  app.add_option("files", options.files, "Matrix Market files, instead of generated matrices");
  app.add_option("--classes", options.classes, "Classes of generated matrices by name, or all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--scale", options.scale, "Size of generated matrices, 1 as in the literature")
      ->capture_default_str()
      ->check(CLI::Range(1e-4, 100.0));
  app.add_option("--seed", options.seed, "Seed of generated matrices")->capture_default_str();
}

void add_formats_option(CLI::App& app, std::vector<std::string>& formats, const char* meaning) {
  app.add_option("--formats", formats, meaning)->delimiter(',')->capture_default_str();
}

std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   bool every, const DeviceInfo& device) {
  std::vector<Implementation> result;
  for (Implementation& each : every ? all_implementations() : implementations(device)) {
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

void for_each_matrix(const MatrixOptions& options,
                     const std::function<void(const BenchMatrix&)>& visit) {
  if (!options.files.empty()) {
    for (const std::string& file : options.files) {
      visit({file, false, read_matrix_market(file).matrix});
    }
    return;
  }
  std::vector<std::string> names;
  for (const std::string& name : options.classes) {
    for (const MatrixClass& each : matrix_classes()) {
      if (name == "all" || name == each.name) names.push_back(each.name);
    }
    // For its message.
    if (names.empty() || (name != "all" && names.back() != name)) {
      generate_matrix(name, 1e-3, options.seed);
    }
  }
  for (const std::string& name : names) {
    const auto about = std::find_if(matrix_classes().begin(), matrix_classes().end(),
                                    [&](const MatrixClass& each) { return each.name == name; });
    visit({name, about->regular, generate_matrix(name, options.scale, options.seed)});
  }
}

nlohmann::json to_json(const SparseFigures& figures) {
  return {{"product", figures.name},
          {"milliseconds", figures.milliseconds},
          {"gflops", figures.gflops},
          {"bytes", figures.bytes},
          {"gigabytes_per_second", figures.gigabytes_per_second},
          {"share_of_copy", figures.share_of_copy},
          {"scaled_error", figures.scaled_error},
          {"wrong", figures.wrong}};
}

void print_matrix(const BenchMatrix& matrix) {
  fmt::print("\n{}: {} x {}, {} non-zeros\n", matrix.name, matrix.matrix.rows, matrix.matrix.cols,
             matrix.matrix.nonzeros());
  fmt::print("  {:<24}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "product", "ms", "GFLOP/s", "GB/s",
             "of copy", "error/u");
}

void print_figures(const SparseFigures& figures) {
  fmt::print("  {:<24}{:>10.4f}{:>10.1f}{:>10.1f}{:>9.1f}%{:>10.2f}{}\n", figures.name,
             figures.milliseconds, figures.gflops, figures.gigabytes_per_second,
             100.0 * figures.share_of_copy, figures.scaled_error, figures.wrong ? "  WRONG" : "");
  std::fflush(stdout);
}

SparseBench::SparseBench(Context& context, const CsrMatrix& matrix, double copy, int repeats)
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

SparseFigures SparseBench::measure(const std::string& name, SparseProduct& product) {
  SparseFigures figures;
  figures.name = name;
  if (matrix_.rows > 0) out_.fill(std::nanf(""));
  product.product(in_, out_);
  const std::vector<float> result = out_.download();
  for (std::size_t row = 0; row < matrix_.rows; ++row) {
    const double error = std::abs(result[row] - expected_[row]);
    const double unit = std::ldexp(magnitude_[row], -24);
    const double scaled = error == 0.0 ? 0.0 : error / unit;
    // False for a NaN.
    const bool within = scaled <= static_cast<double>(matrix_.row_length(row)) + 2.0;
    figures.wrong = figures.wrong || !within;
    figures.scaled_error = larger_error(figures.scaled_error, scaled);
  }
  figures.milliseconds =
      median_milliseconds(context_, repeats_, [&] { product.product(in_, out_); });
  const auto nonzeros = static_cast<double>(matrix_.nonzeros());
  figures.bytes = product.bytes();
  if (figures.milliseconds > 0.0) {
    figures.gflops = 2e-6 * nonzeros / figures.milliseconds;
    figures.gigabytes_per_second = 1e-6 * static_cast<double>(figures.bytes) / figures.milliseconds;
  }
  figures.share_of_copy = figures.gigabytes_per_second / copy_;
  return figures;
}

FormatLimits bench_limits() {
  FormatLimits limits;
  limits.fill = 3.0;
  return limits;
}

std::vector<SparseFigures> measure_formats(Context& context, SparseBench& bench,
                                           const std::vector<Implementation>& which, bool tell) {
  ProductOptions options;
  options.limits = bench_limits();
  std::vector<SparseFigures> all;
  for (const Implementation& each : which) {
    try {
      const auto product = make_product(context, bench.matrix(), each, options);
      all.push_back(bench.measure(to_string(each), *product));
      print_figures(all.back());
    } catch (const InputError& error) {
      if (tell) fmt::print("  {:<24}left out: {}\n", to_string(each), error.what());
    } catch (const DeviceError& error) {
      // Another format may still fit.
      fmt::print("  {:<24}left out: {}\n", to_string(each), error.what());
    }
  }
  return all;
}

nlohmann::json to_json(const BenchMatrix& matrix, const std::vector<SparseFigures>& products) {
  nlohmann::json list = nlohmann::json::array();
  for (const SparseFigures& figures : products) list.push_back(to_json(figures));
  return {{"matrix", matrix.name},
          {"rows", matrix.matrix.rows},
          {"cols", matrix.matrix.cols},
          {"nonzeros", matrix.matrix.nonzeros()},
          {"products", list}};
}

void write_results(const CommonOptions& options, const Context& context, const CopyBandwidth& copy,
                   const nlohmann::json& results) {
  if (options.json.empty()) return;
  write_json(options.json,
             {{"device", to_json(context.info())}, {"copy", to_json(copy)}, {"results", results}});
}

void check_right(const std::vector<SparseFigures>& figures) {
  for (const SparseFigures& each : figures) {
    if (each.wrong) {
      throw NumericalError(fmt::format(
          "the product {} is wrong: its error is over the bound for its terms", each.name));
    }
  }
}

}  // namespace diacut::bench
