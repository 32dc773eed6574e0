#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "image_files.hpp"

/// Files of the kinds that cameras and phones make, by the encoders of the libraries that read
/// them. Samples are red, green, blue (and alpha), unlike OpenCV's order.
namespace diacut::testing {

struct HeifFile {
  bool is_avif = false;
  int bits = 8;            ///< Of `pictures`: 8 (CV_8UC3 or C4), or 10 and 12 (CV_16UC3).
  int orientation = 1;     ///< As EXIF has it; written as turns and mirrors of the container.
  int primaries = 1;       ///< Of ITU-T H.273.
  int transfer = 13;       ///< Of ITU-T H.273.
  FileBytes profile = {};  ///< ICC; takes the place of the numbers.
  std::vector<cv::Mat> pictures;
};
/// Luma and chroma without loss: red, green and blue come back to within two steps, because each of
/// the three is rounded. In AVIF this holds where the colours of each two by two pixels are equal.
FileBytes write_heif(const HeifFile& file);

struct JxlFile {
  int orientation = 1;
  FileBytes profile = {};  ///< ICC; empty: sRGB.
  bool is_lossy = false;
  std::vector<cv::Mat> frames = {};  ///< 8 or 16 bits or floats; 1 to 4 channels.
  bool is_premultiplied = false;
  int depth_channels = 0;  ///< Channels beside colours and alpha.
};
FileBytes write_jxl(const JxlFile& file);

struct Jpeg2000File {
  cv::Mat samples = {};
  int bits = 0;          ///< 0: all of the samples' type.
  bool is_bare = false;  ///< A codestream without container.
  FileBytes profile = {};
};
/// Without loss.
FileBytes write_jpeg2000(const Jpeg2000File& file);

/// A DNG of a sensor that has the primaries of sRGB: rows of red, green, red, ... and green, blue,
/// ..., each with the light that `light` (CV_16UC3) has of its colour, linear.
FileBytes write_dng(const cv::Mat& light, int orientation = 1);
/// The only page of that file.
TiffPage dng_page(const cv::Mat& light, int orientation = 1);

/// The ICC profile of RGB with these primaries (x and y of red, green, blue) and a gamma; white is
/// that of daylight (D65).
FileBytes rgb_profile(const std::vector<double>& primaries, double gamma);
FileBytes adobe_rgb_profile();
FileBytes srgb_profile();
FileBytes grey_profile(double gamma);

}  // namespace diacut::testing
