#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// What a product multiplies by: a square matrix in pitched DIA form, where values[d * pitch + row]
/// multiplies in[row + offsets[d]]. Refers to what the caller holds.
struct MatvecMatrix {
  const Buffer<float>& values;
  std::size_t rows;
  std::size_t pitch;
  const std::vector<std::int64_t>& offsets;

  /// The least and the largest offset, or 0: how far a row reaches to either side.
  std::pair<std::int64_t, std::int64_t> reach() const;
};

/// A product kernel, how to build it and how it divides the rows.
struct MatvecKernelFile {
  std::string file;
  std::string options;
  std::size_t group = 128;  ///< Work-items a group, at most; the kernel gets it as -DGROUP.
  std::size_t rows_per_item = 1;
};

/// One of kernels/matrix/matvec_*.cl in both its forms, with a matrix bound to it. `in` and `out`
/// hold at least the matrix's rows and are different buffers; nothing beyond the rows is read or
/// written. The matrix's values must outlive it. Throws DeviceError.
class MatvecLauncher {
 public:
  virtual ~MatvecLauncher() = default;
  MatvecLauncher(const MatvecLauncher&) = delete;
  MatvecLauncher& operator=(const MatvecLauncher&) = delete;

  /// Enqueues out = A in.
  void product(const Buffer<float>& in, Buffer<float>& out);
  /// Enqueues out = alpha (A in) + beta in + gamma out; with gamma 0, `out` is not read.
  void recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                  float gamma);

 protected:
  /// Builds both forms.
  MatvecLauncher(Context& context, const MatvecMatrix& matrix, const MatvecKernelFile& kernel);

  /// Sets the kernels' first arguments; in, out and the factors of the recurrence follow them.
  template <class... Arguments>
  void bind(const Arguments&... arguments) {
    with_device_errors("binding a matrix to its product", [&] { (bind_next(arguments), ...); });
  }

  static Buffer<std::int64_t> upload_offsets(Context& context, const MatvecMatrix& matrix);
  /// The arguments that all kernels with offsets at run time begin with.
  void bind_looped(const MatvecMatrix& matrix, const Buffer<std::int64_t>& offsets);

  /// Called before `in` is multiplied.
  virtual void prepare(const Buffer<float>& in);

  Context& context() { return *context_; }

 private:
  template <class Argument>
  void bind_next(const Argument& argument) {
    plain_.setArg(bound_, argument);
    recurrence_.setArg(bound_, argument);
    ++bound_;
  }
  void bind_vectors(cl::Kernel& kernel, const Buffer<float>& in, Buffer<float>& out);
  void launch(const cl::Kernel& kernel);

  Context* context_;
  std::size_t group_;
  std::size_t items_;
  cl::Kernel plain_;
  cl::Kernel recurrence_;
  cl_uint bound_ = 0;
};

}  // namespace diacut
