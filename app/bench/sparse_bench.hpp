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

/// One product's figures.
struct SparseFigures {
  std::string name;
  double milliseconds = 0.0;
  double gflops = 0.0;  ///< Two operations for each non-zero; padding does not count.
  std::size_t bytes = 0;
  double gigabytes_per_second = 0.0;
  double share_of_copy = 0.0;
  double scaled_error = 0.0;  ///< The largest error over u times the sum of the terms' magnitudes.
  bool wrong = false;         ///< The error is over the bound for the row's number of terms.
};
nlohmann::json to_json(const SparseFigures& figures);
/// The matrix's name and sizes, and the head of the table whose lines print_figures() writes.
void print_matrix(const BenchMatrix& matrix);
/// A line of the table, with "WRONG" at its end if the product is wrong.
void print_figures(const SparseFigures& figures);

/// A matrix's vectors on a device, its product by the definition, and how to measure products.
class SparseBench {
 public:
  /// `copy`: the rate of a copy in this run, GB/s.
  SparseBench(Context& context, const CsrMatrix& matrix, double copy, int repeats);

  SparseFigures measure(const std::string& name, SparseProduct& product);
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
std::vector<SparseFigures> measure_formats(Context& context, SparseBench& bench,
                                           const std::vector<Implementation>& which, bool tell);

/// {"matrix", "rows", "cols", "nonzeros", "products"}: a matrix and the figures of its products.
nlohmann::json to_json(const BenchMatrix& matrix, const std::vector<SparseFigures>& products);

/// Writes the results of a whole run to the file of --json, if there is one.
void write_results(const CommonOptions& options, const Context& context, const CopyBandwidth& copy,
                   const nlohmann::json& results);

/// Throws NumericalError if a product is wrong.
void check_right(const std::vector<SparseFigures>& figures);

}  // namespace diacut::bench
