#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "diacut/sparse.hpp"
#include "matrix/matvec.hpp"
#include "opencl/device_queue.hpp"

namespace diacut {

/// What a DeviceMatrix holds. Functions that compute are called by who holds the queue's turn.
struct DeviceMatrix::State {
  explicit State(DeviceQueue on) : queue(std::move(on)) {}
  virtual ~State() = default;

  Context& context() const { return queue.state().context; }
  std::unique_lock<std::recursive_mutex> turn() const {
    return std::unique_lock(queue.state().turn);
  }

  /// Makes what such products need beside the matrix. May wait for the queue.
  virtual void prepare(const ProductForm& form) = 0;
  /// Enqueues a step of a recurrence by the matrix or its transposed one, which is prepared.
  /// `step.beta` is 0 unless the matrix is square.
  virtual void launch(const Buffer<float>& in, Buffer<float>& out, const Recurrence& step,
                      bool transposed) = 0;
  /// Enqueues out = alpha A in + beta out for blocks of vectors, a multiple of 4 of them, which are
  /// prepared.
  virtual void launch_block(const Buffer<float>& in, Buffer<float>& out,
                            const ProductForm& form) = 0;
  /// The main diagonal. Precondition: the matrix is square.
  virtual std::vector<float> diagonal() const = 0;
  /// Throws InputError where an entry is known to have no equal opposite one.
  virtual void check_symmetric() const {}

  DeviceQueue queue;  ///< Outlives the buffers of what derives.
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t nonzeros = 0;
  std::size_t matrix_bytes = 0;  ///< That a product reads of the matrix.
  std::string format;

  Buffer<float> in;  ///< For vectors of the host, kept from product to product.
  Buffer<float> out;
};

/// Part of a caller's buffer, which messages call `name`, or a copy where the device cannot begin a
/// buffer there. Throws InputError for a buffer of another context or one that is too small.
Buffer<float> borrowed(Context& context, const DeviceVector& vector, std::size_t count,
                       const char* name);

/// A matrix as an operator of Krylov solvers: scale (A - shift I). Symmetric.
class MatrixOperator final : public DeviceOperator {
 public:
  explicit MatrixOperator(DeviceMatrix::State& matrix, float scale = 1, float shift = 0)
      : matrix_(&matrix), scale_(scale), shift_(shift) {}

  std::size_t rows() const override { return matrix_->rows; }
  std::string name() const override { return matrix_->format; }

 private:
  void launch(const Buffer<float>& in, Buffer<float>& out, const Recurrence* step) override {
    const Recurrence by = step != nullptr ? *step : Recurrence{};
    const float alpha = by.alpha * scale_;
    matrix_->launch(in, out, {alpha, by.beta - alpha * shift_, by.gamma}, false);
  }

  DeviceMatrix::State* matrix_;
  float scale_;
  float shift_;
};

}  // namespace diacut
