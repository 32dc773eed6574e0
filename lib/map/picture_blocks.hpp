#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/map.hpp"

namespace diacut {

class PictureSource;

/// A picture of which parts are read: the scenes that read_map() reads and plain TIFF files
/// (map/detect.hpp), by blocks through GDAL, and the other pictures that read_image() reads,
/// which are in memory whole. Values are those that the whole
/// picture has there.
class PictureBlocks {
 public:
  /// Opens a picture. `bands` as read_map() takes them. Throws InputError naming it as read_map()
  /// and read_image() do, and where its bands are neither one nor three or the numbers of colours.
  PictureBlocks(const std::string& name, const ImageParameters& parameters,
                const std::vector<int>& bands);
  ~PictureBlocks();
  PictureBlocks(const PictureBlocks&) = delete;
  PictureBlocks& operator=(const PictureBlocks&) = delete;

  int width() const;
  int height() const;
  /// Whether all pixels have data, as far as the file tells without being read.
  bool is_whole() const;
  /// Where a scene lies; of another picture nothing but its size.
  const MapFrame& frame() const;

  /// The stored values that become 0 and 1, for which a scene is read where its type does not tell
  /// them. Adds to `notes` what a person should know of
  /// the values.
  std::pair<double, double> settle_range(std::vector<std::string>& notes) const;

  /// The pixels from (x, y) on, with the mask of those that have data. `range`: settle_range().
  /// Throws InputError where blocks cannot be decoded. Several threads may read at once.
  Image read(int x, int y, int width, int height, const std::pair<double, double>& range) const;

 private:
  std::unique_ptr<PictureSource> source_;
  std::string name_;
};

}  // namespace diacut
