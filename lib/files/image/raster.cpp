#include "image/raster.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <opencv2/core.hpp>
#include <string_view>

#include "core/file_bytes.hpp"
#include "core/npy.hpp"
#include "diacut/errors.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

Raster decode_npy(Bytes file, std::int64_t max_pixels) {
  const NpyHeader header = parse_npy_header(file);
  const std::vector<std::uint64_t>& shape = header.shape;
  if (shape.size() != 2) {
    throw InputError(
        fmt::format("its array has {} dimensions: expected 2, height and width", shape.size()));
  }
  const std::string_view type = header.kind();
  const std::size_t count = npy_elements(header, element_bytes(type), file.size() - header.size);
  check_size(static_cast<std::int64_t>(shape[1]), static_cast<std::int64_t>(shape[0]), max_pixels);
  Raster raster;
  raster.width = static_cast<int>(shape[1]);
  raster.height = static_cast<int>(shape[0]);
  raster.is_integer = type.front() != 'f';
  raster.values = numbers_of(file.subspan(header.size), type, count, header.is_swapped());
  if (raster.is_integer && type.ends_with('8')) {
    for (const double value : raster.values) {
      if (std::abs(value) < kMostWhole) continue;
      throw InputError(
          fmt::format("holds whole numbers of about {:.6g}, which are read up to 2^53 - 1: number "
                      "them anew, as "
                      "with skimage.segmentation.relabel_sequential",
                      value));
    }
  }
  if (header.fortran_order) {
    raster.values = in_c_order(raster.values, raster.height, raster.width);
  }
  return raster;
}

}  // namespace

Raster decode_raster(Bytes file, const ImageParameters& parameters, const std::string& path,
                     int page) {
  if (is_npy(file)) return decode_npy(file, parameters.max_pixels);
  const DecodeTask task{DecodeTask::kNumbers, {page, {}}};
  return raster_of(decode_file(path, file, parameters.max_pixels, task, parameters));
}

Raster raster_of(const Decoded& decoded) {
  cv::Mat samples;
  decoded.samples.convertTo(samples, CV_64F);
  const cv::Mat1b with_data = pixels_with_data(decoded);
  const int channels = samples.channels();
  const double full = decoded.premultiplied ? full_alpha(decoded) : 1;
  Raster raster;
  raster.width = samples.cols;
  raster.height = samples.rows;
  raster.is_integer = decoded.type_range.has_value();
  const int depth = decoded.samples.depth();
  raster.is_grey = depth == CV_8U || depth == CV_16U;
  if (raster.is_grey) raster.full = decoded.type_range->second;
  raster.zero_is_white = decoded.zero_is_white;
  raster.is_indexed = decoded.indexed;
  for (int y = 0; y < samples.rows; ++y) {
    const double* pixel = samples.ptr<double>(y);
    for (int x = 0; x < samples.cols; ++x, pixel += channels) {
      const bool is_known = with_data.empty() || with_data(y, x) != 0;
      for (int c = 1; c < decoded.colours(); ++c) {
        if (is_known && pixel[c] != pixel[0]) {
          throw InputError(
              "it has colours: expected one number a pixel (grey, palette indices, or an array)");
        }
      }
      // A number that was multiplied by its alpha.
      const double number =
          decoded.premultiplied ? pixel[0] * full / pixel[channels - 1] : pixel[0];
      raster.values.push_back(is_known ? number : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return raster;
}

std::vector<double> strengths_of(const Raster& raster) {
  std::vector<double> strength = raster.values;
  for (double& value : strength) {
    if (std::isnan(value)) throw InputError("it has pixels without data: expected a strength each");
    value = raster.zero_is_white ? 1 - value / raster.full : value / raster.full;
    if (!(value >= 0 && value <= 1)) {
      throw InputError(
          fmt::format("has the strength {}: expected 0 to 1 (arrays and floats), or grey", value));
    }
  }
  return strength;
}

std::vector<std::int64_t> whole_numbers(const Raster& raster, double least, double most,
                                        const std::string& expected) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(raster.values.size());
  for (double value : raster.values) {
    if (std::isnan(value)) value = 0;
    if (!(value >= least && value <= most) || value != std::floor(value)) {
      throw InputError(fmt::format("holds the value {:.6g}, expected {}", value, expected));
    }
    numbers.push_back(static_cast<std::int64_t>(value));
  }
  return numbers;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  const auto any = [](const std::vector<std::uint8_t>&) {};
  return naming(path, [&] { return read_bytes(path, 0, any, "a file"); });
}

Raster read_raster(const std::string& path, const ImageParameters& parameters) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return naming(path, [&] { return decode_raster(bytes, parameters, path); });
}

}  // namespace diacut
