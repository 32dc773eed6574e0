#include "map/gdal.hpp"

#include <cpl_conv.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gdal_alg.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "diacut/errors.hpp"
#include "map/detect.hpp"

namespace diacut {
namespace {

/// Uses the tables of GDAL and PROJ that a package brought beside this code, as the wheel does.
void use_own_tables() {
  namespace fs = std::filesystem;
  std::error_code code;
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&use_own_tables), &own);
  // For code in the program itself dladdr() gives the word that started it.
  for (const fs::path& file : {fs::path(own.dli_fname == nullptr ? "" : own.dli_fname),
                               fs::read_symlink("/proc/self/exe", code)}) {
    const fs::path share = file.parent_path() / "share";
    const std::string proj = share / "proj";
    if (file.is_relative() || !fs::exists(proj + "/proj.db", code)) continue;
    CPLSetConfigOption("GDAL_DATA", (share / "gdal").c_str());
    const std::array<const char*, 2> folders = {proj.c_str(), nullptr};
    OSRSetPROJSearchPaths(folders.data());
    return;
  }
}

void register_drivers() {
  static std::once_flag once;
  std::call_once(once, [] {
    use_own_tables();
    GDALAllRegister();
  });
}

/// The names of the drivers that open_raster() asks.
const CPLStringList& raster_drivers() {
  static const CPLStringList names = [] {
    constexpr std::array<std::string_view, 2> kNoScenes = {"PDF", "HTTP"};
    CPLStringList found;
    GDALDriverManager* manager = GetGDALDriverManager();
    for (int i = 0; i < manager->GetDriverCount(); ++i) {
      GDALDriver* driver = manager->GetDriver(i);
      const std::string_view name = driver->GetDescription();
      if (driver->GetMetadataItem(GDAL_DCAP_RASTER) != nullptr &&
          std::find(kNoScenes.begin(), kNoScenes.end(), name) == kNoScenes.end()) {
        found.AddString(driver->GetDescription());
      }
    }
    return found;
  }();
  return names;
}

}  // namespace

GdalMessages::GdalMessages() {
  register_drivers();
  CPLPushErrorHandlerEx(&GdalMessages::keep, this);
}

GdalMessages::~GdalMessages() { CPLPopErrorHandler(); }

void GdalMessages::refuse(const std::string& what, const std::string& advice) const {
  throw InputError(error_.empty() ? fmt::format("{}: {}", what, advice)
                                  : fmt::format("{} ({}): {}", what, error_, advice));
}

void GdalMessages::keep(CPLErr severity, CPLErrorNum /*number*/, const char* message) {
  auto* self = static_cast<GdalMessages*>(CPLGetErrorHandlerUserData());
  if (severity < CE_Failure || !self->error_.empty()) return;
  self->error_ = message;
  std::replace(self->error_.begin(), self->error_.end(), '\n', ' ');
  while (!self->error_.empty() &&
         std::string_view(". ").find(self->error_.back()) != std::string::npos) {
    self->error_.pop_back();
  }
}

Dataset open_raster(const std::string& name) {
  return Dataset(GDALDataset::Open(name.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR,
                                   raster_drivers().List()));
}

bool gdal_knows(const std::string& name) {
  const GdalMessages quiet;
  return GDALIdentifyDriverEx(name.c_str(), GDAL_OF_RASTER, raster_drivers().List(), nullptr) !=
         nullptr;
}

OGRSpatialReference spatial_reference(const MapFrame& frame) {
  OGRSpatialReference reference;
  if (frame.projection.empty()) return reference;
  if (reference.importFromWkt(frame.projection.c_str()) != OGRERR_NONE) {
    throw InputError("its projection is not understood: assign one with gdal_edit.py -a_srs");
  }
  if (frame.axes.empty()) {
    reference.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  } else {
    reference.SetDataAxisToSRSAxisMapping(frame.axes);
  }
  if (reference.IsCompound() != 0) reference.StripVertical();
  return reference;
}

std::vector<GDAL_GCP> control_points(const MapFrame& frame) {
  std::vector<GDAL_GCP> points;
  for (const ControlPoint& point : frame.points) {
    // GDAL's struct has texts that may be written to; here they are only read.
    points.push_back({const_cast<char*>(point.name.c_str()), const_cast<char*>(""), point.column,
                      point.row, point.x, point.y, point.z});
  }
  return points;
}

PixelToMap pixel_to_map(const MapFrame& frame) {
  if (frame.transform) {
    const std::array<double, 6> t = *frame.transform;
    const double area = t[1] * t[5] - t[2] * t[4];
    if (!std::isfinite(area) || area == 0) {
      throw InputError("its transform gives pixels no area: assign another with gdal_edit.py");
    }
    return [t](std::vector<double>& x, std::vector<double>& y) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double column = x[i];
        const double row = y[i];
        x[i] = t[0] + t[1] * column + t[2] * row;
        y[i] = t[3] + t[4] * column + t[5] * row;
      }
    };
  }
  const std::vector<GDAL_GCP> points = control_points(frame);
  constexpr int kHighestOrderThatIsStable = 0;
  const std::shared_ptr<void> polynomial(
      GDALCreateGCPTransformer(static_cast<int>(points.size()), points.data(),
                               kHighestOrderThatIsStable, FALSE),
      [](void* made) {
        if (made != nullptr) GDALDestroyGCPTransformer(made);
      });
  if (!polynomial) {
    throw InputError(
        "its control points determine no coordinates (do they lie on a line?): warp it with "
        "gdalwarp first");
  }
  return [polynomial](std::vector<double>& x, std::vector<double>& y) {
    std::vector<double> z(x.size(), 0);
    std::vector<int> done(x.size(), 0);
    GDALGCPTransform(polynomial.get(), FALSE, static_cast<int>(x.size()), x.data(), y.data(),
                     z.data(), done.data());
  };
}

void limit_block_cache() {
  constexpr GIntBig kBytes = GIntBig{128} << 20;
  if (CPLGetConfigOption("GDAL_CACHEMAX", nullptr) == nullptr) GDALSetCacheMax64(kBytes);
}

GDALDriver& writing_driver(const char* name) {
  GDALDriver* driver = GetGDALDriverManager()->GetDriverByName(name);
  if (driver != nullptr) return *driver;
  throw InputError(
      fmt::format("this GDAL was built without its driver {}: choose another format", name));
}

}  // namespace diacut
