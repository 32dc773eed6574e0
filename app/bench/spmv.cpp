#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diacut/errors.hpp"
#include "measure.hpp"
#include "opencl/launchers/random_matrix.hpp"
#include "opencl/memory_plan.hpp"
#include "sparse/dia_operator.hpp"

namespace diacut::bench {

namespace {

struct Options : CommonOptions {
  std::vector<std::string> sizes = {"481x321", "1024x1024", "2048x2048", "4096x4096"};
  std::vector<std::string> kernels = {"all"};
  int radius = 5;
  bool recurrence = false;
};

constexpr std::uint32_t kMatrixSeed = 1;
constexpr std::uint32_t kVectorSeed = 10'007;

Grid parse_size(const std::string& text) {
  constexpr std::size_t kMostPixels = std::size_t{1} << 30;
  Grid grid;
  const char* end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, grid.width);
  if (width.ec == std::errc() && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, grid.height);
    grid.stride = grid.width;
    if (height.ec == std::errc() && height.ptr == end && grid.width > 0 && grid.height > 0 &&
        grid.pixels() <= kMostPixels) {
      return grid;
    }
  }
  throw ConfigError(fmt::format(
      "--sizes: '{}' is no size; write WIDTHxHEIGHT, at most {} pixels, for example 481x321", text,
      kMostPixels));
}

std::vector<MatvecKind> parse_kernels(const std::vector<std::string>& names) {
  std::vector<MatvecKind> kinds;
  for (const std::string& name : names) {
    if (name == "all") {
      kinds.insert(kinds.end(), {MatvecKind::kNaive, MatvecKind::kAligned, MatvecKind::kLocal,
                                 MatvecKind::kVectorized, MatvecKind::kImage,
                                 MatvecKind::kCoarsened, MatvecKind::kUnrolled});
    } else {
      kinds.push_back(matvec_kind(name));
    }
  }
  return kinds;
}

/// Entries of the stencil whose pixels both lie in the image.
std::uint64_t nonzeros(const Grid& grid, const Stencil& stencil) {
  std::uint64_t count = 0;
  for (const StencilOffset& entry : stencil.entries) {
    const int columns = std::max(0, grid.width - std::abs(entry.dx));
    const int lines = std::max(0, grid.height - std::abs(entry.dy));
    count += static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(lines);
  }
  return count;
}

RandomMatrixShape random_shape(const Grid& grid, const Stencil& stencil, std::size_t pitch) {
  RandomMatrixShape shape{grid.width, grid.height, grid.stride, pitch, {}};
  for (const StencilOffset& entry : stencil.entries) {
    shape.steps.insert(shape.steps.end(), {entry.dx, entry.dy});
  }
  return shape;
}

/// A matrix, a vector and a result on the device, and the means to check results.
class Problem {
 public:
  Problem(Context& context, const Grid& grid, const Stencil& stencil)
      : matrix_{dia_shape(grid, stencil), {}},
        random_(random_shape(grid, stencil, matrix_.shape.pitch)),
        vector_{static_cast<int>(rows()), 1, static_cast<int>(rows()), rows(), {0, 0}} {
    matrix_.values = context.allocate<float>(matrix_.shape.stored(), "the matrix");
    random_matrix(context, random_, kMatrixSeed, matrix_.values);
    in = context.allocate<float>(rows(), "a vector");
    random_matrix(context, vector_, kVectorSeed, in);
    out = context.allocate<float>(rows(), "a product");
  }

  static MemoryPlan plan(const Grid& grid, const Stencil& stencil) {
    const DiaShape shape = dia_shape(grid, stencil);
    MemoryPlan plan;
    plan.add("the matrix", shape.stored() * sizeof(float));
    plan.add("two vectors", 2 * shape.rows * sizeof(float));
    plan.add("a vector as an image", 2 * shape.rows * sizeof(float));
    return plan;
  }

  std::size_t rows() const { return matrix_.shape.rows; }
  const DiaMatrix& matrix() const { return matrix_; }

  /// The largest error of `out` = A in over some rows, the first, the last and some between, as a
  /// multiple of u sum |a_i x_i|, u = 2^-24.
  double scaled_error() const {
    constexpr std::size_t kSamples = 4001;
    const std::vector<float> result = out.download();
    double largest = 0.0;
    for (std::size_t k = 0; k < kSamples; ++k) {
      const std::size_t row = k * (rows() - 1) / (kSamples - 1);
      double expected = 0.0;
      double magnitude = 0.0;
      for (std::size_t d = 0; d < matrix_.shape.diagonals(); ++d) {
        const std::int64_t col = static_cast<std::int64_t>(row) + matrix_.shape.offsets[d];
        if (col < 0 || col >= static_cast<std::int64_t>(rows())) continue;
        const double term = double{reference_random_element(random_, kMatrixSeed, d, row)} *
                            double{reference_random_element(vector_, kVectorSeed, 0,
                                                            static_cast<std::size_t>(col))};
        expected += term;
        magnitude += std::abs(term);
      }
      const double error = std::abs(result[row] - expected) / std::ldexp(magnitude, -24);
      largest = error <= largest ? largest : error;  // A NaN must show.
    }
    return largest;
  }

  Buffer<float> in;
  Buffer<float> out;

 private:
  DiaMatrix matrix_;
  RandomMatrixShape random_;
  RandomMatrixShape vector_;
};

void run(const Options& options) {
  const std::vector<MatvecKind> kinds = parse_kernels(options.kernels);
  std::vector<Grid> grids;
  for (const std::string& size : options.sizes) grids.push_back(parse_size(size));
  const Stencil stencil = disc_stencil(options.radius);

  Context context(options.device, options.kernel_dir);
  fmt::print("{} ({}), radius {}: {} diagonals, {}\n", context.info().name, context.info().platform,
             options.radius, stencil.size(),
             options.recurrence ? "alpha (A x) + beta x + gamma y" : "A x");
  nlohmann::json results = nlohmann::json::array();
  bool wrong = false;
  for (const Grid& grid : grids) {
    try {
      Problem::plan(grid, stencil)
          .check(context.info(), context.memory_limit(), "choose smaller --sizes");
    } catch (const DeviceError& error) {
      fmt::print("\n{}x{} skipped: {}\n", grid.width, grid.height, error.what());
      continue;
    }
    const std::uint64_t entries = nonzeros(grid, stencil);
    // Matrix once, x once, the result once; the recurrence reads the result too.
    const std::size_t bytes =
        sizeof(float) * grid.rows() * (stencil.size() + (options.recurrence ? 3 : 2));
    const CopyBandwidth copy =
        best_copy_bandwidth(context, beyond_cache(context, bytes), options.repeats);
    Problem problem(context, grid, stencil);
    fmt::print(
        "\n{}x{}: {} rows, {} non-zeros, at least {:.1f} MB a product; a copy of {:.1f} MB read "
        "and written reaches {:.1f} GB/s\n",
        grid.width, grid.height, grid.rows(), entries, 1e-6 * static_cast<double>(bytes),
        1e-6 * static_cast<double>(copy.bytes), copy.gigabytes_per_second);
    fmt::print("  {:<12}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "kernel", "ms", "GFLOP/s", "GB/s",
               "of copy", "error/u");
    for (const MatvecKind kind : kinds) {
      const MatvecChoice choice = choose_matvec(kind, context.info(), problem.matrix().shape);
      if (kind != MatvecKind::kAuto && choice.kind != kind) {
        fmt::print("  {:<12}skipped: {}\n", to_string(kind), choice.note);
        continue;
      }
      DiaOperator op(context, problem.matrix(), choice.kind);
      problem.out.fill(0.0f);
      op.perform_op(problem.in, problem.out);
      const double error = problem.scaled_error();
      const double milliseconds = median_milliseconds(context, options.repeats, [&] {
        if (options.recurrence) {
          op.perform_recurrence(problem.in, problem.out, 0.02f, -0.5f, -0.25f);
        } else {
          op.perform_op(problem.in, problem.out);
        }
      });
      const double gflops = 2e-6 * static_cast<double>(entries) / milliseconds;
      const double bandwidth = 1e-6 * static_cast<double>(bytes) / milliseconds;
      const double share = bandwidth / copy.gigabytes_per_second;
      const bool bad = !(error <= static_cast<double>(stencil.size()) + 1.0);
      wrong = wrong || bad;
      fmt::print("  {:<12}{:>10.4f}{:>10.1f}{:>10.1f}{:>9.1f}%{:>10.2f}{}\n",
                 to_string(choice.kind), milliseconds, gflops, bandwidth, 100.0 * share, error,
                 bad ? "  WRONG" : "");
      std::fflush(stdout);
      results.push_back({{"kernel", to_string(choice.kind)},
                         {"width", grid.width},
                         {"height", grid.height},
                         {"radius", options.radius},
                         {"recurrence", options.recurrence},
                         {"nonzeros", entries},
                         {"bytes", bytes},
                         {"milliseconds", milliseconds},
                         {"gflops", gflops},
                         {"gigabytes_per_second", bandwidth},
                         {"copy", to_json(copy)},
                         {"share_of_copy", share},
                         {"scaled_error", error}});
    }
  }
  if (!options.json.empty()) {
    write_json(options.json, {{"device", to_json(context.info())}, {"results", results}});
  }
  if (wrong) throw NumericalError("a product is wrong: its error is over the bound for its terms");
}

}  // namespace

Command spmv_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "spmv", "Every product kernel on a stencil matrix of random weights, against the copy");
  const auto options = std::make_shared<Options>();
  command->add_option("--sizes", options->sizes, "Image sizes, WIDTHxHEIGHT")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--kernels", options->kernels, "Kernels by name, or all")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--radius", options->radius, "Radius of the stencil, pixels")
      ->capture_default_str()
      ->check(CLI::Range(0, 10));
  command->add_flag("--recurrence", options->recurrence,
                    "Measure alpha (A x) + beta x + gamma y instead of A x");
  add_common_options(*command, *options);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
