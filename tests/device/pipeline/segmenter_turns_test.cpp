// Segmentations of turned and mirrored pictures, where the network averages over all eight forms.
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "diacut/segmenter.hpp"
#include "drawn_image.hpp"
#include "support.hpp"
#include "turned_picture.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

constexpr std::array<std::pair<int, int>, 2> kSizes = {{{61, 43}, {37, 53}}};

/// As cv::rotate() and `turned` take them: a quarter turn, a half turn, a mirror image, and a
/// quarter turn's mirror image.
constexpr std::array<std::pair<int, bool>, 4> kForms = {{{cv::ROTATE_90_CLOCKWISE, false},
                                                         {cv::ROTATE_180, false},
                                                         {-1, true},
                                                         {cv::ROTATE_90_COUNTERCLOCKWISE, true}}};

Parameters with_turns(int turns) {
  Parameters parameters;
  parameters.boundary.turns = turns;
  parameters.boundary.pose = NetworkPose::kGiven;
  parameters.boundary.border = 8;
  return parameters;
}

/// How far the contours of the picture's forms are from the contours of the picture, turned
/// likewise: for each form the largest and the mean difference.
std::vector<std::pair<double, double>> differences(const Parameters& parameters, int width,
                                                   int height) {
  Segmenter segmenter = keeping_eigenvectors(parameters);
  Image image = patches_image(width, height, 3, 7);
  const cv::Mat picture(height, width, CV_32FC3, image.pixels.data());
  HierarchyCut upright = segmenter.segment(image);
  const cv::Mat contours(height, width, CV_32F, upright.contours.data());
  std::vector<std::pair<double, double>> result;
  for (const auto& [rotation, mirrored] : kForms) {
    HierarchyCut other = segmenter.segment(image_of(turned(picture, rotation, mirrored)));
    const cv::Mat expected = turned(contours, rotation, mirrored);
    const cv::Mat found(expected.rows, expected.cols, CV_32F, other.contours.data());
    const cv::Mat difference = cv::abs(found - expected);
    double most = 0;
    cv::minMaxLoc(difference, nullptr, &most);
    result.emplace_back(most, cv::mean(difference)[0]);
  }
  return result;
}

TEST(SegmenterTurns, TurnTheContoursWithThePicture) {
  Parameters eight = with_turns(8);
  Parameters canonical = with_turns(1);
  canonical.boundary.pose = NetworkPose::kCanonical;
  for (Parameters* parameters : {&eight, &canonical}) {
    parameters->contour.spectral_weight = 0;
    for (const auto& [width, height] : kSizes) {
      for (const auto& [most, mean] : differences(*parameters, width, height)) {
        // What the network's roundings amount to, as in the tests of its maps.
        EXPECT_LE(most, 1e-5) << width << "x" << height;
      }
    }
  }
}

// The lines of the intervening contour are rounded away from the pixel that comes first, so that
// affinities, and with them eigenvectors, change a little where a turn changes which pixel that is.
TEST(SegmenterTurns, KeepWholeContoursFarCloserThanOneFormDoes) {
  for (const auto& [width, height] : kSizes) {
    const auto all = differences(with_turns(8), width, height);
    const auto one = differences(with_turns(1), width, height);
    for (std::size_t form = 0; form < all.size(); ++form) {
      EXPECT_LT(20 * all[form].second, one[form].second) << width << "x" << height << ", " << form;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
