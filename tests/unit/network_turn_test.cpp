// Turned and mirrored forms of pictures, and the canonical one of them.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <utility>
#include <vector>

#include "boundary/network/picture_kernels.hpp"
#include "drawn_image.hpp"
#include "turned_picture.hpp"

namespace diacut {
namespace {

using testing::image_of;
using testing::noise_image;
using testing::turned;

/// The grey picture in the form that `turn` names, as the comment of Turn defines it.
Image in_form(const Image& image, const Turn& turn) {
  Image result;
  result.width = turn.transposed ? image.height : image.width;
  result.height = turn.transposed ? image.width : image.height;
  result.channels = 1;
  for (int v = 0; v < result.height; ++v) {
    for (int u = 0; u < result.width; ++u) {
      auto [x, y] = turn.transposed ? std::pair(v, u) : std::pair(u, v);
      if (turn.mirrored_x) x = image.width - 1 - x;
      if (turn.mirrored_y) y = image.height - 1 - y;
      result.pixels.push_back(image.pixels[static_cast<std::size_t>(y * image.width + x)]);
    }
  }
  return result;
}

TEST(NetworkTurns, ComposeAsTurningTwiceDoes) {
  const Image image = noise_image(5, 3, 1, 1);
  for (const Turn& first : network_turns(8)) {
    for (const Turn& second : network_turns(8)) {
      EXPECT_EQ(in_form(image, composed(first, second)).pixels,
                in_form(in_form(image, first), second).pixels);
    }
  }
}

TEST(NetworkTurns, AllFormsOfAPictureHaveOneCanonicalForm) {
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair(61, 43), std::pair(20, 70), std::pair(9, 9)}) {
      Image image = noise_image(width, height, channels, 5);
      const cv::Mat picture(height, width, channels == 3 ? CV_32FC3 : CV_32F, image.pixels.data());
      std::vector<float> canonical;
      for (const int rotation : {-1, 0, 1, 2}) {
        for (const bool mirrored : {false, true}) {
          const cv::Mat form = turned(picture, rotation, mirrored);
          Image other{form.cols, form.rows, channels, {}, {}, {}};
          other.pixels.assign(form.ptr<float>(), form.ptr<float>() + form.total() * channels);
          const Turn turn = canonical_turn(other);
          Image grey = other;
          if (channels == 3) {
            grey.channels = 1;
            grey.pixels.clear();
            for (std::size_t i = 0; i < other.pixels.size(); i += 3) {
              grey.pixels.push_back(other.pixels[i]);
            }
          }
          const std::vector<float> found = in_form(grey, turn).pixels;
          if (canonical.empty()) canonical = found;
          EXPECT_EQ(found, canonical) << rotation << mirrored;
        }
      }
    }
  }
}

TEST(NetworkTurns, TheCanonicalFormIsBrightAtTheTopAndOnTheLeft) {
  Image image{4, 3, 1, std::vector<float>(12, 0.0f), {}, {}};
  EXPECT_EQ(canonical_turn(image), Turn{}) << "nothing to turn by";
  image.pixels[11] = 1;  // The lower right corner.
  image.pixels[10] = 1;
  EXPECT_EQ(canonical_turn(image), (Turn{false, true, true}));
  image.pixels[10] = 0;
  image.pixels[7] = 1;
  image.pixels[3] = 1;  // The right side.
  EXPECT_EQ(canonical_turn(image), (Turn{true, true, false}));
}

}  // namespace
}  // namespace diacut
