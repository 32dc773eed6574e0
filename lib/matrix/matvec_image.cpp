#include "matrix/matvec_image.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr std::size_t kLeastWidthLog2 = 8;  // 1,024 floats.

cl::Image2D make_image(Context& context, const MatvecImageSize& size) {
  return with_device_errors("making an image for the product", [&] {
    return cl::Image2D(context.cl(), CL_MEM_READ_WRITE, cl::ImageFormat(CL_RGBA, CL_FLOAT),
                       std::size_t{1} << size.width_log2, std::max<std::size_t>(size.height, 1));
  });
}

}  // namespace

MatvecImageSize matvec_image_size(const DeviceInfo& device, std::size_t rows) {
  if (!device.images) return {};
  for (std::size_t log2 = kLeastWidthLog2; (std::size_t{1} << log2) <= device.image_max_width;
       ++log2) {
    const MatvecImageSize size{log2, rows / (std::size_t{4} << log2)};
    if (size.height <= device.image_max_height) return size;
  }
  return {};
}

MatvecImage::MatvecImage(Context& context, const MatvecMatrix& matrix)
    : MatvecLauncher(context, matrix,
                     {"matrix/matvec_image.cl",
                      fmt::format("-DWIDTH_LOG2={}",
                                  matvec_image_size(context.info(), matrix.rows).width_log2),
                      128, 4}),
      size_(matvec_image_size(context.info(), matrix.rows)),
      offsets_(upload_offsets(context, matrix)),
      image_(make_image(context, size_)),
      copy_(context.kernel("matrix/matvec_image_copy.cl", "matvec_image_copy",
                           fmt::format("-DWIDTH_LOG2={}", size_.width_log2))) {
  bind_looped(matrix, offsets_);
  bind(image_, static_cast<cl_ulong>(size_.height * size_.row_floats()));
}

void MatvecImage::prepare(const Buffer<float>& in) {
  if (size_.height == 0) return;
  set_arguments(copy_, in, image_);
  launch_rows(context(), copy_, std::size_t{1} << size_.width_log2, size_.height);
}

}  // namespace diacut
