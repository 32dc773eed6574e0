#include <fmt/format.h>
#include <png.h>
#include <tiffio.h>
#include <zlib.h>

#include <opencv2/core/utility.hpp>

#include "diacut/doctor.hpp"

namespace diacut {

std::vector<LibraryVersion> library_versions() {
  // "LIBTIFF, Version 4.5.0", and lines of copyright.
  std::string tiff = TIFFGetVersion();
  tiff.resize(std::min(tiff.find('\n'), tiff.size()));
  tiff.erase(0, tiff.rfind(' ') + 1);
  return {{"OpenCV", cv::getVersionString()},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"libtiff", tiff},
          {"zlib", zlibVersion()}};
}

}  // namespace diacut
