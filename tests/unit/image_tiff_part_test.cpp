#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image_files.hpp"

/// Pages and channels of TIFF files.
namespace diacut {
namespace {

using ::testing::Contains;
using testing::FileBytes;
using ::testing::HasSubstr;
using testing::TiffPage;

constexpr int kImageTiffPartWidth = 8;
constexpr int kImageTiffPartHeight = 4;

/// A page all of whose pixels but the first, which is white, have one grey.
TiffPage page_of(std::uint8_t grey, const std::string& description = {}) {
  TiffPage page;
  page.width = kImageTiffPartWidth;
  page.height = kImageTiffPartHeight;
  page.samples.assign(kImageTiffPartWidth * kImageTiffPartHeight, grey);
  page.samples[0] = 255;
  page.description = description;
  return page;
}

FileBytes stack(int pages, const std::string& description = {}) {
  std::vector<TiffPage> made;
  for (int k = 0; k < pages; ++k) {
    made.push_back(page_of(static_cast<std::uint8_t>(10 * (k + 1)), k == 0 ? description : ""));
  }
  return testing::write_tiff(made);
}

/// Ten times the page that was read.
int grey_of(const FileBytes& file, int page, const std::string& channel = {}) {
  const Image image = decode_image(file, "a.tif", {}, {page, channel});
  return static_cast<int>(image.pixels.back() * 255 + 0.5F);
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
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
  EXPECT_THAT(refusal([&] { grey_of(file, 4); }), HasSubstr("a.tif: it has 3 pages"));
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
      const Image image = decode_image(file, "a.tif", {}, {0, std::to_string(channel)});
      ASSERT_EQ(image.channels, 1);
      for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        ASSERT_EQ(image.pixels[i],
                  static_cast<float>(samples.data[5 * i + static_cast<std::size_t>(channel - 1)]) /
                      255.0F);
      }
    }
    for (const char* channel : {"0", "6", "red", "-1", "2x"}) {
      EXPECT_THAT(refusal([&] {
                    decode_image(file, "a.tif", {}, {0, channel});
                  }),
                  HasSubstr("its channels are 1 to 5"));
    }
  }
}

TEST(TiffPart, ChannelsOfAnOmeTiffAreFoundByName) {
  const FileBytes file = stack(6, ome("XYCZT"));
  EXPECT_EQ(grey_of(file, 1, "DAPI"), 10);
  EXPECT_EQ(grey_of(file, 2, "DAPI"), 30);
  EXPECT_EQ(grey_of(file, 3, "GFP"), 60);
  EXPECT_EQ(grey_of(file, 2, "2"), 40);
  EXPECT_EQ(grey_of(file, 4), 40);  // Without a channel pages are counted in the file.
  const FileBytes planes = stack(6, ome("XYZCT"));
  EXPECT_EQ(grey_of(planes, 2, "DAPI"), 20);
  EXPECT_EQ(grey_of(planes, 1, "GFP"), 40);
  EXPECT_THAT(refusal([&] { grey_of(file, 1, "RFP"); }),
              HasSubstr("its channels are 1 to 2, or DAPI, GFP"));
  EXPECT_THAT(refusal([&] { grey_of(file, 4, "GFP"); }), HasSubstr("it has 3 pages"));
}

TEST(TiffPart, AnOmeTiffMayPlaceItsPlanes) {
  const FileBytes file = stack(
      6, ome("XYCZT", "<TiffData FirstC=\"1\" IFD=\"0\"/><TiffData FirstC=\"0\" IFD=\"5\"/>"));
  EXPECT_EQ(grey_of(file, 1, "GFP"), 10);
  EXPECT_EQ(grey_of(file, 1, "DAPI"), 60);
}

TEST(TiffPart, PlanesOfOtherFilesAreLeftOut) {
  const std::string planes =
      "<TiffData FirstC=\"0\" IFD=\"0\" PlaneCount=\"1\"><UUID FileName=\"c0.ome.tif\">urn:uuid:0"
      "</UUID></TiffData><TiffData FirstC=\"1\" IFD=\"0\" PlaneCount=\"1\">"
      "<UUID FileName=\"c1.ome.tif\">urn:uuid:1</UUID></TiffData>";
  std::string text = ome("XYCZT", planes);
  EXPECT_THAT(refusal([&] { grey_of(stack(1, text), 1, "DAPI"); }),
              HasSubstr("no page of channel 'DAPI': that lies in 'c0.ome.tif'"));
  EXPECT_THAT(refusal([&] { grey_of(stack(1, text), 1, "GFP"); }), HasSubstr("'c1.ome.tif'"));
  EXPECT_EQ(grey_of(stack(1, text), 0), 10);  // Whichever it is.
  text.insert(text.find("<OME ") + 5, "UUID=\"urn:uuid:1\" ");
  EXPECT_THAT(refusal([&] { grey_of(stack(1, text), 1, "DAPI"); }),
              HasSubstr("no page of channel 'DAPI': that lies in 'c0.ome.tif'"));
  EXPECT_EQ(grey_of(stack(1, text), 1, "GFP"), 10);
}

TEST(TiffPart, MasksAndReducedPicturesAreNoPages) {
  std::vector<TiffPage> pages;
  for (int k = 0; k < 6; ++k) {
    pages.push_back(page_of(static_cast<std::uint8_t>(10 * (k + 1))));
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
  EXPECT_THAT(refusal([&] { grey_of(file, 4); }), HasSubstr("it has 3 pages"));
  EXPECT_THAT(decode_image(file, "a.tif", {}, {2, ""}).valid, ::testing::IsEmpty());
  const Image image = decode_image(file, "a.tif", {}, {1, ""});
  ASSERT_EQ(image.valid.size(), 32u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(image.valid[i], i % 8 < 4 ? 1 : 0);
}

TEST(TiffPart, ChannelsOfAnImageJStackAreFound) {
  const FileBytes file =
      stack(6, "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\n");
  EXPECT_EQ(grey_of(file, 2, "1"), 30);
  EXPECT_EQ(grey_of(file, 3, "2"), 60);
}

TEST(TiffPart, ADamagedDescriptionIsNoDescription) {
  for (const std::string text :
       {"<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2000000000\" SizeZ=\"2000000000\"/>",
        "<OME",
        "<?xml version=\"1.0\"?><OME><Image><Pixels DimensionOrder=\"XYCCC\" SizeC=\"2\"/>"
        "</Image></OME>",
        "ImageJ=1\nchannels=-5\nslices=999999999\n"}) {
    EXPECT_EQ(grey_of(stack(2, text), 2), 20) << text;
  }
}

TEST(TiffPart, PackedBitsAreUnpacked) {
  for (int bits = 9; bits < 16; ++bits) {
    SCOPED_TRACE(bits);
    cv::Mat samples = testing::random_samples(13, 5, CV_16UC3);
    TiffPage page = testing::tiff_page(samples);
    page.bits = bits;
    page.rows_per_strip = 5;
    page.samples.clear();
    for (int y = 0; y < 5; ++y) {
      std::vector<bool> row;
      for (int i = 0; i < 39; ++i) {
        auto& value = samples.ptr<std::uint16_t>(y)[i];
        value = static_cast<std::uint16_t>(value >> (16 - bits));
        for (int bit = bits - 1; bit >= 0; --bit) row.push_back((value >> bit & 1) != 0);
      }
      row.resize((row.size() + 7) / 8 * 8);
      for (std::size_t i = 0; i < row.size(); i += 8) {
        unsigned byte = 0;
        for (std::size_t k = 0; k < 8; ++k) byte = byte << 1 | (row[i + k] ? 1U : 0U);
        page.samples.push_back(static_cast<std::uint8_t>(byte));
      }
    }
    const Image image = decode_image(testing::write_tiff({page}), "a.tif");
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      const double value = samples.ptr<std::uint16_t>()[i];
      ASSERT_EQ(image.pixels[i], static_cast<float>(value / ((1 << bits) - 1))) << i;
    }
  }
}

}  // namespace
}  // namespace diacut
