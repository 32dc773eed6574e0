#include "diacut/segmenter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "eigen/eigensolver.hpp"
#include "label_checks.hpp"
#include "pipeline/segmentation_plan.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::expect_labels_contract;
using ::testing::HasSubstr;
using testing::test_device;

Image flat_image(int width, int height, int channels, float value) {
  Image image{width, height, channels, {}, {}, {}};
  image.pixels.assign(image.pixel_count() * static_cast<std::size_t>(channels), value);
  return image;
}

/// What a pixel of the test scene shows: 0 the background, 1 and 2 a disc each. `margin` in pixels
/// narrows all three by it, and what is left over is -1.
int scene(int x, int y, int width, int height, double margin = 0) {
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

/// Direct cuts of the eigenvectors, of boundaries by the gradient.
Parameters direct_cuts() {
  Parameters parameters;
  parameters.cue.kind = CueKind::kGradient;
  parameters.region.method = RegionMethod::kKway;
  return parameters;
}

/// Two discs of different colours on a third, with a little noise.
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

/// For each part of the scene the label that most of it has, and the share that has it.
struct Majority {
  std::int32_t label = 0;
  double share = 0;
};
std::vector<Majority> majorities(const Labels& labels) {
  // Where exactly a boundary lies is not what is asked here: the ridge of the gradient is two
  // pixels wide.
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

void expect_same(const Segmentation& a, const Segmentation& b) {
  EXPECT_EQ(a.labels.values, b.labels.values);
  EXPECT_EQ(a.eigenvectors.values, b.eigenvectors.values);
  EXPECT_EQ(a.eigenvectors.vectors, b.eigenvectors.vectors);
  EXPECT_EQ(a.eigenvectors.report.products, b.eigenvectors.report.products);
}

TEST(Segmenter, FindsTheDiscsByTheirNumber) {
  for (Parameters parameters : {Parameters{}, direct_cuts()}) {
    parameters.region.regions = 3;
    const Segmentation result = Segmenter(parameters, test_device()).segment(two_discs(64, 48));
    expect_labels_contract(result.labels, 64, 48);
    EXPECT_EQ(result.labels.count, 3);
    expect_discs_found(result.labels);
    EXPECT_GT(majorities(result.labels)[0].share, 0.95);
  }
}

TEST(Segmenter, FindsTheDiscsByTwoWayCuts) {
  const Segmentation result = Segmenter(direct_cuts(), test_device()).segment(two_discs(64, 48));
  expect_labels_contract(result.labels, 64, 48);
  expect_discs_found(result.labels);
}

TEST(Segmenter, ReportsStagesMemoryAndConvergence) {
  std::vector<std::string> stages;
  std::map<std::string, double> shares;
  Watch watch;
  watch.progress = [&](std::string_view stage, double share) {
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
    EXPECT_GE(share, shares[std::string(stage)]) << stage;
    EXPECT_LE(share, 1) << stage;
    shares[std::string(stage)] = share;
  };
  Segmenter segmenter({}, test_device());
  const Segmentation result = segmenter.segment(two_discs(64, 48), watch);

  EXPECT_THAT(stages, ElementsAre("boundaries", "affinity", "eigenvectors", "contours", "regions"));
  ASSERT_EQ(result.times.size(), stages.size());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    EXPECT_EQ(result.times[k].stage, stages[k]);
    EXPECT_EQ(shares[stages[k]], 1) << stages[k];
    EXPECT_GT(result.times[k].wall_ms, 0) << stages[k];
    // Regions of a hierarchy are the host's.
    if (stages[k] == "regions") {
      EXPECT_EQ(result.times[k].device_ms, 0);
    } else {
      EXPECT_GT(result.times[k].device_ms, 0) << stages[k];
    }
    // Both clocks see the same stage; the slack is for the markers themselves.
    EXPECT_LT(result.times[k].device_ms, result.times[k].wall_ms + 5) << stages[k];
  }
  EXPECT_TRUE(result.eigenvectors.report.converged);
  EXPECT_FALSE(result.matvec.empty());
  EXPECT_NE(result.matvec, "auto");

  const PipelineBudget budget = pipeline_budget(grid_for(64, 48), segmenter.parameters());
  const std::uint64_t planned = std::max({budget.boundaries.total(), budget.eigen.total(),
                                          budget.contours.total(), budget.regions.total()});
  const std::uint64_t matrix = 81u * 64u * 48u * sizeof(float);
  EXPECT_GT(result.device_peak_bytes, matrix);
  EXPECT_LE(result.device_peak_bytes, planned);
  EXPECT_EQ(result.device_memory.size(), budget.uses.size());
  if (segmenter.device().kind == DeviceKind::kCpu) {
    EXPECT_EQ(result.device_kept_bytes, 0u);
  } else {
    EXPECT_GE(result.device_kept_bytes, matrix);
  }
  EXPECT_GT(result.host_peak_bytes, result.eigenvectors.vectors.size() * 64 * 48 * sizeof(float));
}

TEST(Segmenter, TellsWhereLanczosTookOver) {
  const auto about_lanczos = [](int radius) {
    Parameters parameters;
    parameters.affinity.radius = radius;
    const Segmentation result = Segmenter(parameters, test_device()).segment(two_discs(64, 48));
    const bool told = std::any_of(
        result.notes.begin(), result.notes.end(),
        [](const std::string& note) { return note.find("Lanczos") != std::string::npos; });
    return std::pair(result.eigenvectors.report.solver, told);
  };
  EXPECT_EQ(about_lanczos(5), std::pair(std::string("multilevel"), false));
  EXPECT_EQ(about_lanczos(1), std::pair(std::string("lanczos"), true));  // No kept pixel is near.
}

TEST(Segmenter, GivesEigenvectorsAsTheHeaderPromises) {
  const Segmentation result = Segmenter({}, test_device()).segment(two_discs(64, 48));
  const Eigenvectors& eigen = result.eigenvectors;
  ASSERT_EQ(eigen.vectors.size(), 17u);
  ASSERT_EQ(eigen.values.size(), 17u);
  EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end()));
  EXPECT_NEAR(eigen.values[0], 0, 1e-9);
  for (const std::vector<float>& vector : eigen.vectors) {
    ASSERT_EQ(vector.size(), 64u * 48u);
    double squares = 0;
    float largest = 0;
    for (float value : vector) {
      squares += static_cast<double>(value) * value;
      if (std::abs(value) > std::abs(largest)) largest = value;
    }
    EXPECT_NEAR(squares, 1, 1e-4);
    EXPECT_GT(largest, 0);
  }
  // The trivial one is the square root of the degrees, of unit norm.
  double norm = 0;
  for (float root : eigen.sqrt_degree) norm += static_cast<double>(root) * root;
  for (std::size_t i = 0; i < eigen.sqrt_degree.size(); ++i) {
    EXPECT_NEAR(eigen.vectors[0][i], eigen.sqrt_degree[i] / std::sqrt(norm), 1e-6);
  }
}

TEST(Segmenter, GivesTheSameBytesTwice) {
  const Image image = two_discs(64, 48);
  Segmenter segmenter({}, test_device());
  const Segmentation first = segmenter.segment(image);
  expect_same(first, segmenter.segment(image));
  expect_same(first, Segmenter({}, test_device()).segment(image));
}

TEST(Segmenter, FinishesAnImageWhileItIsAtTheNext) {
  for (const Parameters& parameters : {Parameters{}, direct_cuts()}) {
    Segmenter segmenter(parameters, test_device());
    auto masked = std::make_unique<Image>(two_discs(64, 48));
    masked->valid.assign(masked->pixel_count(), 1);
    masked->valid[100] = 0;
    const Image other = two_discs(48, 64);
    const Segmentation first = segmenter.segment(*masked);
    const Segmentation second = segmenter.segment(other);

    BegunSegmentation begun = segmenter.begin(*masked, nullptr);
    masked.reset();
    auto finished = std::async(std::launch::async, [&] { return std::move(begun).finish(); });
    const Segmentation next = segmenter.begin(other, nullptr).finish();
    const Segmentation result = finished.get();
    expect_same(first, result);
    EXPECT_EQ(result.contours, first.contours);
    EXPECT_EQ(result.hierarchy.has_value(), first.hierarchy.has_value());
    EXPECT_EQ(result.times.size(), first.times.size());
    EXPECT_GT(result.host_peak_bytes, 0u);
    expect_same(second, next);
  }
}

/// Like two_discs(), with another picture for each seed, and pixels without data for some.
Image mottled(int width, int height, unsigned seed) {
  Image image = two_discs(width, height);
  std::mt19937 random(seed);
  for (int patch = 0; patch < 25; ++patch) {
    const int x0 = static_cast<int>(random() % static_cast<unsigned>(width - 12));
    const int y0 = static_cast<int>(random() % static_cast<unsigned>(height - 12));
    const float shade = 0.4F + static_cast<float>(random() % 600) * 1e-3F;
    for (int y = y0; y < y0 + 12; ++y) {
      for (int x = x0; x < x0 + 12; ++x) {
        for (int c = 0; c < 3; ++c) {
          image.pixels[static_cast<std::size_t>((y * width + x) * 3 + c)] *= shade;
        }
      }
    }
  }
  if (seed % 2 == 1) {
    image.valid.assign(image.pixel_count(), 1);
    std::fill_n(image.valid.begin(), 3 * width, std::uint8_t{0});
  }
  return image;
}

void expect_all_the_same(const Segmentation& found, const Segmentation& alone) {
  expect_same(found, alone);
  EXPECT_EQ(found.contours, alone.contours);
  EXPECT_EQ(found.eigenvectors.report.residuals, alone.eigenvectors.report.residuals);
  EXPECT_EQ(found.eigenvectors.report.solver, alone.eigenvectors.report.solver);
  EXPECT_EQ(found.notes, alone.notes);
}

TEST(Segmenter, GivesImagesTogetherWhatEachGetsAlone) {
  std::vector<Image> images;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    images.push_back(mottled(101, 67, seed));
    images.push_back(mottled(64, 90, seed + 10));
  }
  images.push_back(two_discs(12, 9));  // Solved densely.
  images.push_back(two_discs(12, 9));
  images.push_back(flat_image(101, 67, 3, 0.5F));
  EdgeMap edges{101, 67, std::vector<float>(std::size_t{101} * 67, 0.1F)};
  for (int y = 0; y < 67; ++y) edges.strength[static_cast<std::size_t>(y * 101 + 50)] = 0.9F;
  images.push_back(mottled(101, 67, 4));
  std::vector<ImageToSegment> asked;
  for (const Image& image : images) asked.push_back({&image, nullptr});
  asked.back().edges = &edges;

  Segmenter segmenter({}, test_device());
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  ASSERT_EQ(begun.size(), images.size());
  for (std::size_t k = 0; k < images.size(); ++k) {
    SCOPED_TRACE(k);
    const Segmentation found = std::move(begun[k]).finish();
    expect_all_the_same(found, segmenter.begin(images[k], asked[k].edges).finish());
  }
}

TEST(Segmenter, OneOfSeveralImagesThatFailsLeavesTheOthersAlone) {
  const Image good = mottled(90, 70, 2);
  Image broken = good;
  broken.pixels.pop_back();
  Image empty = good;
  empty.valid.assign(empty.pixel_count(), 0);
  Segmenter segmenter({}, test_device());
  const ImageToSegment asked[] = {
      {&broken, nullptr}, {&good, nullptr}, {&empty, nullptr}, {&good, nullptr}};
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  ASSERT_EQ(begun.size(), 4U);
  EXPECT_THROW(std::move(begun[0]).finish(), InputError);
  EXPECT_THROW(std::move(begun[2]).finish(), InputError);
  const Segmentation alone = segmenter.segment(good);
  expect_all_the_same(std::move(begun[1]).finish(), alone);
  expect_all_the_same(std::move(begun[3]).finish(), alone);
}

TEST(Segmenter, ImagesThatDoNotFitTogetherAreSegmentedOneByOne) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter({}, test_device());
  const PipelineBudget budget = pipeline_budget(grid_for(90, 70), segmenter.parameters());
  std::uint64_t most = 0;
  for (const MemoryBudget* phase : {&budget.boundaries, &budget.eigen, &budget.contours}) {
    most = std::max(most, phase->total());
  }
  segmenter.limit_device_memory(most);
  const std::vector<ImageToSegment> asked(3, {&image, nullptr});
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  const Segmentation alone = segmenter.segment(image);
  for (BegunSegmentation& each : begun) {
    const Segmentation found = std::move(each).finish();
    EXPECT_LE(found.device_peak_bytes, most);
    expect_all_the_same(found, alone);
  }
}

TEST(Segmenter, AsManyImagesGoTogetherAsFit) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter({}, test_device());
  const Grid grid = grid_for(90, 70);
  const std::optional<Batch> two = batch_for(
      grid, 2, disc_stencil(segmenter.parameters().affinity.radius), segmenter.parameters().eigen);
  ASSERT_TRUE(two);
  const PipelineBudget budget = pipeline_budget(*two, segmenter.parameters());
  const std::uint64_t most =
      std::max({budget.boundaries.total(), budget.eigen.total(), budget.contours.total()});
  const Segmentation alone = segmenter.segment(image);
  segmenter.limit_device_memory(most);
  const std::vector<ImageToSegment> asked(4, {&image, nullptr});
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  for (BegunSegmentation& each : begun) {
    const Segmentation found = std::move(each).finish();
    EXPECT_LE(found.device_peak_bytes, most);
    EXPECT_GT(found.device_peak_bytes, 3 * alone.device_peak_bytes / 2);
    expect_all_the_same(found, alone);
  }
}

TEST(Segmenter, ImagesTogetherStayWithinTheirPlan) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter({}, test_device());
  const std::vector<ImageToSegment> asked(4, {&image, nullptr});
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  const Segmentation found = std::move(begun.front()).finish();
  std::uint64_t planned = 0;
  for (const MemoryUse& use : found.device_memory) planned += use.bytes;
  EXPECT_LE(found.device_peak_bytes, planned);
  EXPECT_GT(found.device_peak_bytes, 3 * segmenter.segment(image).device_peak_bytes / 2);
}

TEST(Segmenter, ImagesTogetherCanBeCancelled) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter({}, test_device());
  CancelToken token;
  const Watch watch{[&](std::string_view stage, double) {
                      if (stage == "eigenvectors") token.cancel();
                    },
                    &token};
  const std::vector<ImageToSegment> asked(2, {&image, nullptr});
  EXPECT_THROW(segmenter.begin(asked, watch), CancelledError);
  EXPECT_EQ(segmenter.begin(asked).size(), 2U);
}

TEST(Segmenter, CanBeCancelledBetweenItsHalves) {
  Segmenter segmenter({}, test_device());
  BegunSegmentation begun = segmenter.begin(two_discs(64, 48), nullptr);
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(std::move(begun).finish({{}, &cancel}), CancelledError);
}

TEST(Segmenter, LeavesEigenvectorsOnTheDeviceIfNobodyWantsThem) {
  const Image image = two_discs(64, 48);
  for (const Parameters& parameters : {Parameters{}, direct_cuts()}) {
    Segmenter segmenter(parameters, test_device());
    const Segmentation whole = segmenter.segment(image);
    segmenter.keep_eigenvectors(false);
    const Segmentation result = segmenter.segment(image);
    EXPECT_EQ(result.labels.values, whole.labels.values);
    EXPECT_EQ(result.contours, whole.contours);
    EXPECT_EQ(result.eigenvectors.values, whole.eigenvectors.values);
    EXPECT_EQ(result.eigenvectors.report.residuals, whole.eigenvectors.report.residuals);
    EXPECT_EQ(result.eigenvectors.width, 64);
    EXPECT_TRUE(result.eigenvectors.vectors.empty());
    EXPECT_TRUE(result.eigenvectors.sqrt_degree.empty());
    segmenter.keep_eigenvectors(true);
    expect_same(whole, segmenter.segment(image));
  }
}

TEST(Segmenter, LabelsNothingWhereThereIsNoData) {
  Image image = two_discs(64, 48);
  image.valid.assign(image.pixel_count(), 1);
  for (std::size_t i = 0; i < image.valid.size(); ++i) {
    const std::size_t x = i % 64;
    if (x == 31 || x == 32 || i < 128) image.valid[i] = 0;
    if (image.valid[i] == 0) std::fill_n(image.pixels.begin() + static_cast<long>(3 * i), 3, 0.0f);
  }
  for (int regions : {0, 4}) {
    Parameters parameters;
    parameters.region.regions = regions;
    const Segmentation result = Segmenter(parameters, test_device()).segment(image);
    expect_labels_contract(result.labels, 64, 48, image.valid);
    for (const std::vector<float>& vector : result.eigenvectors.vectors) {
      for (std::size_t i = 0; i < vector.size(); ++i) {
        ASSERT_TRUE(std::isfinite(vector[i]));
        if (image.valid[i] == 0) {
          ASSERT_EQ(vector[i], 0.0f);
        }
      }
    }
  }
}

TEST(Segmenter, OneRegionOfOnePixelWithData) {
  Image image = flat_image(9, 7, 1, 0);
  image.valid.assign(image.pixel_count(), 0);
  image.valid[31] = 1;
  image.pixels[31] = 0.5f;
  const Segmentation result = Segmenter({}, test_device()).segment(image);
  expect_labels_contract(result.labels, 9, 7, image.valid);
  EXPECT_EQ(result.labels.count, 1);
}

TEST(Segmenter, LabelsAreTheHierarchysAutomaticCut) {
  const Image image = two_discs(120, 80);
  const Segmentation result = Segmenter({}, test_device()).segment(image);
  ASSERT_TRUE(result.hierarchy);
  EXPECT_NO_THROW(check(*result.hierarchy));
  EXPECT_EQ(result.labels.values, cut(*result.hierarchy, Parameters{}.region.threshold).values);
  ASSERT_EQ(result.contours.size(), image.pixel_count());
  // The discs' rims are the strongest boundaries.
  double rim = 0;
  double inside = 0;
  for (int y = 8; y < 72; ++y) {
    for (int x = 8; x < 112; ++x) {
      double& most = scene(x, y, 120, 80, 6) == 1 ? inside : rim;
      most = std::max<double>(most, result.contours[static_cast<std::size_t>(y * 120 + x)]);
    }
  }
  EXPECT_GT(rim, 0.5);
  EXPECT_LT(inside, rim / 2);
  Parameters three;
  three.region.regions = 3;
  expect_discs_found(Segmenter(three, test_device()).segment(image).labels);
}

TEST(Segmenter, SegmentsFlatImages) {
  Segmenter segmenter({}, test_device());
  for (float value : {0.0f, 0.5f, 1.0f}) {
    for (int channels : {1, 3}) {
      const Segmentation result = segmenter.segment(flat_image(64, 48, channels, value));
      expect_labels_contract(result.labels, 64, 48);
      for (double eigenvalue : result.eigenvectors.values) EXPECT_TRUE(std::isfinite(eigenvalue));
    }
  }
}

TEST(Segmenter, SegmentsTinyImages) {
  for (const auto& [width, height] : {std::pair(1, 1), {2, 1}, {2, 2}, {1, 13}, {13, 1}, {3, 4}}) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    Image image = flat_image(width, height, 3, 0.1f);
    for (std::size_t i = 0; i < image.pixels.size(); i += 2) image.pixels[i] = 0.9f;
    for (int regions : {0, 1, 2, width * height}) {
      if (regions > width * height) continue;
      SCOPED_TRACE(regions);
      Parameters parameters = direct_cuts();
      parameters.region.regions = regions;
      const Segmentation result = Segmenter(parameters, test_device()).segment(image);
      expect_labels_contract(result.labels, width, height);
      if (regions > 0) {
        EXPECT_EQ(result.labels.count, regions);
      }
      EXPECT_LE(result.eigenvectors.vectors.size(), image.pixel_count());
      EXPECT_EQ(result.eigenvectors.vectors.size(), result.eigenvectors.values.size());
    }
  }
}

TEST(Segmenter, ComputesAsManyVectorsAsRegionsNeed) {
  Parameters parameters = direct_cuts();
  parameters.eigen.vectors = 2;
  parameters.eigen.basis = 0;
  parameters.region.regions = 5;
  parameters.region.min_size = 1;
  const Segmentation result = Segmenter(parameters, test_device()).segment(two_discs(64, 48));
  EXPECT_EQ(result.eigenvectors.vectors.size(), 5u);
  EXPECT_EQ(result.labels.count, 5);
}

TEST(Segmenter, EveryProductGivesTheDiscs) {
  for (MatvecKind kind : {MatvecKind::kNaive, MatvecKind::kImage, MatvecKind::kUnrolled}) {
    Parameters parameters;
    parameters.matvec.kernel = kind;
    parameters.region.regions = 3;
    const Segmentation result = Segmenter(parameters, test_device()).segment(two_discs(64, 48));
    SCOPED_TRACE(result.matvec);
    expect_discs_found(result.labels);
  }
}

TEST(Segmenter, SaysWhenItDidNotConverge) {
  Parameters parameters;
  parameters.eigen.max_products = 1;
  parameters.eigen.tolerance = 1e-7;
  const Segmentation result = Segmenter(parameters, test_device()).segment(two_discs(64, 48));
  EXPECT_FALSE(result.eigenvectors.report.converged);
  expect_labels_contract(result.labels, 64, 48);
}

TEST(Segmenter, PassesTheImagesNotesOn) {
  Image image = two_discs(64, 48);
  image.notes = {"A note."};
  EXPECT_THAT(Segmenter({}, test_device()).segment(image).notes, ::testing::Contains("A note."));
}

/// The message of the error of type E that segmenting throws.
template <class E>
std::string error_of(Segmenter& segmenter, const Image& image, const Watch& watch = {}) {
  try {
    segmenter.segment(image, watch);
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

TEST(SegmenterErrors, RefusesImagesThatBreakTheContract) {
  Segmenter segmenter({}, test_device());
  Image hidden = flat_image(5, 4, 1, 0.5f);
  hidden.valid.assign(20, 0);
  EXPECT_THAT(error_of<InputError>(segmenter, hidden), HasSubstr("no pixel of the image has data"));
  EXPECT_THAT(error_of<InputError>(segmenter, Image{}), HasSubstr("size is 0x0"));
  EXPECT_THAT(error_of<InputError>(segmenter, flat_image(5, 4, 2, 0)), HasSubstr("2 channels"));
  Image cut = flat_image(5, 4, 3, 0);
  cut.pixels.pop_back();
  EXPECT_THAT(error_of<InputError>(segmenter, cut), HasSubstr("59 values, expected 60"));
  Image mask = flat_image(5, 4, 3, 0);
  mask.valid.assign(3, 1);
  EXPECT_THAT(error_of<InputError>(segmenter, mask), HasSubstr("mask holds 3"));
  for (float value : {std::nanf(""), INFINITY, -0.1f, 1.5f}) {
    Image bad = flat_image(5, 4, 1, 0.5f);
    bad.pixels[7] = value;
    EXPECT_THAT(error_of<InputError>(segmenter, bad), HasSubstr("from 0 to 1")) << value;
  }
  expect_labels_contract(segmenter.segment(flat_image(5, 4, 1, 0.5f)).labels, 5, 4);
}

TEST(SegmenterErrors, RefusesMoreRegionsThanPixels) {
  Parameters parameters;
  parameters.region.regions = 21;
  Segmenter segmenter(parameters, test_device());
  EXPECT_THAT(error_of<ConfigError>(segmenter, flat_image(5, 4, 1, 0.5f)),
              AllOf(HasSubstr("region.regions is 21"), HasSubstr("20 pixels")));
  Image masked = flat_image(6, 4, 1, 0.5f);
  masked.valid.assign(24, 1);
  std::fill_n(masked.valid.begin(), 4, std::uint8_t{0});
  EXPECT_THAT(error_of<ConfigError>(segmenter, masked), HasSubstr("at most 20 regions"));
}

TEST(SegmenterErrors, RefusesParametersDevicesAndFoldersThatMakeNoSense) {
  Parameters parameters;
  parameters.affinity.radius = 0;
  EXPECT_THROW(Segmenter(parameters, test_device()), ConfigError);
  EXPECT_THROW(Segmenter({}, "no such device"), ConfigError);
  EXPECT_THROW(Segmenter({}, test_device(), "/nonexistent/kernels"), ConfigError);
}

TEST(SegmenterErrors, StopsWhenCancelledAndGoesOnAfterwards) {
  const Image image = two_discs(64, 48);
  Segmenter segmenter({}, test_device());
  const Segmentation before = segmenter.segment(image);

  CancelToken token;
  token.cancel();
  Watch watch;
  watch.cancel = &token;
  EXPECT_EQ(error_of<CancelledError>(segmenter, image, watch), "interrupted");

  for (const char* stage : {"boundaries", "affinity", "eigenvectors", "contours", "regions"}) {
    CancelToken later;
    std::set<std::string> seen;
    watch.cancel = &later;
    watch.progress = [&](std::string_view now, double) {
      seen.emplace(now);
      if (now == stage) later.cancel();
    };
    EXPECT_THAT(error_of<CancelledError>(segmenter, image, watch), HasSubstr("interrupted"));
    EXPECT_TRUE(seen.contains(stage));
    EXPECT_EQ(seen.contains("regions"), std::string(stage) == "regions");
  }
  expect_same(before, segmenter.segment(image));
}

TEST(SegmenterErrors, NamesTheLargestImageThatFitsTheMemory) {
  const Image image = two_discs(120, 80);
  Segmenter segmenter(direct_cuts(), test_device());
  const std::uint64_t limit = 2 << 20;
  segmenter.limit_device_memory(limit);
  const std::string message = error_of<DeviceError>(segmenter, image);
  EXPECT_THAT(message, AllOf(HasSubstr("not enough device memory"), HasSubstr("megapixels (")));

  // The size it names does fit; half as much again does not.
  int width = 0;
  int height = 0;
  const std::size_t at = message.find("megapixels (");
  ASSERT_EQ(std::sscanf(message.c_str() + at, "megapixels (%dx%d)", &width, &height), 2);
  const Segmentation result = segmenter.segment(two_discs(width, height));
  EXPECT_LE(result.device_peak_bytes, limit);
  error_of<DeviceError>(segmenter, two_discs(width * 3 / 2, height));

  segmenter.limit_device_memory(16);
  EXPECT_THAT(error_of<DeviceError>(segmenter, image), HasSubstr("no image fits"));
  segmenter.limit_device_memory(0);
  expect_discs_found(segmenter.segment(image).labels);
}

class SegmenterKernelFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "diacut-kernels-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::copy(std::string(DIACUT_SOURCE_DIR) + "/kernels", folder_,
                          std::filesystem::copy_options::recursive);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(SegmenterKernelFolder, IsReadInsteadOfTheEmbeddedKernels) {
  Segmenter segmenter({}, test_device(), folder_.string());
  expect_discs_found(segmenter.segment(two_discs(64, 48)).labels);
}

TEST_F(SegmenterKernelFolder, ShowsTheBuildLogOfABrokenKernelAndRecovers) {
  Segmenter segmenter({}, test_device(), folder_.string());
  const Image image = two_discs(64, 48);
  std::map<std::filesystem::path, std::uintmax_t> sizes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (entry.is_directory()) continue;
    sizes[entry.path()] = entry.file_size();
    std::ofstream(entry.path(), std::ios::app) << "\nthis_is_no_type x = undeclared_thing;\n";
  }
  try {
    segmenter.segment(image);
    FAIL() << "no error was thrown";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.build_log(), HasSubstr("this_is_no_type"));
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not build"), HasSubstr(error.build_log())));
  }
  for (const auto& [path, size] : sizes) std::filesystem::resize_file(path, size);
  expect_discs_found(segmenter.segment(image).labels);
}

}  // namespace
}  // namespace diacut
