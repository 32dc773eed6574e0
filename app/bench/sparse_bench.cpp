#include "sparse_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

namespace {

constexpr std::array<Column, 6> kProductColumns = {
    {{"product", "product", -24},
     {"milliseconds", "ms", 10, "{:.4f}"},
     {"gflops", "GFLOP/s", 10, "{:.1f}"},
     {"gigabytes_per_second", "GB/s", 10, "{:.1f}"},
     {"share_of_copy", "of copy", 10, "{:.1f}%", 100},
     {"scaled_error", "error/u", 10, "{:.2f}"}}};

}  // namespace

void print_matrix(const BenchMatrix& matrix) {
  fmt::print("\n{}: {} x {}, {} non-zeros\n", matrix.name, matrix.matrix.rows, matrix.matrix.cols,
             matrix.matrix.nonzeros());
  print_head(kProductColumns, 2);
}

void print_product(const nlohmann::json& figures) { print_row(kProductColumns, figures, 2); }

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

nlohmann::json SparseBench::measure(const std::string& name, SparseProduct& product) {
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
  const auto rate = [&](double of) { return milliseconds > 0.0 ? 1e-6 * of / milliseconds : 0.0; };
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

FormatLimits bench_limits() {
  FormatLimits limits;
  limits.fill = 3.0;
  return limits;
}

nlohmann::json measure_formats(Context& context, SparseBench& bench,
                               const std::vector<Implementation>& which, bool tell) {
  ProductOptions options;
  options.limits = bench_limits();
  nlohmann::json all = nlohmann::json::array();
  for (const Implementation& each : which) {
    try {
      const auto product = make_product(context, bench.matrix(), each, options);
      all.push_back(bench.measure(to_string(each), *product));
      print_product(all.back());
    } catch (const InputError& error) {
      if (tell) fmt::print("  {:<24}left out: {}\n", to_string(each), error.what());
    } catch (const DeviceError& error) {
      // Another format may still fit.
      fmt::print("  {:<24}left out: {}\n", to_string(each), error.what());
    }
  }
  return all;
}

nlohmann::json to_json(const BenchMatrix& matrix, const nlohmann::json& products) {
  return {{"matrix", matrix.name},
          {"rows", matrix.matrix.rows},
          {"cols", matrix.matrix.cols},
          {"nonzeros", matrix.matrix.nonzeros()},
          {"products", products}};
}

}  // namespace diacut::bench
