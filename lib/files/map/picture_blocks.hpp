#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/map.hpp"
#include "map/window.hpp"

namespace diacut {

/// A picture of which parts are read, with the values that the whole picture has there. Errors are
/// InputError and name it.
class PictureBlocks {
 public:
  virtual ~PictureBlocks() = default;
  /// Whether all pixels have data, as far as the file says without being read.
  virtual bool is_whole() const = 0;
  /// The stored values that become 0 and 1, for which a scene is read where its type does not say
  /// them. Adds to `notes` what a person should know of the values.
  virtual std::pair<double, double> value_range(std::vector<std::string>& notes) const = 0;
  /// The pixels of a window, with the mask of those that have data. `range`: value_range().
  /// Several threads may read at once.
  virtual Image read(const Window& window, const std::pair<double, double>& range) const = 0;

  /// Where a scene lies; of another picture nothing but its size.
  MapFrame frame;
  std::vector<std::string> notes;  ///< Of how it is read, beside those of value_range().
};

/// Opens a picture: the scenes that read_map() reads and plain TIFF files (map/detect.hpp) by
/// blocks through GDAL; the other pictures that read_image() reads are in memory whole. `bands` as
/// read_map() takes them. Throws InputError naming it as read_map() and read_image() do, and where
/// its bands are neither one nor three or the numbers of colours.
std::unique_ptr<PictureBlocks> open_picture(const std::string& name,
                                            const ImageParameters& parameters,
                                            const std::vector<int>& bands);

/// A scene that GDAL reads by blocks.
std::unique_ptr<PictureBlocks> open_scene(const std::string& name, const std::vector<int>& bands,
                                          ValueRange rule);

}  // namespace diacut
