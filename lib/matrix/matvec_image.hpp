#pragma once

#include <cstddef>

#include "matrix/matvec.hpp"

namespace diacut {

/// How a vector lies in an image of float4 texels: whole rows of a power of two texels.
struct MatvecImageSize {
  std::size_t width_log2 = 0;
  std::size_t height = 0;  ///< Whole rows: 0 for a vector shorter than one.

  /// Floats a row of the image.
  std::size_t row_floats() const { return std::size_t{4} << width_log2; }
};

/// For a vector of `rows` floats, within the device's limits; {0, 0} where it has no images or
/// none that is large enough.
MatvecImageSize matvec_image_size(const DeviceInfo& device, std::size_t rows);

/// The product by kernels/matrix/matvec_image.cl. Every product copies `in` to the image first.
class MatvecImage final : public MatvecLauncher {
 public:
  /// Precondition: matvec_image_size() gives a size.
  MatvecImage(Context& context, const MatvecMatrix& matrix);

 private:
  void prepare(const Buffer<float>& in) override;

  MatvecImageSize size_;
  Buffer<std::int64_t> offsets_;
  cl::Image2D image_;
  Kernel copy_;
};

}  // namespace diacut
