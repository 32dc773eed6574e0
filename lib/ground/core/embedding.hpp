#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace diacut {

/// The most channels that an embedding may have.
inline constexpr int kMostEmbeddingChannels = 16;
/// The values of an embedding are whole numbers of this fraction, so that sums of them are exact.
inline constexpr double kEmbeddingUnit = 1.0 / 256;

/// What a network says of the things in a picture: a vector for each cell of a few pixels. Vectors
/// of one thing lie near each other, those of two things far apart (De Brabandere, Neven and Van
/// Gool 2017, "Semantic instance segmentation with a discriminative loss function").
struct Embedding {
  int channels = 0;                     ///< 0: there is no embedding.
  int columns = 0;                      ///< Of cells.
  std::vector<std::int16_t> values;     ///< [row][column][channel], in units of kEmbeddingUnit.
  std::vector<std::int32_t> column_of;  ///< By the x of a pixel, the column of its cell.
  std::vector<std::int32_t> row_of;     ///< By the y of a pixel, the row of its cell.

  explicit operator bool() const { return channels > 0; }
  /// Where the vector of a cell begins in `values`.
  std::size_t cell(std::size_t column, std::size_t row) const {
    return (row * static_cast<std::size_t>(columns) + column) * static_cast<std::size_t>(channels);
  }
  /// The vector of a pixel's cell.
  const std::int16_t* at(std::size_t x, std::size_t y) const {
    return &values[cell(static_cast<std::size_t>(column_of[x]),
                        static_cast<std::size_t>(row_of[y]))];
  }
};

}  // namespace diacut
