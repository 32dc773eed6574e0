#include <opencv2/core.hpp>

#include "camera_files.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"
#include "image/raster.hpp"
#include "image/tiff_part.hpp"
#include "mended.hpp"
#include "spoilt.hpp"
#include "target.hpp"
#include "whole_files.hpp"

/// Pictures, and what is stored in them.
namespace diacut::fuzz {
namespace {

void read_part(const FileBytes& file, const ImagePart& part) {
  try {
    require_well_formed(decode_image(file, "fuzzed", {.max_pixels = kMostPixels}, part));
  } catch (const InputError&) {  // The other parts are of interest too.
    if (part.page == 0) throw;
  }
}

void read_picture(const FileBytes& file) { read_part(file, {}); }

/// Formats that hold several pages.
void read_pages(const FileBytes& file) {
  read_part(file, {2, ""});
  read_part(file, {1, "2"});
  read_part(file, {});
}

void read_tiff(const FileBytes& file) {
  const ImagePart first{1, ""};
  try {
    require(decode(file, kMostPixels, {DecodeTask::kFacts, first}).pages > 0, "a file has pages");
    const Raster raster = decode_raster(file);
    require_size(raster.values, raster.width, raster.height);
  } catch (const InputError&) {  // Not every picture is a raster.
  }
  read_pages(file);
}

void read_png(const FileBytes& file) {
  const FileBytes mended = testing::mended_png(file);
  try {
    decode_raster(mended);
  } catch (const InputError&) {  // Not every picture is a raster.
  }
  read_part(mended, {});
}

void read_exif(const FileBytes& block) {
  const int orientation = exif_orientation(block);
  require(orientation >= 1 && orientation <= 8, "an orientation is a number from 1 to 8");
}

/// Samples of each kind that a profile may be for.
void read_profile(const FileBytes& profile) {
  struct Kind {
    int type;
    bool has_alpha = false;
    bool zero_is_white = false;
    bool premultiplied = false;
    double most = 0;
  };
  for (const Kind& kind :
       {Kind{CV_8UC1}, Kind{CV_8UC3}, Kind{CV_16UC3}, Kind{CV_8UC4, true}, Kind{CV_16UC1},
        Kind{.type = CV_8UC1, .zero_is_white = true}, Kind{.type = CV_16UC3, .most = 4095},
        Kind{.type = CV_8UC4, .has_alpha = true, .premultiplied = true}, Kind{CV_32FC3}}) {
    Decoded decoded;
    decoded.samples = cv::Mat(2, 3, kind.type, cv::Scalar(10, 100, 200, 255));
    decoded.has_alpha = kind.has_alpha;
    decoded.zero_is_white = kind.zero_is_white;
    decoded.premultiplied = kind.premultiplied;
    if (CV_MAT_DEPTH(kind.type) == CV_16U) {
      decoded.type_range = std::pair{0.0, kind.most > 0 ? kind.most : 65535.0};
    }
    decoded.profile = profile;
    apply_profile(decoded);
    require(decoded.samples.rows == 2 && decoded.samples.cols == 3,
            "a profile leaves a picture its size");
  }
  const cv::Mat inks(2, 3, CV_8UC4, cv::Scalar(10, 100, 200, 50));
  const std::optional<cv::Mat> colours = rgb_of_cmyk(inks, true, profile);
  require(!colours || colours->channels() == 3, "inks become red, green and blue");
}

/// The first bytes: how many directories and samples, which part; then a description.
void read_description(const FileBytes& bytes) {
  if (bytes.size() < 4) return;
  const std::string text(bytes.begin() + 4, bytes.end());
  const int directories = 1 + bytes[0];
  const ImagePart part{bytes[2] % 8, bytes[3] % 2 == 0 ? "" : "2"};
  const TiffPart found =
      find_tiff_part(text, directories, 1 + bytes[1] % 8, bytes[3] % 4 < 2, part);
  for (const int each : found.directories) {
    require(each >= 0 && each < directories, "a page is a directory of its file");
  }
}

using Files = std::vector<FileBytes>;

/// A format, whose files whole_files() and more_pictures() make. A file of another format is left
/// to that one's target.
Target target_of(const ImageFormat& format) {
  const auto read = format.id == "png"                     ? read_png
                    : format.id == "tiff"                  ? read_tiff
                    : format.may_hold(ImageFormat::kPages) ? read_pages
                                                           : read_picture;
  Target target;
  target.name = format.id;
  target.read = [=, &format](const FileBytes& file) {
    if (&format_of(file) == &format) read(file);
  };
  target.seeds = [&format] {
    Files seeds = more_pictures(format.id);
    for (const auto& files : {testing::whole_files(), testing::whole_camera_files()}) {
      for (const auto& [unused, file] : files) {
        if (&format_of(file) == &format) seeds.push_back(file);
      }
    }
    return seeds;
  };
  target.sources = {"lib/files/image/decode_" + target.name + ".cpp"};
  target.spoilt = [&format] { return spoilt_pictures(format.id); };
  return target;
}

std::vector<FileBytes> exif_seeds() {
  return {testing::exif_block(6), testing::exif_block(3, false)};
}

std::vector<FileBytes> profile_seeds() {
  std::vector<FileBytes> files = {
      testing::adobe_rgb_profile(),     testing::srgb_profile(),
      testing::grey_profile(1.8),       testing::grey_profile(2.2),
      testing::stored_file("cmyk.icc"), testing::stored_file("lab.icc")};
  return files;
}

std::vector<FileBytes> description_seeds() {
  const std::string head("\x05\x00\x01\x00", 4);
  return {
      bytes_of(head + "ImageJ=1.53\nimages=6\nchannels=2\nslices=3\nhyperstack=true\n"),
      bytes_of(head + "<?xml version=\"1.0\"?><OME><Image ID=\"Image:0\"><Pixels "
                      "DimensionOrder=\"XYCZT\" SizeC=\"2\" SizeT=\"1\" SizeZ=\"3\"><Channel "
                      "ID=\"Channel:0:0\" Name=\"2\" SamplesPerPixel=\"1\"/><TiffData FirstC=\"1\" "
                      "IFD=\"1\" PlaneCount=\"2\"/></Pixels></Image></OME>")};
}

}  // namespace

std::vector<Target> picture_targets() {
  std::vector<Target> targets = {
      {"tiff_part", read_description, description_seeds, {"lib/files/image/tiff_part.cpp"}},
      {"exif",
       read_exif,
       exif_seeds,
       {"lib/files/image/decoded.cpp", "lib/files/image/tiff_directory.hpp"}},
      {"profile", read_profile, profile_seeds, {"lib/files/image/profile.cpp"}},
  };
  for (const ImageFormat& format : image_formats()) targets.push_back(target_of(format));
  return targets;
}

}  // namespace diacut::fuzz
