#include "walker/seeds.hpp"

#include <string>

#include "opencl/arguments.hpp"

namespace diacut {

SeedKernels::SeedKernels(Context& context, std::size_t rows, int columns)
    : context_(&context), rows_(rows) {
  const std::string options = block_options(context.info(), columns);
  constexpr char kFile[] = "walker/seeds.cl";
  eliminate_ = context.kernel(kFile, "eliminate_seeds", options);
  degree_ = context.kernel(kFile, "unseeded_degree", options);
  block_ = context.kernel(kFile, "seed_block", options);
  start_ = context.kernel(kFile, "start_column", options);
  clear_ = context.kernel(kFile, "clear_seeds", options);
  best_ = context.kernel(kFile, "best_columns", options);
  probability_ = context.kernel(kFile, "probability", options);
}

/// Launches a work-item for each element and line.
template <class... Arguments>
void SeedKernels::run(Kernel& kernel, std::size_t lines, const Arguments&... arguments) {
  set_arguments(kernel, arguments...);
  launch_rows(*context_, kernel, rows_, lines);
}

void SeedKernels::eliminate(Buffer<float>& values, std::size_t pitch,
                            const Buffer<std::int64_t>& offsets,
                            const Buffer<std::int32_t>& seeds) {
  run(eliminate_, 1, values, pitch, rows_, offsets, offsets.size(), seeds);
}

void SeedKernels::unseeded_degree(const Buffer<float>& sqrt_degree,
                                  const Buffer<std::int32_t>& seeds, Buffer<float>& out) {
  run(degree_, 1, sqrt_degree, seeds, rows_, out);
}

void SeedKernels::seed_block(const Buffer<std::int32_t>& seeds, const Buffer<float>& sqrt_degree,
                             int first, Buffer<float>& block) {
  run(block_, 1, seeds, sqrt_degree, rows_, first, block);
}

void SeedKernels::start_column(const Buffer<float>& probabilities, const Buffer<float>& sqrt_degree,
                               int column, Buffer<float>& block) {
  run(start_, 1, probabilities, sqrt_degree, rows_, column, block);
}

void SeedKernels::clear_seeds(const Buffer<std::int32_t>& seeds, Buffer<float>& block) {
  run(clear_, 1, seeds, rows_, block);
}

void SeedKernels::best_columns(const Buffer<float>& block, int first, int count,
                               Buffer<float>& best, Buffer<std::int32_t>& labels) {
  run(best_, 1, block, rows_, first, count, best, labels);
}

void SeedKernels::probability(const Buffer<float>& block, const Buffer<float>& sqrt_degree,
                              const Buffer<std::int32_t>& seeds, int column, int label,
                              Buffer<float>& out) {
  run(probability_, 1, block, sqrt_degree, seeds, rows_, column, label, out);
}

}  // namespace diacut
