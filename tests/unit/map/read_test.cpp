// Parts of one picture that several threads read at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <opencv2/core.hpp>
#include <random>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "diacut/samples.hpp"
#include "image_files.hpp"
#include "map/components.hpp"
#include "map/picture_blocks.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

/// What read_map() says that is wrong with a scene.
std::string refusal(const std::string& name, const ImageParameters& parameters = {},
                    const std::vector<int>& bands = {}) {
  return message_of<Error>([&] { read_map(name, parameters, bands); });
}

class MapRead : public ::testing::Test {
 protected:
  /// Writes a scene, which has 7 x 5 pixels and values that tell band, column and row if `file`
  /// does not say otherwise.
  std::string write(const std::string& name, SceneFile file = {}) const {
    if (file.width == 0) file.width = 7;
    if (file.height == 0) file.height = 5;
    if (!file.value) file.value = [](int band, int x, int y) { return 40 * band + 5 * y + x; };
    write_scene(folder_ / name, file);
    return folder_ / name;
  }
  static float pixel(const Image& image, int x, int y, int channel = 0) {
    return image.pixels[static_cast<std::size_t>((y * image.width + x) * image.channels + channel)];
  }

  TempFolder folder_;
};

TEST_F(MapRead, WhatLiesOnASceneIsTurnedOrRefused) {
  const MapFrame scene = read_map_frame(write("scene.tif"));
  const double x = 500'000;
  const double y = 5'200'000;
  int orientation = 0;
  // Of 7 x 5 pixels of 10 metres, stored in each of EXIF's orientations.
  for (const std::vector<double>& transform :
       std::vector<std::vector<double>>{{x, 10, 0, y, 0, -10},
                                        {x + 70, -10, 0, y, 0, -10},
                                        {x + 70, -10, 0, y - 50, 0, 10},
                                        {x, 10, 0, y - 50, 0, 10},
                                        {x, 0, 10, y, -10, 0},
                                        {x + 70, 0, -10, y, -10, 0},
                                        {x + 70, 0, -10, y - 50, 10, 0},
                                        {x, 0, 10, y - 50, 10, 0}}) {
    SceneFile file{.transform = transform};
    if (++orientation > 4) {
      file.width = 5;
      file.height = 7;
    }
    EXPECT_EQ(turn_onto(scene, write("labels.tif", file)), orientation);
  }
  const auto told = [&](const SceneFile& file) {
    const std::string name = write("labels.tif", file);
    return message_of<InputError>([&] { turn_onto(scene, name); });
  };
  EXPECT_THAT(told({.transform = {x + 70, 10, 0, y, 0, -10}}),
              AllOf(HasSubstr("labels.tif"), HasSubstr("x 500070 to 500140"),
                    HasSubstr("x 500000 to 500070, y 5199950 to 5200000")));
  EXPECT_THAT(told({.epsg = 32633}), HasSubstr("UTM zone 33N"));
  // World files and control points say it, too.
  const auto beside = [&](const std::string& name, const std::string& lines) {
    std::ofstream(folder_ / name) << lines;
  };
  const std::string south = "10\n0\n0\n10\n500005\n5199955\n";
  write("world.tif", {.epsg = 0, .transform = {}});
  write("picture.png", {.driver = "PNG", .epsg = 0, .transform = {}});
  for (const char* name : {"world.tfw", "picture.wld"}) beside(name, south);
  EXPECT_EQ(turn_onto(scene, folder_ / "world.tif"), 4);
  EXPECT_EQ(turn_onto(scene, folder_ / "picture.png"), 4);
  beside("picture.wld", "10\n0\n0\n-10\n500075\n5199995\n");
  EXPECT_THAT(message_of<InputError>([&] { turn_onto(scene, folder_ / "picture.png"); }),
              HasSubstr("x 500070 to 500140"));
  const auto by_points = [&](double upper, double lower) {
    return SceneFile{.points = {{0, 0, x, upper}, {7, 0, x + 70, upper}, {0, 5, x, lower}}};
  };
  const std::string upright = write("points.tif", by_points(y, y - 50));
  EXPECT_EQ(turn_onto(scene, upright), 1);
  EXPECT_EQ(turn_onto(scene, write("turned.tif", by_points(y - 50, y))), 4);
  EXPECT_EQ(turn_onto(read_map_frame(upright), folder_ / "turned.tif"), 4);
  EXPECT_THAT(told(by_points(y + 70, y + 20)), HasSubstr("y 5200020 to 5200070"));
  // Heights do not count.
  beside("heights.tif.aux.xml",
         "<PAMDataset><SRS>EPSG:32632+5773</SRS><GeoTransform>500000, 10, 0, "
         "5200000, 0, -10</GeoTransform></PAMDataset>");
  EXPECT_EQ(turn_onto(scene, write("heights.tif", {.epsg = 0, .transform = {}})), 1);
  // What does not say where it lies is laid on as it is.
  EXPECT_EQ(turn_onto(scene, write("plain.tif", {.epsg = 0, .transform = {}})), 1);
  EXPECT_EQ(turn_onto(scene, write("unnamed.tif", {.epsg = 0})), 1);
}

TEST_F(MapRead, TellsScenesFromPictures) {
  for (const std::string& map : {
           write("plain.tif"),
           write("big.tif", {.options = {"BIGTIFF=YES"}}),
           write("motorola.tif", {.options = {"ENDIANNESS=BIG"}}),
           write("no-data.tif", {.epsg = 0, .transform = {}, .no_data = 3}),
           write("many.tif", {.bands = 5, .epsg = 0, .transform = {}}),
           write("points.tif", {.points = {{0, 0, 10, 20}, {7, 0, 30, 20}, {0, 5, 10, 0}}}),
           write("geo.jp2", {.width = 64, .height = 64, .driver = "JP2OpenJPEG"}),
           write("scene.vrt", {.driver = "VRT"}),
           write("scene.img", {.driver = "HFA"}),
           "/vsizip/" + (folder_ / "a.zip") + "/b.tif",
       }) {
    EXPECT_TRUE(is_map(map)) << map;
  }
}

TEST_F(MapRead, WhatLiesBesideAPictureMakesItAScene) {
  const std::string name = write("a.tif", {.epsg = 0, .transform = {}});
  const std::string world = "10\n0\n0\n-10\n500005\n5199995\n";
  for (const auto& [beside, text] : {std::pair("a.tfw", world),
                                     {"a.TFW", world},
                                     {"a.tifw", world},
                                     {"a.wld", world},
                                     {"a.tif.aux.xml",
                                      "<PAMDataset><GeoTransform>500000, 10, 0, 5200000, 0, "
                                      "-10</GeoTransform></PAMDataset>"}}) {
    EXPECT_FALSE(is_map(name));
    std::ofstream(folder_ / beside) << text;
    EXPECT_TRUE(is_map(name)) << beside;
    EXPECT_EQ(read_map_frame(name).transform.value_or(std::array<double, 6>())[0], 500'000);
    std::filesystem::remove(folder_ / beside);
  }
  std::ofstream(folder_ / "a.tif.aux.xml")
      << "<PAMDataset><PAMRasterBand band=\"1\"><Metadata><MDI key=\"STATISTICS_MEAN\">3</MDI>"
         "</Metadata></PAMRasterBand></PAMDataset>";
  EXPECT_FALSE(is_map(name));
}

TEST_F(MapRead, TellsPicturesFromScenes) {
  SceneFile picture{.width = 64, .height = 64, .bands = 3, .epsg = 0, .transform = {}};
  for (const auto& [name, driver] : {std::pair("picture.tif", "GTiff"),
                                     {"picture.png", "PNG"},
                                     {"picture.jp2", "JP2OpenJPEG"}}) {
    picture.driver = driver;
    write(name, picture);
  }
  // Inks, with alpha.
  testing::TiffPage inks = testing::tiff_page(cv::Mat::zeros(2, 3, CV_8UC(5)));
  inks.photometric = 5;
  folder_.write("inks.tif", testing::write_tiff({inks}));
  std::ofstream(folder_ / "text.tif") << "no picture at all";
  std::ofstream(folder_ / "short.tif") << std::string("II*\0", 4);
  std::ofstream(folder_ / "empty.tif");
  std::ofstream(folder_ / "paper.pdf") << "%PDF-1.4\n";
  for (const char* name :
       {"picture.tif", "picture.png", "picture.jp2", "inks.tif", "text.tif", "short.tif",
        "empty.tif", "paper.pdf", "missing.tif", "NETCDF:missing.nc:a"}) {
    EXPECT_FALSE(is_map(folder_ / name)) << name;
  }
  EXPECT_FALSE(is_map("-"));
  EXPECT_FALSE(is_map(folder_.path().string()));
}

TEST_F(MapRead, ValuesOfMoreBitsAreStretchedAsThoseOfPictures) {
  const auto stored = [](int band, int x, int y) { return 300 * band + 100 * y + x; };
  const Image image =
      read_map(write("a.tif", {.type = "UInt16", .bands = 3, .value = stored})).image;
  std::vector<std::uint16_t> samples;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      for (int band = 1; band <= 3; ++band) {
        samples.push_back(static_cast<std::uint16_t>(stored(band, x, y)));
      }
    }
  }
  const Image expected = image_from_samples({samples.data(), SampleType::kUint16, 7, 5, 3});
  EXPECT_EQ(image.pixels, expected.pixels);
  EXPECT_EQ(image.notes, expected.notes);
  ASSERT_EQ(image.notes.size(), 1u);
}

TEST_F(MapRead, EveryTypeOfNumberIsRead) {
  for (const char* type : {"Byte", "UInt16", "Int16", "UInt32", "Int32", "Float32", "Float64"}) {
    const Image image =
        read_map(write("a.tif", {.type = type, .no_data = 41}), {.range = ValueRange::kData}).image;
    expect_well_formed(image);
    // 40 to 66 without 41, of which 40 becomes 0 and 66 becomes 1.
    EXPECT_NEAR(pixel(image, 6, 4), 1, 1e-6) << type;
    EXPECT_NEAR(pixel(image, 3, 2), 0.5, 1e-6) << type;
    EXPECT_EQ(image.valid[1], 0) << type;
    EXPECT_EQ(image.valid[0], 1) << type;
  }
}

TEST_F(MapRead, SignedBytesAreSigned) {
  const auto value = [](int, int x, int) { return x == 0 ? 156 : 10 * x; };  // 156 is -100.
  const Image image =
      read_map(write("a.tif", {.options = {"PIXELTYPE=SIGNEDBYTE"}, .value = value}),
               {.range = ValueRange::kData})
          .image;
  EXPECT_NEAR(pixel(image, 0, 0), 0, 1e-6);
  EXPECT_NEAR(pixel(image, 6, 0), 1, 1e-6);
  EXPECT_NEAR(pixel(image, 1, 0), 110 / 160.0, 1e-6);
}

TEST_F(MapRead, NoDataAlphaAndNotANumberHaveNoData) {
  const auto value = [](int band, int x, int y) {
    if (band == 2 && x == 1 && y == 1) return -9999.0;
    if (band == 3 && x == 2 && y == 2) return std::numeric_limits<double>::quiet_NaN();
    return x / 10.0 + y / 20.0;
  };
  const std::string name =
      write("a.tif", {.type = "Float32", .bands = 3, .no_data = -9999, .value = value});
  const Image image = read_map(name).image;
  expect_well_formed(image);
  ASSERT_EQ(image.valid.size(), 35u);
  EXPECT_EQ(std::count(image.valid.begin(), image.valid.end(), 0), 2);
  EXPECT_EQ(image.valid[1 * 7 + 1], 0);
  EXPECT_EQ(image.valid[2 * 7 + 2], 0);
  EXPECT_THAT(image.notes, ::testing::Contains(HasSubstr("1 of 35 pixels are masked")));
  EXPECT_THAT(image.notes, ::testing::Contains(HasSubstr("1 of 35 pixels are not finite")));

  const auto alpha = [](int band, int x, int) { return band == 2 ? (x < 3 ? 100 : 200) : 10 * x; };
  const Image half =
      read_map(write("b.tif", {.bands = 2, .last_is_alpha = true, .value = alpha})).image;
  EXPECT_EQ(half.channels, 1);
  EXPECT_EQ(std::count(half.valid.begin(), half.valid.end(), 0), 15);
  EXPECT_EQ(half.valid[2], 0);
  EXPECT_EQ(half.valid[3], 1);

  // Each of them leaves pixels out, beside the others; alpha beside any number of bands.
  for (const char* type : {"Byte", "UInt16"}) {
    for (const int bands : {2, 4, 6}) {
      const auto both = [&](int band, int x, int y) {
        const double opaque = std::string(type) == "Byte" ? 255 : 65535;
        return band == bands ? (x < 3 ? 0 : opaque) : x == 5 && y == 1 ? 7 : 10 * x + band;
      };
      const Image left = read_map(write("c.tif", {.type = type,
                                                  .bands = bands,
                                                  .no_data = 7,
                                                  .last_is_alpha = true,
                                                  .value = both}))
                             .image;
      EXPECT_EQ(std::count(left.valid.begin(), left.valid.end(), 0), 16) << type << bands;
    }
  }
}

TEST_F(MapRead, ASceneWithoutAnyDataIsRefused) {
  for (const int bands : {1, 3, 5}) {
    const auto value = [](int, int, int) { return 7; };
    EXPECT_THAT(refusal(write("a.tif", {.bands = bands, .no_data = 7, .value = value})),
                AllOf(HasSubstr(folder_ / "a.tif"), HasSubstr("nothing to segment")));
  }
}

TEST_F(MapRead, BandsAreChosenByTheirNumbers) {
  const std::string name = write("a.tif", {.bands = 5});
  const ImageParameters stored{.range = ValueRange::kType};
  const Map three = read_map(name, stored, {4, 3, 2});
  EXPECT_EQ(three.image.channels, 3);
  EXPECT_EQ(pixel(three.image, 0, 0, 0), 160 / 255.0F);
  EXPECT_EQ(pixel(three.image, 0, 0, 2), 80 / 255.0F);
  EXPECT_THAT(three.image.notes, IsEmpty());
  EXPECT_THAT(three.frame.bands, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(pixel(read_map(name, stored, {5}).image, 0, 0), 200 / 255.0F);
  EXPECT_THAT(refusal(name, {}, {6}), AllOf(HasSubstr("5 bands"), HasSubstr("no band 6")));
  EXPECT_THAT(refusal(name, {}, {0}), HasSubstr("no band 0"));
  EXPECT_THAT(refusal(name, {}, {1, 2}), HasSubstr("2 bands are named"));
  EXPECT_THROW(read_map(name, {}, {1, 2}), ConfigError);
}

TEST_F(MapRead, APaletteIsReadAsItsColours) {
  const auto value = [](int, int x, int) { return x % 3; };
  const Map map =
      read_map(write("a.tif", {.palette = {0xff0000, 0x00ff00, 0x102030}, .value = value}));
  EXPECT_EQ(map.image.channels, 3);
  EXPECT_EQ(pixel(map.image, 1, 0, 1), 1);
  EXPECT_EQ(pixel(map.image, 2, 0, 0), 16 / 255.0F);
  EXPECT_THAT(map.frame.bands, ElementsAre(1));
}

TEST_F(MapRead, OtherNumbersOfBandsAreLookedAtTogether) {
  for (const int bands : {2, 4, 7}) {
    const auto value = [](int band, int x, int y) {
      return 1000 + 100 * band + (x < 3 ? 0 : 50 * band) + (band % 2) * 9 * y;
    };
    const Image image =
        read_map(write("a.tif", {.type = "UInt16", .bands = bands, .value = value})).image;
    expect_well_formed(image);
    EXPECT_EQ(image.channels, 3);
    ASSERT_FALSE(image.notes.empty());
    EXPECT_THAT(image.notes.front(),
                AllOf(HasSubstr("All of its " + std::to_string(bands) + " bands"),
                      HasSubstr("100.0% of their variance"), HasSubstr("--bands")));
    // What all bands have in common is brightness.
    const auto brightness = [&](int x, int y) {
      return pixel(image, x, y, 0) + pixel(image, x, y, 1) + pixel(image, x, y, 2);
    };
    EXPECT_GT(brightness(5, 2), brightness(1, 2) + 0.5F) << bands;
  }
}

TEST_F(MapRead, APixelWithoutDataInOneOfManyBandsHasNone) {
  const auto value = [](int band, int x, int y) {
    return band == 3 && x == 2 && y == 1 ? 0 : 10 * band + x * y;
  };
  const Image image = read_map(write("a.tif", {.bands = 4, .no_data = 0, .value = value})).image;
  EXPECT_EQ(std::count(image.valid.begin(), image.valid.end(), 0), 1);
  EXPECT_EQ(image.valid[7 + 2], 0);
}

TEST_F(MapRead, WhatIsTooLargeIsRefusedBeforeItIsRead) {
  EXPECT_THAT(refusal(write("a.tif", {.width = 30, .height = 20}), {.max_pixels = 599}),
              AllOf(HasSubstr("30 x 20"), HasSubstr("599"), HasSubstr("image.max_pixels")));
  // A million by a million pixels that nobody could hold.
  std::ofstream(folder_ / "huge.vrt")
      << "<VRTDataset rasterXSize=\"1000000\" rasterYSize=\"1000000\">"
         "<VRTRasterBand dataType=\"Byte\" band=\"1\"/></VRTDataset>";
  EXPECT_THAT(refusal(folder_ / "huge.vrt"), HasSubstr("1000000 x 1000000"));
}

TEST_F(MapRead, ComplexNumbersAreRefused) {
  const std::string name = write("a.tif", {.type = "CFloat32"});
  EXPECT_THAT(refusal(name), AllOf(HasSubstr(name), HasSubstr("complex"), HasSubstr("CFloat32")));
}

TEST_F(MapRead, ADamagedFileIsRefused) {
  for (const std::string compression : {"NONE", "DEFLATE"}) {
    const std::string name = write(
        "a.tif", {.width = 100, .height = 80, .bands = 3, .options = {"COMPRESS=" + compression}});
    std::filesystem::resize_file(name, std::filesystem::file_size(name) * 6 / 10);
    ASSERT_TRUE(is_map(name) || compression == "DEFLATE");
    EXPECT_THAT(refusal(name), AllOf(HasSubstr(name), ::testing::Not(IsEmpty()))) << compression;
  }
  // A wrong bit of what Deflate packed.
  for (const std::string layout : {"INTERLEAVE=PIXEL", "INTERLEAVE=BAND"}) {
    const std::string whole =
        write("whole.tif",
              {.width = 100, .height = 80, .bands = 3, .options = {"COMPRESS=DEFLATE", layout}});
    const std::vector<float> pixels = read_map(whole).image.pixels;
    const std::string bytes = read_bytes(whole);
    for (std::size_t at = bytes.size() / 2; at < bytes.size(); at += 11) {
      FileBytes file(bytes.begin(), bytes.end());
      file[at] ^= static_cast<std::uint8_t>(1 << at % 8);
      const std::string damaged = folder_.write("damaged.tif", file);
      if (!refusal(damaged).empty()) continue;
      EXPECT_EQ(read_map(damaged).image.pixels, pixels) << at;
    }
  }
}

TEST_F(MapRead, AJpeg2000FileThatIsCutOffIsRefusedBeforeItIsDecoded) {
  const std::string name = write("a.jp2", {.width = 64, .height = 64, .driver = "JP2OpenJPEG"});
  EXPECT_EQ(refusal(name), "");
  const auto size = std::filesystem::file_size(name);
  for (const std::uintmax_t left : {size - 1, size - 100}) {
    std::filesystem::resize_file(name, left);
    EXPECT_THAT(refusal(name), AllOf(HasSubstr(name), HasSubstr("its data end early")));
  }
}

TEST_F(MapRead, WhatGdalCannotOpenIsRefusedWithItsReason) {
  EXPECT_THAT(refusal("/vsizip/" + (folder_ / "missing.zip") + "/a.tif"),
              AllOf(HasSubstr("missing.zip"), HasSubstr("GDAL cannot open it")));
}

TEST_F(MapRead, SubdatasetsAreNamed) {
  write("a.gpkg", {.driver = "GPKG", .options = {"RASTER_TABLE=first"}});
  write("a.gpkg", {.driver = "GPKG", .options = {"RASTER_TABLE=second", "APPEND_SUBDATASET=YES"}});
  const std::string message = refusal(folder_ / "a.gpkg");
  EXPECT_THAT(message, AllOf(HasSubstr("2 subdatasets"), HasSubstr(":second")));
  const std::size_t at = message.find("GPKG:");
  const std::string name = message.substr(at, message.find(" or ") - at);
  EXPECT_TRUE(is_map(name)) << name;
  EXPECT_GE(read_map(name).image.width, 7);
}

TEST(Components, AreThoseThatOpenCvFindsInStandardizedBands) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const int bands : {2, 3, 8}) {
    cv::Mat1d samples(500, bands);
    for (int i = 0; i < samples.rows; ++i) {
      const double common = normal(random);
      for (int b = 0; b < bands; ++b) {
        samples(i, b) = 100 * b + (b + 1) * (0.3 * b * normal(random) - common);
      }
    }
    const Components found =
        principal_components({samples.begin(), samples.end()}, static_cast<std::size_t>(bands));
    for (int b = 0; b < bands; ++b) {
      cv::Scalar mean, deviation;
      cv::meanStdDev(samples.col(b), mean, deviation);
      const auto band = static_cast<std::size_t>(b);
      EXPECT_NEAR(found.mean[band], mean[0], 1e-9);
      EXPECT_NEAR(found.scale[band] * deviation[0], 1, 1e-9);
      samples.col(b) = (samples.col(b) - mean[0]) / deviation[0];
    }
    const cv::PCA expected(samples, cv::noArray(), cv::PCA::DATA_AS_ROW);
    ASSERT_EQ(found.weights.size(), static_cast<std::size_t>(std::min(bands, 3)));
    double share = 0;
    for (std::size_t k = 0; k < found.weights.size(); ++k) {
      const int row = static_cast<int>(k);
      const cv::Mat weights = cv::Mat(found.weights[k]).t();
      EXPECT_NEAR(cv::norm(weights), 1, 1e-12);
      EXPECT_NEAR(std::abs(weights.dot(expected.eigenvectors.row(row))), 1, 1e-9);
      EXPECT_GE(cv::sum(weights)[0], 0);
      share += expected.eigenvalues.at<double>(row) / cv::sum(expected.eigenvalues)[0];
    }
    EXPECT_NEAR(found.share, share, 1e-9);
  }
}

TEST(Components, LeaveFlatBandsOut) {
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) samples.insert(samples.end(), {0.1, static_cast<double>(i)});
  const Components components = principal_components(samples, 2);
  EXPECT_EQ(components.scale[0], 0);
  EXPECT_NEAR(components.weights[0][1], 1, 1e-12);
  EXPECT_NEAR(components.share, 1, 1e-12);
  const Components flat = principal_components(std::vector<double>(20, 3.0), 2);
  EXPECT_THAT(flat.scale, ElementsAre(0, 0));
  EXPECT_EQ(flat.share, 1);
}

constexpr int kPictureBlocksSide = 300;
constexpr int kPart = 50;

TEST(PictureBlocks, SeveralThreadsReadWhatOneReads) {
  const TempFolder folder;
  const auto value = [](int, int x, int y) { return (x * 31 + y * 17) % 251; };
  const std::string path = folder / "scene.tif";
  write_scene(path, {.width = kPictureBlocksSide,
                     .height = kPictureBlocksSide,
                     .no_data = 7,
                     .options = {"TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=DEFLATE"},
                     .value = value});
  const auto picture = open_picture(path, {}, {});
  const auto expect_part = [&](int number) {
    const int left = number % (kPictureBlocksSide / kPart) * kPart;
    const int top = number / (kPictureBlocksSide / kPart) * kPart;
    const Image part = picture->read({left, top, kPart, kPart}, {0, 255});
    int different = 0;
    for (int y = 0; y < kPart; ++y) {
      for (int x = 0; x < kPart; ++x) {
        const auto at = static_cast<std::size_t>(y * kPart + x);
        const double stored = value(1, left + x, top + y);
        const bool data = part.valid.empty() || part.valid[at] != 0;
        if (data != (stored != 7)) ++different;
        if (data && part.pixels[at] != static_cast<float>(stored / 255)) ++different;
      }
    }
    return different;
  };
  constexpr int kParts = kPictureBlocksSide / kPart * (kPictureBlocksSide / kPart);
  constexpr int kRounds = 20;
  std::atomic<int> next = 0;
  std::atomic<int> different = 0;
  std::vector<std::future<void>> threads;
  for (int k = 0; k < 4; ++k) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int i = next++; i < kParts * kRounds; i = next++) different += expect_part(i % kParts);
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace diacut::testing
