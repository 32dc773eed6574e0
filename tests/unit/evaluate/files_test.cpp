// MATLAB files of a few bytes that announce what would take all memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/mat_file.hpp"
#include "evaluate/result.hpp"
#include "mat_writer.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"
#include "output/npy.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

class EvaluatedFiles : public ::testing::Test {
 protected:
  /// Files with nothing in them that is read.
  void touch(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      std::filesystem::create_directories((folder_.path() / name).parent_path());
      write_file(folder_ / name, std::string("x"));
    }
  }
  std::string write(const std::string& name, int width, int height,
                    const std::vector<std::int32_t>& values) const {
    write_labels(folder_ / name, {width, height, 9, values});
    return folder_ / name;
  }
  /// The names of what is found, and how many files each has.
  std::vector<std::string> truths(const std::vector<std::string>& wanted) const {
    std::vector<std::string> names;
    for (const TruthEntry& entry : find_ground_truth(folder_.path().string(), wanted)) {
      names.push_back(fmt::format("{} {}", entry.name, entry.paths.size()));
    }
    return names;
  }
  std::vector<std::string> results() const {
    std::vector<std::string> names;
    for (const ResultFile& result : find_results(folder_.path().string())) {
      names.push_back(result.name);
    }
    return names;
  }

  TempFolder folder_;
};

TEST_F(EvaluatedFiles, TruthInMatlabFiles) {
  for (const bool compressed : {true, false}) {
    const std::string path = folder_ / (compressed ? "a.mat" : "b.mat");
    testing::write_ground_truth_mat(
        path, 3, 2,
        {{{1, 2, 3, 4, 5, 60000}, {0, 1, 0, 0, 0, 1}}, {{7, 7, 7, 7, 7, 7}, {1, 0, 0, 0, 0, 0}}},
        compressed);
    const GroundTruth truth = read_ground_truth({"a", {path}});
    EXPECT_EQ(truth.width, 3);
    EXPECT_EQ(truth.height, 2);
    ASSERT_EQ(truth.annotations.size(), 2u);
    EXPECT_THAT(truth.annotations[0].labels, ElementsAre(1, 2, 3, 4, 5, 60000));
    EXPECT_THAT(truth.annotations[0].boundaries, ElementsAre(0, 1, 0, 0, 0, 1));
    EXPECT_THAT(truth.annotations[1].boundaries, ElementsAre(1, 0, 0, 0, 0, 0));
  }
}

TEST_F(EvaluatedFiles, TruthInLabelsOfOneOrSeveralAnnotators) {
  const std::string first = write("a_0.png", 2, 2, {1, 1, 2, 2});
  write("a_1.npy", 2, 2, {1, 2, 1, 2});
  const std::vector<TruthEntry> entries = find_ground_truth(folder_.path().string(), {"a"});
  ASSERT_EQ(entries.size(), 1u);
  const GroundTruth truth = read_ground_truth(entries[0]);
  ASSERT_EQ(truth.annotations.size(), 2u);
  EXPECT_THAT(truth.annotations[0].labels, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(truth.annotations[0].boundaries, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(truth.annotations[1].boundaries, ElementsAre(1, 0, 1, 0));
  const std::string other = write("b.png", 1, 2, {1, 2});
  EXPECT_THAT(
      [&] {
        read_ground_truth({"a", {first, other}});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("b.png"), HasSubstr("1 x 2"), HasSubstr("2 x 2"))));
}

TEST_F(EvaluatedFiles, LabelsAgreeWithThemselves) {
  // A slanted boundary, whose steps two pixels share until they are thinned.
  constexpr int kSize = 30;
  const auto values = by_pixel(kSize, kSize, [](int x, int y) { return x > y ? 1 : 2; });
  const GroundTruth truth = read_ground_truth({"a", {write("a.png", kSize, kSize, values)}});
  const BoundaryCounts counts = match_boundaries(boundaries_of(values, kSize, kSize), truth);
  EXPECT_GT(counts.found, 20);
  EXPECT_EQ(counts.found, counts.found_matched);
  EXPECT_EQ(counts.truth, counts.truth_matched);
}

TEST_F(EvaluatedFiles, TruthInEveryLayout) {
  touch({"a.mat", "b.png", "c_0.png", "c_1.png", "c_2.png", "c_10.png", "d/first.png",
         "d/second.npy", "photo_007.png", "e_1.mat", "notes.txt", "empty/notes.txt",
         ".hidden.png"});
  EXPECT_THAT(truths({}), ElementsAre("a 1", "b 1", "c 4", "d 2", "e_1 1", "photo_007 1"));
  // The results decide what a number at the end means.
  EXPECT_THAT(truths({"c_1", "photo"}),
              ElementsAre("a 1", "b 1", "c 3", "c_1 1", "d 2", "e_1 1", "photo 1"));
  EXPECT_THAT(find_ground_truth(folder_.path().string(), {})[2].paths.back(),
              HasSubstr("c_10.png"));
  touch({"a.png"});
  expect_refused([&] { truths({}); }, "more than one ground truth for 'a'");
}

TEST_F(EvaluatedFiles, ResultsByName) {
  expect_refused([&] { results(); }, "no results");
  touch({"b.npy", "a.PNG", "c.mat", "d.txt", ".e.png"});
  EXPECT_THAT(results(), ElementsAre("a", "b", "c"));
  touch({"a.tif"});
  expect_refused([&] { results(); }, "'a'");
}

TEST_F(EvaluatedFiles, ResultsInMatlabFilesAreUcm2OrUcm) {
  const auto written = [&](const std::string& name, int width, int height) {
    testing::write_matrix_mat(folder_ / "a.mat", name, width, height, {0.5, 0.25, 1});
    return read_result(folder_ / "a.mat");
  };
  const Raster raster = written("ucm2", 3, 1);
  EXPECT_EQ(raster.width, 3);
  EXPECT_EQ(raster.height, 1);
  EXPECT_FALSE(raster.is_integer);
  EXPECT_THAT(raster.values, ElementsAre(0.5, 0.25, 1));
  EXPECT_EQ(written("ucm", 1, 3).height, 3);
  expect_refused([&] { written("other", 1, 3); }, "'ucm2' or 'ucm'");
}

Raster raster(int width, int height, const std::vector<double>& values, double full = 1) {
  return {width, height, values, full != 1, full, full != 1, false};
}

TEST(Results, KindsAreToldBySizeAndNumbers) {
  EXPECT_EQ(detect_kind(raster(5, 3, std::vector<double>(15, 0.5)), 2, 1),
            ResultKind::kUltrametric);
  EXPECT_EQ(detect_kind(raster(2, 1, {0, 0.5}), 2, 1), ResultKind::kContours);
  Raster integers = raster(2, 1, {1, 2});
  integers.is_integer = true;
  EXPECT_EQ(detect_kind(integers, 2, 1), ResultKind::kLabels);
  integers.is_indexed = true;
  EXPECT_EQ(detect_kind(integers, 2, 1), ResultKind::kLabels);

  std::vector<double> regions(64, 1);
  std::fill(regions.begin() + 32, regions.end(), 2);
  EXPECT_EQ(detect_kind(raster(8, 8, regions, 255), 8, 8), ResultKind::kLabels);
  regions.back() = 4;  // No region 3.
  EXPECT_EQ(detect_kind(raster(8, 8, regions, 255), 8, 8), ResultKind::kContours);
  std::vector<double> thin(64, 0);
  thin[3] = 1;
  thin[4] = 2;
  EXPECT_EQ(detect_kind(raster(8, 8, thin, 255), 8, 8), ResultKind::kContours);
  std::vector<double> noise;
  for (int i = 0; i < 64; ++i) noise.push_back(i * 7 % 11);
  EXPECT_EQ(detect_kind(raster(8, 8, noise, 65535), 8, 8), ResultKind::kContours);
}

TEST(Results, UltrametricMapsHaveTwiceTheSize) {
  const Raster result = raster(4, 2, std::vector<double>(8, 0));
  expect_refused([&] { check_result_size(result, ResultKind::kUltrametric, 4, 2); }, "9 x 5");
}

TEST(Results, StrengthsAreFromZeroToOne) {
  EXPECT_THAT(strengths_of(raster(2, 1, {0, 51}, 255)), ElementsAre(0, 0.2));
  expect_refused([] { strengths_of(raster(2, 1, {0, 1.5})); }, "1.5");
  expect_refused([] { strengths_of(raster(2, 1, {-0.1, 0})); }, "-0.1");
  expect_refused([] { strengths_of(raster(1, 1, {std::nan("")})); }, "without data");
}

TEST(Results, LabelsAreWholeNumbers) {
  EXPECT_THAT(labels_of(raster(2, 1, {-3, 70000})), ElementsAre(-3, 70000));
  expect_refused([] { labels_of(raster(1, 1, {0.5})); }, "0.5");
  expect_refused([] { labels_of(raster(1, 1, {3e9})); }, "3e+09");
  expect_refused([] { labels_of(raster(1, 1, {INFINITY})); }, "inf");
  EXPECT_THAT(labels_of(raster(2, 1, {7, std::nan("")})), ElementsAre(7, 0));  // No data.
}

TEST(Results, ContoursOfAnUltrametricMapAreItsLowerRightCorners) {
  std::vector<double> doubled;
  for (int i = 0; i < 5 * 7; ++i) doubled.push_back(i);  // 7 columns, 5 rows: 3 x 2 pixels.
  EXPECT_THAT(contours_of_ultrametric(doubled, 3, 2), ElementsAre(16, 18, 20, 30, 32, 34));
}

TEST(Evaluation, SuppressionThinsABlurredBoundary) {
  constexpr int kSize = 40;
  GroundTruth truth{kSize, kSize, {{}}};
  std::vector<double> contours;
  for (int i = 0; i < kSize * kSize; ++i) {
    const double distance = i % kSize - 19;
    contours.push_back(0.9 * std::exp(-distance * distance / 18));
    truth.annotations[0].boundaries.push_back(i % kSize == 19 ? 1 : 0);
  }
  truth.annotations[0].labels.assign(kSize * kSize, 1);
  EvaluationParameters parameters;
  parameters.thresholds = spaced_thresholds(99);
  parameters.suppress = true;
  const ImageEvaluation thin = evaluate(raster(kSize, kSize, contours), truth, parameters);
  // At every threshold nothing but the crest is left; the fading ends come late.
  for (std::size_t t = 40; t < 88; ++t) {
    EXPECT_EQ((*thin.boundaries)[t].precision(), 1) << t;
    EXPECT_GT((*thin.boundaries)[t].recall(), 0.7) << t;
  }
}

using File = std::vector<std::uint8_t>;

constexpr std::uint64_t kMost = std::uint64_t{1} << 28;

File file_of(const std::string& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(MatSizes, ElementsOfOtherTypesThanTheFormatHasAreRefused) {
  for (const char* name : {"odd_field_names", "odd_name_type"}) {
    const std::string text =
        testing::read_bytes(fmt::format("{}/tests/fuzz/found/mat/{}.mat", DIACUT_SOURCE_DIR, name));
    EXPECT_THAT([&] { read_mat_variables(file_of(text), kMost); },
                ThrowsMessage<InputError>(HasSubstr("damaged")))
        << name;
  }
}

TEST(MatSizes, MoreThanTheLimitIsRefusedThoughItIsThere) {
  constexpr std::uint32_t kDouble = 6;
  const std::string bytes = mat_element(2, std::string(50'000, '\0'));
  const std::string matrix = mat_array(kDouble, {1000, 50}, "ucm2", bytes);
  for (const std::string& variable : {matrix, mat_compressed(matrix)}) {
    const File file = file_of(mat_file(variable));
    EXPECT_NO_THROW(read_mat_variables(file, 50'000));
    EXPECT_THROW(read_mat_variables(file, 49'999), InputError);
  }
}

}  // namespace
}  // namespace diacut::testing
