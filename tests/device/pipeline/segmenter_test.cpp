#include "diacut/segmenter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "label_checks.hpp"
#include "matchers.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

TEST(Segmenter, FindsTheDiscsByTheirNumberAndByTwoWayCuts) {
  for (const auto& [parameters, regions] :
       {std::pair(Parameters{}, 3), {direct_cuts(), 3}, {direct_cuts(), 0}}) {
    Parameters asked = parameters;
    asked.region.regions = regions;
    const Labels labels = keeping_eigenvectors(asked).begin(two_discs(64, 48)).finish()->labels;
    expect_labels_contract(labels, 64, 48);
    expect_discs_found(labels);
    if (regions == 0) continue;
    EXPECT_EQ(labels.count, regions);
    EXPECT_GT(majorities(labels)[0].share, 0.95);
  }
}

TEST(Segmenter, BuildsAheadWhatTheFirstImageNeeds) {
  const Image image = two_discs(64, 48);
  Segmenter prepared(Parameters{}, test_device());
  Segmenter other(Parameters{}, test_device());
  prepared.prepare();
  const HierarchyCut first = prepared.segment(image);
  const HierarchyCut same = other.segment(image);
  EXPECT_EQ(first.labels.values, same.labels.values);
  EXPECT_GT(same.costs.programs_built, 0);
  EXPECT_EQ(first.costs.programs_built, same.costs.programs_built);
  EXPECT_EQ(prepared.segment(image).costs.programs_built, 0);

  Stages stages(test_device(), "");
  const PictureSize size{image.width, image.height};
  stages.prepare(forms_to_try(Grid{size.width, size.height}, 1,
                              working_parameters(Parameters{}, size, size, {}), stages.device())
                     .front());
  stages.work("counting", [&](const Context& context, const DeviceNetworks&) {
    // A GPU chooses some kernels by the size of each map.
    const int ahead = context.builds().programs;
    EXPECT_GT(ahead, 0);
    EXPECT_LE(ahead, same.costs.programs_built);
  });
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
  Segmenter segmenter = keeping_eigenvectors();
  const HierarchyCut result = segmenter.segment(two_discs(64, 48), watch);

  // Contours have rough eigenvectors of their own.
  EXPECT_THAT(stages, ElementsAre("boundaries", "contours", "affinity", "eigenvectors", "regions"));
  ASSERT_EQ(result.costs.times.size(), stages.size());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    EXPECT_EQ(result.costs.times[k].stage, stages[k]);
    EXPECT_EQ(shares[stages[k]], 1) << stages[k];
    EXPECT_GT(result.costs.times[k].wall_ms, 0) << stages[k];
    // The regions of a hierarchy are found on the host.
    if (stages[k] == "regions") {
      EXPECT_EQ(result.costs.times[k].device_ms, 0);
    } else {
      EXPECT_GT(result.costs.times[k].device_ms, 0) << stages[k];
    }
    // The device's time is part of the time on the wall; the markers themselves take some time.
    EXPECT_LT(result.costs.times[k].device_ms, result.costs.times[k].wall_ms + 5) << stages[k];
  }
  EXPECT_TRUE(result.eigenvectors.report.converged);
  EXPECT_EQ(result.eigenvectors.report.solver, "multilevel");
  EXPECT_EQ(result.eigenvectors.report.matvec, "block");

  const std::uint64_t matrix = 81u * 64u * 48u * sizeof(float);
  EXPECT_GT(result.costs.device_peak_bytes, matrix);
  EXPECT_LE(result.costs.device_peak_bytes, result.costs.announced.device_bytes);
  EXPECT_GT(result.costs.host_before_bytes, 0u);
  EXPECT_LT(result.costs.host_before_bytes, result.costs.host_peak_bytes);
  EXPECT_GE(result.costs.device_kept_bytes, matrix);
  EXPECT_GT(result.costs.host_peak_bytes,
            result.eigenvectors.vectors.size() * 64 * 48 * sizeof(float));
}

TEST(Segmenter, TellsWhereLanczosTookOver) {
  const auto about_lanczos = [](int radius) {
    Parameters parameters;
    parameters.affinity.radius = radius;
    const HierarchyCut result = keeping_eigenvectors(parameters).segment(two_discs(64, 48));
    const bool told = std::any_of(
        result.notes.begin(), result.notes.end(),
        [](const std::string& note) { return note.find("Lanczos") != std::string::npos; });
    return std::pair(result.eigenvectors.report.solver, told);
  };
  EXPECT_EQ(about_lanczos(5), std::pair(std::string("multilevel"), false));
  EXPECT_EQ(about_lanczos(1), std::pair(std::string("lanczos"), true));  // No kept pixel is near.
}

TEST(Segmenter, GivesEigenvectorsAsTheHeaderPromises) {
  const HierarchyCut result = keeping_eigenvectors().segment(two_discs(64, 48));
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
  // The trivial eigenvector is the square root of the degrees, scaled to unit norm.
  double norm = 0;
  for (float root : eigen.sqrt_degree) norm += static_cast<double>(root) * root;
  for (std::size_t i = 0; i < eigen.sqrt_degree.size(); ++i) {
    EXPECT_NEAR(eigen.vectors[0][i], eigen.sqrt_degree[i] / std::sqrt(norm), 1e-6);
  }
}

TEST(Segmenter, LeavesEigenvectorsOnTheDeviceIfNobodyWantsThem) {
  const Image image = two_discs(64, 48);
  Parameters spectral;
  spectral.contour.spectral = SpectralUse::kFull;
  for (const Parameters& parameters : {spectral, direct_cuts()}) {
    Segmenter segmenter(parameters, test_device());
    const std::unique_ptr<Segmentation> left = segmenter.begin(image).finish();
    segmenter.keep_eigenvectors(true);
    const std::unique_ptr<Segmentation> kept = segmenter.begin(image).finish();
    const Segmentation& whole = *kept;
    const Segmentation& result = *left;
    EXPECT_EQ(result.labels.values, whole.labels.values);
    EXPECT_EQ(contours_of(result), contours_of(whole));
    EXPECT_EQ(result.eigenvectors.values, whole.eigenvectors.values);
    EXPECT_EQ(result.eigenvectors.report.residuals, whole.eigenvectors.report.residuals);
    EXPECT_EQ(result.eigenvectors.width, 64);
    EXPECT_TRUE(result.eigenvectors.vectors.empty());
    EXPECT_TRUE(result.eigenvectors.sqrt_degree.empty());
    expect_same(whole, *segmenter.begin(image).finish());
  }
}

HierarchyCut segmented(const Parameters& parameters, const Image& image, bool eigenvectors) {
  Segmenter segmenter = keeping_eigenvectors(parameters);
  segmenter.keep_eigenvectors(eigenvectors);
  return segmenter.segment(image);
}

bool has_stage(const Segmentation& result, const std::string& stage) {
  return std::any_of(result.costs.times.begin(), result.costs.times.end(),
                     [&](const StageTime& time) { return time.stage == stage; });
}

TEST(Segmenter, ComputesEigenvectorsOnlyForWhoNeedsThem) {
  const Image image = two_discs(97, 61);
  for (const BoundaryKind kind : {BoundaryKind::kLearned, BoundaryKind::kGradient}) {
    Parameters parameters;
    parameters.boundary.kind = kind;
    parameters.contour.spectral = SpectralUse::kNever;
    const HierarchyCut without = segmented(parameters, image, false);
    EXPECT_TRUE(without.eigenvectors.values.empty());
    EXPECT_TRUE(without.eigenvectors.vectors.empty());
    EXPECT_TRUE(without.eigenvectors.report.converged);
    EXPECT_FALSE(has_stage(without, "eigenvectors"));
    EXPECT_FALSE(has_stage(without, "affinity"));
    EXPECT_GT(*std::max_element(without.contours.begin(), without.contours.end()), 0.2f);
    // Who asks for eigenvectors gets the same regions.
    const HierarchyCut with = segmented(parameters, image, true);
    EXPECT_EQ(with.eigenvectors.vectors.size(), 17u);
    EXPECT_EQ(with.contours, without.contours);
    EXPECT_EQ(with.labels.values, without.labels.values);
    parameters.contour.spectral = SpectralUse::kFull;
    const HierarchyCut full = segmented(parameters, image, false);
    EXPECT_EQ(full.eigenvectors.values.size(), 17u);
    EXPECT_TRUE(has_stage(full, "eigenvectors"));
    EXPECT_NE(full.contours, without.contours);
    // By default contours are made with rough eigenvectors, whether or not those of the image are
    // computed for somebody.
    parameters.contour.spectral = SpectralUse::kDecimated;
    const HierarchyCut rough = segmented(parameters, image, false);
    EXPECT_EQ(rough.eigenvectors.report.solver, "filtered");
    EXPECT_GT(rough.eigenvectors.values.size(), 2u);
    EXPECT_TRUE(rough.eigenvectors.vectors.empty());
    EXPECT_TRUE(has_stage(rough, "affinity"));
    EXPECT_NE(rough.contours, without.contours);
    const HierarchyCut both = segmented(parameters, image, true);
    EXPECT_EQ(both.eigenvectors.vectors.size(), 17u);
    EXPECT_EQ(both.contours, rough.contours);
    EXPECT_EQ(both.labels.values, rough.labels.values);
  }
}

TEST(Segmenter, MakesTheMatrixOfABoundaryMapOfOnesOwn) {
  const Image image = two_discs(97, 61);
  BoundaryMap map{image.width, image.height, std::vector<float>(image.pixel_count(), 0.0f)};
  for (int y = 0; y < image.height; ++y) {
    map.strength[y * image.width + image.width / 2] = 1.0f;
  }
  Segmenter segmenter = keeping_eigenvectors();
  segmenter.keep_eigenvectors(false);
  const std::vector<ImageToSegment> both = {{image, &map}, image};
  std::vector<BegunSegmentation> begun = segmenter.begin(both);
  const Eigenvectors of_edges = std::move(begun[0]).finish()->eigenvectors;
  EXPECT_EQ(of_edges.values.size(), 17u);
  EXPECT_EQ(of_edges.report.matrix.diagonals, 81);
  EXPECT_EQ(of_edges.report.matrix.bands, 11);
  // One line parts the picture into two.
  EXPECT_LT(of_edges.values[1], 0.1 * of_edges.values[2]);
  EXPECT_NE(of_edges.values, std::move(begun[1]).finish()->eigenvectors.values);
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
    const HierarchyCut result = keeping_eigenvectors(parameters).segment(image);
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
  const HierarchyCut result = keeping_eigenvectors().segment(image);
  expect_labels_contract(result.labels, 9, 7, image.valid);
  EXPECT_EQ(result.labels.count, 1);
}

TEST(Segmenter, LabelsAreTheHierarchysAutomaticCut) {
  const Image image = two_discs(120, 80);
  const HierarchyCut result = keeping_eigenvectors().segment(image);
  EXPECT_NO_THROW(check(result.hierarchy));
  EXPECT_EQ(result.labels.values, cut(result.hierarchy, result.hierarchy.threshold).values);
  ASSERT_EQ(result.contours.size(), image.pixel_count());
  // The discs' rims are the strongest boundaries.
  double rim = 0;
  double inside = 0;
  for (int y = 8; y < 72; ++y) {
    for (int x = 8; x < 112; ++x) {
      double& most = scene(x, y, 120, 80, 6) == 1 ? inside : rim;
      most = std::max<double>(most, result.contours[y * 120 + x]);
    }
  }
  EXPECT_GT(rim, 0.5);
  EXPECT_LT(inside, rim / 2);
  Parameters three;
  three.region.regions = 3;
  expect_discs_found(keeping_eigenvectors(three).segment(image).labels);
}

TEST(Segmenter, SegmentsFlatImages) {
  Segmenter segmenter = keeping_eigenvectors();
  for (float value : {0.0f, 0.5f, 1.0f}) {
    for (int channels : {1, 3}) {
      const HierarchyCut result = segmenter.segment(flat_image(64, 48, channels, value));
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
      const KwayCut result = keeping_eigenvectors(parameters).cut(image);
      expect_labels_contract(result.labels, width, height);
      if (regions > 0) {
        EXPECT_EQ(result.labels.count, regions);
      }
      EXPECT_LE(result.eigenvectors.vectors.size(), image.pixel_count());
      EXPECT_EQ(result.eigenvectors.vectors.size(), result.eigenvectors.values.size());
    }
  }
}

TEST(Segmenter, MakesMoreRegionsThanItHasVectors) {
  Parameters parameters = direct_cuts();
  parameters.eigen.vectors = 2;
  parameters.eigen.basis = 0;
  parameters.region.regions = 5;
  parameters.region.min_size = {LeastSize::Unit::kPixels, 1};
  const KwayCut result = keeping_eigenvectors(parameters).cut(two_discs(64, 48));
  EXPECT_EQ(result.eigenvectors.vectors.size(), 2u);
  EXPECT_EQ(result.labels.count, 5);
}

TEST(Segmenter, TheNcutPresetCutsTheSameEachTimeAndWithoutImagesToo) {
  Parameters parameters = load_parameters("ncut");
  parameters.boundary.kind = BoundaryKind::kGradient;  // The network knows photographs.
  parameters.region.regions = 3;
  for (const MatvecKind kind : {MatvecKind::kImage, MatvecKind::kVectorized}) {
    parameters.matvec.kernel = kind;
    Segmenter segmenter = keeping_eigenvectors(parameters);
    SCOPED_TRACE(to_string(kind));
    const KwayCut first = segmenter.cut(two_discs(64, 48));
    EXPECT_EQ(first.eigenvectors.report.solver, "lanczos");
    EXPECT_TRUE(first.eigenvectors.report.converged);
    const MatvecChoice choice =
        choose_matvec({kind}, segmenter.device(), dia_shape(Grid{64, 48}, disc_stencil(5)));
    EXPECT_EQ(first.eigenvectors.report.matvec, choice.name());
    EXPECT_EQ(first.eigenvectors.report.matrix.form, "dia");
    EXPECT_EQ(first.eigenvectors.report.matrix.diagonals, 81);
    EXPECT_EQ(first.eigenvectors.report.matrix.bands, 11);
    if (choice.note.empty()) {
      EXPECT_THAT(first.notes, ::testing::IsEmpty());
    } else {
      EXPECT_THAT(first.notes, ElementsAre(choice.note));
    }
    EXPECT_EQ(first.labels.count, 3);
    expect_discs_found(first.labels);
    expect_same(first, segmenter.cut(two_discs(64, 48)));
  }
}

TEST(Segmenter, PassesTheImagesNotesOn) {
  Image image = two_discs(64, 48);
  image.notes = {"A note."};
  EXPECT_THAT(keeping_eigenvectors().segment(image).notes, ::testing::Contains("A note."));
}

}  // namespace
}  // namespace diacut::testing
