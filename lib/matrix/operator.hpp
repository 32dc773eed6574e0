#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "opencl/buffer.hpp"

namespace diacut {

/// A symmetric linear operator over device vectors, which Krylov solvers take. The names are those
/// that Spectra gives its operators on the host.
class DeviceOperator {
 public:
  virtual ~DeviceOperator() = default;

  virtual std::size_t rows() const = 0;
  std::size_t cols() const { return rows(); }

  /// out = A in. Both hold rows() elements or more; they are not the same buffer. Enqueues and
  /// returns.
  virtual void perform_op(const Buffer<float>& in, Buffer<float>& out) = 0;

  /// out = alpha (A in) + beta in + gamma out, in one pass: a step of a three-term recurrence. With
  /// gamma 0 the old contents of `out` are not read (they may be NaN).
  virtual void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                  float beta, float gamma) = 0;

  /// Products made so far, by either function.
  virtual std::int64_t products() const = 0;

  /// What reports call the kernel that makes the products: "unrolled", "symmetric half".
  virtual std::string name() const = 0;
};

}  // namespace diacut
