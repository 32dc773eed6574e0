#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/map.hpp"
#include "map/window.hpp"

namespace diacut {

/// Where PictureBlocks takes its parts from.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  virtual bool is_whole() const = 0;
  virtual std::pair<double, double> settle_range(std::vector<std::string>& notes) const = 0;
  virtual Image read(const Window& window, const std::pair<double, double>& range) const = 0;

  MapFrame frame;
};

/// A scene that GDAL reads by blocks.
std::unique_ptr<PictureSource> open_scene(const std::string& name, const std::vector<int>& bands,
                                          ValueRange rule);

}  // namespace diacut
