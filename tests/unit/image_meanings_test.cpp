// What the samples of a file mean (rows), to each use of a file (columns): the table of
// docs/usage.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
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
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What is drawn, upright: 1 and 5 on 0, and a strip of 9 at the right edge that some files leave
/// out.
double drawn_sample(int x, int y) {
  if (x >= 6) return 9;
  if (x >= 1 && x < 3 && y >= 1 && y < 3) return 1;
  return x >= 3 && y >= 3 ? 5 : 0;
}
double kept(int x, int /*y*/) { return x >= 6 ? 0 : 1; }

/// Samples of a pixel at a column and a row of the upright picture.
using Sample = std::function<double(int, int)>;

Sample times(const Sample& sample, double factor) {
  return [=](int x, int y) { return sample(x, y) * factor; };
}
Sample at_most(double most) {
  return [=](int x, int y) { return std::min(drawn_sample(x, y), most); };
}

void append(double value, int bits, int format, FileBytes& bytes) {
  const auto add = [&](auto number) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof number);
  };
  if (format == SAMPLEFORMAT_IEEEFP) {
    bits == 32 ? add(static_cast<float>(value)) : add(value);
  } else if (bits == 8) {
    add(static_cast<std::uint8_t>(value));
  } else if (bits == 16) {
    add(static_cast<std::uint16_t>(value));
  } else {
    add(static_cast<std::uint32_t>(value));
  }
}

/// A page of these samples, in one strip, stored as the orientation (1, 3 or 6) has it.
TiffPage page_of(const std::vector<Sample>& samples, int bits = 8, int format = 1,
                 int orientation = 1) {
  TiffPage page{.width = orientation == 6 ? kMeaningsHeight : kMeaningsWidth,
                .height = orientation == 6 ? kMeaningsWidth : kMeaningsHeight,
                .bits = bits,
                .samples_per_pixel = static_cast<int>(samples.size()),
                .sample_format = format,
                .photometric = samples.size() > 2 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK,
                .orientation = orientation,
                .rows_per_strip = kMeaningsWidth};
  std::vector<unsigned> numbers;
  for (int y = 0; y < page.height; ++y) {
    for (int x = 0; x < page.width; ++x) {
      const int u = orientation == 3   ? page.width - 1 - x
                    : orientation == 6 ? page.height - 1 - y
                                       : x;
      const int v = orientation == 3 ? page.height - 1 - y : orientation == 6 ? x : y;
      for (const Sample& sample : samples) {
        const double value = sample(u, v);
        numbers.push_back(static_cast<unsigned>(value));
        if (bits % 8 == 0) append(value, bits, format, page.samples);
      }
    }
  }
  if (bits % 8 != 0) {
    page.samples = packed(numbers, bits, samples.size() * static_cast<std::size_t>(page.width));
  }
  return page;
}

TiffPage with_extra(TiffPage page, std::vector<std::uint16_t> extra) {
  page.extra_samples = std::move(extra);
  return page;
}

TiffPage with_palette(TiffPage page) {
  page.photometric = PHOTOMETRIC_PALETTE;
  const std::size_t colours = std::size_t{1} << page.bits;
  for (std::size_t k = 0; k < 3 * colours; ++k) {
    page.palette.push_back(static_cast<std::uint16_t>((k * 79 + k / colours * 50) % 256 * 257));
  }
  return page;
}

TiffPage of_kind(TiffPage page, int kind) {
  page.set_tags = [kind](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind); };
  return page;
}

TiffPage mask_page(int orientation = 1) {
  TiffPage page = of_kind(page_of({kept}, 1, 1, orientation), FILETYPE_MASK);
  page.photometric = PHOTOMETRIC_MASK;
  return page;
}

testing::PngFile png_of(const Sample& sample, int bits, int colour_type) {
  testing::PngFile file{
      .width = kMeaningsWidth, .height = kMeaningsHeight, .bits = bits, .colour_type = colour_type};
  const FileBytes all = page_of({sample}, bits).samples;
  const std::size_t row = all.size() / kMeaningsHeight;
  for (std::size_t y = 0; y < kMeaningsHeight; ++y) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(y * row);
    file.rows.emplace_back(first, first + static_cast<std::ptrdiff_t>(row));
  }
  if (colour_type == 3) {
    for (int k = 0; k < 3 << bits; ++k) file.palette.push_back(static_cast<std::uint8_t>(k * 37));
  }
  return file;
}

/// How the samples of a file are, and what each use makes of them.
struct Meaning {
  std::string name;
  FileBytes file;
  double full = 255;             ///< What is full strength.
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

  /// How strong a number is, as a picture too where its range is that of its type.
  double strength(double number) const { return full < 0 ? 1 + number / full : number / full; }
  bool is_tiff() const { return file[0] == 'I' || file[0] == 'M'; }
};

std::ostream& operator<<(std::ostream& to, const Meaning& meaning) { return to << meaning.name; }

/// What a use saw, upright; kNone: no data.
struct Seen {
  int width = 0;
  int height = 0;
  std::vector<double> values;
  std::vector<std::string> notes;
  int channels = 1;
};

Seen seen_in(const Image& image) {
  Seen seen{image.width, image.height, {}, image.notes, image.channels};
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    double value = 0;
    for (std::size_t c = 0; c < channels; ++c) value = value * 300 + image.pixels[i * channels + c];
    seen.values.push_back(image.valid.empty() || image.valid[i] != 0 ? value : kNone);
  }
  return seen;
}

template <class Values>
Seen seen_of(int width, int height, const Values& values) {
  return {width, height, {values.begin(), values.end()}, {}, 1};
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
         const auto settled = picture->settle_range(notes);
         Image image = picture->read({0, 0, picture->frame.width, picture->frame.height}, settled);
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
           if (value != 0) {
             value = static_cast<double>(image.numbers.at(static_cast<std::size_t>(value) - 1));
           }
         }
         return seen;
       }},
  };
  return all;
}

std::vector<Meaning> meanings() {
  std::vector<Meaning> all;
  const auto add = [&](const std::string& name, const FileBytes& file) -> Meaning& {
    all.push_back({.name = name, .file = file});
    return all.back();
  };
  const auto tiff = [](const TiffPage& page) { return testing::write_tiff({page}); };
  const auto hide = [](Meaning& meaning) {
    meaning.is_hidden = true;
    meaning.no_strength = "without data";
  };
  /// The last file has a palette.
  const auto colours = [&] {
    all.back().no_strength = "colours";
    all.back().is_label = true;
    all.back().is_colour = true;
  };
  for (const int bits : {1, 2, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
    const double full = (1 << bits) - 1;
    const Sample sample = at_most(full);
    const std::string name = std::to_string(bits) + "_bits";
    const auto settle = [&](Meaning& meaning) {
      meaning.full = full;
      meaning.most = full;
    };
    settle(add("tiff_" + name, tiff(page_of({sample}, bits))));
    settle(add("scene_" + name, tiff(page_of({sample}, bits))));
    all.back().is_placed = true;
    if (bits > 8 && bits < 16) continue;
    if (bits == 16) {
      settle(add("png_" + name, testing::write_png(png_of(sample, bits, 0))));
      continue;
    }
    settle(add("png_" + name, testing::write_png(png_of(sample, bits, 0))));
    settle(add("png_palette_" + name, testing::write_png(png_of(sample, bits, 3))));
    colours();
    settle(add("tiff_palette_" + name, tiff(with_palette(page_of({sample}, bits)))));
    colours();
  }
  for (const int orientation : {3, 6}) {
    const std::string name = "_turned_" + std::to_string(orientation);
    add("tiff" + name, tiff(page_of({drawn_sample}, 8, 1, orientation)));
    add("palette" + name, tiff(with_palette(page_of({drawn_sample}, 8, 1, orientation))));
    colours();
    hide(add("alpha" + name,
             tiff(with_extra(page_of({drawn_sample, times(kept, 255)}, 8, 1, orientation), {2}))));
    hide(add("mask" + name, testing::write_tiff({page_of({drawn_sample}, 8, 1, orientation),
                                                 mask_page(orientation)})));
    hide(add("sidecar" + name, tiff(page_of({drawn_sample}, 8, 1, orientation))));
    TiffPage mask = page_of({times(kept, 255)}, 8, 1, orientation);
    mask.orientation = 1;  // It lies as the picture is stored, and does not say so.
    all.back().mask = tiff(mask);
    hide(add("no_data" + name, tiff(page_of({drawn_sample}, 8, 1, orientation))));
    all.back().no_data = 9;
  }
  hide(add("mask", testing::write_tiff({page_of({drawn_sample}), mask_page()})));
  hide(add("sidecar_png", testing::write_png(png_of(drawn_sample, 8, 0))));
  all.back().mask = tiff(page_of({times(kept, 255)}));
  hide(add("no_data", tiff(page_of({drawn_sample}))));
  all.back().no_data = 9;
  hide(add("scene_no_data", tiff(page_of({drawn_sample}))));
  all.back().no_data = 9;
  all.back().is_placed = true;
  hide(add("scene_mask", testing::write_tiff({page_of({drawn_sample}), mask_page()})));
  all.back().is_placed = true;
  testing::PngFile png = png_of(drawn_sample, 8, 0);
  png.transparent = {9};
  hide(add("png_transparent_grey", testing::write_png(png)));
  png = png_of(drawn_sample, 8, 3);
  png.palette_alpha.assign(10, 255);
  png.palette_alpha[9] = 0;
  hide(add("png_transparent_index", testing::write_png(png)));
  colours();
  // Alpha of any type, and what programs write for opaque.
  struct Alpha {
    const char* name;
    int bits;
    int format;
    double opaque;
  };
  for (const Alpha& alpha :
       {Alpha{"4", 4, 1, 15}, Alpha{"8", 8, 1, 255}, Alpha{"8_of_1", 8, 1, 1},
        Alpha{"12", 12, 1, 4095}, Alpha{"16", 16, 1, 65535}, Alpha{"16_of_255", 16, 1, 255},
        Alpha{"16_of_1", 16, 1, 1}, Alpha{"float", 32, 3, 1}, Alpha{"float_of_255", 32, 3, 255},
        Alpha{"double", 64, 3, 1}}) {
    const Sample opacity = times(kept, alpha.opaque);
    hide(add(std::string("alpha_") + alpha.name,
             tiff(with_extra(page_of({drawn_sample, opacity}, alpha.bits, alpha.format), {2}))));
    all.back().is_real = alpha.format == 3;
    all.back().full = std::ldexp(1, alpha.bits) - 1;
    if (alpha.bits < 8 || alpha.bits == 12 || std::string(alpha.name) == "8_of_1") continue;
    all.push_back(all.back());
    all.back().name.insert(0, "scene_");
    all.back().is_placed = true;
  }
  TiffPage several =
      with_extra(page_of({drawn_sample, times(drawn_sample, 2), times(kept, 255)}), {0, 2});
  several.photometric = PHOTOMETRIC_MINISBLACK;
  hide(add("alpha_behind_another", tiff(several)));
  all.back().no_numbers = all.back().no_strength = "neither colour nor alpha";
  all.back().note = "Of 3 samples a pixel the first 1 and alpha were read";
  // A fourth sample of which the file says nothing.
  const auto infrared = [](int x, int y) { return 20.0 + 26 * x + y; };
  for (const int bits : {8, 16}) {
    const double step = bits == 8 ? 1 : 100;
    const auto add_fourth = [&](const std::string& name, const Sample& fourth) {
      add(name + "_" + std::to_string(bits),
          tiff(page_of({drawn_sample, drawn_sample, drawn_sample, fourth}, bits)));
      all.back().is_colour = true;
    };
    add_fourth("infrared", times(infrared, step));
    all.back().no_numbers = "neither colour";
    all.back().note = "Of 4 samples a pixel the first 3 were read";
    add_fourth("opacity", times(kept, bits == 8 ? 255 : 65535));
    hide(all.back());
  }
  // Pages, and what is none.
  add("two_pages", testing::write_tiff({page_of({drawn_sample}), page_of({infrared})})).no_numbers =
      "2 pages";
  all.back().note = "The file has 2 pages: the first was read";
  const std::vector<TiffPage> reduced = {
      of_kind(testing::tiff_page(cv::Mat::zeros(3, 4, CV_8UC1)), FILETYPE_REDUCEDIMAGE)};
  add("reduced_behind", testing::write_tiff({page_of({drawn_sample}), reduced[0]}));
  add("reduced_before", testing::write_tiff({reduced[0], page_of({drawn_sample})}));
  TiffPage stack = page_of({drawn_sample});
  stack.description = "ImageJ=1.53t\nimages=3\nslices=3\n";
  FileBytes one_directory = tiff(stack);
  one_directory.insert(one_directory.end(), 3 * kMeaningsWidth * kMeaningsHeight, 0);
  add("imagej_one_directory", one_directory).no_numbers = "3 pages";
  all.back().note = "The file has 3 pages: the first was read";
  TiffPage inks = page_of({drawn_sample, times(drawn_sample, 2), drawn_sample, drawn_sample});
  inks.photometric = PHOTOMETRIC_SEPARATED;
  add("inks", tiff(inks)).no_numbers = "inks";
  all.back().no_strength = "colours";
  all.back().is_colour = true;
  for (const int bits : {1, 8, 16}) {
    const double full = std::ldexp(1, bits) - 1;
    TiffPage white = page_of({at_most(full)}, bits);
    white.photometric = PHOTOMETRIC_MINISWHITE;
    add("zero_is_white_" + std::to_string(bits), tiff(white)).full = -full;
    all.back().most = full;
  }
  cv::Mat coloured(kMeaningsHeight, kMeaningsWidth, CV_8UC3);
  for (int y = 0; y < coloured.rows; ++y) {
    for (int x = 0; x < coloured.cols; ++x) {
      const auto number = static_cast<unsigned char>(drawn_sample(x, y));
      coloured.at<cv::Vec3b>(y, x) = cv::Vec3b(number, static_cast<unsigned char>(40 * number), 7);
    }
  }
  add("colours", tiff(testing::tiff_page(coloured))).no_numbers = "colours";
  all.back().is_colour = true;
  return all;
}

class Meanings : public ::testing::TestWithParam<std::tuple<Meaning, Use>> {
 protected:
  std::string write() const {
    const Meaning& meaning = std::get<0>(GetParam());
    const std::string path = folder_.write(meaning.is_tiff() ? "a.tif" : "a.png", meaning.file);
    if (meaning.is_placed || meaning.no_data) {
      testing::tag_scene(path, meaning.is_placed, meaning.no_data);
    }
    if (!meaning.mask.empty()) {
      testing::tag_mask(folder_.write(meaning.is_tiff() ? "a.tif.msk" : "a.png.msk", meaning.mask));
    }
    return path;
  }

 private:
  testing::TempFolder folder_;
};

/// Whether values and numbers are alike: equal where the others are.
void expect_alike(const Seen& seen, const std::function<double(int, int)>& expected) {
  std::map<double, double> value_of;
  std::map<double, double> number_of;
  for (int y = 0; y < seen.height; ++y) {
    for (int x = 0; x < seen.width; ++x) {
      const double value = seen.values[static_cast<std::size_t>(y * seen.width + x)];
      const double number = expected(x, y);
      ASSERT_EQ(std::isnan(value), std::isnan(number)) << x << ", " << y;
      if (std::isnan(number)) continue;
      EXPECT_EQ(value_of.emplace(number, value).first->second, value) << x << ", " << y;
      EXPECT_EQ(number_of.emplace(value, number).first->second, number) << x << ", " << y;
    }
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
  ASSERT_EQ(seen.width, kMeaningsWidth);
  ASSERT_EQ(seen.height, kMeaningsHeight);
  const auto number = [&m = meaning](int x, int y) {
    return m.is_hidden && x >= 6 ? kNone : std::min(drawn_sample(x, y), m.most);
  };
  if (is_painted) {
    EXPECT_THAT(seen.notes, ::testing::ElementsAre(HasSubstr("Seeds are in colour")));
    return;
  }
  if (kind == Kind::kPicture) {
    expect_alike(seen, number);
    EXPECT_EQ(seen.channels, is_colour ? 3 : 1);
    std::string notes;
    for (const std::string& note : seen.notes) notes += note;
    EXPECT_THAT(notes, HasSubstr(use.name == "tiles" ? meaning.note.substr(0, 23) : meaning.note));
    if (is_colour || meaning.is_real) return;
  }
  for (int y = 0; y < seen.height; ++y) {
    for (int x = 0; x < seen.width; ++x) {
      if (kind == Kind::kPicture && std::isnan(number(x, y))) continue;
      double value = std::isnan(number(x, y)) ? 0 : number(x, y);
      if (kind == Kind::kMarks) value = value == 0 ? 0 : 1;
      if (kind == Kind::kStrength || kind == Kind::kPicture) value = meaning.strength(value);
      EXPECT_NEAR(seen.values[static_cast<std::size_t>(y * seen.width + x)], value, 1e-7)
          << x << ", " << y;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Image, Meanings,
                         ::testing::Combine(::testing::ValuesIn(meanings()),
                                            ::testing::ValuesIn(uses())),
                         [](const auto& each) {
                           return std::get<0>(each.param).name + "_to_" +
                                  std::get<1>(each.param).name;
                         });

TEST(MeaningsOfPages, PlanesOfAnImageJStackWithOneDirectoryAreItsPages) {
  TiffPage stack = page_of({drawn_sample});
  stack.description = "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\nhyperstack=true\n";
  for (int k = 1; k < 4; ++k) {
    stack.samples.insert(stack.samples.end(), kMeaningsWidth * kMeaningsHeight,
                         static_cast<std::uint8_t>(50 * k));
  }
  stack.height = stack.rows_per_strip = 4 * kMeaningsHeight;
  FileBytes file = testing::write_tiff({stack});
  // The height and the rows of the strip are those of one plane.
  for (std::size_t at = 0; at + 12 <= file.size(); ++at) {
    const int tag = file[at] + 256 * file[at + 1];
    const bool is_height = (tag == 257 || tag == 278) && file[at + 4] == 1 && file[at + 5] == 0 &&
                           file[at + 8] == 4 * kMeaningsHeight && file[at + 9] == 0;
    if (is_height) file[at + 8] = kMeaningsHeight;
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
  const testing::TempFolder folder;
  const std::string path =
      folder.write("a.tif", testing::write_tiff({page_of({drawn_sample}), mask_page()}));
  int channels = 0;
  ImageFile(path).read_channels({}, {}, "", [&](Channel&& channel) {
    ++channels;
    for (int i = 0; i < kMeaningsWidth * kMeaningsHeight; ++i) {
      const double value = channel.values[static_cast<std::size_t>(i)];
      if (i % kMeaningsWidth >= 6) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_EQ(value, drawn_sample(i % kMeaningsWidth, i / kMeaningsWidth));
      }
    }
  });
  EXPECT_EQ(channels, 1);
}

TEST(MeaningsOfMasks, AMaskBesideOfAnotherSizeIsRefused) {
  const testing::TempFolder folder;
  const std::string path = folder.write("a.png", testing::write_png(png_of(drawn_sample, 8, 0)));
  folder.write("a.png.msk",
               testing::write_tiff({testing::tiff_page(cv::Mat::zeros(2, 3, CV_8UC1))}));
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
