#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "diacut/annotations.hpp"
#include "diacut/errors.hpp"
#include "output/annotation_parts.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::diacut::testing::read_bytes;
using ::diacut::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

/// Regions with a hole, of one pixel, and beside pixels without data.
const Labels kLabels{5, 4, 3, {1, 1, 1, 0, 2,  //
                               1, 3, 1, 0, 2,  //
                               1, 1, 1, 2, 2,  //
                               0, 0, 2, 2, 2}};

/// Everything that annotations of labels are made from.
struct Made {
  explicit Made(const Labels& from, const Image* picture = nullptr, const Hierarchy* tree = nullptr)
      : labels(from),
        outlines(trace_outlines(labels)),
        table(measure_regions(labels, outlines, picture, tree)) {}
  AnnotatedImage image(const std::string& name = "a.png", std::int64_t number = 1) const {
    return {name, number, &labels, &outlines, &table};
  }
  Labels labels;
  Outlines outlines;
  RegionTable table;
};

std::string file_of(const Made& made, AnnotationFormat format, const std::string& name = "a.png") {
  const TempFolder folder;
  write_annotations(folder / "x", made.image(name), format);
  return read_bytes(folder / "x");
}

/// The text of run lengths, read back as its description has it.
std::vector<std::uint32_t> counts_of(const std::string& text) {
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t value = 0;
    int shift = 0;
    for (bool more = true; more; shift += 5) {
      const int group = text[i++] - '0';
      value |= std::int64_t{group & 31} << shift;
      more = (group & 32) != 0;
      if (!more && (group & 16) != 0) value |= -(std::int64_t{1} << (shift + 5));
    }
    if (counts.size() > 2) value += counts[counts.size() - 2];
    counts.push_back(static_cast<std::uint32_t>(value));
  }
  return counts;
}

TEST(AnnotationText, CompressedCountsAreReadBack) {
  EXPECT_EQ(compressed_counts({6, 1, 40, 4, 5, 4, 5, 4, 21}), "61X13mN000`0");
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<std::uint32_t>(random()); };
  for (int k = 0; k < 200; ++k) {
    std::vector<std::uint32_t> counts(number() % 9 + 1);
    for (std::uint32_t& count : counts) count = number() >> number() % 32;
    EXPECT_EQ(counts_of(compressed_counts(counts)), counts);
  }
}

TEST(AnnotationText, XmlHoldsAnyName) {
  EXPECT_EQ(xml_text("a&b<c>\"d\"\n\t'e'"), "a&amp;b&lt;c&gt;&quot;d&quot;&#10;&#9;'e'");
  EXPECT_EQ(xml_text("\x01\xFF\xC3\xA4\xEF\xBF\xBE"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA4\xEF\xBF\xBD");
  EXPECT_EQ(base64({'a'}), "YQ==");
  EXPECT_EQ(base64({'a', 'b', 0xFF}), "YWL/");
}

TEST(Annotations, CocoHasPolygonsAndRunLengthsForHoles) {
  const Json coco = Json::parse(file_of(Made(kLabels), AnnotationFormat::kCoco, "a \"b\"&.png"));
  EXPECT_EQ(coco["images"][0]["file_name"], "a \"b\"&.png");
  EXPECT_EQ(coco["images"][0]["width"], 5);
  ASSERT_EQ(coco["annotations"].size(), 3u);
  const Json& ring = coco["annotations"][0];
  EXPECT_EQ(ring["id"], 1);
  EXPECT_EQ(ring["area"], 8);
  EXPECT_EQ(ring["bbox"], Json({0, 0, 3, 3}));
  EXPECT_EQ(ring["segmentation"]["size"], Json({4, 5}));
  EXPECT_THAT(counts_of(ring["segmentation"]["counts"]),
              ElementsAre(0u, 3u, 1u, 1u, 1u, 1u, 1u, 3u, 9u));
  EXPECT_EQ(coco["annotations"][2]["segmentation"], Json({{1, 1, 2, 1, 2, 2, 1, 2}}));
  EXPECT_EQ(coco["annotations"][2]["attributes"]["label"], 3);
}

TEST(Annotations, AFileOfSeveralImagesNumbersThemInOrder) {
  const TempFolder folder;
  const Made made(kLabels);
  AnnotationFile file(folder / "x", AnnotationFormat::kCoco);
  for (const std::int64_t number : {1, 3}) {
    file.add(annotate(made.image("a.png", number), AnnotationFormat::kCoco));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  file.commit();
  const Json coco = Json::parse(read_bytes(folder / "x"));
  ASSERT_EQ(coco["annotations"].size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(coco["annotations"][i]["id"], i + 1);
    EXPECT_EQ(coco["annotations"][i]["image_id"], i < 3 ? 1 : 3);
  }
  EXPECT_EQ(coco["images"][1]["id"], 3);
}

TEST(Annotations, WithoutRegionsFilesAreWholeAndEmpty) {
  const Made none(Labels{3, 2, 0, std::vector<std::int32_t>(6, 0)});
  EXPECT_THAT(Json::parse(file_of(none, AnnotationFormat::kCoco))["annotations"], IsEmpty());
  EXPECT_THAT(Json::parse(file_of(none, AnnotationFormat::kLabelMe))["shapes"], IsEmpty());
  EXPECT_THAT(Json::parse(file_of(none, AnnotationFormat::kGeoJson))["features"], IsEmpty());
  EXPECT_EQ(file_of(none, AnnotationFormat::kYolo), "");
  EXPECT_EQ(Json::parse(file_of(none, AnnotationFormat::kLabelStudio)).size(), 1u);
  EXPECT_THAT(region_csv(none.table), HasSubstr("label,area,"));
}

TEST(Annotations, NotesSayWhatBecomesOfHoles) {
  const Outlines outlines = trace_outlines(kLabels);
  for (const AnnotationFormat format :
       {AnnotationFormat::kCoco, AnnotationFormat::kLabelMe, AnnotationFormat::kYolo,
        AnnotationFormat::kLabelStudio, AnnotationFormat::kCvat}) {
    EXPECT_THAT(annotation_notes(outlines, format), ElementsAre(HasSubstr("1 of 3 regions have")));
  }
  EXPECT_THAT(annotation_notes(outlines, AnnotationFormat::kGeoJson), IsEmpty());
  EXPECT_THAT(annotation_notes(trace_outlines(Labels{2, 1, 2, {1, 2}}), AnnotationFormat::kYolo),
              IsEmpty());
}

TEST(RegionTable, FiguresOfRegions) {
  Image picture{5, 4, 1, std::vector<float>(20, 0.5F), {}, {}};
  picture.pixels[0] = 0.75F;
  const Made made(kLabels, &picture);
  ASSERT_EQ(made.table.regions.size(), 3u);
  const RegionFigures& ring = made.table.regions[0];
  EXPECT_EQ(ring.area, 8);
  EXPECT_EQ(ring.perimeter, 16);
  EXPECT_DOUBLE_EQ(ring.centroid_x, 1);
  EXPECT_DOUBLE_EQ(ring.solidity, 8.0 / 9);
  EXPECT_DOUBLE_EQ(ring.mean[0], 0.53125);
  EXPECT_DOUBLE_EQ(ring.deviation[0], 0.25 * std::sqrt(7.0) / 8);
  // The hull of region 2 is (4, 0), (5, 0), (5, 4), (2, 4), (2, 3): 9 pixels.
  EXPECT_DOUBLE_EQ(made.table.regions[1].solidity, 7.0 / 9);
  EXPECT_EQ(made.table.regions[1].mean[0], 0.5);
  EXPECT_EQ(made.table.regions[1].deviation[0], 0);
  ASSERT_EQ(made.table.neighbours.size(), 2u);
  EXPECT_EQ(made.table.neighbours[0].second, 2);
  EXPECT_EQ(made.table.neighbours[0].length, 2);
  EXPECT_EQ(made.table.neighbours[1].second, 3);
  EXPECT_EQ(made.table.neighbours[1].length, 4);
  EXPECT_THAT(region_csv(made.table),
              HasSubstr("\n1,8,0,0,3,3,1,1,16,0.8888888888888888,0.53125,0.0826797"));
  EXPECT_THAT(region_csv(made.table), HasSubstr(",2,2 3\n"));
  EXPECT_EQ(region_graph(made.table, GraphFormat::kCsv), "source,target,length\n1,2,2\n1,3,4\n");
}

TEST(RegionTable, HeightsAreThoseOfTheMergeTree) {
  Hierarchy tree;
  tree.leaves = Labels{4, 1, 4, {1, 2, 3, 4}};
  tree.merges = {{1, 2, 0.25F}, {3, 4, 0.5F}, {5, 6, 0.75F}};
  const Made made(cut(tree, 0.3), nullptr, &tree);
  EXPECT_EQ(region_graph(made.table, GraphFormat::kCsv),
            "source,target,length,merge_height\n1,2,1,0.75\n2,3,1,0.5\n");
  EXPECT_EQ(made.table.regions[0].merge_height, 0.75F);
  EXPECT_EQ(made.table.regions[1].merge_height, 0.5F);
  EXPECT_THAT(region_graph(made.table, GraphFormat::kGraphml),
              HasSubstr("<edge source=\"2\" target=\"3\"><data key=\"length\">1</data><data "
                        "key=\"merge_height\">0.5</data></edge>"));
}

TEST(RegionTable, SizesThatDifferAreAnError) {
  const Image picture{2, 2, 1, std::vector<float>(4, 0.5F), {}, {}};
  EXPECT_THROW(measure_regions(kLabels, trace_outlines(kLabels), &picture, nullptr), InputError);
  EXPECT_THROW(graph_format("a.txt"), ConfigError);
}

}  // namespace
}  // namespace diacut
