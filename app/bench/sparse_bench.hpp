#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure.hpp"
#include "spmv/product.hpp"

namespace diacut::bench {

/// The matrices that a subcommand measures: Matrix Market files, or generated classes.
struct MatrixOptions {
  std::vector<std::string> files;
  std::vector<std::string> classes = {"all"};
  double scale = 1.0;
  std::uint64_t seed = 1;
};
void add_matrix_options(CLI::App& app, MatrixOptions& options);

/// --formats: the implementations to measure.
void add_formats_option(CLI::App& app, std::vector<std::string>& formats, const char* meaning);
/// The named implementations among those that make sense on the device or, with `every`, among all.
/// Throws ConfigError when there is none.
std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   bool every, const DeviceInfo& device);

struct BenchMatrix {
  std::string name;
  bool regular = false;  ///< Whether one format suits the whole matrix.
  CsrMatrix matrix;
};

/// Calls `visit` for each matrix and holds one matrix at a time. Throws ConfigError before the
/// first one when a class is unknown.
void for_each_matrix(const MatrixOptions& options,
                     const std::function<void(const BenchMatrix&)>& visit);

/// The matrix's name and sizes, and the head of the table whose lines print_product() writes.
void print_matrix(const BenchMatrix& matrix);
void print_product(const nlohmann::json& figures);

/// A matrix's vectors on a device, its product by the definition, and how to measure products.
class SparseBench {
 public:
  /// `copy`: the rate of a copy in this run, GB/s.
  SparseBench(Context& context, const CsrMatrix& matrix, double copy, int repeats);

  /// "product", "milliseconds", "gflops" of two operations for each non-zero (padding does not
  /// count), "bytes" and their rate, "share_of_copy", "scaled_error" (the largest error over u
  /// times the sum of the terms' magnitudes), and whether it is over the bound for a row's terms,
  /// "wrong".
  nlohmann::json measure(const std::string& name, SparseProduct& product);
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

/// The padding that a format may add to be measured: with more it cannot be the fastest.
FormatLimits bench_limits();

/// Measures and prints every implementation of `which` that suits the matrix. With `tell`, a line
/// says why an implementation does not suit it.
nlohmann::json measure_formats(Context& context, SparseBench& bench,
                               const std::vector<Implementation>& which, bool tell);

/// {"matrix", "rows", "cols", "nonzeros", "products"}: a matrix and the figures of its products.
nlohmann::json to_json(const BenchMatrix& matrix, const nlohmann::json& products);

}  // namespace diacut::bench
