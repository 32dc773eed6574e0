#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diacut/image.hpp"
#include "image/bytes.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// One number a pixel, as a file stores it: labels, strengths, ...
struct Raster {
  int width = 0;
  int height = 0;
  std::vector<double> values;  ///< width * height, row by row; may be NaN or infinite.
  bool is_integer = false;     ///< The file stores integers; all of them are exact here.
  /// What the file's format means by full strength: 255 in grey pictures of 8 bits, 15 in those of
  /// 4; 1 elsewhere.
  double full = 1;
  bool is_grey = false;     ///< A grey picture of up to 16 bits.
  bool is_indexed = false;  ///< The numbers are indices of a palette.
};

/// Reads a PNG or TIFF (one channel, or colours that are all grey; a transparency is ignored; of
/// palettes the index; upright) or a .npy array of two dimensions (b1, i1 to i8, u1 to u8, f4, f8;
/// either byte order, either order of dimensions). The file's first bytes tell which. Throws
/// InputError naming the file.
Raster read_raster(const std::string& path, const ImageParameters& parameters = {});

/// The raster of a PNG or TIFF that is decoded already. `file`: its bytes.
Raster raster_of(const Decoded& decoded, Bytes file);

/// Reads a raster from the bytes of a file, as read_raster() does; messages do not name the file.
Raster decode_raster(Bytes file, const ImageParameters& parameters = {});

/// Numbers of a type as NumPy calls it ("f4"), of which there must be `count` in `bytes`. `swap`:
/// whether the order of their bytes is not the machine's.
std::vector<double> numbers_of(Bytes bytes, std::string_view type, std::size_t count, bool swap);

/// The values of a raster that are given column by column.
std::vector<double> by_rows(const std::vector<double>& by_columns, int width, int height);

/// All bytes of a file. Throws InputError naming the file.
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace diacut
