#include <fmt/format.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/decoded.hpp"
#include "image/naming.hpp"
#include "image/values.hpp"
#include "map/components.hpp"
#include "map/scene.hpp"

namespace diacut {
namespace {

/// Reads bands as the channels of a picture.
Decoded decode_bands(const Scene& scene, const std::vector<int>& bands) {
  const SampleType type = scene.sample_type(bands);
  Decoded decoded = scene.picture_of(scene.width(), scene.height(), bands, type);
  const int at_once = scene.rows_at_once(decoded.samples.elemSize());
  for (int first = 0; first < scene.height(); first += at_once) {
    const int rows = std::min(at_once, scene.height() - first);
    scene.read_rows_of({0, first, scene.width(), rows}, bands, type, first, decoded);
  }
  return decoded;
}

/// Reads a band whose numbers are those of colours.
Decoded decode_palette(const Scene& scene, int number, const GDALColorTable& table) {
  Decoded decoded;
  decoded.has_alpha = true;
  decoded.hidden = "masked, or hold the value of no data";
  cv::Mat4b samples(scene.height(), scene.width(), cv::Vec4b());
  std::vector<cv::Vec4b> colours;
  for (int k = 0; k < table.GetColorEntryCount(); ++k) {
    const GDALColorEntry& each = *table.GetColorEntry(k);
    colours.emplace_back(cv::Vec4s(each.c1, each.c2, each.c3, each.c4));
  }
  scene.each_rows({number}, [&](const BandRows& rows) {
    cv::Vec4b* const to = samples[rows.first];
    for (std::size_t i = 0; i < rows.values.size(); ++i) {
      const double index = rows.values[i];  // NaN is no colour's.
      if (index >= 0 && index < static_cast<double>(colours.size())) {
        to[i] = colours[static_cast<std::size_t>(index)];
      }
    }
  });
  decoded.samples = samples;
  return decoded;
}

Decoded decode(const Scene& scene, const std::vector<int>& chosen) {
  for (const int number : chosen) scene.band(number);  // Throws where there is none.
  const std::vector<int>& bands = chosen.empty() ? scene.bands() : chosen;
  if (bands.size() == 1) {
    GDALRasterBand& only = scene.band(bands.front());
    const GDALColorTable* table = only.GetColorTable();
    if (table != nullptr && table->GetPaletteInterpretation() == GPI_RGB) {
      return decode_palette(scene, bands.front(), *table);
    }
    return decode_bands(scene, bands);
  }
  if (bands.size() != 3) return decode_components(scene, bands);
  return decode_bands(scene, chosen.empty() ? in_colour_order(scene, bands) : bands);
}

Map read(const std::string& name, const ImageParameters& parameters, const std::vector<int>& bands,
         const SizeCheck& accepts) {
  const GdalMessages quiet;
  const Scene scene(name);
  check_size(scene.width(), scene.height(), {parameters.max_pixels, accepts});
  Map map;
  map.frame = scene.frame();
  const Decoded decoded = decode(scene, bands);
  const bool numbers = bands.empty() && scene.bands().size() != 1 && scene.bands().size() != 3;
  // Components have no type whose range they could fill.
  const bool stays =
      parameters.range == ValueRange::kData || parameters.range == ValueRange::kLimits;
  const ValueRange range = numbers && !stays ? ValueRange::kRobust : parameters.range;
  map.image = to_image(decoded, range);
  return map;
}

}  // namespace

Map read_map(const std::string& name, const ImageParameters& parameters,
             const std::vector<int>& bands, const SizeCheck& accepts) {
  if (!bands.empty() && bands.size() != 1 && bands.size() != 3) {
    throw ConfigError(fmt::format(
        "{} bands are named: name one (grey) or three (red, green and blue)", bands.size()));
  }
  return naming(name, [&] { return read(name, parameters, bands, accepts); });
}

}  // namespace diacut
