// What the samples of a file mean (rows), to each use of a file (columns): the table of
// docs/usage.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "diacut/annotations.hpp"
#include "diacut/boundary_map.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/map.hpp"
#include "diacut/seeds.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/result.hpp"
#include "image_files.hpp"
#include "map/picture_blocks.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

constexpr int kMeaningsWidth = 9;  // Rows of few bits end within a byte.
constexpr int kMeaningsHeight = 6;

/// What is drawn, upright: 1 and 5 on 0, and a strip of 9 at the right edge that some files leave
/// out.
const cv::Mat1d& drawn() {
  static const cv::Mat1d all = [] {
    cv::Mat1d samples(kMeaningsHeight, kMeaningsWidth, 0.0);
    samples(cv::Rect(1, 1, 2, 2)) = 1;
    samples(cv::Rect(3, 3, 3, 3)) = 5;
    samples.colRange(6, kMeaningsWidth) = 9;
    return samples;
  }();
  return all;
}

/// `most` where the strip is not, and 0 there.
cv::Mat kept(double most = 255) {
  cv::Mat1d samples(kMeaningsHeight, kMeaningsWidth, most);
  samples.colRange(6, kMeaningsWidth) = 0;
  return samples;
}

/// A page of upright planes, in one strip, stored as the orientation (1, 3 or 6) has it; of 32 and
/// 64 bits they are floats.
TiffPage page_of(const std::vector<cv::Mat>& planes, int bits = 8, int orientation = 1) {
  cv::Mat stored;
  cv::merge(planes, stored);
  if (orientation == 3) cv::rotate(stored.clone(), stored, cv::ROTATE_180);
  if (orientation == 6) cv::rotate(stored.clone(), stored, cv::ROTATE_90_COUNTERCLOCKWISE);
  stored.convertTo(stored, bits <= 8 ? CV_8U : bits <= 16 ? CV_16U : bits == 32 ? CV_32F : CV_64F);
  TiffPage page = tiff_page(stored);
  page.bits = bits;
  page.orientation = orientation;
  page.rows_per_strip = kMeaningsWidth;
  page.extra_samples = {};
  if (bits % 8 != 0) page.samples = packed(stored, bits);
  return page;
}

TiffPage with_extra(TiffPage page, std::vector<std::uint16_t> extra) {
  page.extra_samples = std::move(extra);
  return page;
}

TiffPage with_photometric(TiffPage page, int photometric) {
  page.photometric = photometric;
  return page;
}

TiffPage with_palette(TiffPage page) {
  const std::size_t colours = std::size_t{1} << page.bits;
  for (std::size_t k = 0; k < 3 * colours; ++k) {
    page.palette.push_back(static_cast<std::uint16_t>((k * 79 + k / colours * 50) % 256 * 257));
  }
  return with_photometric(std::move(page), PHOTOMETRIC_PALETTE);
}

TiffPage of_kind(TiffPage page, int kind) {
  page.set_tags = [kind](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind); };
  return page;
}

TiffPage mask_page(int orientation = 1) {
  return with_photometric(of_kind(page_of({kept(1)}, 1, orientation), FILETYPE_MASK),
                          PHOTOMETRIC_MASK);
}

PngFile png_of(const cv::Mat& samples, int bits, int colour_type) {
  cv::Mat stored;
  samples.convertTo(stored, bits == 16 ? CV_16U : CV_8U);
  PngFile file = png_file(stored);
  file.bits = bits;
  file.colour_type = colour_type;
  for (int k = 0; colour_type == 3 && k < 3 << bits; ++k) {
    file.palette.push_back(static_cast<std::uint8_t>(k * 37));
  }
  return file;
}

/// How the samples of a file are, and what each use makes of them.
struct Meaning {
  std::string name = {};
  FileBytes file = {};
  double full = 255;             ///< What is full strength; negative: zero is.
  double most = 9;               ///< Larger numbers are stored as this one.
  bool is_hidden = false;        ///< The strip at the right edge has no data.
  std::string no_numbers = {};   ///< Why numbers are refused; empty: they are not.
  std::string no_strength = {};  ///< Why strength is refused, beside `no_numbers`.
  std::string note = {};         ///< Of a picture.
  FileBytes mask = {};           ///< Lies beside the file.
  bool is_placed = false;        ///< It has coordinates.
  std::optional<double> no_data = std::nullopt;
  bool is_label = false;   ///< As a result it holds labels.
  bool is_colour = false;  ///< As a picture.
  bool is_real = false;    ///< Its type has no range.

  bool is_tiff() const { return file[0] == 'I' || file[0] == 'M'; }
};

std::ostream& operator<<(std::ostream& to, const Meaning& meaning) { return to << meaning.name; }

/// What a use saw, upright; NaN: no data.
struct Seen {
  cv::Mat1d values;
  std::vector<std::string> notes = {};
  int channels = 1;
};

Seen seen_in(const Image& image) {
  Seen seen{cv::Mat1d(image.height, image.width), image.notes, image.channels};
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    double value = 0;
    for (std::size_t c = 0; c < channels; ++c) value = value * 300 + image.pixels[i * channels + c];
    const bool has_data = image.valid.empty() || image.valid[i] != 0;
    seen.values(static_cast<int>(i)) = has_data ? value : std::nan("");
  }
  return seen;
}

template <class Values>
Seen seen_of(int width, int height, const Values& values) {
  Seen seen{cv::Mat1d(height, width)};
  std::copy(values.begin(), values.end(), seen.values.begin());
  return seen;
}

enum class Kind { kPicture, kStrength, kNumbers, kMarks };
struct Use {
  std::string name;
  Kind kind;
  std::function<Seen(const std::string& path, ValueRange range)> read;
};
std::ostream& operator<<(std::ostream& to, const Use& use) { return to << use.name; }

const std::vector<Use>& uses() {
  static const std::vector<Use> all = {
      {"picture", Kind::kPicture,
       [](const std::string& path, ValueRange range) {
         return seen_in(is_map(path) ? read_map(path, {.range = range}).image
                                     : read_image(path, {.range = range}));
       }},
      {"tiles", Kind::kPicture,
       [](const std::string& path, ValueRange range) {
         const auto picture = open_picture(path, {.range = range}, {});
         std::vector<std::string> notes = picture->notes;
         const auto limits = picture->value_range(notes);
         Image image = picture->read({0, 0, picture->frame.width, picture->frame.height}, limits);
         image.notes = notes;
         return seen_in(image);
       }},
      {"untrusted", Kind::kPicture,
       [](const std::string& path, ValueRange range) {
         return seen_in(read_image(path, {.range = range, .untrusted = true}));
       }},
      {"boundary_map", Kind::kStrength,
       [](const std::string& path, ValueRange) {
         const BoundaryMap map = read_boundary_map(path);
         return seen_of(map.width, map.height, map.strength);
       }},
      {"result", Kind::kStrength,
       [](const std::string& path, ValueRange) {
         const Raster raster = read_result(path);
         if (!raster.is_indexed) return seen_of(raster.width, raster.height, strengths_of(raster));
         EXPECT_EQ(detect_kind(raster, raster.width, raster.height), ResultKind::kLabels);
         return seen_of(raster.width, raster.height, labels_of(raster));
       }},
      {"seeds", Kind::kNumbers,
       [](const std::string& path, ValueRange) {
         const Seeds seeds = read_seeds(path);
         Seen seen = seen_of(seeds.width, seeds.height, seeds.labels);
         seen.notes = seeds.notes;
         return seen;
       }},
      {"barriers", Kind::kMarks,
       [](const std::string& path, ValueRange) {
         const Barriers barriers = read_barriers(path);
         return seen_of(barriers.width, barriers.height, barriers.pixels);
       }},
      {"truth", Kind::kNumbers,
       [](const std::string& path, ValueRange) {
         const GroundTruth truth = read_ground_truth({"a", {path}});
         return seen_of(truth.width, truth.height, truth.annotations.at(0).labels);
       }},
      {"labels", Kind::kNumbers,
       [](const std::string& path, ValueRange) {
         const LabelImage image = read_label_image(path);
         Seen seen = seen_of(image.labels.width, image.labels.height, image.labels.values);
         for (double& value : seen.values) {
           if (value != 0)
             value = static_cast<double>(image.numbers.at(static_cast<std::size_t>(value) - 1));
         }
         return seen;
       }},
  };
  return all;
}

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  const auto add = [&](const std::string& name, const FileBytes& file,
                       const Meaning& kind = {}) -> Meaning& {
    Meaning& added = all.emplace_back(kind);
    added.name = name;
    added.file = file;
    return added;
  };
  const auto tiff = [](const TiffPage& page) { return write_tiff({page}); };
  const Meaning hidden{.is_hidden = true, .no_strength = "without data"};
  const Meaning colours{.no_strength = "colours", .is_label = true, .is_colour = true};
  for (const int bits : {1, 2, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
    const double full = (1 << bits) - 1;
    const cv::Mat samples = cv::min(drawn(), full);
    const std::string name = std::to_string(bits) + "_bits";
    const Meaning numbers{.full = full, .most = full};
    Meaning indices = colours;
    indices.full = indices.most = full;
    add("tiff_" + name, tiff(page_of({samples}, bits)), numbers);
    add("scene_" + name, tiff(page_of({samples}, bits)), numbers).is_placed = true;
    if (bits > 8 && bits < 16) continue;
    add("png_" + name, write_png(png_of(samples, bits, 0)), numbers);
    if (bits == 16) continue;
    add("png_palette_" + name, write_png(png_of(samples, bits, 3)), indices);
    add("tiff_palette_" + name, tiff(with_palette(page_of({samples}, bits))), indices);
  }
  const TiffPage plain = page_of({drawn()});
  for (const int orientation : {3, 6}) {
    const std::string name = "_turned_" + std::to_string(orientation);
    const TiffPage page = page_of({drawn()}, 8, orientation);
    add("tiff" + name, tiff(page));
    add("palette" + name, tiff(with_palette(page)), colours);
    add("alpha" + name, tiff(with_extra(page_of({drawn(), kept()}, 8, orientation), {2})), hidden);
    add("mask" + name, write_tiff({page, mask_page(orientation)}), hidden);
    TiffPage mask = page_of({kept()}, 8, orientation);
    mask.orientation = 1;  // It lies as the picture is stored, and does not say so.
    add("sidecar" + name, tiff(page), hidden).mask = tiff(mask);
    add("no_data" + name, tiff(page), hidden).no_data = 9;
  }
  for (const bool is_placed : {false, true}) {
    const std::string start = is_placed ? "scene_" : "";
    add(start + "mask", write_tiff({plain, mask_page()}), hidden).is_placed = is_placed;
    add(start + "no_data", tiff(plain), hidden).is_placed = is_placed;
    all.back().no_data = 9;
  }
  PngFile png = png_of(drawn(), 8, 0);
  add("sidecar_png", write_png(png), hidden).mask = tiff(page_of({kept()}));
  png.transparent = {9};
  add("png_transparent_grey", write_png(png), hidden);
  png = png_of(drawn(), 8, 3);
  png.palette_alpha.assign(10, 255);
  png.palette_alpha[9] = 0;
  add("png_transparent_index", write_png(png), colours).is_hidden = true;
  // Alpha of any type, and what programs write for opaque.
  struct Alpha {
    const char* name;
    int bits;
    double opaque;
  };
  for (const auto& [name, bits, opaque] :
       {Alpha{"4", 4, 15}, Alpha{"8", 8, 255}, Alpha{"8_of_1", 8, 1}, Alpha{"12", 12, 4095},
        Alpha{"16", 16, 65535}, Alpha{"16_of_255", 16, 255}, Alpha{"16_of_1", 16, 1},
        Alpha{"float", 32, 1}, Alpha{"float_of_255", 32, 255}, Alpha{"double", 64, 1}}) {
    const FileBytes file = tiff(with_extra(page_of({drawn(), kept(opaque)}, bits), {2}));
    Meaning& alpha = add(std::string("alpha_") + name, file, hidden);
    alpha.is_real = bits > 16;
    alpha.full = std::ldexp(1, bits) - 1;
    if (bits < 8 || bits == 12 || std::string(name) == "8_of_1") continue;
    const Meaning scene = alpha;
    add("scene_" + scene.name, file, scene).is_placed = true;
  }
  add("alpha_behind_another",
      tiff(with_photometric(with_extra(page_of({drawn(), 2 * drawn(), kept()}), {0, 2}),
                            PHOTOMETRIC_MINISBLACK)),
      hidden)
      .note = "Of 3 samples a pixel the first 1 and alpha were read";
  all.back().no_numbers = all.back().no_strength = "neither colour nor alpha";
  // A fourth sample of which the file says nothing.
  cv::Mat1d infrared(kMeaningsHeight, kMeaningsWidth);
  for (int i = 0; i < kMeaningsWidth * kMeaningsHeight; ++i) {
    infrared(i) = 20.0 + 26 * (i % kMeaningsWidth) + i / kMeaningsWidth;
  }
  for (const int bits : {8, 16}) {
    const std::string name = "_" + std::to_string(bits);
    const auto with_fourth = [&](const cv::Mat& fourth) {
      return tiff(page_of({drawn(), drawn(), drawn(), fourth}, bits));
    };
    add("infrared" + name, with_fourth(infrared * (bits == 8 ? 1 : 100)),
        {.no_numbers = "neither colour",
         .note = "Of 4 samples a pixel the first 3 were read",
         .is_colour = true});
    add("opacity" + name, with_fourth(kept(bits == 8 ? 255 : 65535)), hidden).is_colour = true;
  }
  // Pages, and what is none.
  add("two_pages", write_tiff({plain, page_of({infrared})}),
      {.no_numbers = "2 pages", .note = "The file has 2 pages: the first was read"});
  const TiffPage small = of_kind(tiff_page(cv::Mat::zeros(3, 4, CV_8UC1)), FILETYPE_REDUCEDIMAGE);
  add("reduced_behind", write_tiff({plain, small}));
  add("reduced_before", write_tiff({small, plain}));
  TiffPage stack = plain;
  stack.description = "ImageJ=1.53t\nimages=3\nslices=3\n";
  FileBytes one_directory = tiff(stack);
  one_directory.insert(one_directory.end(), 3 * kMeaningsWidth * kMeaningsHeight, 0);
  add("imagej_one_directory", one_directory,
      {.no_numbers = "3 pages", .note = "The file has 3 pages: the first was read"});
  add("inks",
      tiff(with_photometric(page_of({drawn(), 2 * drawn(), drawn(), drawn()}),
                            PHOTOMETRIC_SEPARATED)),
      {.no_numbers = "inks", .no_strength = "colours", .is_colour = true});
  for (const int bits : {1, 8, 16}) {
    const double full = std::ldexp(1, bits) - 1;
    const TiffPage white = page_of({cv::min(drawn(), full)}, bits);
    add("zero_is_white_" + std::to_string(bits),
        tiff(with_photometric(white, PHOTOMETRIC_MINISWHITE)), {.full = -full, .most = full});
  }
  add("colours", tiff(page_of({drawn(), 20 * drawn(), 0 * drawn() + 7})),
      {.no_numbers = "colours", .is_colour = true});
  return all;
}

class Meanings : public ::testing::TestWithParam<std::tuple<Meaning, Use>> {
 protected:
  std::string write() const {
    const Meaning& meaning = std::get<0>(GetParam());
    const std::string path = folder_.write(meaning.is_tiff() ? "a.tif" : "a.png", meaning.file);
    if (meaning.is_placed || meaning.no_data) {
      tag_scene(path, meaning.is_placed, meaning.no_data);
    }
    if (!meaning.mask.empty()) {
      tag_mask(folder_.write(meaning.is_tiff() ? "a.tif.msk" : "a.png.msk", meaning.mask));
    }
    return path;
  }

 private:
  TempFolder folder_;
};

/// Whether values and numbers are alike where there are numbers: equal where the others are.
void expect_alike(const cv::Mat1d& values, const cv::Mat1d& numbers, const cv::Mat1b& data) {
  std::map<double, double> value_of;
  std::map<double, double> number_of;
  for (int i = 0; i < kMeaningsWidth * kMeaningsHeight; ++i) {
    ASSERT_EQ(std::isnan(values(i)), data(i) == 0) << i;
    if (data(i) == 0) continue;
    EXPECT_EQ(value_of.emplace(numbers(i), values(i)).first->second, values(i)) << i;
    EXPECT_EQ(number_of.emplace(values(i), numbers(i)).first->second, numbers(i)) << i;
  }
}

TEST_P(Meanings, AreTheSameToEveryUse) {
  const auto& [meaning, use] = GetParam();
  const std::string path = write();
  std::string refusal;
  Seen seen;
  try {
    seen = use.read(path, meaning.is_real ? ValueRange::kData : ValueRange::kType);
  } catch (const InputError& error) {
    refusal = error.what();
  }
  const bool is_label = use.name == "result" && meaning.is_label;
  const Kind kind = is_label ? Kind::kNumbers : use.kind;
  const bool is_painted =
      use.name == "seeds" && (meaning.name == "colours" || meaning.name.starts_with("opacity"));
  // GDAL gives one bit of grey a palette, by which a scene is read that is read as a whole.
  const bool is_colour =
      meaning.is_colour || (use.name == "picture" && meaning.name == "scene_1_bits");
  std::string expected = kind == Kind::kPicture || is_painted ? "" : meaning.no_numbers;
  if (kind == Kind::kStrength && (use.name == "boundary_map" || expected.empty()) &&
      !meaning.no_strength.empty()) {
    expected = meaning.no_strength;
  }
  if (!expected.empty()) {
    EXPECT_THAT(refusal, HasSubstr(expected));
    return;
  }
  ASSERT_EQ(refusal, "");
  ASSERT_EQ(seen.values.size(), drawn().size());
  if (is_painted) {
    EXPECT_THAT(seen.notes, ElementsAre(HasSubstr("Seeds are in colour")));
    return;
  }
  cv::Mat1d numbers;
  cv::min(drawn(), meaning.most, numbers);
  cv::Mat1b data(numbers.size(), std::uint8_t{255});
  if (meaning.is_hidden) data.colRange(6, kMeaningsWidth) = 0;
  if (kind == Kind::kPicture) {
    expect_alike(seen.values, numbers, data);
    EXPECT_EQ(seen.channels, is_colour ? 3 : 1);
    std::string notes;
    for (const std::string& note : seen.notes) notes += note;
    EXPECT_THAT(notes, HasSubstr(use.name == "tiles" ? meaning.note.substr(0, 23) : meaning.note));
    if (is_colour || meaning.is_real) return;
    seen.values.setTo(0, data == 0);
  }
  numbers.setTo(0, data == 0);
  if (kind == Kind::kMarks) cv::min(numbers, 1.0, numbers);
  if (kind == Kind::kStrength || kind == Kind::kPicture) {
    numbers = numbers / meaning.full + (meaning.full < 0 ? 1 : 0);
  }
  EXPECT_LE(cv::norm(seen.values, numbers, cv::NORM_INF), 1e-7)
      << seen.values << ", expected " << numbers;
}

INSTANTIATE_TEST_SUITE_P(Image, Meanings,
                         ::testing::Combine(::testing::ValuesIn(meanings()),
                                            ::testing::ValuesIn(uses())),
                         [](const auto& each) {
                           return std::get<0>(each.param).name + "_to_" +
                                  std::get<1>(each.param).name;
                         });

TEST(MeaningsOfPages, PlanesOfAnImageJStackWithOneDirectoryAreItsPages) {
  std::vector<cv::Mat> planes = {drawn()};
  for (int k = 1; k < 4; ++k) planes.push_back(0 * drawn() + 50 * k);
  cv::Mat below;
  cv::vconcat(planes, below);
  TiffPage stack = page_of({below});
  stack.rows_per_strip = stack.height;
  stack.description = "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\nhyperstack=true\n";
  FileBytes file = write_tiff({stack});
  // The height and the rows of the strip are those of one plane.
  for (const int tag : {TIFFTAG_IMAGELENGTH, TIFFTAG_ROWSPERSTRIP}) {
    file = with_tag(file, tag, kMeaningsHeight);
  }
  const auto corner = [&](const ImagePart& part) {
    const Image image = decode_image(file, "a.tif", {.range = ValueRange::kType}, part);
    return std::lround(255 * image.pixels.front());
  };
  for (const int page : {1, 2, 3, 4}) EXPECT_EQ(corner({page, ""}), 50 * (page - 1));
  EXPECT_EQ(corner({2, "1"}), 100);
  EXPECT_EQ(corner({2, "2"}), 150);
}

TEST(MeaningsOfTables, ChannelsHaveNoValueWhereThereIsNoData) {
  const TempFolder folder;
  const std::string path = folder.write("a.tif", write_tiff({page_of({drawn()}), mask_page()}));
  int channels = 0;
  ImageFile(path).read_channels({}, {}, "", [&](Channel&& channel) {
    ++channels;
    for (int i = 0; i < kMeaningsWidth * kMeaningsHeight; ++i) {
      const double value = channel.values[static_cast<std::size_t>(i)];
      if (i % kMeaningsWidth >= 6) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_EQ(value, drawn()(i));
      }
    }
  });
  EXPECT_EQ(channels, 1);
}

TEST(MeaningsOfMasks, AMaskBesideOfAnotherSizeIsRefused) {
  const TempFolder folder;
  const std::string path = folder.write("a.png", write_png(png_of(drawn(), 8, 0)));
  folder.write("a.png.msk", write_tiff({tiff_page(cv::Mat::zeros(2, 3, CV_8UC1))}));
  for (const Use& use : uses()) {
    try {
      use.read(path, ValueRange::kType);
      ADD_FAILURE() << use.name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.png.msk")) << use.name;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
