#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "diacut/annotations.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/label_stack.hpp"
#include "diacut/output.hpp"
#include "image/colour.hpp"
#include "matchers.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"
#include "output/picture.hpp"
#include "png_reader.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

/// Labels 0 (no data), 1, 2, ..., count, row by row; the rest of the pixels has the last label.
Labels stripes(int width, int height, std::int64_t count) {
  Labels labels{width, height, count, {}};
  for (std::int64_t i = 0; i < std::int64_t{width} * height; ++i) {
    labels.values.push_back(static_cast<std::int32_t>(std::min(i, count)));
  }
  return labels;
}

TEST(LabelsPng, IsSixteenBitsWhateverTheCount) {
  for (const auto& [width, height, count] : std::vector<std::tuple<int, int, std::int64_t>>{
           {1, 1, 0}, {2, 1, 1}, {1, 7, 3}, {481, 1, 300}, {13, 11, 142}, {300, 219, 65'535}}) {
    const Labels labels = stripes(width, height, count);
    const ReadPng png = read_png(encode_labels(labels, LabelFormat::kGreyPng));
    EXPECT_EQ(png.width, width);
    EXPECT_EQ(png.height, height);
    EXPECT_EQ(png.bits, 16);
    EXPECT_EQ(png.channels, 1);
    EXPECT_THAT(png.palette, IsEmpty());
    EXPECT_THAT(png.values, ElementsAreArray(labels.values));
  }
}

TEST(LabelsIndexed, HoldsTheLabelsAsIndices) {
  for (const std::int64_t count : {0, 1, 2, 254, 255}) {
    const Labels labels = stripes(17, 19, count);
    const ReadPng png = read_png(encode_labels(labels, LabelFormat::kIndexedPng));
    EXPECT_EQ(png.bits, 8);
    EXPECT_THAT(png.values, ElementsAreArray(labels.values));
    EXPECT_EQ(png.palette, distinct_colours(static_cast<int>(count) + 1));
    std::vector<std::uint8_t> alpha(png.palette.size(), 255);
    alpha[0] = 0;
    EXPECT_EQ(png.palette_alpha, alpha);
  }
}

TEST(WriteLabels, RegionsThatAFormatCannotNumberAreAnErrorThatNamesWhatCan) {
  const TempFolder folder;
  const Labels many = stripes(300, 219, 65'536);
  const Labels few = stripes(17, 19, 256);
  const auto error = [&](const Labels& labels, bool indexed) {
    EXPECT_THROW(write_labels("-", labels, indexed), InputError);
    return message_of<Error>([&] { write_labels(folder / "a.png", labels, indexed); });
  };
  EXPECT_THAT(error(many, false), AllOf(HasSubstr(folder / "a.png"), HasSubstr("65536 regions"),
                                        HasSubstr("65535"), HasSubstr(".npy"), HasSubstr(".tif")));
  EXPECT_THAT(error(few, true), AllOf(HasSubstr(folder / "a.png"), HasSubstr("256 regions"),
                                      HasSubstr("255"), HasSubstr("16-bit"), HasSubstr(".npy")));
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_NO_THROW(write_labels(folder / "a.npy", many));
  EXPECT_NO_THROW(write_labels(folder / "a.tif", many));
}

TEST(LabelsTiff, IsPackedInSeveralStrips) {
  // More than one strip, of which the last is shorter.
  Labels labels = stripes(700, 331, 40'000);
  labels.values.back() = 2'000'000'000;
  labels.count = 2'000'000'000;
  const std::vector<std::uint8_t> bytes = encode_labels(labels, LabelFormat::kTiff);
  // Without a predictor, which ImageJ does not undo in packed strips.
  EXPECT_LT(bytes.size() * 15, labels.values.size() * sizeof(std::int32_t));
  const cv::Mat read = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  ASSERT_EQ(read.type(), CV_32SC1);
  ASSERT_EQ(read.size(), cv::Size(700, 331));
  EXPECT_TRUE(std::equal(read.begin<std::int32_t>(), read.end<std::int32_t>(),
                         labels.values.begin(), labels.values.end()));
}

TEST(LabelsTiff, PagesMayDifferInSize) {
  for (const bool is_big : {false, true}) {
    LabelStack file(is_big);
    const std::vector<Labels> pages = {stripes(5, 3, 14), stripes(1, 9, 2), stripes(800, 100, 3)};
    for (const Labels& page : pages) file.add(page);
    const std::vector<std::uint8_t> bytes = file.finish();
    for (std::size_t k = 0; k < pages.size(); ++k) {
      ImageParameters parameters;
      parameters.range = ValueRange::kData;
      const Image image = decode_image(bytes, "labels", parameters, {static_cast<int>(k) + 1, ""});
      ASSERT_EQ(image.width, pages[k].width);
      ASSERT_EQ(image.height, pages[k].height);
      for (std::size_t i = 0; i < pages[k].values.size(); ++i) {
        const double share = pages[k].values[i] / static_cast<double>(pages[k].count);
        ASSERT_NEAR(image.pixels[i], share, 1e-6) << "page " << k;
      }
    }
    EXPECT_THROW(decode_image(bytes, "labels", {}, {4, ""}), InputError);
  }
}

TEST(WriteLabels, TheExtensionChoosesInAnyCase) {
  const TempFolder folder;
  const Labels labels = stripes(5, 3, 14);
  const auto expect = [&](const std::string& name, LabelFormat format, bool indexed = false) {
    write_labels(folder / name, labels, indexed);
    const std::vector<std::uint8_t> bytes = encode_labels(labels, format);
    EXPECT_EQ(read_bytes(folder / name), std::string(bytes.begin(), bytes.end())) << name;
  };
  expect("a.png", LabelFormat::kGreyPng);
  expect("a.PNG", LabelFormat::kGreyPng);
  expect("b.png", LabelFormat::kIndexedPng, true);
  expect("a.tif", LabelFormat::kTiff);
  expect("a.Tiff", LabelFormat::kTiff);
  expect("a.npy", LabelFormat::kNpy);
  expect("a.b.npy", LabelFormat::kNpy);
  EXPECT_EQ(label_format("-"), LabelFormat::kGreyPng);
  EXPECT_EQ(label_format("-", true), LabelFormat::kIndexedPng);
}

TEST(Palette, ColoursAreFarApartAndMoreSoWhenFewOrConsecutive) {
  constexpr int kCount = 256;
  const std::vector<Colour> colours = distinct_colours(kCount);
  EXPECT_EQ(colours.front(), (Colour{0, 0, 0}));
  Image image{kCount, 1, 3, {}, {}, {}};
  for (const Colour& colour : colours) {
    for (const std::uint8_t value : colour) image.pixels.push_back(value / 255.0F);
  }
  const std::vector<float> lab = lab_planes(image);
  // A just noticeable difference is about 2.3.
  for (int a = 0; a < kCount; ++a) {
    for (int b = 0; b < a; ++b) {
      const auto apart = [&](int plane) { return lab[plane + a] - lab[plane + b]; };
      const double least = a - b <= 4 ? 38 : a <= 20 ? 35 : a <= 64 ? 18 : 10;
      EXPECT_GE(std::hypot(apart(0), apart(kCount), apart(2 * kCount)), least) << a << ", " << b;
    }
  }
  for (const int count : {1, 2, 100}) {
    EXPECT_EQ(distinct_colours(count),
              std::vector<Colour>(colours.begin(), colours.begin() + count));
  }
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
  EXPECT_EQ(linker.found().splits, 1);
  EXPECT_EQ(linker.found().merges, 1);
}

TEST(PageLinker, AMissingPageIsBridgedAndSeriesAreLinkedEachByItself) {
  PageLinker linker(0.5);
  std::vector<std::string> notes;
  const Labels both{6, 1, 2, {1, 1, 0, 2, 2, 2}};
  const Labels one{6, 1, 1, {0, 0, 0, 1, 1, 1}};
  EXPECT_THAT(linker.link(both, notes), ElementsAre(1, 2));
  EXPECT_THAT(linker.link(both, notes, {0, 1}), ElementsAre(3, 4));
  EXPECT_THAT(linker.link(one, notes), ElementsAre(2));
  EXPECT_THAT(linker.link(both, notes), ElementsAre(1, 2));
  EXPECT_THAT(linker.link(one, notes, {0, 1}), ElementsAre(4));
  // Of two pages nothing is bridged.
  EXPECT_THAT(linker.link(one, notes, {0, 1}), ElementsAre(4));
  EXPECT_THAT(linker.link(both, notes, {0, 1}), ElementsAre(5, 4));
  EXPECT_EQ(linker.found().objects, 5);
  EXPECT_EQ(linker.found().splits, 0);
}

TEST(LabelsTiff, PagesKeepTheirPlaces) {
  const auto description = [](const std::vector<PictureFacts>& pages) {
    LabelStack file;
    for (const PictureFacts& page : pages) file.add(stripes(5, 3, 14), page);
    const std::vector<std::uint8_t> bytes = file.finish();
    for (std::size_t k = 0; k < pages.size(); ++k) {
      EXPECT_EQ(decode_image(bytes, "labels", {}, {static_cast<int>(k) + 1, ""}).width, 5);
    }
    return std::string(bytes.begin(), bytes.end());
  };
  std::vector<PictureFacts> pages;
  for (const auto& [slice, frame] : {std::pair(0, 0), std::pair(1, 0), std::pair(0, 1)}) {
    pages.push_back({.slices = 2, .frames = 2, .slice = slice, .frame = frame});
  }
  EXPECT_THAT(description(pages),
              AllOf(HasSubstr("SizeZ=\"2\" SizeT=\"2\""),
                    HasSubstr("<TiffData IFD=\"2\" FirstZ=\"0\" FirstT=\"1\"")));
  pages.push_back({.slices = 2, .frames = 2, .slice = 1, .frame = 1});
  EXPECT_THAT(description(pages), HasSubstr("images=4\nslices=2\nframes=2\nhyperstack=true\n"));
  pages.resize(2);
  for (PictureFacts& page : pages) page.frames = 1;
  pages.push_back({.pixel = {2, 2, "um"}, .image = 1});
  EXPECT_THAT(description(pages),
              AllOf(HasSubstr("SizeZ=\"2\""), HasSubstr("Image:1"), HasSubstr("SizeX=\"2\"")));
}

TEST(PageLinker, WithoutOverlapAllNumbersAreNewAndSizesMustBeEqual) {
  PageLinker linker(0.5);
  std::vector<std::string> notes;
  EXPECT_THAT(linker.link({4, 1, 1, {1, 1, 0, 0}}, notes), ElementsAre(1));
  EXPECT_THAT(linker.link({4, 1, 1, {0, 1, 1, 0}}, notes), ElementsAre(2));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("No region overlaps")));
  EXPECT_THROW(linker.link({2, 2, 1, {1, 1, 1, 1}}, notes), InputError);
}

TEST(PageLinker, FlowMovesThePagesBefore) {
  PageLinker linker(0.5);
  std::vector<std::string> notes;
  EXPECT_THAT(linker.link({5, 1, 2, {1, 1, 2, 0, 0}}, notes), ElementsAre(1, 2));
  // Two pixels to the right; the first ones come from outside and from nowhere.
  const float nowhere = std::numeric_limits<float>::quiet_NaN();
  linker.displace(std::vector<float>{-2, 0, nowhere, 0, -2, 0, -1.6F, 0.4F, -2, 0});
  EXPECT_THAT(linker.link({5, 1, 2, {0, 0, 1, 1, 2}}, notes), ElementsAre(1, 2));
  EXPECT_TRUE(notes.empty());
  EXPECT_THROW(linker.displace(std::vector<float>(5)), InputError);
}

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
  std::vector<std::string> notes;
  EXPECT_THAT(numbers(correct_labels(three_regions({}), grown, notes)),
              ElementsAre(10, 10, 20, 20, 30, 30, 0, 0, 0, 0, 0, 0));
  // One number through two regions joins them; on the background it marks its own pixels.
  EXPECT_THAT(numbers(correct_labels(three_regions({0, 7, 7, 0, 0, 0, 7}), grown, notes)),
              ElementsAre(7, 7, 7, 7, 30, 30, 7, 0, 0, 0, 0, 0));
  EXPECT_EQ(correct_labels(three_regions({0, 7, 7}), grown, notes).regions.count, 2);
}

TEST(CorrectLabels, ARegionWithMarksOfSeveralNumbersIsDivided) {
  // In the middle of region 1 the number that grew there is of another region's marks.
  const Labels labels{6, 1, 1, {1, 1, 1, 1, 1, 1}};
  const Correction correction{{labels, {10}}, {6, 1, {4, 0, 0, 0, 0, 5}}};
  const Labels grown{6, 1, 9, {4, 4, 9, 5, 5, 5}};
  std::vector<std::string> notes;
  EXPECT_THAT(numbers(correct_labels(correction, grown, notes)), ElementsAre(4, 4, 4, 5, 5, 5));
}

TEST(CorrectLabels, SizesMustBeEqual) {
  std::vector<std::string> notes;
  EXPECT_THROW(correct_labels(three_regions({}), Labels{1, 1, 1, {1}}, notes), InputError);
}

}  // namespace
}  // namespace diacut::testing
