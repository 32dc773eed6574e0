// Maps of parts of a picture are those of the whole picture, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "boundary/boundary.hpp"
#include "drawn_image.hpp"
#include "matchers.hpp"
#include "network/network_boundary_map.hpp"
#include "network_file.hpp"
#include "turned_picture.hpp"

namespace diacut::testing {
namespace {

std::size_t pixel(int width, int x, int y) {
  return static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
}

class PartMaps : public NetworkBoundaryMap {
 protected:
  /// The pixels of an image from (x, y) on.
  static Image part_of(const Image& image, const Stretch& columns, const Stretch& rows) {
    const cv::Rect area({columns.begin, rows.begin}, cv::Point(columns.end, rows.end));
    Image part = image_of(
        cv::Mat(image.height, image.width, CV_32FC3, const_cast<float*>(image.pixels.data()))(area)
            .clone());
    if (image.valid.empty()) return part;
    const cv::Mat valid = cv::Mat(image.valid, false).reshape(1, image.height)(area).clone();
    part.valid.assign(valid.begin<std::uint8_t>(), valid.end<std::uint8_t>());
    return part;
  }

  /// Compares the maps of parts with `whole`, which has a value for each pixel. Returns the least
  /// share of the picture that a part was given.
  double expect_parts_of(const Image& image, const std::vector<float>& whole, int side) {
    double least = 1;
    for (int y = 0; y < image.height; y += side) {
      for (int x = 0; x < image.width; x += side) {
        const Grid grid{std::min(side, image.width - x), std::min(side, image.height - y)};
        const bool gaps = !image.valid.empty();
        const Stretch columns = boundary_needs(parameters_, image.width, {x, x + grid.width}, gaps);
        const Stretch rows = boundary_needs(parameters_, image.height, {y, y + grid.height}, gaps);
        const Image given = part_of(image, columns, rows);
        least = std::min(least, static_cast<double>(given.pixel_count()) /
                                    static_cast<double>(image.pixel_count()));
        const PictureView view{image.width, image.height, x, y, columns.begin, rows.begin};
        PartMap part = empty_part_map(given, grid, view);
        fill_part_map(context_, given, parameters_, networks_, view, part);
        int different = 0;
        for (int v = 0; v < grid.height; ++v) {
          for (int u = 0; u < grid.width; ++u) {
            const auto at = pixel(image.width, x + u, y + v);
            const auto here = pixel(grid.width, u, v);
            if (part.values[here] != whole[at]) ++different;
            EXPECT_EQ(part.valid[here], image.valid.empty() || image.valid[at] != 0 ? 1 : 0);
          }
        }
        EXPECT_EQ(different, 0) << "part at " << x << ", " << y;
      }
    }
    return least;
  }

  ~PartMaps() override { networks_.clear(); }

  DeviceNetworks networks_;
};

Image with_gaps(Image image) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (std::hypot(x - 90, y - 60) < 31 || (x / 20 + y / 14) % 5 == 0) {
        mask_out(image, pixel(image.width, x, y));
      }
    }
  }
  return image;
}

TEST_F(PartMaps, OfNetworks) {
  parameters_.scales = {0.5, 1.0, 1.5};
  parameters_.border = 5;
  for (const bool strided : {false, true}) {
    SCOPED_TRACE(strided);
    use(strided ? strided_network(2) : small_network(2));
    networks_.clear();  // Networks are known by the names of their files.
    for (const int tile : {1024, 96}) {
      parameters_.tile = tile;
      // Sides that scale to no whole numbers.
      const Image image = patches_image(423, 211, 3, 4);
      EXPECT_LT(expect_parts_of(image, values_of(image), 64), 0.9);
    }
  }
}

TEST_F(PartMaps, OfNetworksWithGaps) {
  parameters_.scales = {0.5, 1.0};
  use(small_network(6));
  const Image image = with_gaps(patches_image(301, 190, 3, 8));
  expect_parts_of(image, values_of(image), 70);
}

// Which kernels GPUs take for a convolution, and so the order of its sums, depends on a size.
TEST_F(PartMaps, OfNetworksByKernelsOfGpus) {
  context_.treat_as(DeviceKind::kGpu);
  context_.record_launches();
  parameters_.scales = {1.0};
  use(small_network(2));
  const Image image = patches_image(423, 211, 3, 4);
  const std::vector<float> whole = values_of(image);
  expect_parts_of(image, whole, 64);
  for (const char* file : {"conv_rows.cl", "conv_patch.cl"}) {
    EXPECT_THAT(context_.launched(), Contains(HasSubstr(file)));
  }
}

}  // namespace
}  // namespace diacut::testing
