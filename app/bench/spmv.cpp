#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "diacut/errors.hpp"
#include "measure.hpp"
#include "stencil_problem.hpp"

namespace diacut::bench {

namespace {

struct SpmvOptions : CommonOptions {
  std::vector<std::string> sizes = {"481x321", "1024x1024", "2048x2048", "4096x4096"};
  std::vector<std::string> kernels = {"all"};
  std::vector<std::string> storages = {"float32", "half", "minifloat"};
  int vectors = 1;
  int radius = 5;
  bool recurrence = false;
};

/// Bytes that are read for two operations if only memory counts: matrix, x and offsets; matrix and
/// x; the matrix alone.
constexpr int kBytesPerTwoFlop[] = {12, 8, 4};

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

std::vector<StencilKernel> parse_kernels(const SpmvOptions& options) {
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
  std::vector<StencilKernel> kernels;
  for (const MatvecKind kind : kinds) {
    if (kind != MatvecKind::kSymmetric) {
      // Every other kernel takes one vector at a time.
      if (options.vectors == 1) kernels.push_back({kind, MatvecStorage::kFloat32});
      continue;
    }
    for (const std::string& storage : options.storages) {
      kernels.push_back({kind, matvec_storage(storage)});
    }
  }
  if (kernels.empty()) {
    throw ConfigError("--vectors: only the kernel 'symmetric' takes more than one vector at once");
  }
  return kernels;
}

/// What was measured of one kernel at one size of an image.
struct SpmvFigures {
  StencilKernel kernel;
  Grid grid;
  std::uint64_t nonzeros = 0;
  std::size_t bytes = 0;  ///< Read and written at least.
  double milliseconds = 0.0;
  double gflops = 0.0;
  double gigabytes_per_second = 0.0;
  double share_of_copy = 0.0;
  std::vector<double> shares_of_bounds;  ///< Of the rates that kBytesPerTwoFlop allow.
  double scaled_error = 0.0;
  bool wrong = false;  ///< The error is over the bound for the row's number of terms.
};

nlohmann::json spmv_json(const SpmvFigures& figures, const SpmvOptions& options,
                         const CopyBandwidth& copy) {
  nlohmann::json bounds = nlohmann::json::object();
  for (std::size_t i = 0; i < figures.shares_of_bounds.size(); ++i) {
    bounds[std::to_string(kBytesPerTwoFlop[i])] = figures.shares_of_bounds[i];
  }
  return {{"name", figures.kernel.name()},
          {"kernel", to_string(figures.kernel.kind)},
          {"storage", to_string(figures.kernel.storage)},
          {"vectors", options.vectors},
          {"width", figures.grid.width},
          {"height", figures.grid.height},
          {"radius", options.radius},
          {"recurrence", options.recurrence},
          {"nonzeros", figures.nonzeros},
          {"bytes", figures.bytes},
          {"milliseconds", figures.milliseconds},
          {"gflops", figures.gflops},
          {"gigabytes_per_second", figures.gigabytes_per_second},
          {"copy", bench::to_json(copy)},
          {"share_of_copy", figures.share_of_copy},
          {"share_of_bytes_per_two_flop", bounds},
          {"scaled_error", figures.scaled_error}};
}

void print_head() {
  fmt::print("  {:<20}{:>10}{:>10}{:>9}{:>9}{:>9}{:>8}{:>8}{:>9}\n", "kernel", "ms", "GFLOP/s",
             "GB/s", "of copy", "of 12 B", "of 8 B", "of 4 B", "error/u");
}

void print(const SpmvFigures& figures) {
  fmt::print("  {:<20}{:>10.4f}{:>10.1f}{:>9.1f}{:>8.1f}%{:>8.0f}%{:>7.0f}%{:>7.0f}%{:>9.2f}{}\n",
             figures.kernel.name(), figures.milliseconds, figures.gflops,
             figures.gigabytes_per_second, 100.0 * figures.share_of_copy,
             100.0 * figures.shares_of_bounds[0], 100.0 * figures.shares_of_bounds[1],
             100.0 * figures.shares_of_bounds[2], figures.scaled_error,
             figures.wrong ? "  WRONG" : "");
  std::fflush(stdout);
}

SpmvFigures measure(Context& context, StencilProblem& problem, const StencilKernel& kernel,
                    const Grid& grid, const Stencil& stencil, const SpmvOptions& options,
                    double copy) {
  SpmvFigures figures;
  figures.kernel = kernel;
  figures.grid = grid;
  figures.nonzeros = stencil_nonzeros(grid, stencil);
  StencilProduct product(context, problem, grid, stencil, kernel);
  problem.out.fill(0.0f);
  product.plain();
  figures.scaled_error = problem.scaled_error(kernel);
  figures.wrong = !(figures.scaled_error <= static_cast<double>(stencil.size()) + 1.0);
  figures.milliseconds = median_milliseconds(context, options.repeats, [&] {
    options.recurrence ? product.recurrence() : product.plain();
  });
  figures.bytes = least_bytes(kernel, grid, stencil, options.vectors, options.recurrence);
  figures.gflops =
      2e-6 * static_cast<double>(figures.nonzeros) * options.vectors / figures.milliseconds;
  figures.gigabytes_per_second = 1e-6 * static_cast<double>(figures.bytes) / figures.milliseconds;
  figures.share_of_copy = figures.gigabytes_per_second / copy;
  for (const int bytes : kBytesPerTwoFlop) {
    figures.shares_of_bounds.push_back(figures.gflops / (2.0 * copy / bytes));
  }
  return figures;
}

/// Measures and prints all kernels at one size, and adds them to `results`. Returns whether a
/// product is wrong.
bool measure_size(Context& context, const Grid& grid, const Stencil& stencil,
                  const std::vector<StencilKernel>& kernels, const SpmvOptions& options,
                  nlohmann::json& results) {
  try {
    StencilProblem::memory(grid, stencil, options.vectors)
        .check(context.info(), context.memory_limit(), "choose smaller --sizes");
  } catch (const DeviceError& error) {
    fmt::print("\n{}x{} skipped: {}\n", grid.width, grid.height, error.what());
    return false;
  }
  const std::size_t whole = least_bytes({}, grid, stencil, options.vectors, options.recurrence);
  const CopyBandwidth copy =
      best_copy_bandwidth(context, yardstick_bytes(context, options, whole), options.repeats);
  StencilProblem problem(context, grid, stencil, options.vectors);
  fmt::print(
      "\n{}x{}: {} rows, {} non-zeros; a copy of {:.1f} MB read and written reaches {:.1f} GB/s\n",
      grid.width, grid.height, grid.rows(), stencil_nonzeros(grid, stencil),
      1e-6 * static_cast<double>(copy.bytes), copy.gigabytes_per_second);
  print_head();
  bool wrong = false;
  for (const StencilKernel& kernel : kernels) {
    const MatvecChoice choice =
        choose_matvec({kernel.kind, kernel.storage}, context.info(), problem.matrix().shape);
    if (kernel.kind != MatvecKind::kAuto && choice.kind != kernel.kind) {
      fmt::print("  {:<20}skipped: {}\n", kernel.name(), choice.note);
      continue;
    }
    const SpmvFigures figures = measure(context, problem, {choice.kind, kernel.storage}, grid,
                                        stencil, options, copy.gigabytes_per_second);
    print(figures);
    results.push_back(spmv_json(figures, options, copy));
    wrong = wrong || figures.wrong;
  }
  return wrong;
}

void run(const SpmvOptions& options) {
  const std::vector<StencilKernel> kernels = parse_kernels(options);
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
    wrong = measure_size(context, grid, stencil, kernels, options, results) || wrong;
  }
  if (!options.json.empty()) {
    write_json(options.json, {{"device", bench::to_json(context.info())}, {"results", results}});
  }
  check_products(!wrong);
}

}  // namespace

Command spmv_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "spmv", "Every product kernel on a stencil matrix of random weights, compared with a copy.");
  const auto options = std::make_shared<SpmvOptions>();
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
  command->add_option("--radius", options->radius, "Radius of the stencil, pixels")
      ->capture_default_str()
      ->check(CLI::Range(0, 10));
  command->add_flag("--recurrence", options->recurrence,
                    "Measure alpha (A x) + beta x + gamma y instead of A x");
  add_common_options(*command, *options);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
