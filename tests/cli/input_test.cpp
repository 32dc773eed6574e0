#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliInput : public CliTest {
 protected:
  /// Expects that segmenting the file fails with exit code 3, names the file, and writes no file.
  void expect_refused(const std::string& name, const std::vector<std::string>& parts = {}) {
    const std::set<std::string> before = files();
    std::vector<std::string> told = parts;
    told.push_back(name);
    const Result result = segment(fmt::format(
        "{} -o labels.png --overlay overlay.png --eigenvectors vectors --json report.json", name));
    expect_error(result, 3, told);
    EXPECT_LT(result.seconds, 20);
    EXPECT_EQ(files(), before);
  }

  /// Expects that segmenting the picture succeeds.
  cv::Mat labels_of(const std::string& name, const cv::Mat& without_data = {}) {
    const Result result = expect_done(segment(fmt::format("{} -o labels.png", name)));
    if (result.exit_code != 0) return {};
    cv::Mat labels = read_picture("labels.png");
    expect_labels(labels, without_data);
    return labels;
  }
};

std::uint32_t png_checksum(const std::string& bytes) {
  std::uint32_t sum = ~0u;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~sum;
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + type + data +
         big_endian(png_checksum(type + data));
}

/// A well-formed start of a PNG file of this size, 8-bit grey, with next to no data.
std::string png_that_claims(std::uint32_t width, std::uint32_t height) {
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         png_chunk("IHDR",
                   big_endian(width) + big_endian(height) + std::string("\x08\0\0\0\0", 5)) +
         png_chunk("IDAT", std::string("\x78\x9c\x63\0\0\0\1\0\1", 9)) + png_chunk("IEND", "");
}

TEST_F(CliInput, MissingFile) { expect_refused("missing.jpg"); }

TEST_F(CliInput, EmptyFile) {
  write("empty.png", "");
  expect_refused("empty.png", {"empty"});
}

TEST_F(CliInput, TextNamedPng) {
  write("text.png", "This is no picture.\n");
  expect_refused("text.png");
}

TEST_F(CliInput, TruncatedFiles) {
  for (const char* name : {"cut.png", "cut.jpg", "cut.bmp", "cut.tif", "cut.webp"}) {
    SCOPED_TRACE(name);
    write_picture(name, 64, 48);
    const std::string whole = read(name);
    write(name, whole.substr(0, whole.size() / 2));
    expect_refused(name);
  }
}

TEST_F(CliInput, CorruptFiles) {
  write_picture("bad.png", 64, 48);
  std::string bytes = read("bad.png");
  for (std::size_t i = bytes.size() / 3; i < bytes.size() / 2; ++i) bytes[i] ^= '\x5a';
  write("bad.png", bytes);
  expect_refused("bad.png");
}

TEST_F(CliInput, HugeClaimedSizeIsRefusedBeforeItIsDecoded) {
  write("huge.png", png_that_claims(100'000, 100'000));
  expect_refused("huge.png", {"100000"});
}

TEST_F(CliInput, SizeLimitIsAParameter) {
  write_picture("small.png");
  expect_error(segment("small.png -o x.png --set image.max_pixels=100"), 3, {"small.png", "100"});
  EXPECT_FALSE(exists("x.png"));
}

TEST_F(CliInput, PipeNamedAsAnImageOnTheCommandLineIsRead) {
  ASSERT_EQ(mkfifo(path("pipe.png").c_str(), 0600), 0);
  write_picture("a.png");
  const auto reading = start("pipe.png -o x.png");
  write("pipe.png", read("a.png"));
  expect_done(reading->wait());
  expect_done(segment("a.png -o y.png"));
  EXPECT_EQ(read("x.png"), read("y.png"));
}

TEST_F(CliInput, APageIsChosenByItsNumber) {
  // Two pages: one grey, and black beside white.
  write("two.pgm", "P2 4 1 9 5 5 5 5\nP2 4 1 9 0 0 9 9\n");
  const Result first = expect_done(segment("two.pgm -o first.png --cue gradient"));
  EXPECT_THAT(first.err, HasSubstr("The file has 2 pages: the first was read"));
  const Result second = expect_done(segment("two.pgm -o x.png --page 2 --cue gradient"));
  EXPECT_THAT(second.err, ::testing::Not(HasSubstr("pages")));
  const std::set<std::string> before = files();
  expect_error(segment("two.pgm -o y.png --page 3"), 3, {"two.pgm", "no page 3"});
  expect_error(segment("two.pgm -o y.png --channel 2"), 3, {"two.pgm", "no channel '2'"});
  for (const char* page : {"0", "-1", "All", "1.5", ""}) {
    expect_error(segment(fmt::format("two.pgm -o y.png --page '{}'", page)), 2, {"--page"});
    expect_error(segment("two.pgm -o y.png --page regions.html"), 2,
                 {"--page", "--html regions.html"});
  }
  EXPECT_EQ(files(), before);
}

TEST_F(CliInput, TinyImages) {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 7}, {7, 1}, {2, 2}}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    write_picture("tiny.png", width, height);
    const cv::Mat labels = labels_of("tiny.png");
    EXPECT_EQ(labels.size(), cv::Size(width, height));
  }
}

TEST_F(CliInput, FlatImages) {
  for (const int grey : {0, 128, 255}) {
    SCOPED_TRACE(grey);
    write_picture("flat.png", cv::Mat(kHeight, kWidth, CV_8UC1, cv::Scalar(grey)));
    EXPECT_EQ(labels_of("flat.png").size(), cv::Size(kWidth, kHeight));
  }
}

TEST_F(CliInput, HalvesAreTwoRegions) {
  write_picture("halves.png");
  // How far from the edge a boundary may lie, pixels: the network's boundaries are some pixels
  // wide.
  for (const auto& [method, miss] : {std::pair("kway", 0), {"hierarchy", 2}}) {
    SCOPED_TRACE(method);
    const std::string cue = miss == 0 ? "gradient" : "learned";
    expect_done(segment(
        fmt::format("halves.png -o labels.png --regions 2 --method {} --cue {}", method, cue)));
    const cv::Mat labels = read_picture("labels.png");
    expect_labels(labels);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        if (std::abs(2 * x + 1 - kWidth) < 2 * miss) continue;
        ASSERT_EQ(labels.at<std::uint16_t>(y, x), 2 * x < kWidth ? 1 : 2) << x << ", " << y;
      }
    }
  }
}

TEST_F(CliInput, PixelsThatAreNotFiniteHaveNoData) {
  cv::Mat pixels(kHeight, kWidth, CV_32FC1);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      pixels.at<float>(y, x) = x < 8 ? 0.2f : 0.8f + 0.01f * static_cast<float>(y);
    }
  }
  cv::Mat hidden = cv::Mat::zeros(kHeight, kWidth, CV_8UC1);
  pixels.at<float>(3, 4) = std::numeric_limits<float>::quiet_NaN();
  pixels.at<float>(5, 6) = std::numeric_limits<float>::infinity();
  pixels.at<float>(5, 7) = -std::numeric_limits<float>::infinity();
  hidden.at<uchar>(3, 4) = hidden.at<uchar>(5, 6) = hidden.at<uchar>(5, 7) = 1;
  write_picture("holes.tif", pixels);
  labels_of("holes.tif", hidden);
  const Result told = segment("holes.tif -o labels.png");
  EXPECT_THAT(told.err, HasSubstr("segment: note: 'holes.tif'"));
  EXPECT_THAT(told.err, HasSubstr("not finite"));

  pixels.setTo(std::numeric_limits<float>::quiet_NaN());
  write_picture("nothing.tif", pixels);
  std::filesystem::remove(path("labels.png"));
  expect_refused("nothing.tif");
}

TEST_F(CliInput, TransparentPixelsHaveNoData) {
  cv::Mat colour = two_halves(kWidth, kHeight);
  cv::Mat pixels;
  cv::cvtColor(colour, pixels, cv::COLOR_BGR2BGRA);
  cv::Mat hidden = cv::Mat::zeros(kHeight, kWidth, CV_8UC1);
  for (int x = 0; x < kWidth; ++x) {
    pixels.at<cv::Vec4b>(0, x)[3] = 0;
    hidden.at<uchar>(0, x) = 1;
  }
  write_picture("alpha.png", pixels);
  labels_of("alpha.png", hidden);

  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) pixels.at<cv::Vec4b>(y, x)[3] = 0;
  }
  write_picture("hidden.png", pixels);
  std::filesystem::remove(path("labels.png"));
  expect_refused("hidden.png");
}

TEST_F(CliInput, MoreRegionsThanPixels) {
  write_picture("four.png", 2, 2);
  const std::set<std::string> before = files();
  expect_error(segment("four.png -o labels.png --regions 5"), 2, {"four.png", "5", "4"});
  EXPECT_EQ(files(), before);
}

TEST_F(CliInput, StandardInput) {
  write_picture("a.png");
  expect_done(segment("a.png -o file.png"));
  const Result result = expect_done(segment("- -o stdin.png", {.input = read("a.png")}));
  EXPECT_THAT(result.err, HasSubstr("standard input"));
  EXPECT_EQ(read("stdin.png"), read("file.png"));

  const std::set<std::string> before = files();
  expect_error(segment("- -o x.png", {.input = ""}), 3, {"standard input"});
  expect_error(segment("- -o x.png", {.input = "no picture"}), 3, {"standard input"});
  EXPECT_EQ(files(), before);
}

TEST_F(CliInput, FilesOfStrangersGiveTheSameLabels) {
  make_folder("in");
  write_picture("in/a.png");
  write_picture("in/b.jpg", 64, 48);
  write("in/c.png", "\x89PNG\r\n\x1a\n");
  const Result trusted = segment("in -o trusted");
  const Result result = segment("in -o out --untrusted");
  expect_error(trusted, 3, {"c.png"});
  expect_error(result, 3, {"c.png"});
  for (const char* name : {"/a.png", "/b.png"}) {
    EXPECT_EQ(read(std::string("out") + name), read(std::string("trusted") + name));
  }
  for (const char* option : {"--bands", "--tile-size"}) {
    expect_error(segment(fmt::format("in/a.png --untrusted {} 1", option)), 2,
                 {option, "--untrusted"});
  }
}

TEST_F(CliInput, AWorkingFolderThatIsGoneIsNamed) {
  write_picture("a.png");
  make_folder("gone");
  const Result result =
      start_program("/bin/sh",
                    {"-c", "rmdir ../gone && exec \"$0\" ../a.png -o x.png", DIACUT_SEGMENT},
                    {.folder = path("gone")})
          ->wait();
  expect_error(result, 3, {"working folder does not exist"});
}

}  // namespace
}  // namespace diacut::testing
