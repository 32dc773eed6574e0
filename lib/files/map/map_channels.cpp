#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "diacut/map.hpp"
#include "image/channels.hpp"
#include "map/gdal.hpp"
#include "map/ground.hpp"
#include "map/scene.hpp"
#include "output/format.hpp"

namespace diacut {

MapFrame read_map_frame(const std::string& name) {
  return encode_for(name, [&] {
    const GdalMessages messages;
    return Scene(name).frame();
  });
}

PixelSize ground_pixel(const MapFrame& frame) {
  if (!frame.transform || frame.projection.empty()) return {};
  const GdalMessages messages;
  const std::optional<GroundArea> ground = GroundArea::of(frame);
  if (!ground || !ground->is_plane()) return {};
  const auto& t = *frame.transform;
  const double unit = spatial_reference(frame).GetLinearUnits();
  const double width = std::hypot(t[1], t[4]) * unit;
  const double area = std::abs(t[1] * t[5] - t[2] * t[4]) * unit * unit;
  if (!(width > 0 && area > 0 && std::isfinite(area / width))) return {};
  return {width, area / width, "m"};
}

void read_map_channels(const MapFrame& frame, const std::string& wanted,
                       const std::function<void(Channel&&)>& visit) {
  encode_for(frame.source, [&] {
    const GdalMessages messages;
    const Scene scene = scene_of(frame);
    std::vector<std::string> names;
    std::vector<std::string> given;
    for (const int band : frame.bands) {
      names.push_back(fmt::format("b{}", band));
      given.emplace_back(scene.band(band).GetDescription());
    }
    const auto width = static_cast<std::size_t>(scene.width());
    for (const std::size_t k : channels_in(wanted.empty() ? "all" : wanted, names, given)) {
      Channel channel{names[k], scene.width(), scene.height(), {}};
      channel.values.reserve(width * static_cast<std::size_t>(scene.height()));
      scene.each_rows({frame.bands[k]}, [&](const BandRows& rows) {
        channel.values.insert(channel.values.end(), rows.values.begin(), rows.values.end());
      });
      visit(std::move(channel));
    }
  });
}

}  // namespace diacut
