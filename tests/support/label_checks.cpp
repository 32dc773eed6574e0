#include "label_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <opencv2/imgproc.hpp>

#include "by_pixel.hpp"

namespace diacut::testing {

void expect_labels_contract(const Labels& labels, int width, int height,
                            const std::vector<std::uint8_t>& valid) {
  ASSERT_EQ(labels.width, width);
  ASSERT_EQ(labels.height, height);
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  ASSERT_EQ(labels.values.size(), pixels);

  std::int32_t seen = 0;
  // Pixels and, between neighbours of one label, what links them.
  cv::Mat1b linked(2 * height - 1, 2 * width - 1, std::uint8_t{0});
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::int32_t label = labels.values[i];
    const int x = static_cast<int>(i) % width;
    const int y = static_cast<int>(i) / width;
    ASSERT_EQ(label != 0, valid.empty() || valid[i] != 0) << "pixel " << i;
    ASSERT_LE(label, seen + 1) << "pixel " << i << " is out of scan order";
    seen = std::max(seen, label);
    const auto is_same = [&](std::size_t other) -> std::uint8_t {
      return labels.values[other] == label ? 1 : 0;
    };
    if (label == 0) continue;
    linked(2 * y, 2 * x) = 1;
    if (x + 1 < width) linked(2 * y, 2 * x + 1) = is_same(i + 1);
    if (y + 1 < height) linked(2 * y + 1, 2 * x) = is_same(i + static_cast<std::size_t>(width));
  }
  EXPECT_EQ(labels.count, seen);
  // As many parts as labels: each label has one.
  cv::Mat parts;
  EXPECT_EQ(cv::connectedComponents(linked, parts, 4) - 1, seen);
}

void expect_same(const Hierarchy& found, const Hierarchy& expected) {
  EXPECT_EQ(found.leaves.width, expected.leaves.width);
  EXPECT_EQ(found.leaves.height, expected.leaves.height);
  EXPECT_EQ(found.leaves.count, expected.leaves.count);
  EXPECT_TRUE(found.leaves.values == expected.leaves.values);
  EXPECT_EQ(found.threshold, expected.threshold);
  expect_same(found.merges, expected.merges);
}

void expect_same(const std::vector<Merge>& found, const std::vector<Merge>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].first, expected[k].first) << "merge " << k;
    ASSERT_EQ(found[k].second, expected[k].second) << "merge " << k;
    ASSERT_EQ(found[k].height, expected[k].height) << "merge " << k;
  }
}

Labels drawn_labels(const std::vector<std::string>& rows) {
  Labels labels{static_cast<int>(rows.front().size()), static_cast<int>(rows.size()), 0, {}};
  for (const std::string& row : rows) {
    for (const char c : row) {
      const char one = c >= 'a' ? 'a' : c >= 'A' ? 'A' : '1';
      labels.values.push_back(c == ' ' || c == '.' ? 0 : c - one + 1);
      labels.count = std::max<std::int64_t>(labels.count, labels.values.back());
    }
  }
  return labels;
}

std::vector<float> drawn_numbers(const std::vector<std::string>& rows, float unit) {
  std::vector<float> numbers;
  for (const std::int32_t digit : drawn_labels(rows).values) {
    numbers.push_back(static_cast<float>(digit) * unit);
  }
  return numbers;
}

Hierarchy rectangle_and_angle() {
  return {drawn_labels({"AAAAAAAAAA",  //
                        "ABBCCADDDA",  //
                        "ABBCCADAAA",  //
                        "AAAAAADAAA"}),
          {{2, 3, 0.25F}, {1, 4, 0.5F}, {5, 6, 0.75F}},
          0.3};
}

Hierarchy tree_of_pixels(int width, int height) {
  const int pixels = width * height;
  Hierarchy tree;
  tree.leaves = {width, height, pixels,
                 by_pixel(width, height, [&](int x, int y) { return y * width + x + 1; })};
  std::int32_t all = 1;
  for (std::int32_t leaf = 2; leaf <= pixels; ++leaf) {
    tree.merges.push_back({std::min(all, leaf), std::max(all, leaf), 0.5F});
    all = pixels + leaf - 1;
  }
  return tree;
}

std::vector<std::string> letters(const Labels& labels, char one, char zero) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (i % static_cast<std::size_t>(labels.width) == 0) rows.emplace_back();
    rows.back() += labels.values[i] == 0 ? zero : static_cast<char>(one + labels.values[i] - 1);
  }
  return rows;
}

}  // namespace diacut::testing
