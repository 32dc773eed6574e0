#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "diacut/image.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// From this number, 2^53, on a double cannot hold every whole number.
inline constexpr double kMostWhole = 9007199254740992;

/// One number a pixel, as a file stores it and upright: labels, strengths, ...
struct Raster {
  int width = 0;
  int height = 0;
  std::vector<double> values;  ///< width * height, row by row; NaN: no data; may be infinite.
  bool is_integer = false;     ///< The file stores integers; all of them are exact here.
  /// What the file's format means by full strength: 255 in grey pictures of 8 bits, 15 in those of
  /// 4; 1 elsewhere.
  double full = 1;
  bool is_grey = false;        ///< A grey picture of up to 16 bits.
  bool is_indexed = false;     ///< The numbers are indices of a palette.
  bool zero_is_white = false;  ///< As strength, 0 is full and `full` is none.
};

/// Reads a PNG or TIFF (one channel, or colours that
/// are all grey; of palettes the index; what is transparent, masked or holds the value of no data
/// is NaN) or a .npy array of two dimensions (b1, i1 to i8, u1 to u8, f4, f8; either byte order,
/// either order of dimensions). The file's first bytes show which. Throws InputError naming the
/// file.
Raster read_raster(const std::string& path, const ImageParameters& parameters = {});

/// The raster of a file that is decoded already. Throws InputError where it has colours.
Raster raster_of(const Decoded& decoded);

/// Reads a raster from the bytes of a file, as read_raster() does; messages do not name the file.
/// `path`: of the file, beside which its mask may lie; empty: there is none. `page`: of a TIFF,
/// from 1; 0: it has one.
Raster decode_raster(Bytes file, const ImageParameters& parameters = {},
                     const std::string& path = {}, int page = 0);

/// The values as boundary strength, scaled so that full strength is 1. Throws InputError where
/// there is no data, and for values outside of [0, 1].
std::vector<double> strengths_of(const Raster& raster);

/// The values as whole numbers; 0 where there is no data. Throws InputError that says what was
/// `expected` where one is no whole number from `least` to `most`.
std::vector<std::int64_t> whole_numbers(const Raster& raster, double least, double most,
                                        const std::string& expected);

/// All bytes of a file. Throws InputError naming the file.
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace diacut
