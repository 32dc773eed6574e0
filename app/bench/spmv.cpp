#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diacut/errors.hpp"
#include "log_plot.hpp"
#include "matrix/dia_operator.hpp"
#include "matrix/symmetric_dia.hpp"
#include "measure.hpp"
#include "opencl/memory_budget.hpp"
#include "spmv/measure/random_matrix.hpp"

namespace diacut::bench {

namespace {

struct Options : CommonOptions {
  std::vector<std::string> sizes = {"481x321", "1024x1024", "2048x2048", "4096x4096"};
  std::vector<std::string> kernels = {"all"};
  std::vector<std::string> storages = {"float32", "half", "minifloat"};
  int vectors = 1;
  int radius = 5;
  bool recurrence = false;
  std::string plot;
};

/// A kernel, and for `symmetric` how the matrix is stored.
struct Contender {
  MatvecKind kind = MatvecKind::kAuto;
  MatvecStorage storage = MatvecStorage::kFloat32;

  bool symmetric() const { return kind == MatvecKind::kSymmetric; }
  std::string name() const {
    return symmetric() ? fmt::format("{} {}", to_string(kind), to_string(storage))
                       : std::string(to_string(kind));
  }
};

/// Bytes for two operations of the article's ladder: matrix, x and offsets; matrix and x; matrix.
constexpr int kArticleBytes[] = {12, 8, 4};

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

std::vector<Contender> parse_kernels(const Options& options) {
  std::vector<MatvecKind> kinds;
  for (const std::string& name : options.kernels) {
    if (name == "all") {
      kinds.insert(kinds.end(),
                   {MatvecKind::kNaive, MatvecKind::kAligned, MatvecKind::kLocal,
                    MatvecKind::kVectorized, MatvecKind::kImage, MatvecKind::kCoarsened,
                    MatvecKind::kUnrolled, MatvecKind::kSymmetric});
    } else {
      kinds.push_back(matvec_kind(name));
    }
  }
  std::vector<Contender> contenders;
  for (const MatvecKind kind : kinds) {
    if (kind != MatvecKind::kSymmetric) {
      // The others take one vector at a time.
      if (options.vectors == 1) contenders.push_back({kind, MatvecStorage::kFloat32});
      continue;
    }
    for (const std::string& storage : options.storages) {
      contenders.push_back({kind, matvec_storage(storage)});
    }
  }
  if (contenders.empty()) {
    throw ConfigError("--vectors: only the kernel 'symmetric' takes more than one vector at once");
  }
  return contenders;
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

/// A matrix, vectors and results on the device, and the means to check results.
class Problem {
 public:
  Problem(Context& context, const Grid& grid, const Stencil& stencil, int vectors)
      : block{vectors, dia_pitch(grid.rows())},
        matrix_{dia_shape(grid, stencil), {}},
        random_(random_shape(grid, stencil, matrix_.shape.pitch)),
        vector_(vector_shape(block.pitch * static_cast<std::size_t>(vectors))) {
    matrix_.values = context.allocate<float>(matrix_.shape.stored(), "the matrix");
    random_matrix(context, random_, kMatrixSeed, matrix_.values);
    in = context.allocate<float>(vector_.pitch, "vectors");
    random_matrix(context, vector_, kVectorSeed, in);
    out = context.allocate<float>(vector_.pitch, "products");
  }

  static MemoryBudget plan(const Grid& grid, const Stencil& stencil, int vectors) {
    const DiaShape shape = dia_shape(grid, stencil);
    MemoryBudget plan;
    plan.add("the matrix", shape.stored() * sizeof(float));
    plan.add("the compressed matrix", shape.stored() / 2 * sizeof(float));
    plan.add("vectors", 2 * shape.pitch * static_cast<std::size_t>(vectors) * sizeof(float));
    plan.add("a vector as an image", 2 * shape.rows * sizeof(float));
    return plan;
  }

  std::size_t rows() const { return matrix_.shape.rows; }
  const DiaMatrix& matrix() const { return matrix_; }

  /// The largest error of `out` = A in over some rows of the first and the last vector, the first
  /// row, the last and some between, as a multiple of u sum |a_i x_i|, u = 2^-24. With
  /// `symmetric`, A is the symmetric matrix of the entries of later neighbours as it stores them.
  double scaled_error(const Contender& contender) const {
    constexpr std::size_t kSamples = 4001;
    const std::vector<float> result = out.download();
    double largest = 0.0;
    for (const int vector : {0, block.count - 1}) {
      const std::size_t first = static_cast<std::size_t>(vector) * block.pitch;
      for (std::size_t k = 0; k < kSamples; ++k) {
        const std::size_t row = k * (rows() - 1) / (kSamples - 1);
        double expected = 0.0;
        double magnitude = 0.0;
        for (std::size_t d = 0; d < matrix_.shape.diagonals(); ++d) {
          const std::int64_t col = static_cast<std::int64_t>(row) + matrix_.shape.offsets[d];
          if (col < 0 || col >= static_cast<std::int64_t>(rows())) continue;
          const double x = reference_random_element(vector_, kVectorSeed, 0,
                                                    first + static_cast<std::size_t>(col));
          const double term = weight(contender, d, row, static_cast<std::size_t>(col)) * x;
          expected += term;
          magnitude += std::abs(term);
        }
        const double error = std::abs(result[first + row] - expected) / std::ldexp(magnitude, -24);
        largest = error <= largest ? largest : error;  // A NaN must show.
      }
    }
    return largest;
  }

  VectorBlock block;
  Buffer<float> in;
  Buffer<float> out;

 private:
  /// So many elements in one row, for random_matrix().
  static RandomMatrixShape vector_shape(std::size_t elements) {
    return {static_cast<int>(elements), 1, static_cast<int>(elements), elements, {0, 0}};
  }

  double weight(const Contender& contender, std::size_t d, std::size_t row, std::size_t col) const {
    const std::size_t centre = matrix_.shape.diagonals() / 2;
    if (!contender.symmetric() || d == centre) {
      return reference_random_element(random_, kMatrixSeed, d, row);
    }
    return reference_weight(
        d > centre ? reference_random_element(random_, kMatrixSeed, d, row)
                   : reference_random_element(random_, kMatrixSeed, 2 * centre - d, col),
        contender.storage);
  }

  DiaMatrix matrix_;
  RandomMatrixShape random_;
  RandomMatrixShape vector_;
};

/// One of the kernels, ready to be called.
class Product {
 public:
  Product(Context& context, Problem& problem, const Grid& grid, const Stencil& stencil,
          const Contender& contender)
      : problem_(problem) {
    if (contender.symmetric()) {
      compressed_ = compress(context, problem.matrix(), grid, stencil, contender.storage);
      symmetric_ = std::make_unique<SymmetricOperator>(context, compressed_);
    } else {
      dia_ = std::make_unique<DiaOperator>(context, problem.matrix(), contender.kind);
    }
  }

  void plain() {
    if (symmetric_) {
      symmetric_->perform_op(problem_.in, problem_.out, problem_.block);
    } else {
      dia_->perform_op(problem_.in, problem_.out);
    }
  }
  void recurrence() {
    if (symmetric_) {
      symmetric_->perform_recurrence(problem_.in, problem_.out, 0.02f, -0.5f, -0.25f,
                                     problem_.block);
    } else {
      dia_->perform_recurrence(problem_.in, problem_.out, 0.02f, -0.5f, -0.25f);
    }
  }

 private:
  Problem& problem_;
  SymmetricDia compressed_;
  std::unique_ptr<SymmetricOperator> symmetric_;
  std::unique_ptr<DiaOperator> dia_;
};

/// Bytes a product must move: the matrix once, the vectors once, the results once; the recurrence
/// reads the results too.
std::size_t least_bytes(const Contender& contender, const Grid& grid, const Stencil& stencil,
                        const Options& options) {
  const std::size_t vectors =
      sizeof(float) * static_cast<std::size_t>(options.vectors) * (options.recurrence ? 3 : 2);
  std::size_t matrix = sizeof(float) * stencil.size();
  if (contender.symmetric()) {
    const std::size_t each = contender.storage == MatvecStorage::kMinifloat ? 1
                             : contender.storage == MatvecStorage::kHalf    ? 2
                                                                            : sizeof(float);
    matrix = sizeof(float) + each * (stencil.size() / 2);
  }
  return grid.rows() * (matrix + vectors);
}

void write_plot(const std::string& path, const std::string& device, const nlohmann::json& results,
                const std::vector<Grid>& grids) {
  std::map<std::string, Series> lines;
  std::vector<std::string> order;
  double copy = 0.0;
  for (const auto& result : results) {
    const std::string name = result["name"];
    if (!lines.contains(name)) order.push_back(name);
    Series& line = lines[name];
    line.name = name;
    line.x.push_back(result["width"].get<double>() * result["height"].get<double>() * 1e-6);
    line.y.push_back(result["gflops"]);
    copy = std::max(copy, result["copy"]["gigabytes_per_second"].get<double>());
  }
  std::vector<Series> drawn;
  for (const std::string& name : order) drawn.push_back(lines[name]);
  for (const int bytes : kArticleBytes) {
    Series bound{fmt::format("{} bytes per 2 flop", bytes), {}, {}, true};
    for (const Grid& grid : grids) {
      bound.x.push_back(static_cast<double>(grid.pixels()) * 1e-6);
      bound.y.push_back(2.0 * copy / bytes);
    }
    drawn.push_back(bound);
  }
  write_text(path, log_plot("Product with a stencil matrix, " + device, {"megapixels", 4},
                            {"GFLOP/s", 2}, drawn));
}

void run(const Options& options) {
  const std::vector<Contender> contenders = parse_kernels(options);
  std::vector<Grid> grids;
  for (const std::string& size : options.sizes) grids.push_back(parse_size(size));
  const Stencil stencil = disc_stencil(options.radius);

  Context context(options.device, options.kernel_dir);
  fmt::print("{} ({}), radius {}: {} diagonals, {}, {} at once\n", context.info().name,
             context.info().platform, options.radius, stencil.size(),
             options.recurrence ? "alpha (A x) + beta x + gamma y" : "A x", options.vectors);
  nlohmann::json results = nlohmann::json::array();
  bool wrong = false;
  for (const Grid& grid : grids) {
    try {
      Problem::plan(grid, stencil, options.vectors)
          .check(context.info(), context.memory_limit(), "choose smaller --sizes");
    } catch (const DeviceError& error) {
      fmt::print("\n{}x{} skipped: {}\n", grid.width, grid.height, error.what());
      continue;
    }
    const std::uint64_t entries = nonzeros(grid, stencil);
    const std::size_t whole = least_bytes({}, grid, stencil, options);
    const CopyBandwidth copy =
        best_copy_bandwidth(context, yardstick_bytes(context, options, whole), options.repeats);
    Problem problem(context, grid, stencil, options.vectors);
    fmt::print(
        "\n{}x{}: {} rows, {} non-zeros; a copy of {:.1f} MB read and written reaches {:.1f} "
        "GB/s\n",
        grid.width, grid.height, grid.rows(), entries, 1e-6 * static_cast<double>(copy.bytes),
        copy.gigabytes_per_second);
    fmt::print("  {:<20}{:>10}{:>10}{:>9}{:>9}{:>9}{:>8}{:>8}{:>9}\n", "kernel", "ms", "GFLOP/s",
               "GB/s", "of copy", "of 12 B", "of 8 B", "of 4 B", "error/u");
    for (const Contender& contender : contenders) {
      const MatvecChoice choice = choose_matvec({contender.kind, contender.storage}, context.info(),
                                                problem.matrix().shape);
      if (contender.kind != MatvecKind::kAuto && choice.kind != contender.kind) {
        fmt::print("  {:<20}skipped: {}\n", contender.name(), choice.note);
        continue;
      }
      const Contender taken{choice.kind, contender.storage};
      Product product(context, problem, grid, stencil, taken);
      problem.out.fill(0.0f);
      product.plain();
      const double error = problem.scaled_error(taken);
      const double milliseconds = median_milliseconds(context, options.repeats, [&] {
        options.recurrence ? product.recurrence() : product.plain();
      });
      const std::size_t bytes = least_bytes(taken, grid, stencil, options);
      const double gflops = 2e-6 * static_cast<double>(entries) * options.vectors / milliseconds;
      const double bandwidth = 1e-6 * static_cast<double>(bytes) / milliseconds;
      const double share = bandwidth / copy.gigabytes_per_second;
      nlohmann::json of_article = nlohmann::json::object();
      std::vector<double> shares;
      for (const int each : kArticleBytes) {
        shares.push_back(gflops / (2.0 * copy.gigabytes_per_second / each));
        of_article[std::to_string(each)] = shares.back();
      }
      const bool bad = !(error <= static_cast<double>(stencil.size()) + 1.0);
      wrong = wrong || bad;
      fmt::print(
          "  {:<20}{:>10.4f}{:>10.1f}{:>9.1f}{:>8.1f}%{:>8.0f}%{:>7.0f}%{:>7.0f}%{:>9.2f}{}\n",
          taken.name(), milliseconds, gflops, bandwidth, 100.0 * share, 100.0 * shares[0],
          100.0 * shares[1], 100.0 * shares[2], error, bad ? "  WRONG" : "");
      std::fflush(stdout);
      results.push_back({{"name", taken.name()},
                         {"kernel", to_string(taken.kind)},
                         {"storage", to_string(taken.storage)},
                         {"vectors", options.vectors},
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
                         {"share_of_bytes_per_two_flop", of_article},
                         {"scaled_error", error}});
    }
  }
  if (!options.json.empty()) {
    write_json(options.json, {{"device", to_json(context.info())}, {"results", results}});
  }
  if (!options.plot.empty()) write_plot(options.plot, context.info().name, results, grids);
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
  command
      ->add_option("--storages", options->storages,
                   "Storages of the kernel symmetric: float32, half, minifloat")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--vectors", options->vectors,
                   "Vectors multiplied at once, by the kernel symmetric")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  add_file_option(*command, "--plot", options->plot, "Write throughput over size to this SVG file");
  command->add_option("--radius", options->radius, "Radius of the stencil, pixels")
      ->capture_default_str()
      ->check(CLI::Range(0, 10));
  command->add_flag("--recurrence", options->recurrence,
                    "Measure alpha (A x) + beta x + gamma y instead of A x");
  add_common_options(*command, *options);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
