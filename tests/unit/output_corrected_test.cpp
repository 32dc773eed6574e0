#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "diacut/corrected_labels.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;

/// Regions 10, 20 and 30 side by side above a row of background.
Correction three_regions(std::vector<std::int32_t> marks) {
  const Labels labels{6, 2, 3, {1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 0, 0}};
  marks.resize(12, 0);
  return {{labels, {10, 20, 30}}, {6, 2, std::move(marks)}};
}

Labels grown_as(std::vector<std::int32_t> values) { return {6, 2, 99, std::move(values)}; }

std::vector<std::int32_t> numbers(const SeededRegions& corrected) {
  return written_labels(corrected).values;
}

TEST(CorrectLabels, OnlyRegionsThatMarksTouchChange) {
  const Labels grown = grown_as(std::vector<std::int32_t>(12, 7));
  EXPECT_THAT(numbers(correct_labels(three_regions({}), grown)),
              ElementsAre(10, 10, 20, 20, 30, 30, 0, 0, 0, 0, 0, 0));
  // One number through two regions joins them; on the background it marks its own pixels.
  EXPECT_THAT(numbers(correct_labels(three_regions({0, 7, 7, 0, 0, 0, 7}), grown)),
              ElementsAre(7, 7, 7, 7, 30, 30, 7, 0, 0, 0, 0, 0));
  EXPECT_EQ(correct_labels(three_regions({0, 7, 7}), grown).regions.count, 2);
}

TEST(CorrectLabels, ARegionWithMarksOfSeveralNumbersIsDivided) {
  // In the middle of region 1 the number that grew there is of another region's marks.
  const Labels labels{6, 1, 1, {1, 1, 1, 1, 1, 1}};
  const Correction correction{{labels, {10}}, {6, 1, {4, 0, 0, 0, 0, 5}}};
  const Labels grown{6, 1, 9, {4, 4, 9, 5, 5, 5}};
  EXPECT_THAT(numbers(correct_labels(correction, grown)), ElementsAre(4, 4, 4, 5, 5, 5));
}

TEST(CorrectLabels, SizesMustBeEqual) {
  EXPECT_THROW(correct_labels(three_regions({}), Labels{1, 1, 1, {1}}), InputError);
}

}  // namespace
}  // namespace diacut
