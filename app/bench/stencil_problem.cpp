#include "stencil_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "matrix/block.hpp"
#include "matrix/normalized_matrix.hpp"
#include "measure.hpp"

namespace diacut::bench {

namespace {

constexpr std::uint32_t kMatrixSeed = 1;
constexpr std::uint32_t kVectorSeed = 10'007;

bool is_symmetric(const MatvecChoice& kernel) { return kernel.kind == MatvecKind::kSymmetric; }

}  // namespace

StencilProblem::StencilProblem(const DeviceQueue& on_queue, const Grid& on, const Stencil& of)
    : queue(on_queue),
      grid(on),
      stencil(of),
      matrix{dia_shape(grid, stencil), {}},
      random_{grid, matrix.shape.pitch, stencil.entries},
      vector_(random_vector_shape(matrix.shape.pitch)) {
  Context& context = queue.state().context;
  matrix.values = context.allocate<float>(matrix.shape.stored(), "the matrix");
  random_matrix(context, random_, kMatrixSeed, matrix.values);
  in = context.allocate<float>(vector_.pitch, "a vector");
  random_matrix(context, vector_, kVectorSeed, in);
  out = context.allocate<float>(vector_.pitch, "a product");
}

DeviceMemory StencilProblem::memory(const Grid& grid, const Stencil& stencil) {
  const DiaShape shape = dia_shape(grid, stencil);
  const std::uint64_t matrix = shape.stored() * sizeof(float);
  const std::uint64_t vector = shape.pitch * sizeof(float);
  // Also the compressed matrix, and a vector as an image; or two blocks of vectors.
  return {matrix + std::max(matrix / 2, 2 * kBlock * vector) + 4 * vector,
          std::max(matrix, kBlock * vector)};
}

std::uint64_t StencilProblem::nonzeros() const {
  std::uint64_t count = 0;
  for (const StencilOffset& entry : stencil.entries) {
    const int columns = std::max(0, grid.width - std::abs(entry.dx));
    const int lines = std::max(0, grid.height - std::abs(entry.dy));
    count += static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(lines);
  }
  return count;
}

std::size_t StencilProblem::least_bytes(const MatvecChoice& kernel, const Grid& grid,
                                        const Stencil& stencil, int vectors) {
  std::size_t matrix = sizeof(float) * stencil.size();
  if (is_symmetric(kernel)) {
    matrix = sizeof(float) +
             static_cast<std::size_t>(bits_of(kernel.storage) / 8) * (stencil.size() / 2);
  }
  return grid.rows() * (matrix + static_cast<std::size_t>(2 * vectors) * sizeof(float));
}

double StencilProblem::scaled_error(const MatvecChoice& kernel) const {
  constexpr std::size_t kSamples = 4001;
  const std::vector<float> result = out.download();
  double largest = 0.0;
  for (std::size_t k = 0; k < kSamples; ++k) {
    const std::size_t row = k * (matrix.shape.rows - 1) / (kSamples - 1);
    largest = larger_error(largest, row_error(kernel, row, result[row]));
  }
  return largest;
}

double StencilProblem::row_error(const MatvecChoice& kernel, std::size_t row, float found) const {
  double expected = 0.0;
  double magnitude = 0.0;
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    const std::int64_t col = static_cast<std::int64_t>(row) + matrix.shape.offsets[d];
    if (col < 0 || col >= static_cast<std::int64_t>(matrix.shape.rows)) continue;
    const auto column = static_cast<std::size_t>(col);
    const double x = reference_random_element(vector_, kVectorSeed, 0, column);
    const double term = weight(kernel, d, row, column) * x;
    expected += term;
    magnitude += std::abs(term);
  }
  return std::abs(found - expected) / std::ldexp(magnitude, -24);
}

double StencilProblem::weight(const MatvecChoice& kernel, std::size_t d, std::size_t row,
                              std::size_t col) const {
  const std::size_t centre = matrix.shape.diagonals() / 2;
  if (!is_symmetric(kernel) || d == centre) {
    return reference_random_element(random_, kMatrixSeed, d, row);
  }
  return reference_weight(d > centre
                              ? reference_random_element(random_, kMatrixSeed, d, row)
                              : reference_random_element(random_, kMatrixSeed, 2 * centre - d, col),
                          kernel.storage);
}

double StencilProblem::measure(const MatvecChoice& kernel, int repeats) {
  out.fill(0.0f);
  if (!is_symmetric(kernel)) {
    const DiagonalMatrix product(queue, matrix.shape.rows, matrix.shape.offsets,
                                 DeviceVector{matrix.values.cl()()}, kernel.kind);
    product.multiply(DeviceVector{in.cl()()}, DeviceVector{out.cl()()});
    return measure_product(product, repeats).milliseconds;
  }
  Context& context = queue.state().context;
  SymmetricOperator product(
      context, std::make_unique<const SymmetricDia>(
                   compress(context, matrix, grid, stencil, kernel.storage, MainDiagonal::kOwn)));
  product.perform_op(in, out);
  return median_milliseconds(context, repeats, [&] { product.perform_op(in, out); });
}

double StencilProblem::measure_block(int vectors, int repeats) {
  Context& context = queue.state().context;
  const std::size_t rows = grid.rows();
  const auto columns = static_cast<std::size_t>(vectors);
  const std::vector<float> host = in.download();
  std::vector<float> block;
  for (std::size_t row = 0; row < rows; ++row) block.insert(block.end(), columns, host[row]);
  auto x = context.allocate<float>(block.size(), "vectors");
  auto y = context.allocate<float>(block.size(), "products");
  x.upload(block);
  NormalizedMatrix whole(Batch(grid), stencil, std::move(matrix.values), {});
  BlockProduct product(context, stencil, vectors);
  product.launch(whole, x, y);
  const double milliseconds =
      median_milliseconds(context, repeats, [&] { product.launch(whole, x, y); });
  matrix.values = whole.take_values();
  const std::vector<float> found = y.download();
  std::vector<float> rows_of_all(out.size(), 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    rows_of_all[row] = found[row * columns + row % columns];
  }
  out.upload(rows_of_all);
  return milliseconds;
}

}  // namespace diacut::bench
