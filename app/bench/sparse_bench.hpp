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
/// Those named, of what makes sense on the device or, with `every`, of all. Throws ConfigError when
/// there is none.
std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   bool every, const DeviceInfo& device);

struct BenchMatrix {
  std::string name;
  bool regular = false;  ///< Of a class for which one format suits all of a matrix.
  CsrMatrix matrix;
};

/// Calls `visit` for each matrix, of which one at a time is held. Throws ConfigError before the
/// first one when a class is unknown.
void for_each_matrix(const MatrixOptions& options,
                     const std::function<void(const BenchMatrix&)>& visit);

/// One product's figures.
struct SparseFigures {
  std::string name;
  double milliseconds = 0.0;
  double gflops = 0.0;  ///< Two for each non-zero, not for padding.
  std::size_t bytes = 0;
  double gigabytes_per_second = 0.0;
  double share_of_copy = 0.0;
  double scaled_error = 0.0;  ///< The largest error by u times the sum of the terms' magnitudes.
  bool wrong = false;         ///< It is over the bound for the row's number of terms.
};
nlohmann::json to_json(const SparseFigures& figures);
/// A line of a table whose head is print_figures_head(), with "WRONG" at its end if it is.
void print_figures_head();
void print_figures(const SparseFigures& figures);

/// A matrix's vectors on a device, its product by the definition, and how to measure products.
class SparseBench {
 public:
  /// `copy` in GB/s, of the same run.
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

/// What padding a format may add to be measured: beyond this it cannot be the fastest.
FormatLimits bench_limits();

/// Every implementation of `which` that suits the matrix, measured and printed; what does not suit
/// is told of when `tell` is set.
std::vector<SparseFigures> measure_formats(Context& context, SparseBench& bench,
                                           const std::vector<Implementation>& which, bool tell);

/// {"matrix", "rows", "cols", "nonzeros", "products"} of a matrix and what was measured of it.
nlohmann::json to_json(const BenchMatrix& matrix, const std::vector<SparseFigures>& products);

/// The results of a whole run, to where --json says, if anywhere.
void write_results(const CommonOptions& options, const Context& context, const CopyBandwidth& copy,
                   const nlohmann::json& results);

/// Throws NumericalError if a product is wrong.
void check_right(const std::vector<SparseFigures>& figures);

}  // namespace diacut::bench
