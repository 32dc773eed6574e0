#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "image/decoded.hpp"
#include "map/gdal.hpp"
#include "map/window.hpp"

namespace diacut {

/// Some whole rows of some bands of a scene, band after band.
struct BandRows {
  int first = 0;  ///< The first row.
  int rows = 0;   ///< How many.
  /// bands * rows * width, as the scene stores them; NaN where there is no data or it is not
  /// finite.
  std::vector<double> values;
};

/// How samples lie in an OpenCV matrix, and which values they can have; nothing for floats.
struct SampleType {
  GDALDataType type = GDT_Byte;
  int depth = 0;
  TypeRange range;
};

/// A scene that GDAL has opened to be read. Messages of its errors do not name it.
class Scene {
 public:
  /// Throws InputError where GDAL cannot open it, where it has no bands (it may hold subdatasets),
  /// or where its numbers are complex.
  explicit Scene(const std::string& name);

  int width() const { return width_; }
  int height() const { return height_; }
  /// The numbers of its bands, from 1: without alpha bands, unless there is nothing else.
  const std::vector<int>& bands() const { return bands_; }
  /// Whether a band's numbers are those of colours. GDAL gives 1 bit of grey a palette too, of
  /// black and white.
  bool has_palette(int number) const;
  /// Throws InputError where there is no such band.
  GDALRasterBand& band(int number) const;
  MapFrame frame() const;

  /// The type that holds the samples of all these bands.
  SampleType sample_type(const std::vector<int>& bands) const;
  /// A picture of these bands that read_rows_of() fills.
  Decoded picture_of(int width, int height, const std::vector<int>& bands,
                     const SampleType& type) const;
  /// Reads a window, as wide as the picture `to`, into its rows from `first` on: the bands of a
  /// pixel side by side, and whether it has data in all of them.
  void read_rows_of(const Window& window, const std::vector<int>& bands, const SampleType& type,
                    int first, Decoded& to) const;
  /// Whether every pixel of these bands has data, as far as masks show.
  bool is_whole(const std::vector<int>& bands) const;
  /// Reads rows as numbers. The buffers of `to` are used again.
  void read_rows(int first, int rows, const std::vector<int>& bands, BandRows& to) const;
  /// Reads all rows of these bands, some at once, from the top: calls visit() with each some.
  void each_rows(const std::vector<int>& bands,
                 const std::function<void(const BandRows& rows)>& visit) const;
  /// How many rows are read at once where `bytes` are held for a pixel.
  int rows_at_once(std::size_t bytes) const;

 private:
  Window of_rows(int first, int rows) const { return {0, first, width_, rows}; }
  void read(const Window& window, const std::vector<int>& bands, void* to, GDALDataType type,
            std::size_t pixel, std::size_t line, std::size_t band) const;
  /// Refuses a GeoTIFF that Deflate packs if a block of a window is damaged.
  void check_blocks(const Window& window, const std::vector<int>& bands) const;
  /// Whether the pixels of a band have data, as masks, alpha and the value of no data say.
  std::vector<std::uint8_t> read_mask(const Window& window, int band) const;
  /// The alpha band that other bands have; null without one.
  GDALRasterBand* alpha() const;

  std::string name_;
  Dataset dataset_;
  int width_ = 0;
  int height_ = 0;
  std::vector<int> bands_;
  mutable std::optional<double> full_alpha_;
  mutable std::set<std::array<int, 3>> checked_;  ///< Band, column and row of blocks.
};

/// The source of a frame. Throws InputError where it has changed since the frame was read.
Scene scene_of(const MapFrame& frame);

/// The bands of a picture in the order of red, green and blue, where the scene says which is which.
std::vector<int> in_colour_order(const Scene& scene, const std::vector<int>& bands);

}  // namespace diacut
