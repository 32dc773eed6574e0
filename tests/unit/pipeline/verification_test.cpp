// Two segmentations of one image are held to be the same in each of their results.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "matchers.hpp"
#include "pipeline/device_checks.hpp"

namespace diacut::testing {
namespace {

/// Results with all members that a method gives.
template <class Kind>
Kind some_results() {
  Kind result;
  result.labels = {2, 1, 2, {1, 2}};
  result.eigenvectors = {2, 1, {0.1}, {{1, -1}}, {1, 1}, {}};
  if constexpr (std::is_base_of_v<HierarchyCut, Kind>) {
    result.contours = {0.5F, std::numeric_limits<float>::quiet_NaN()};
    result.hierarchy = Hierarchy{{2, 1, 2, {1, 2}}, {{1, 2, 0.5F}}, 0.25};
  }
  if constexpr (std::is_same_v<Kind, Objects>) result.inside = {0, 1};
  if constexpr (std::is_same_v<Kind, SeededCut>) result.seed_labels = {3, 4};
  if constexpr (std::is_same_v<Kind, SeedGrowth>) {
    result.seed_labels = {3, 4};
    result.probabilities = {{0, 1}, {1, 0}};
  }
  return result;
}

TEST(Verification, TakesTheSameResultsWhateverTimeTheyTook) {
  auto again = some_results<Objects>();
  again.costs.times.push_back({"boundaries", 3, 3});
  EXPECT_NO_THROW(check_same_results(some_results<Objects>(), again, "a device"));
}

template <class Kind>
void expect_named(std::vector<std::pair<const char*, void (*)(Kind&)>> differences) {
  for (const auto& [name, change] : differences) {
    auto again = some_results<Kind>();
    change(again);
    EXPECT_THAT([&] { check_same_results(some_results<Kind>(), again, "a device"); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("a device computed the image twice"),
                                                 HasSubstr(std::string("differ: ") + name + ")"),
                                                 HasSubstr("--list-devices"))));
  }
}

TEST(Verification, NamesEachResultThatDiffers) {
  expect_named<Objects>({
      {"labels", [](Objects& s) { s.labels.values[1] = 1; }},
      {"labels", [](Objects& s) { s.labels.count = 3; }},
      {"contours", [](Objects& s) { s.contours[0] = 0.50001F; }},
      {"contours", [](Objects& s) { s.contours.pop_back(); }},
      {"hierarchy", [](Objects& s) { s.hierarchy.merges[0].height = 0.75F; }},
      {"hierarchy", [](Objects& s) { s.hierarchy.leaves.values[0] = 2; }},
      {"inside map", [](Objects& s) { s.inside[0] = -0.0F; }},
  });
  expect_named<SeededCut>({{"labels of seeds", [](SeededCut& s) { s.seed_labels[0] = 4; }}});
  expect_named<SeedGrowth>({
      {"labels of seeds", [](SeedGrowth& s) { s.seed_labels[0] = 4; }},
      {"probabilities", [](SeedGrowth& s) { s.probabilities[1][0] = 0; }},
      {"probabilities", [](SeedGrowth& s) { s.probabilities.pop_back(); }},
  });
  expect_named<KwayCut>({
      {"eigenvectors", [](KwayCut& s) { s.eigenvectors.values[0] = 0.2; }},
      {"eigenvectors", [](KwayCut& s) { s.eigenvectors.vectors[0][1] = 1; }},
      {"eigenvectors", [](KwayCut& s) { s.eigenvectors.sqrt_degree[1] = 2; }},
  });
}

}  // namespace
}  // namespace diacut::testing
