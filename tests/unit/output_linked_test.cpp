#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/label_stack.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Disc {
  int thing;
  double x, y, radius;
};

/// Discs of things before a background, numbered in scan order, and the thing of each.
struct Page {
  Labels labels{64, 64, 0, std::vector<std::int32_t>(64 * 64, 0)};
  std::vector<int> things;
  explicit Page(const std::vector<Disc>& discs) {
    std::map<int, std::int32_t> numbers;
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 64; ++x) {
        for (const Disc& disc : discs) {
          const double dx = x - disc.x;
          const double dy = y - disc.y;
          if (dx * dx + dy * dy > disc.radius * disc.radius) continue;
          const auto [at, is_new] = numbers.emplace(disc.thing, labels.count + 1);
          if (is_new) {
            ++labels.count;
            things.push_back(disc.thing);
          }
          labels.values[static_cast<std::size_t>(y) * 64 + static_cast<std::size_t>(x)] =
              at->second;
        }
      }
    }
  }
};

// Three things drift through twelve pages; one comes at the fourth and one goes at the seventh.
TEST(PageLinker, NumbersFollowTheThingsOfADrawnStack) {
  PageLinker linker(0.25);
  std::map<int, std::set<std::int32_t>> numbers;
  std::set<std::int32_t> all;
  for (int page = 0; page < 12; ++page) {
    std::vector<Disc> discs = {{1, 10.0 + page, 12, 6}, {2, 50.0 - page, 14 + page * 0.5, 7}};
    if (page < 7) discs.push_back({3, 14, 50, 5});
    if (page >= 3) discs.push_back({4, 48, 50.0 - page, 6});
    const Page drawn(discs);
    std::vector<std::string> notes;
    const std::vector<std::int32_t> linked = linker.link(drawn.labels, notes);
    EXPECT_THAT(notes, IsEmpty());
    for (std::size_t k = 0; k < linked.size(); ++k) {
      numbers[drawn.things[k]].insert(linked[k]);
      all.insert(linked[k]);
    }
  }
  for (const auto& [thing, found] : numbers) EXPECT_EQ(found.size(), 1u) << thing;
  EXPECT_EQ(all.size(), 4u);
}

TEST(PageLinker, SplitsAndMergesAreToldAndTheLargestOverlapGoesOn) {
  PageLinker linker(0.25);
  std::vector<std::string> notes;
  const Labels whole{6, 1, 1, {1, 1, 1, 1, 1, 1}};
  const Labels halves{6, 1, 2, {1, 1, 2, 2, 2, 2}};
  EXPECT_THAT(linker.link(whole, notes), ElementsAre(1));
  EXPECT_THAT(linker.link(halves, notes), ElementsAre(2, 1));
  EXPECT_THAT(notes, ElementsAre("Region 1 of the page before splits into 2, 1."));
  notes.clear();
  EXPECT_THAT(linker.link(whole, notes), ElementsAre(1));
  EXPECT_THAT(notes, ElementsAre("Regions 2, 1 of the page before merge into 1."));
}

TEST(PageLinker, WithoutOverlapAllNumbersAreNewAndSizesMustBeEqual) {
  PageLinker linker(0.5);
  std::vector<std::string> notes;
  EXPECT_THAT(linker.link({4, 1, 1, {1, 1, 0, 0}}, notes), ElementsAre(1));
  EXPECT_THAT(linker.link({4, 1, 1, {0, 1, 1, 0}}, notes), ElementsAre(2));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("No region overlaps")));
  EXPECT_THROW(linker.link({2, 2, 1, {1, 1, 1, 1}}, notes), InputError);
}

}  // namespace
}  // namespace diacut
