#pragma once

#include <cpl_string.h>
#include <gdal_priv.h>

#include <string>
#include <vector>

#include "diacut/map.hpp"

/// GDAL's own types, for this folder alone.
namespace diacut {

/// While it exists, what GDAL says in this thread is kept off standard error, and the first error
/// is kept. GDAL's drivers are known from the first one on.
class GdalMessages {
 public:
  GdalMessages();
  ~GdalMessages();
  GdalMessages(const GdalMessages&) = delete;
  GdalMessages& operator=(const GdalMessages&) = delete;

  /// The first error; empty: none.
  const std::string& error() const { return error_; }
  /// Throws InputError: `what`, then the first error in brackets, then `advice`.
  [[noreturn]] void refuse(const std::string& what, const std::string& advice) const;

 private:
  static void keep(CPLErr severity, CPLErrorNum number, const char* message);

  std::string error_;
};

using Dataset = GDALDatasetUniquePtr;

/// Opens a raster to read it; null with a message in the present GdalMessages where that fails.
/// Drivers of documents (PDF) and of whole web addresses are not asked.
Dataset open_raster(const std::string& name);

/// The coordinate system of a frame, without heights; it is empty where the projection is.
OGRSpatialReference spatial_reference(const MapFrame& frame);

/// The control points of a frame as GDAL takes them; they refer to the frame.
std::vector<GDAL_GCP> control_points(const MapFrame& frame);

/// Turns places in pixels, corners of pixels being whole numbers, into coordinates of a frame.
using PixelToMap = std::function<void(std::vector<double>& x, std::vector<double>& y)>;

/// That of a frame, which must have coordinates. Throws InputError where control points determine
/// nothing, or pixels have no extent.
PixelToMap pixel_to_map(const MapFrame& frame);

/// Lets GDAL keep 128 MiB of blocks, unless the environment variable GDAL_CACHEMAX says how many:
/// by itself it keeps a twentieth of the main memory. For files that are read or written part by
/// part.
void limit_block_cache();

/// A driver that writes. Throws InputError where GDAL was built without it.
GDALDriver& writing_driver(const char* name);

}  // namespace diacut
