#include "two_discs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>

#include "label_checks.hpp"
#include "support.hpp"

namespace diacut::testing {

Image flat_image(int width, int height, int channels, float value) {
  Image image{width, height, channels, {}, {}, {}};
  image.pixels.assign(image.pixel_count() * static_cast<std::size_t>(channels), value);
  return image;
}

int scene(int x, int y, int width, int height, double margin) {
  const double radius = 0.3 * std::min(width / 2, height);
  const auto distance = [&](double cx, double cy) {
    return std::hypot(x + 0.5 - cx, y + 0.5 - cy);
  };
  const double first = distance(0.25 * width, 0.5 * height);
  const double second = distance(0.75 * width, 0.5 * height);
  if (first <= radius - margin) return 1;
  if (second <= radius - margin) return 2;
  return std::min(first, second) > radius + margin ? 0 : -1;
}

Parameters direct_cuts() {
  Parameters parameters;
  parameters.boundary.kind = BoundaryKind::kGradient;
  parameters.region.method = RegionMethod::kKway;
  return parameters;
}

Segmenter keeping_eigenvectors(const Parameters& parameters) {
  Segmenter segmenter(parameters, test_device());
  segmenter.keep_eigenvectors(true);
  return segmenter;
}

Image two_discs(int width, int height) {
  constexpr float kColours[3][3] = {{0.2f, 0.3f, 0.25f}, {0.8f, 0.3f, 0.2f}, {0.2f, 0.5f, 0.9f}};
  std::mt19937 random(5);
  Image image = flat_image(width, height, 3, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const auto at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                         static_cast<std::size_t>(x)) *
                            3 +
                        static_cast<std::size_t>(c);
        const float noise = static_cast<float>(random() % 1000) * 1e-5f;
        image.pixels[at] = kColours[scene(x, y, width, height)][c] + noise;
      }
    }
  }
  return image;
}

std::vector<Majority> majorities(const Labels& labels) {
  // The exact place of a boundary is not tested: the ridge of the gradient is two pixels wide.
  constexpr double kMargin = 2;
  std::vector<std::map<std::int32_t, int>> counts(3);
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < labels.width; ++x) {
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(labels.width) +
                      static_cast<std::size_t>(x);
      const int part = scene(x, y, labels.width, labels.height, kMargin);
      if (part >= 0) ++counts[static_cast<std::size_t>(part)][labels.values[at]];
    }
  }
  std::vector<Majority> result;
  for (const auto& part : counts) {
    Majority majority;
    double total = 0;
    int most = 0;
    for (const auto& [label, count] : part) {
      total += count;
      if (count > most) {
        most = count;
        majority.label = label;
      }
    }
    majority.share = most / total;
    result.push_back(majority);
  }
  return result;
}

void expect_discs_found(const Labels& labels) {
  const std::vector<Majority> parts = majorities(labels);
  EXPECT_NE(parts[1].label, parts[0].label);
  EXPECT_NE(parts[2].label, parts[0].label);
  EXPECT_NE(parts[1].label, parts[2].label);
  EXPECT_GT(parts[1].share, 0.95);
  EXPECT_GT(parts[2].share, 0.95);
}

std::vector<float> contours_of(const Segmentation& result) {
  const auto* const tree = dynamic_cast<const HierarchyCut*>(&result);
  return tree == nullptr ? std::vector<float>() : tree->contours;
}

void expect_same(const Segmentation& a, const Segmentation& b) {
  EXPECT_EQ(a.labels.values, b.labels.values);
  EXPECT_EQ(a.eigenvectors.values, b.eigenvectors.values);
  EXPECT_EQ(a.eigenvectors.vectors, b.eigenvectors.vectors);
  EXPECT_EQ(a.eigenvectors.report.products, b.eigenvectors.report.products);
}

}  // namespace diacut::testing
