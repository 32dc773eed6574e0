// Two segmentations of one image are held to be the same in each of their results.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "matchers.hpp"
#include "pipeline/device_checks.hpp"

namespace diacut::testing {
namespace {

Segmentation some_results() {
  Segmentation result;
  result.labels = {2, 1, 2, {1, 2}};
  result.contours = {0.5F, std::numeric_limits<float>::quiet_NaN()};
  result.hierarchy = Hierarchy{{2, 1, 2, {1, 2}}, {{1, 2, 0.5F}}, 0.25};
  result.inside = {0, 1};
  result.seed_labels = {3, 4};
  result.probabilities = {{0, 1}, {1, 0}};
  result.eigenvectors = {2, 1, {0.1}, {{1, -1}}, {1, 1}, {}};
  return result;
}

TEST(Verification, TakesTheSameResultsWhateverTimeTheyTook) {
  Segmentation again = some_results();
  again.costs.times.push_back({"boundaries", 3, 3});
  EXPECT_NO_THROW(check_same_results(some_results(), again, "a device"));
}

TEST(Verification, NamesEachResultThatDiffers) {
  const std::pair<const char*, void (*)(Segmentation&)> differences[] = {
      {"labels", [](Segmentation& s) { s.labels.values[1] = 1; }},
      {"labels", [](Segmentation& s) { s.labels.count = 3; }},
      {"contours", [](Segmentation& s) { s.contours[0] = 0.50001F; }},
      {"contours", [](Segmentation& s) { s.contours.pop_back(); }},
      {"hierarchy", [](Segmentation& s) { s.hierarchy->merges[0].height = 0.75F; }},
      {"hierarchy", [](Segmentation& s) { s.hierarchy->leaves.values[0] = 2; }},
      {"hierarchy", [](Segmentation& s) { s.hierarchy.reset(); }},
      {"inside map", [](Segmentation& s) { s.inside[0] = -0.0F; }},
      {"labels of seeds", [](Segmentation& s) { s.seed_labels[0] = 4; }},
      {"probabilities", [](Segmentation& s) { s.probabilities[1][0] = 0; }},
      {"probabilities", [](Segmentation& s) { s.probabilities.pop_back(); }},
      {"eigenvectors", [](Segmentation& s) { s.eigenvectors.values[0] = 0.2; }},
      {"eigenvectors", [](Segmentation& s) { s.eigenvectors.vectors[0][1] = 1; }},
      {"eigenvectors", [](Segmentation& s) { s.eigenvectors.sqrt_degree[1] = 2; }},
  };
  for (const auto& [name, change] : differences) {
    Segmentation again = some_results();
    change(again);
    EXPECT_THAT([&] { check_same_results(some_results(), again, "a device"); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("a device computed the image twice"),
                                                 HasSubstr(std::string("differ: ") + name + ")"),
                                                 HasSubstr("--list-devices"))));
  }
}

}  // namespace
}  // namespace diacut::testing
