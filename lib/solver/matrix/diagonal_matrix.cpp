#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "diacut/errors.hpp"
#include "matrix/device_matrix.hpp"

namespace diacut {

namespace {

class DiagonalState final : public DeviceMatrix::State {
 public:
  DiagonalState(const DeviceQueue& on, DiaMatrix matrix, MatvecKind kernel)
      : State(on), matrix_(std::move(matrix)) {
    const DiaShape& shape = matrix_.shape;
    const MatvecChoice choice =
        choose_matvec({kernel, MatvecStorage::kAuto}, context().info(), shape);
    if (choice.kind == MatvecKind::kSymmetric) {
      throw ConfigError(
          "the kernel symmetric multiplies by normalized matrices alone: choose another");
    }
    product_.emplace(context(), matrix_, choice.kind);
    rows = cols = shape.rows;
    format = "dia/" + choice.name();
    matrix_bytes = shape.diagonals() * shape.rows * sizeof(float);
    for (const std::int64_t offset : shape.offsets) {
      nonzeros += rows - std::min(rows, static_cast<std::size_t>(std::abs(offset)));
    }
  }

 private:
  void prepare(const ProductForm& form) override {
    if (form.vectors > 1) {
      throw ConfigError(fmt::format(
          "{} vectors at once by a DiagonalMatrix, expected 1: a SparseMatrix takes several",
          form.vectors));
    }
    if (form.transposed && !transposed_) transpose();
  }

  void launch(const Buffer<float>& from, Buffer<float>& to, const Recurrence& step,
              bool transposed) override {
    DiaOperator& product = transposed ? *transposed_product_ : *product_;
    if (step.alpha == 1 && step.beta == 0 && step.gamma == 0) return product.perform_op(from, to);
    product.perform_recurrence(from, to, step);
  }

  void launch_block(const Buffer<float>&, Buffer<float>&, const ProductForm&) override {}

  std::vector<float> diagonal() const override {
    std::vector<float> result(rows, 0.0F);
    std::vector<float> one(rows);
    const DiaShape& shape = matrix_.shape;
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      if (shape.offsets[d] != 0) continue;
      matrix_.values.download(std::span(one), d * shape.pitch);
      for (std::size_t i = 0; i < rows; ++i) result[i] += one[i];
    }
    return result;
  }

  void transpose() {
    const DiaShape& shape = matrix_.shape;
    std::vector<std::int64_t> offsets;
    for (const std::int64_t offset : shape.offsets) offsets.push_back(-offset);
    transposed_.emplace(
        DiaMatrix{{shape.rows, shape.pitch, std::move(offsets)},
                  context().allocate<float>(shape.stored(), "a transposed matrix")});
    transposed_->values.fill(0);
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      // Entry (row, row + offset) of the matrix is in row `row + offset` of the transposed one.
      const auto shift = static_cast<std::size_t>(std::abs(shape.offsets[d]));
      if (shift >= rows) continue;
      const bool up = shape.offsets[d] < 0;
      copy_elements(matrix_.values, d * shape.pitch + (up ? shift : 0), transposed_->values,
                    d * shape.pitch + (up ? 0 : shift), rows - shift);
    }
    transposed_product_.emplace(context(), *transposed_, matvec_kind(product_->name()));
  }

  DiaMatrix matrix_;
  std::optional<DiaOperator> product_;
  std::optional<DiaMatrix> transposed_;
  std::optional<DiaOperator> transposed_product_;
};

DiaShape checked_shape(std::size_t rows, std::vector<std::int64_t> offsets) {
  constexpr std::size_t kMostRows = 0x7fffffff;
  if (rows > kMostRows) {
    throw InputError(fmt::format("a matrix of {} rows, expected at most {}", rows, kMostRows));
  }
  return dia_shape(rows, std::move(offsets));
}

std::unique_ptr<DeviceMatrix::State> from_host(const DeviceQueue& queue, const DiaShape& shape,
                                               std::span<const float> values, MatvecKind kernel) {
  if (values.size() != shape.diagonals() * shape.rows) {
    throw InputError(fmt::format("there are {} numbers, expected {}: {} diagonals of {} rows",
                                 values.size(), shape.diagonals() * shape.rows, shape.diagonals(),
                                 shape.rows));
  }
  const std::lock_guard lock(queue.state().turn);
  HostDiaMatrix host{shape, std::vector<float>(shape.stored(), 0.0F)};
  for (std::size_t d = 0; d < shape.diagonals(); ++d) {
    // What lies beyond the vector may be anything, but kernels multiply it where rows wrap.
    const auto rows = static_cast<std::int64_t>(shape.rows);
    const std::int64_t first = std::clamp<std::int64_t>(-shape.offsets[d], 0, rows);
    const std::int64_t end = std::clamp<std::int64_t>(rows - shape.offsets[d], first, rows);
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(d * shape.rows);
    std::copy(from + first, from + end,
              host.values.begin() + static_cast<std::ptrdiff_t>(d * shape.pitch) + first);
  }
  return std::make_unique<DiagonalState>(queue, upload(queue.state().context, host), kernel);
}

std::unique_ptr<DeviceMatrix::State> from_device(const DeviceQueue& queue, DiaShape shape,
                                                 const DeviceVector& values, MatvecKind kernel) {
  const std::lock_guard lock(queue.state().turn);
  Buffer<float> held = borrowed(queue.state().context, values, shape.stored(), "the diagonals");
  return std::make_unique<DiagonalState>(queue, DiaMatrix{std::move(shape), std::move(held)},
                                         kernel);
}

}  // namespace

DiagonalMatrix::DiagonalMatrix(const DeviceQueue& queue, std::size_t rows,
                               std::vector<std::int64_t> offsets, std::span<const float> values,
                               MatvecKind kernel)
    : DeviceMatrix(from_host(queue, checked_shape(rows, std::move(offsets)), values, kernel)) {}

DiagonalMatrix::DiagonalMatrix(const DeviceQueue& queue, std::size_t rows,
                               std::vector<std::int64_t> offsets, const DeviceVector& values,
                               MatvecKind kernel)
    : DeviceMatrix(from_device(queue, checked_shape(rows, std::move(offsets)), values, kernel)) {}

std::size_t DiagonalMatrix::pitch(std::size_t rows) { return dia_pitch(rows); }

}  // namespace diacut
