#include "label_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

namespace diacut::testing {

void expect_labels_contract(const Labels& labels, int width, int height,
                            const std::vector<std::uint8_t>& valid) {
  ASSERT_EQ(labels.width, width);
  ASSERT_EQ(labels.height, height);
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  ASSERT_EQ(labels.values.size(), pixels);

  const auto columns = static_cast<std::size_t>(width);
  std::vector<bool> reached(pixels, false);
  std::vector<std::size_t> open;
  std::int64_t regions = 0;
  for (std::size_t start = 0; start < pixels; ++start) {
    const bool has_data = valid.empty() || valid[start] != 0;
    ASSERT_EQ(labels.values[start] != 0, has_data) << "pixel " << start;
    if (!has_data || reached[start]) continue;
    // The first pixel of a part that was not reached yet begins the next label: were a region in
    // two parts, or the labels out of order, this would not hold.
    const std::int32_t label = labels.values[start];
    ASSERT_EQ(label, ++regions) << "pixel " << start;
    open.assign(1, start);
    reached[start] = true;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const auto visit = [&](bool inside, std::size_t next) {
        if (!inside || reached[next] || labels.values[next] != label) return;
        reached[next] = true;
        open.push_back(next);
      };
      visit(at % columns != 0, at - 1);
      visit(at % columns != columns - 1, at + 1);
      visit(at >= columns, at - columns);
      visit(at + columns < pixels, at + columns);
    }
  }
  EXPECT_EQ(labels.count, regions);
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
      labels.values.push_back(c == ' ' ? 0 : c >= 'A' ? c - 'A' + 1 : c - '0');
      labels.count = std::max<std::int64_t>(labels.count, labels.values.back());
    }
  }
  return labels;
}

Hierarchy rectangle_and_angle() {
  return {drawn_labels({"AAAAAAAAAA",  //
                        "ABBCCADDDA",  //
                        "ABBCCADAAA",  //
                        "AAAAAADAAA"}),
          {{2, 3, 0.25F}, {1, 4, 0.5F}, {5, 6, 0.75F}},
          0.3};
}

std::vector<std::string> letters(const Labels& labels) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (i % static_cast<std::size_t>(labels.width) == 0) rows.emplace_back();
    rows.back() += labels.values[i] == 0 ? ' ' : static_cast<char>('A' + labels.values[i] - 1);
  }
  return rows;
}

}  // namespace diacut::testing
