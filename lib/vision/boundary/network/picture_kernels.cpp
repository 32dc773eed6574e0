#include "boundary/network/picture_kernels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "opencl/kernel_file.hpp"

namespace diacut {

namespace {

/// The luma of ITU-R BT.709 of a pixel, a whole number from 0 to 65535.
double brightness(const float* pixel, int channels) {
  const float value =
      channels == 1 ? pixel[0] : 0.2126f * pixel[0] + 0.7152f * pixel[1] + 0.0722f * pixel[2];
  return static_cast<double>(static_cast<int>(65535.0f * value + 0.5f));
}

/// The sum over all elements of their values times twice their distance from the middle.
double moment(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] * (2 * static_cast<double>(i) + 1 - count);
  }
  return sum;
}

KernelFile input_kernels(Context& context) { return {context, "boundary/network/input.cl", ""}; }
KernelFile output_kernels(Context& context) {
  return {context, "boundary/network/output.cl",
          fmt::format("-DUNITS={:.1f}f", 1 / kEmbeddingUnit)};
}
KernelFile blend_kernels(Context& context) { return {context, "boundary/network/blend.cl", ""}; }
KernelFile upsample_kernels(Context& context) {
  return {context, "boundary/network/upsample.cl",
          fmt::format("-DLANES={}", network_lanes(context))};
}

}  // namespace

Turn composed(const Turn& first, const Turn& second) {
  Turn both = second;
  if (first.transposed) std::swap(both.mirrored_x, both.mirrored_y);
  both.transposed = first.transposed != second.transposed;
  both.mirrored_x = both.mirrored_x != first.mirrored_x;
  both.mirrored_y = both.mirrored_y != first.mirrored_y;
  return both;
}

Turn canonical_turn(const Image& image) {
  // Of images of a million pixels all sums are exact: whole numbers below 2^53.
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  const auto channels = static_cast<std::size_t>(image.channels);
  std::vector<double> of_column(width, 0.0);
  std::vector<double> of_row(height, 0.0);
  for (std::size_t y = 0; y < height; ++y) {
    const std::size_t first = y * width;
    for (std::size_t x = 0; x < width; ++x) {
      // Pixels without data are 0.
      const double value = brightness(&image.pixels[(first + x) * channels], image.channels);
      of_column[x] += value;
      of_row[y] += value;
    }
  }
  const double to_right = moment(of_column);
  const double down = moment(of_row);
  Turn turn;
  // In shares of the sides, as if the image were square.
  turn.transposed = std::abs(to_right) * static_cast<double>(height) >
                    std::abs(down) * static_cast<double>(width);
  // Mirrored, what was brightest on the right or below is brightest on the left or above.
  turn.mirrored_x = to_right > 0;
  turn.mirrored_y = down > 0;
  return turn;
}

std::vector<Turn> network_turns(int count) {
  // The bits of Turn: the picture, its mirror image, their half turns and quarter turns; of four
  // those turned by 0, 180, 90 and 270 degrees, none of them mirrored.
  std::vector<int> chosen = {0, 1, 2, 3, 4, 5, 6, 7};
  if (count == 4) chosen = {0, 3, 5, 6};
  chosen.resize(static_cast<std::size_t>(count));
  std::vector<Turn> turns;
  for (const int bits : chosen) {
    turns.push_back({(bits & 4) != 0, (bits & 1) != 0, (bits & 2) != 0});
  }
  return turns;
}

void ask_for_picture_kernels(Context& context) {
  input_kernels(context);
  output_kernels(context);
  blend_kernels(context);
  upsample_kernels(context);
}

void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, std::size_t image, Buffer<float>& out) {
  NetworkPlanes one = planes;
  one.images = 1;
  const NetworkRange range = planes_range(one, 1);
  input_kernels(context).launch("network_input", range.global, range.local, picture.pixels,
                                picture.channels, picture.width, picture.height,
                                picture.scaled_width, picture.scaled_height, picture.border,
                                picture.turn.transposed ? 1 : 0, picture.turn.mirrored_x ? 1 : 0,
                                picture.turn.mirrored_y ? 1 : 0, picture.part_x, picture.part_y,
                                picture.part_width > 0 ? picture.part_width : picture.width, left,
                                top, out, planes.image(image), planes.width, planes.height,
                                planes.stride, planes.margin, planes.plane());
}

void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           std::size_t image, int channel, const NetworkCopy& rectangle,
                           const NetworkMap& map) {
  output_kernels(context).launch_rows("network_output", static_cast<std::size_t>(rectangle.width),
                                      static_cast<std::size_t>(rectangle.height), in,
                                      planes.elements(channel) + planes.image(image), planes.stride,
                                      planes.margin, rectangle.from_x, rectangle.from_y, map.values,
                                      map.row_length(), rectangle.to_x - map.part_x,
                                      rectangle.to_y - map.part_y, rectangle.width);
}

void launch_network_embedding(Context& context, const NetworkPlanes& planes,
                              const Buffer<float>& in, std::size_t image,
                              const NetworkCopy& rectangle, DeviceEmbedding& embedding) {
  output_kernels(context).launch_rows(
      "network_embedding", static_cast<std::size_t>(rectangle.width),
      static_cast<std::size_t>(rectangle.height), in, planes.image(image),
      embedding.layout.channels, planes.stride, planes.margin, planes.plane(), rectangle.from_x,
      rectangle.from_y, embedding.cells, embedding.layout.columns, rectangle.to_x, rectangle.to_y,
      rectangle.width);
}

void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary, const PictureView& view) {
  int width = map.width - 2 * map.border;
  int height = map.height - 2 * map.border;
  int step_x = 1;
  int step_y = map.row_length();
  if (turn.transposed) {
    std::swap(width, height);
    std::swap(step_x, step_y);
  }
  auto first_pixel = static_cast<std::int64_t>(map.border - map.part_y) * map.row_length() +
                     map.border - map.part_x;
  if (turn.mirrored_x) {
    first_pixel += static_cast<std::int64_t>(width - 1) * step_x;
    step_x = -step_x;
  }
  if (turn.mirrored_y) {
    first_pixel += static_cast<std::int64_t>(height - 1) * step_y;
    step_y = -step_y;
  }
  blend_kernels(context).launch_rows(
      "network_blend", static_cast<std::size_t>(grid.width), static_cast<std::size_t>(grid.height),
      map.values, static_cast<std::size_t>(first_pixel), step_x, step_y, width, height, valid,
      share, first ? 1 : 0, boundary, grid.width, view.x, view.y, view.width, view.height);
}

void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels) {
  // A work-item makes two elements of a source pixel, in DOWN rows of upsample.cl.
  constexpr int kDown = 4;
  NetworkPlanes half = to;
  half.stride = to.stride / 2;  // Strides are even.
  const NetworkRange range = planes_range(half, channels, network_lanes(context), kDown);
  upsample_kernels(context).launch("network_upsample", range.global, range.local, in, out,
                                   from.width, from.height, from.stride, from.margin, from.plane(),
                                   to.width, to.height, to.stride, to.margin, to.plane());
}

}  // namespace diacut
