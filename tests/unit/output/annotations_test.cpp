#include "diacut/annotations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"
#include "output/annotation_parts.hpp"
#include "output/markup.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

/// Regions with a hole, of one pixel, and beside pixels without data.
const Labels kLabels{5, 4, 3, {1, 1, 1, 0, 2,  //
                               1, 3, 1, 0, 2,  //
                               1, 1, 1, 2, 2,  //
                               0, 0, 2, 2, 2}};

/// Everything that annotations of labels are made from.
struct Made {
  explicit Made(const Labels& from, const Hierarchy* tree = nullptr)
      : labels(from),
        outlines(trace_outlines(labels)),
        table(measure_regions(labels, outlines, tree)) {}
  AnnotatedImage image(const std::string& name = "a.png", std::int64_t number = 1) const {
    return {name, number, &labels, &outlines, &table, classes ? &*classes : nullptr};
  }
  std::optional<RegionClasses> classes;
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
  EXPECT_EQ(base64(std::vector<std::uint8_t>{'a'}), "YQ==");
  EXPECT_EQ(base64(std::vector<std::uint8_t>{'a', 'b', 0xFF}), "YWL/");
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
  EXPECT_THAT(file_of(none, AnnotationFormat::kTable), HasSubstr("label,area,"));
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
  Made made(kLabels);
  Channel grey{"grey", 5, 4, std::vector<double>(20, 100)};
  grey.values[0] = 150;
  made.table.channels.push_back(ChannelMeter(kLabels).measure(std::move(grey)));
  ASSERT_EQ(made.table.regions.size(), 3u);
  const RegionFigures& ring = made.table.regions[0];
  EXPECT_EQ(ring.area, 8);
  EXPECT_EQ(ring.sides, 16);
  EXPECT_DOUBLE_EQ(ring.centroid_x, 1);
  EXPECT_DOUBLE_EQ(ring.solidity, 8.0 / 9);
  const MeasuredChannel& measured = made.table.channels[0];
  EXPECT_DOUBLE_EQ(measured.regions[0].mean, 106.25);
  EXPECT_DOUBLE_EQ(measured.regions[0].deviation, 50 * std::sqrt(7.0) / 8);
  // The hull of region 2 is (4, 0), (5, 0), (5, 4), (2, 4), (2, 3): 9 pixels.
  EXPECT_DOUBLE_EQ(made.table.regions[1].solidity, 7.0 / 9);
  EXPECT_EQ(measured.regions[1].mean, 100);
  EXPECT_EQ(measured.regions[1].deviation, 0);
  ASSERT_EQ(made.table.neighbours.size(), 2u);
  EXPECT_EQ(made.table.neighbours[0].second, 2);
  EXPECT_EQ(made.table.neighbours[0].length, 2);
  EXPECT_EQ(made.table.neighbours[1].second, 3);
  EXPECT_EQ(made.table.neighbours[1].length, 4);
  const std::string csv = file_of(made, AnnotationFormat::kTable);
  EXPECT_THAT(csv, HasSubstr("\n1,8,0,0,3,3,1,1,8,16,0.8888888888888888,"));
  EXPECT_THAT(csv, ::testing::AllOf(HasSubstr(",106.25,16.53594569415369"),
                                    HasSubstr(",100,150,100,850,2,2 3\n")));
  EXPECT_EQ(region_graph(made.table, GraphFormat::kCsv), "source,target,length\n1,2,2\n1,3,4\n");
}

/// Shapes and values of a picture of 13 x 11 pixels, of which every pixel has another value.
struct Scribble {
  Labels labels{13, 11, 3, by_pixel(13, 11, [](int x, int y) {
                  const bool slanted = std::abs(x - y) <= 1 && y < 9;
                  const bool corner = x >= 9 && y <= 3;
                  return slanted ? 1 : corner ? 2 : x == 1 && y == 9 ? 3 : 0;
                })};
  Channel channel{"count", 13, 11, by_pixel(13, 11, [](int x, int y) {
                    return static_cast<double>((x * 7919 + y * 104729) % 65521);
                  })};
};

/// Equal to the last digit that float32 has.
void expect_as_float(double value, double expected) {
  EXPECT_NEAR(value, expected, 6e-8 * std::abs(expected));
}

// The figures are those of scikit-image 0.26.0, regionprops_table() of the same labels and values.
TEST(RegionTable, FiguresAreThoseOfRegionprops) {
  Scribble scribble;
  const RegionTable table =
      measure_regions(scribble.labels, trace_outlines(scribble.labels), nullptr);
  const MeasuredChannel measured =
      ChannelMeter(scribble.labels).measure(std::move(scribble.channel));
  struct Expected {
    double perimeter, diameter, eccentricity, orientation, mean, deviation, least, greatest, median;
  };
  const std::vector<Expected> expected = {
      {8.242640687119284, 5.753627391751592, 0.9870383798849389, 0.7989817770996099,
       32260.384615384617, 19740.174112857192, 0.0, 65385.0, 33902.5},
      {12, 4.51351666838205, 0.0, -0.7853981633974483, 27299.75, 19151.807752468172, 251.0, 60796.0,
       24076.0},
      {0, 1.1283791670955126, 0.0, -0.7853981633974483, 33186.0, 0.0, 33186.0, 33186.0, 33186.0},
  };
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const RegionFigures& region = table.regions[k];
    const ChannelFigures& values = measured.regions[k];
    EXPECT_NEAR(region.perimeter, expected[k].perimeter, 1e-12);
    expect_as_float(region.equivalent_diameter, expected[k].diameter);
    expect_as_float(region.eccentricity, expected[k].eccentricity);
    expect_as_float(region.orientation, expected[k].orientation);
    expect_as_float(values.mean, expected[k].mean);
    expect_as_float(values.deviation, expected[k].deviation);
    EXPECT_EQ(values.least, expected[k].least);
    EXPECT_EQ(values.greatest, expected[k].greatest);
    EXPECT_EQ(values.median, expected[k].median);
    EXPECT_DOUBLE_EQ(values.sum, expected[k].mean * static_cast<double>(region.area));
  }
}

TEST(RegionTable, AreasAreInTheUnitOfTheFileToo) {
  Made made(kLabels);
  made.table.pixel = {0.5, 0.25, "um"};
  for (RegionFigures& region : made.table.regions) {
    region.unit_area = static_cast<double>(region.area) / 8;
  }
  EXPECT_THAT(file_of(made, AnnotationFormat::kTable),
              ::testing::AllOf(HasSubstr("label,area,area_um2,x,"), HasSubstr("\n1,8,1,0,0,"),
                               HasSubstr(",orientation,width_um,height_um,perimeter_um,equivalent_"
                                         "diameter_um,neighbours"),
                               HasSubstr(",1.5,0.75,,1.128379167,")));
  made.table.pixel = {0.5, 0.5, "um"};
  EXPECT_THAT(file_of(made, AnnotationFormat::kTable), HasSubstr(",1.5,1.5,4,1.128379167,"));
}

TEST(RegionTable, ATableOfOtherChannelsIsRefused) {
  const TempFolder folder;
  Made made(kLabels);
  AnnotatedImage image = made.image("a.tif");
  image.page = 2;
  AnnotationFile file(folder / "all.csv", AnnotationFormat::kTable);
  file.add(annotate(image, AnnotationFormat::kTable));
  made.table.channels.push_back({"red", std::vector<ChannelFigures>(3)});
  EXPECT_THROW(file.add(annotate(image, AnnotationFormat::kTable)), InputError);
  file.commit();
  EXPECT_THAT(read_bytes(folder / "all.csv"),
              ::testing::AllOf(::testing::StartsWith("file,page,label,"),
                               HasSubstr("\na.tif,2,1,8,"), Not(HasSubstr("red"))));
}

TEST(Annotations, ClassesAreThoseOfTheTable) {
  const TempFolder folder;
  write_file(folder / "c.csv", std::string("label,class\n2,\"leaf, green\"\n3,stem\n"));
  Made made(kLabels);
  made.classes = read_classes(folder / "c.csv");
  check_classes(*made.classes, made.table);
  const Json coco = Json::parse(file_of(made, AnnotationFormat::kCoco));
  ASSERT_EQ(coco["categories"].size(), 3u);
  EXPECT_EQ(coco["categories"][0]["name"], "leaf, green");
  EXPECT_EQ(coco["annotations"][0]["category_id"], 3);
  EXPECT_EQ(coco["annotations"][2]["category_id"], 2);
  EXPECT_EQ(Json::parse(file_of(made, AnnotationFormat::kLabelMe))["shapes"][1]["label"],
            "leaf, green");
  EXPECT_THAT(file_of(made, AnnotationFormat::kYolo), HasSubstr("\n0 "));
  EXPECT_THAT(file_of(made, AnnotationFormat::kCvat), HasSubstr("<polygon label=\"stem\""));
  EXPECT_THAT(file_of(made, AnnotationFormat::kTable), HasSubstr(",\"leaf, green\"\n"));
  write_file(folder / "c.csv", std::string("2,leaf\n7,stem\n"));
  EXPECT_THROW(check_classes(read_classes(folder / "c.csv"), made.table), InputError);
  for (const auto& [text, why] :
       {std::pair("2,leaf\n2,stem\n", "line 2 is '2,stem', expected each label once"),
        std::pair("leaf\n", "line 1 is 'leaf"), std::pair("2\n", "LABEL,CLASS"),
        std::pair("x,leaf\n", "LABEL,CLASS"), std::pair("2,\n", "LABEL,CLASS"),
        std::pair("label,class\n0,ground\n", "line 2 is '0,ground', expected labels from 1: 0 is"),
        std::pair("2,leaf, green\n", "expected 2 columns"),
        std::pair("2,leaf\n3,\xE9rable\n", "line 2 holds bytes that are no UTF-8"),
        std::pair("\xFF\xFE"
                  "2",
                  "16 bits")}) {
    write_file(folder / "c.csv", std::string(text));
    EXPECT_THAT(message_of<InputError>([&] { read_classes(folder / "c.csv"); }),
                ::testing::AllOf(HasSubstr("c.csv"), HasSubstr(why)));
  }
}

TEST(Annotations, ClassesAreReadAsSpreadsheetsWriteThem) {
  const TempFolder folder;
  for (const char* text :
       {"\xEF\xBB\xBFlabel,class\r\n1,tree\r\n2,\"car, old\"\r\n",
        "\"label\",\"class\"\n\"1\",\"tree\"\n\"2\",\"car, old\"\n",
        "label,class,colour\n1,tree,red\n2,\"car, old\",\"a\nb\"\n", "1,tree,\n2,\"car, old\",\n",
        "label,class\r1,tree\r2,\"car, old\"\r", "label;class\n1;tree\n2;car, old\n",
        "Class\tLABEL\ntree\t1\ncar, old\t2\n", "\n1 , tree\n,\n2,\"car, old\" "}) {
    write_file(folder / "c.csv", std::string(text));
    const RegionClasses classes = read_classes(folder / "c.csv");
    EXPECT_THAT(classes.names, ::testing::ElementsAre("tree", "car, old", "region")) << text;
    EXPECT_EQ(classes.of(1), 0u) << text;
    EXPECT_EQ(classes.of(2), 1u) << text;
  }
  write_file(folder / "c.csv", std::string("1,\"the \"\"old\"\" tree\""));
  EXPECT_EQ(read_classes(folder / "c.csv").names.front(), "the \"old\" tree");
}

TEST(Annotations, ClassesOfSeveralFilesAreNumberedTogether) {
  const TempFolder folder;
  write_file(folder / "c.csv",
             std::string("file,label,class\na/b.png,1,tree\nc.jpg,1,car\nc.jpg,2,tree\n"));
  const RegionClasses classes = read_classes(folder / "c.csv");
  EXPECT_THAT(classes.of_label, ::testing::IsEmpty());
  for (const auto& [file, first, second] :
       {std::tuple("a/b.png", 0u, 2u), std::tuple("a/b", 0u, 2u), std::tuple("c.png", 1u, 0u),
        std::tuple("b.png", 2u, 2u)}) {
    const RegionClasses own = classes.in_file(file);
    EXPECT_THAT(own.names, ::testing::ElementsAre("tree", "car", "region")) << file;
    EXPECT_EQ(own.of(1), first) << file;
    EXPECT_EQ(own.of(2), second) << file;
  }
  write_file(folder / "c.csv", std::string("file,label,class\n,1,tree\n"));
  EXPECT_THAT(message_of<InputError>([&] { read_classes(folder / "c.csv"); }),
              HasSubstr("line 2 is ',1,tree', expected the name of a file"));
}

TEST(RegionTable, HeightsAreThoseOfTheMergeTree) {
  Hierarchy tree;
  tree.leaves = Labels{4, 1, 4, {1, 2, 3, 4}};
  tree.merges = {{1, 2, 0.25F}, {3, 4, 0.5F}, {5, 6, 0.75F}};
  const Made made(cut(tree, 0.3), &tree);
  EXPECT_EQ(region_graph(made.table, GraphFormat::kCsv),
            "source,target,length,merge_height\n1,2,1,0.75\n2,3,1,0.5\n");
  EXPECT_EQ(made.table.regions[0].merge_height, 0.75F);
  EXPECT_EQ(made.table.regions[1].merge_height, 0.5F);
  EXPECT_THAT(region_graph(made.table, GraphFormat::kGraphml),
              HasSubstr("<edge source=\"2\" target=\"3\"><data key=\"length\">1</data><data "
                        "key=\"merge_height\">0.5</data></edge>"));
}

TEST(RegionTable, SizesThatDifferAreAnError) {
  EXPECT_THROW(ChannelMeter(kLabels).measure({"a", 2, 2, std::vector<double>(4)}), InputError);
  EXPECT_THROW(graph_format("a.txt"), ConfigError);
}

TEST(Annotations, NeighboursShareTheCurvesOfASmoothSvg) {
  const auto disc = [](int x, int y) { return std::hypot(x - 15, y - 15) < 10 ? 2 : 1; };
  const Made made({32, 32, 2, by_pixel(32, 32, disc)});
  const Outlines simple = simplify_outlines(made.outlines, 1);
  const std::vector<RegionColour> colours = {{}, {255, 0, 16}, {1, 2, 3}};
  AnnotatedImage image = made.image();
  image.outlines = &simple;
  image.colours = &colours;
  image.smooth = true;
  const std::string text = annotate(image, AnnotationFormat::kSvg).image;
  EXPECT_THAT(text, HasSubstr("fill=\"#ff0010\" stroke=\"#ff0010\""));
  std::vector<std::set<std::string>> points;
  for (std::size_t at = 0; (at = text.find(" d=\"", at + 1)) != std::string::npos;) {
    const std::string path = text.substr(at + 4, text.find("Z\"", at) - at - 4);
    std::set<std::string>& own = points.emplace_back();
    const std::regex pair("[0-9.]+ [0-9.]+");
    for (std::sregex_iterator each(path.begin(), path.end(), pair), end; each != end; ++each) {
      own.insert(each->str());
    }
  }
  ASSERT_EQ(points.size(), 2U);
  EXPECT_GT(points[1].size(), 12U);
  EXPECT_TRUE(
      std::includes(points[0].begin(), points[0].end(), points[1].begin(), points[1].end()));
  EXPECT_THAT(text, HasSubstr("M0 0L32 0L32 32L0 32Z")) << "the picture's corners stay";
  const Made small(kLabels);
  AnnotatedImage of_pixels = small.image();
  of_pixels.smooth = true;
  EXPECT_THAT(annotate(of_pixels, AnnotationFormat::kSvg).image,
              HasSubstr("M1 1.5Q1 1 1.5 1Q2 1 2 1.5"))
      << "a region of one pixel";
}

}  // namespace
}  // namespace diacut::testing
