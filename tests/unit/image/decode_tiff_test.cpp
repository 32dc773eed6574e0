#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>
#include <vector>

#include "decoded_image.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image_files.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

/// What the decoder of TIFF gives for every kind of sample, against the samples that were written.
///
/// Pages and channels of TIFF files.
namespace diacut::testing {
namespace {

Image decode_page(const TiffPage& page, const char* mode = "w") {
  return decoded_by_type(testing::write_tiff({page}, mode), "a.tif");
}

TEST(DecodeTiff, ByteOrdersBigTiffAndCompressions) {
  const cv::Mat samples = testing::random_samples(29, 31, CV_16UC3);
  const Image expected = expected_image(samples, 65535);
  for (const char* mode : {"wl", "wb", "wl8", "wb8"}) {
    expect_same(decode_page(testing::tiff_page(samples), mode), expected);
  }
  for (int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
    for (int predictor : {1, 2}) {
      if (predictor == 2 && compression == COMPRESSION_PACKBITS) continue;
      TiffPage page = testing::tiff_page(samples);
      page.compression = compression;
      page.predictor = predictor;
      expect_same(decode_page(page), expected);
    }
  }
  const cv::Mat floats = testing::random_samples(29, 31, CV_32FC1);
  TiffPage page = testing::tiff_page(floats);
  page.compression = COMPRESSION_ADOBE_DEFLATE;
  page.predictor = 3;
  expect_same(decode_page(page), expected_image(floats, 1));
}

TEST(DecodeTiff, CompressionsWithoutADecoderAreNamed) {
  const FileBytes plain =
      testing::write_tiff({testing::tiff_page(testing::random_samples(29, 31, CV_8UC3))});
  for (const auto& [code, name] :
       {std::pair(34712U, "JPEG 2000 (34712)"), std::pair(50002U, "JPEG XL (50002)"),
        std::pair(34933U, "PNG (34933)"), std::pair(60000U, "unknown")}) {
    const FileBytes changed = with_tag(plain, TIFFTAG_COMPRESSION, code);
    EXPECT_THAT([&] { decoded_by_type(changed, "a.tif"); },
                ThrowsMessage<InputError>(AllOf(HasSubstr(name), Not(HasSubstr("damaged")))));
  }
}

TEST(DecodeTiff, NumbersOfEveryTypeSpanIt) {
  cv::Mat halves;
  cv::Mat1f({0.25F, 0.5F, 1.0F}).convertTo(halves, CV_16F);
  TiffPage whole = tiff_page(cv::Mat1i({0, -1, 858993459}));
  whole.sample_format = SAMPLEFORMAT_UINT;
  for (const auto& [page, pixels] : std::vector<std::pair<TiffPage, std::vector<float>>>{
           {tiff_page(cv::Mat_<std::int8_t>({-128, 0, 127})), {0, 128 / 255.0F, 1}},
           {tiff_page(cv::Mat1s({-32768, 0, 32767})), {0, 32768 / 65535.0F, 1}},
           {tiff_page(cv::Mat1i({-2147483647 - 1, 0, 2147483647})), {0, 0.5F, 1}},
           {whole, {0, 1, 0.2F}},
           {tiff_page(halves), {0.25F, 0.5F, 1}}}) {
    EXPECT_EQ(decode_page(page).pixels, pixels) << page.bits;
  }
}

TEST(DecodeTiff, PremultipliedColoursAreMadeStraight) {
  TiffPage page = testing::tiff_page((cv::Mat_<cv::Vec4b>(1, 3) << cv::Vec4b(51, 102, 204, 255),
                                      cv::Vec4b(40, 80, 160, 200), cv::Vec4b(9, 9, 9, 100)));
  page.extra_samples = {EXTRASAMPLE_ASSOCALPHA};
  const Image image = decode_page(page);
  EXPECT_THAT(image.valid, ElementsAre(1, 1, 0));
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(image.pixels[3 + k], image.pixels[k], 1e-6) << k;
  }
}

TEST(DecodeTiff, PalettesAndPrintersColours) {
  TiffPage page = testing::tiff_page((cv::Mat_<std::uint8_t>(1, 4) << 7, 8, 9, 10));
  page.photometric = PHOTOMETRIC_PALETTE;
  page.palette.assign(3 * 256, 0);
  page.palette[7] = page.palette[256 + 8] = page.palette[512 + 9] = 65535;
  EXPECT_THAT(decode_page(page).pixels, ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0));
  TiffPage ink = testing::tiff_page((cv::Mat_<cv::Vec4b>(1, 1) << cv::Vec4b(204, 0, 255, 0)));
  ink.photometric = PHOTOMETRIC_SEPARATED;
  ink.extra_samples = {};
  const Image image = decode_page(ink);
  ASSERT_EQ(image.channels, 3);
  EXPECT_NEAR(image.pixels[0], 0.2, 0.005);
  EXPECT_NEAR(image.pixels[1], 1.0, 0.005);
  EXPECT_NEAR(image.pixels[2], 0.0, 0.005);
}

TEST(DecodeTiff, FaxRowsOfAnyWidth) {
  for (const int compression :
       {COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_CCITTRLE}) {
    for (const int width : {8, 13, 15, 17}) {
      SCOPED_TRACE(std::to_string(compression) + " width " + std::to_string(width));
      const cv::Mat white = testing::random_samples(width, 7, CV_8UC1) > 127;
      TiffPage page = testing::tiff_page(white);
      page.rows_per_strip = 7;
      page.bits = 1;
      page.photometric = PHOTOMETRIC_MINISWHITE;
      page.compression = compression;
      page.samples = packed(white == 0, 1);
      expect_same(decode_page(page), expected_image(white, 255));
    }
  }
}

TEST(DecodeTiff, KindsThatAreNotSupportedAreRefused) {
  TiffPage page = testing::tiff_page(testing::random_samples(4, 4, CV_32FC1));
  page.sample_format = SAMPLEFORMAT_COMPLEXINT;
  EXPECT_THROW(decode_page(page), InputError);
  page = testing::tiff_page(testing::random_samples(4, 4, CV_64FC1));
  page.sample_format = SAMPLEFORMAT_UINT;
  EXPECT_THROW(decode_page(page), InputError);
}

constexpr int kImageTiffPartWidth = 8;
constexpr int kImageTiffPartHeight = 4;

/// A page all of whose pixels but the first, which is white, have one grey.
TiffPage described_page(std::uint8_t grey, const std::string& description = {}) {
  TiffPage page = testing::tiff_page(
      cv::Mat(kImageTiffPartHeight, kImageTiffPartWidth, CV_8U, cv::Scalar(grey)));
  page.samples[0] = 255;
  page.description = description;
  return page;
}

FileBytes stack(int pages, const std::string& description = {}) {
  std::vector<TiffPage> made;
  for (int k = 0; k < pages; ++k) {
    made.push_back(
        described_page(static_cast<std::uint8_t>(10 * (k + 1)), k == 0 ? description : ""));
  }
  return testing::write_tiff(made);
}

/// Ten times the page that was read.
int grey_of(const FileBytes& file, int page, const std::string& channel = {}) {
  const Image image = decode_image(file, "a.tif", {}, {page, channel});
  return static_cast<int>(image.pixels.back() * 255 + 0.5F);
}

std::string ome(const std::string& order, const std::string& data = {}) {
  return "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\">"
         "<Image ID=\"Image:0\"><Pixels DimensionOrder=\"" +
         order +
         "\" SizeX=\"8\" SizeY=\"4\" SizeC=\"2\" SizeZ=\"3\" SizeT=\"1\" Type=\"uint8\">"
         "<Channel ID=\"Channel:0\" Name=\"DAPI\"/><Channel ID=\"Channel:1\" Name=\"GFP\"/>" +
         data + "</Pixels></Image></OME>";
}

TEST(TiffPart, PagesAreChosenByNumber) {
  const FileBytes file = stack(3);
  for (const int page : {1, 2, 3}) EXPECT_EQ(grey_of(file, page), 10 * page);
  EXPECT_EQ(grey_of(file, 0), 10);
  EXPECT_THAT(decode_image(file, "a.tif").notes, Contains(HasSubstr("3 pages")));
  EXPECT_EQ(decode_image(file, "a.tif", {}, {2, ""}).notes.size(), 0u);
  expect_refused([&] { grey_of(file, 4); }, "a.tif: it has 3 pages");
}

TEST(TiffPart, SamplesAreChannels) {
  cv::Mat samples = testing::random_samples(kImageTiffPartWidth, kImageTiffPartHeight, CV_8UC(5));
  for (const bool is_separate : {false, true}) {
    TiffPage page = testing::tiff_page(samples);
    page.photometric = 1;
    page.extra_samples.assign(4, 0);
    page.is_separate = is_separate;
    const FileBytes file = testing::write_tiff({page});
    EXPECT_THAT(decode_image(file, "a.tif").notes, Contains(HasSubstr("Of 5 samples")));
    for (int channel = 1; channel <= 5; ++channel) {
      cv::Mat expected;
      cv::extractChannel(samples, expected, channel - 1);
      expect_same(decode_image(file, "a.tif", {}, {0, std::to_string(channel)}),
                  expected_image(expected, 255));
    }
    for (const char* channel : {"0", "6", "red", "-1", "2x"}) {
      expect_refused(
          [&] {
            decode_image(file, "a.tif", {}, {0, channel});
          },
          "its channels are 1 to 5");
    }
  }
}

TEST(TiffPart, IsWhatTheDescriptionSays) {
  const std::string placed =
      ome("XYCZT", "<TiffData FirstC=\"1\" IFD=\"0\"/><TiffData FirstC=\"0\" IFD=\"5\"/>");
  std::string reversed = "<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeZ=\"6\"><Channel/>";
  for (int z = 0; z < 6; ++z) {
    reversed += fmt::format("<TiffData FirstZ=\"{}\" IFD=\"{}\"/>", 5 - z, z);
  }
  reversed += "</Pixels></Image></OME>";
  const std::string imagej = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\n";
  struct Part {
    std::string description;
    int page;
    const char* channel;
    int grey;
  };
  for (const auto& [description, page, channel, grey] :
       {Part{ome("XYCZT"), 1, "DAPI", 10}, Part{ome("XYCZT"), 2, "DAPI", 30},
        Part{ome("XYCZT"), 3, "GFP", 60}, Part{ome("XYCZT"), 2, "2", 40},
        Part{ome("XYCZT"), 4, "", 40},  // Without a channel pages are counted in the file.
        Part{ome("XYZCT"), 2, "DAPI", 20}, Part{ome("XYZCT"), 1, "GFP", 40},
        // A file may place its planes.
        Part{placed, 1, "GFP", 10}, Part{placed, 1, "DAPI", 60}, Part{reversed, 1, "", 60},
        Part{reversed, 6, "", 10}, Part{imagej, 2, "1", 30}, Part{imagej, 3, "2", 60},
        Part{imagej + "order=zct\n", 2, "1", 20}, Part{imagej + "order=zct\n", 1, "2", 40},
        // A damaged description is none.
        Part{"<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2000000000\" "
             "SizeZ=\"2000000000\"/>",
             2, "", 20},
        Part{"<OME", 2, "", 20},
        Part{"<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYCCC\" "
             "SizeC=\"2\"/></Image></OME>",
             2, "", 20},
        Part{"ImageJ=1\nchannels=-5\nslices=999999999\n", 2, "", 20}}) {
    EXPECT_EQ(grey_of(stack(6, description), page, channel), grey) << description << channel;
  }
  const FileBytes file = stack(6, ome("XYCZT"));
  expect_refused([&] { grey_of(file, 1, "RFP"); }, "its channels are 1 to 2, or DAPI, GFP");
  expect_refused([&] { grey_of(file, 4, "GFP"); }, "it has 3 pages");
}

TEST(TiffPart, PlanesOfOtherFilesAreLeftOut) {
  const std::string planes =
      "<TiffData FirstC=\"0\" IFD=\"0\" PlaneCount=\"1\"><UUID FileName=\"c0.ome.tif\">urn:uuid:0"
      "</UUID></TiffData><TiffData FirstC=\"1\" IFD=\"0\" PlaneCount=\"1\">"
      "<UUID FileName=\"c1.ome.tif\">urn:uuid:1</UUID></TiffData>";
  std::string text = ome("XYCZT", planes);
  expect_refused([&] { grey_of(stack(1, text), 1, "DAPI"); },
                 "no page of channel 'DAPI': that lies in 'c0.ome.tif'");
  expect_refused([&] { grey_of(stack(1, text), 1, "GFP"); }, "'c1.ome.tif'");
  EXPECT_THAT(decode_image(stack(1, text), "a.tif").notes,
              Contains(HasSubstr("the name that it had (as in 'c0.ome.tif')")));
  // By its name it is one of them, in a sandbox too.
  const TempFolder folder;
  for (const bool untrusted : {false, true}) {
    const ImageFile named(folder.write("c1.ome.tif", stack(1, text)));
    EXPECT_THAT(named.read({.untrusted = untrusted}, {0, "GFP"}).notes,
                Contains(HasSubstr("5 of the 6 planes that it describes (as in 'c0.ome.tif')")));
    expect_refused([&] { named.read({.untrusted = untrusted}, {0, "DAPI"}); }, "'c0.ome.tif'");
  }
  text.insert(text.find("<OME ") + 5, "UUID=\"urn:uuid:1\" ");
  expect_refused([&] { grey_of(stack(1, text), 1, "DAPI"); },
                 "no page of channel 'DAPI': that lies in 'c0.ome.tif'");
  EXPECT_EQ(grey_of(stack(1, text), 1, "GFP"), 10);
}

/// What a file tells of a part of it, in a sandbox too.
PictureFacts facts_of(const FileBytes& bytes, const ImagePart& part = {}) {
  const TempFolder folder;
  const ImageFile file(folder.write("a.tif", bytes));
  const PictureFacts facts = file.facts({}, part);
  const PictureFacts again = file.facts({.untrusted = true}, part);
  EXPECT_EQ(again.channels, facts.channels);
  EXPECT_EQ(again.channel, facts.channel);
  EXPECT_EQ(again.pages, facts.pages);
  EXPECT_EQ(again.pixel.width, facts.pixel.width);
  EXPECT_EQ(again.pixel.height, facts.pixel.height);
  EXPECT_EQ(again.pixel.unit, facts.pixel.unit);
  EXPECT_EQ(again.slices, facts.slices);
  EXPECT_EQ(again.slice, facts.slice);
  EXPECT_EQ(again.frame, facts.frame);
  EXPECT_EQ(again.image, facts.image);
  EXPECT_EQ(again.is_ome, facts.is_ome);
  return facts;
}

TEST(TiffPart, FactsAreThoseOfThePage) {
  const auto image = [](int directory, const char* size) {
    return std::string(
               "<Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"1\" SizeZ=\"1\" "
               "SizeT=\"1\" PhysicalSizeX=\"") +
           size + "\" PhysicalSizeY=\"" + size + "\"><Channel/><TiffData IFD=\"" +
           std::to_string(directory) + "\"/></Pixels></Image>";
  };
  const FileBytes two = stack(2, "<OME>" + image(0, "0.5") + image(1, "2") + "</OME>");
  EXPECT_EQ(facts_of(two).pixel.width, 0.5);
  EXPECT_EQ(facts_of(two, {1, ""}).pixel.width, 0.5);
  EXPECT_EQ(facts_of(two, {2, ""}).pixel.width, 2);
  EXPECT_EQ(facts_of(two, {2, ""}).image, 1);
  const PictureFacts third = facts_of(stack(6, ome("XYCZT")), {3, ""});
  EXPECT_THAT(third.channels, ElementsAre("DAPI", "GFP"));
  EXPECT_EQ(third.channel, 1);
  EXPECT_EQ(third.slice, 1);
  EXPECT_THAT(third.pages, ElementsAre(2, 2));
  EXPECT_EQ(third.slices, 3);
  const PictureFacts green = facts_of(stack(6, ome("XYCZT")), {3, "GFP"});
  EXPECT_EQ(green.channel, 2);
  EXPECT_THAT(green.pages, ElementsAre(3, 3));
  // Two images of two channels each: a channel's pages go on in the second.
  const std::string both =
      "<Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2\" SizeZ=\"1\" "
      "SizeT=\"1\"><Channel Name=\"a\"/><Channel Name=\"b\"/></Pixels></Image>";
  const FileBytes four = stack(4, "<OME>" + both + both + "</OME>");
  EXPECT_EQ(grey_of(four, 1, "b"), 20);
  EXPECT_EQ(grey_of(four, 2, "b"), 40);
  EXPECT_THAT(facts_of(four, {4, ""}).pages, ElementsAre(2, 2));
}

TEST(TiffPart, PlanesThatAreMissingMoveNoOthers) {
  const std::string sizes =
      "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeC=\"2\" SizeZ=\"3\" "
      "SizeT=\"2\"><Channel/><Channel/>";
  const FileBytes file =
      stack(3, sizes +
                   "<TiffData FirstZ=\"2\" IFD=\"0\"/><TiffData FirstC=\"1\" FirstZ=\"0\" "
                   "IFD=\"1\"/><TiffData FirstC=\"1\" FirstZ=\"2\" FirstT=\"0\" IFD=\"2\"/>"
                   "</Pixels></Image></OME>");
  EXPECT_THAT(decode_image(file, "a.tif", {}, {1, "1"}).notes,
              Contains(HasSubstr("9 of the 12 planes")));
  EXPECT_EQ(facts_of(file, {1, "1"}).slice, 2);
  EXPECT_THAT(facts_of(file, {1, "1"}).pages, ElementsAre(1, 2));
  EXPECT_THAT(facts_of(file, {1, "2"}).pages, ElementsAre(0, 1));
  const TempFolder folder;
  const ImageFile image(folder.write("a.tif", file));
  std::vector<double> greys;
  const auto visit = [&](Channel&& channel) { greys.push_back(channel.values.back()); };
  image.read_channels({}, {1, "1"}, "all", visit);
  EXPECT_THAT(greys, ElementsAre(10, 30));
  expect_refused([&] { image.read_channels({}, {1, "2"}, "all", visit); }, "channel '1'");
  // ImageJ's last plane is missing.
  const FileBytes cut = stack(5, "ImageJ=1.53t\nimages=6\nslices=3\nframes=2\n");
  EXPECT_EQ(facts_of(cut, {5, ""}).slice, 1);
  EXPECT_EQ(facts_of(cut, {5, ""}).frame, 1);
}

TEST(DecodeTiff, TilesThatAreLeftOutAreZero) {
  const TempFolder folder;
  write_scene(folder / "a.tif",
              {.width = 64,
               .height = 32,
               .epsg = 0,
               .transform = {},
               .options = {"SPARSE_OK=TRUE", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16",
                           "COMPRESS=DEFLATE"},
               .value = [](int, int x, int y) { return x / 16 + y / 16 == 2 ? 255 : 0; }});
  const Image image = read_image(folder / "a.tif");
  EXPECT_THAT(image.notes, Contains(HasSubstr("6 of its strips or tiles are left out")));
  EXPECT_EQ(std::count(image.pixels.begin(), image.pixels.end(), 1.0F), 512);
  EXPECT_EQ(std::count(image.pixels.begin(), image.pixels.end(), 0.0F), 64 * 32 - 512);
}

TEST(TiffPart, ASecondSampleBesideGreyIsAChannelUnlessItIsAlpha) {
  TiffPage page = tiff_page(testing::random_samples(6, 5, CV_8UC2));
  EXPECT_THAT(facts_of(write_tiff({page})).channels, ::testing::IsEmpty());
  page.extra_samples = {EXTRASAMPLE_UNSPECIFIED};
  EXPECT_THAT(facts_of(write_tiff({page})).channels, ElementsAre("1", "2"));
  page.extra_samples = {};  // As many programs leave them out.
  EXPECT_THAT(facts_of(write_tiff({page})).channels, ElementsAre("1", "2"));
}

TEST(TiffPart, SizesOfPixelsAreInKnownUnits) {
  struct Told {
    std::string description;
    double across, down;
    int unit;
    double width, height;  ///< Micrometres; 0: not known.
  };
  const auto xml = [](const char* unit, const char* size) {
    return std::string(
               "<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"1\" SizeZ=\"1\" "
               "SizeT=\"1\" PhysicalSizeX=\"") +
           size + "\" PhysicalSizeY=\"" + size + "\" PhysicalSizeXUnit=\"" + unit +
           "\" PhysicalSizeYUnit=\"" + unit + "\"/></Image></OME>";
  };
  for (const auto& [description, across, down, unit, width, height] :
       {Told{"ImageJ=1.53t\nunit=micron\nyunit=mm\n", 2, 0.002, RESUNIT_NONE, 0.5, 5e5},
        Told{"ImageJ=1.53t\nunit=micron\nyunit=hours\n", 2, 2, RESUNIT_NONE, 0, 0},
        Told{"ImageJ=1.53t\nunit=\\u00B5m\n", 4, 2, RESUNIT_NONE, 0.25, 0.5},
        Told{"ImageJ=1.53t\nunit=inch\n", 72, 72, RESUNIT_INCH, 0, 0},
        Told{"ImageJ=1.53t\nunit=cm\n", 1, 1, RESUNIT_NONE, 1e4, 1e4},
        Told{"", 28.346, 28.346, RESUNIT_CENTIMETER, 0, 0},
        Told{"", 37.8, 37.8, RESUNIT_CENTIMETER, 0, 0},
        Told{"", 1, 1, RESUNIT_CENTIMETER, 0, 0},
        Told{"", 72, 72, RESUNIT_INCH, 0, 0},
        Told{"", 96, 96, RESUNIT_INCH, 0, 0},
        Told{"", 1, 1, RESUNIT_INCH, 0, 0},
        Told{"", 20000, 20000, RESUNIT_CENTIMETER, 0.5, 0.5},
        Told{"", 25400, 25400, RESUNIT_INCH, 1, 1},
        Told{xml("\xC3\x85", "5000"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("\xE2\x84\xAB", "5000"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("pm", "500000"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("\xC2\xB5m", "0.5"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("\xCE\xBCm", "0.5"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("nanometres", "500"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{xml("meter", "5e-7"), 0, 0, RESUNIT_NONE, 0.5, 0.5},
        Told{"ImageJ=1.53t\nunit= um \n", 4, 4, RESUNIT_NONE, 0.25, 0.25},
        Told{"ImageJ=1.53t\nunit=microns\n", 4, 4, RESUNIT_NONE, 0.25, 0.25},
        Told{"ImageJ=1.53t\nunit=millimetre\n", 4, 4, RESUNIT_NONE, 250, 250},
        Told{xml("pixel", "0.5"), 25400, 25400, RESUNIT_INCH, 0, 0}}) {
    TiffPage page = described_page(10, description);
    page.set_tags = [across = across, down = down, unit = unit](TIFF* tiff) {
      if (across == 0) return;
      TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, unit);
      TIFFSetField(tiff, TIFFTAG_XRESOLUTION, across);
      TIFFSetField(tiff, TIFFTAG_YRESOLUTION, down);
    };
    const PixelSize pixel = facts_of(testing::write_tiff({page})).pixel;
    EXPECT_NEAR(pixel.width, width, 1e-6 * width) << description << across;
    EXPECT_NEAR(pixel.height, height, 1e-6 * height) << description << across;
  }
}

TEST(TiffPart, PlanesOfOneDirectoryAreAllRead) {
  // libtiff reads strips of more than 8192 bytes in parts.
  for (const int width : {128, 129}) {
    TiffPage page = testing::tiff_page(cv::Mat(64, width, CV_8U, cv::Scalar(10)));
    page.rows_per_strip = 64;
    page.description = "ImageJ=1.53t\nimages=3\nslices=3\n";
    FileBytes file = testing::write_tiff({page});
    // The strip goes to the file's end, with two planes behind it.
    const auto end = static_cast<std::uint32_t>(file.size());
    for (const int grey : {10, 20, 30}) {
      file.insert(file.end(), static_cast<std::size_t>(64 * width),
                  static_cast<std::uint8_t>(grey));
    }
    file = with_tag(file, TIFFTAG_STRIPOFFSETS, end);
    for (const int number : {1, 2, 3}) EXPECT_EQ(grey_of(file, number), 10 * number) << width;
    expect_refused([&] { grey_of(file, 4); }, "it has 3 pages");
  }
}

TEST(TiffPart, LevelsOfPyramidsAreNoPages) {
  std::vector<TiffPage> pages;
  for (const int size : {64, 32, 16}) {
    pages.push_back(testing::tiff_page(cv::Mat(size, size + size / 2, CV_8U, cv::Scalar(size))));
    pages.back().tile = 16;
  }
  EXPECT_THAT(decode_image(testing::write_tiff(pages), "a.tif").notes,
              Not(Contains(HasSubstr("pages"))));
  expect_refused([&] { grey_of(testing::write_tiff(pages), 2); }, "it has one page");
  // Pages of other shapes are no levels.
  pages[1] = testing::tiff_page(cv::Mat(16, 64, CV_8U, cv::Scalar(7)));
  pages[1].tile = 16;
  EXPECT_EQ(grey_of(testing::write_tiff(pages), 2), 7);
  // What a slide scanner writes behind the first picture is beside it.
  pages[0].description = "Aperio Image Library v10";
  expect_refused([&] { grey_of(testing::write_tiff(pages), 2); }, "it has one page");
}

TEST(TiffPart, MasksAndReducedPicturesAreNoPages) {
  std::vector<TiffPage> pages;
  for (int k = 0; k < 6; ++k) {
    pages.push_back(described_page(static_cast<std::uint8_t>(10 * (k + 1))));
    const int kind = std::array{0, 4, 1, 5, 0, 0}[static_cast<std::size_t>(k)];
    pages.back().set_tags = [kind](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind); };
  }
  // The mask of the first picture, of one bit a pixel: its left half has data.
  TiffPage& mask = pages[1];
  mask.bits = 1;
  mask.photometric = 4;
  mask.rows_per_strip = kImageTiffPartHeight;
  mask.samples.assign(kImageTiffPartHeight, 0xf0);
  const FileBytes file = testing::write_tiff(pages);
  EXPECT_EQ(grey_of(file, 2), 50);
  EXPECT_EQ(grey_of(file, 3), 60);
  expect_refused([&] { grey_of(file, 4); }, "it has 3 pages");
  EXPECT_THAT(decode_image(file, "a.tif", {}, {2, ""}).valid, ::testing::IsEmpty());
  const Image image = decode_image(file, "a.tif", {}, {1, ""});
  ASSERT_EQ(image.valid.size(), 32u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(image.valid[i], i % 8 < 4 ? 1 : 0);
}

}  // namespace
}  // namespace diacut::testing
