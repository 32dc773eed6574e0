#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "measure.hpp"
#include "stencil_problem.hpp"

namespace diacut::bench {

namespace {

struct SpmvOptions : CommonOptions {
  std::vector<std::string> sizes = {"481x321", "1024x1024", "2048x2048", "4096x4096"};
  std::vector<std::string> kernels = {"all"};
  std::vector<std::string> storages = {"float32", "half", "minifloat"};
  int radius = 5;
};

/// Bytes that are read for two operations if only memory counts: matrix, x and offsets; matrix and
/// x; the matrix alone.
constexpr int kBytesPerTwoFlop[] = {12, 8, 4};

Grid parse_size(const std::string& text) {
  constexpr std::size_t kMostPixels = std::size_t{1} << 30;
  Grid grid;
  char more = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &grid.width, &grid.height, &more) == 2) {
    if (grid.width > 0 && grid.height > 0 && grid.rows() <= kMostPixels) return grid;
  }
  throw ConfigError(fmt::format(
      "--sizes: '{}' is no size; write WIDTHxHEIGHT, at most {} pixels, for example 481x321", text,
      kMostPixels));
}

std::vector<MatvecChoice> parse_kernels(const SpmvOptions& options) {
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
  std::vector<MatvecChoice> kernels;
  for (const MatvecKind kind : kinds) {
    if (kind != MatvecKind::kSymmetric) {
      kernels.push_back({kind, MatvecStorage::kFloat32, {}});
      continue;
    }
    for (const std::string& storage : options.storages) {
      kernels.push_back({kind, matvec_storage(storage), {}});
    }
  }
  return kernels;
}

constexpr std::array<Column, 9> kSpmvColumns = {
    {{"name", "kernel", -20},
     {"milliseconds", "ms", 10, "{:.4f}"},
     {"gflops", "GFLOP/s", 10, "{:.1f}"},
     {"gigabytes_per_second", "GB/s", 9, "{:.1f}"},
     {"share_of_copy", "of copy", 9, "{:.1f}%", 100},
     {"share_of_bytes_per_two_flop/12", "of 12 B", 9, "{:.0f}%", 100},
     {"share_of_bytes_per_two_flop/8", "of 8 B", 8, "{:.0f}%", 100},
     {"share_of_bytes_per_two_flop/4", "of 4 B", 8, "{:.0f}%", 100},
     {"scaled_error", "error/u", 9, "{:.2f}"}}};

nlohmann::json measure(StencilProblem& problem, const MatvecChoice& kernel,
                       const SpmvOptions& options, const CopyBandwidth& copy, int vectors = 1) {
  const bool block = vectors > 1;
  const double milliseconds = block ? problem.measure_block(vectors, options.repeats)
                                    : problem.measure(kernel, options.repeats);
  const double error = problem.scaled_error(kernel);
  const std::uint64_t nonzeros = problem.nonzeros() * static_cast<std::uint64_t>(vectors);
  const std::size_t bytes =
      StencilProblem::least_bytes(kernel, problem.grid, problem.stencil, vectors);
  const double gflops = 2e-6 * static_cast<double>(nonzeros) / milliseconds;
  const double rate = 1e-6 * static_cast<double>(bytes) / milliseconds;
  nlohmann::json shares;  // Of the rates that a copy's bandwidth allows.
  for (const int each : kBytesPerTwoFlop) {
    shares[std::to_string(each)] = gflops / (2.0 * copy.gigabytes_per_second / each);
  }
  return {{"name", block ? fmt::format("block of {}", vectors) : kernel.name()},
          {"kernel", block ? "block" : to_string(kernel.kind)},
          {"storage", to_string(kernel.storage)},
          {"width", problem.grid.width},
          {"height", problem.grid.height},
          {"radius", options.radius},
          {"nonzeros", nonzeros},
          {"bytes", bytes},
          {"milliseconds", milliseconds},
          {"gflops", gflops},
          {"gigabytes_per_second", rate},
          {"copy", copy},
          {"share_of_copy", rate / copy.gigabytes_per_second},
          {"share_of_bytes_per_two_flop", shares},
          {"scaled_error", error},
          // Over the bound for the row's number of terms, or no number.
          {"wrong", !(error <= static_cast<double>(problem.stencil.size()) + 1.0)}};
}

/// Measures and prints all kernels at one size, and adds them to `results`. With --kernels all, a
/// product with several vectors follows.
void measure_size(const DeviceQueue& queue, const Grid& grid, const Stencil& stencil,
                  const std::vector<MatvecChoice>& kernels, const SpmvOptions& options,
                  nlohmann::json& results) {
  Context& context = queue.state().context;
  try {
    StencilProblem::memory(grid, stencil)
        .check(context.info(), context.memory_limit(), "choose smaller --sizes");
  } catch (const DeviceError& error) {
    fmt::print("\n{}x{} skipped: {}\n", grid.width, grid.height, error.what());
    return;
  }
  const std::size_t whole = StencilProblem::least_bytes({}, grid, stencil);
  const CopyBandwidth copy =
      best_copy_bandwidth(context, yardstick_bytes(context, options, whole), options.repeats);
  queue.state().copy = copy.gigabytes_per_second;
  StencilProblem problem(queue, grid, stencil);
  fmt::print(
      "\n{}x{}: {} rows, {} non-zeros; a copy of {:.1f} MB read and written reaches {:.1f} GB/s\n",
      grid.width, grid.height, grid.rows(), problem.nonzeros(),
      1e-6 * static_cast<double>(copy.bytes), copy.gigabytes_per_second);
  print_head(kSpmvColumns, 2);
  for (const MatvecChoice& kernel : kernels) {
    const MatvecChoice choice =
        choose_matvec({kernel.kind, kernel.storage}, context.info(), problem.matrix.shape);
    if (kernel.kind != MatvecKind::kAuto && choice.kind != kernel.kind) {
      fmt::print("  {:<20}skipped: {}\n", kernel.name(), choice.note);
      continue;
    }
    results.push_back(measure(problem, {choice.kind, kernel.storage, {}}, options, copy));
    print_row(kSpmvColumns, results.back(), 2);
  }
  if (options.kernels == SpmvOptions().kernels) {
    results.push_back(measure(problem, {MatvecKind::kAuto, MatvecStorage::kFloat32, {}}, options,
                              copy, StencilProblem::kBlock));
    print_row(kSpmvColumns, results.back(), 2);
  }
}

void run(const SpmvOptions& options) {
  const std::vector<MatvecChoice> kernels = parse_kernels(options);
  std::vector<Grid> grids;
  for (const std::string& size : options.sizes) grids.push_back(parse_size(size));
  const Stencil stencil = disc_stencil(options.radius);

  const DeviceQueue queue(options.device, options.kernel_dir);
  const Context& context = queue.state().context;
  fmt::print("{} ({}), radius {}: {} diagonals\n", context.info().name, context.info().platform,
             options.radius, stencil.size());
  nlohmann::json results = nlohmann::json::array();
  for (const Grid& grid : grids) {
    measure_size(queue, grid, stencil, kernels, options, results);
  }
  write_figures(options, context.info(), {{"results", results}});
  check_right(results);
}

}  // namespace

void spmv_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "spmv", "Every product kernel on a stencil matrix of random weights, compared with a copy.");
  const auto options = std::make_shared<SpmvOptions>();
  command->add_option("--sizes", options->sizes, "Image sizes, WIDTHxHEIGHT")->delimiter(',');
  command->add_option("--kernels", options->kernels, "Kernels by name, or all")->delimiter(',');
  command
      ->add_option("--storages", options->storages,
                   "Storages of the kernel symmetric: float32, half, minifloat")
      ->delimiter(',');
  command->add_option("--radius", options->radius, "Radius of the stencil, pixels")
      ->check(CLI::Range(0, 10));
  add_common_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
