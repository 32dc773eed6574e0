#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

/// The shape of a square matrix in pitched DIA form, diagonal-major:
///
///   (A x)[row] = sum over d of values[d * pitch + row] * x[row + offsets[d]]
///
/// over the d with 0 <= row + offsets[d] < rows. Offsets of a stencil ascend, except in images
/// narrower than it, where they may also repeat. An entry whose column lies outside [0, rows), or
/// in another image row than its stencil entry means, is stored as zero; elements from rows to
/// pitch are zero too.
struct DiaShape {
  std::size_t rows = 0;
  std::size_t pitch = 0;  ///< Elements from one diagonal to the next: dia_pitch(rows).
  std::vector<std::int64_t> offsets;

  std::size_t diagonals() const { return offsets.size(); }
  std::size_t stored() const { return pitch * offsets.size(); }
  bool operator==(const DiaShape&) const = default;
};

DiaShape dia_shape(std::size_t rows, std::vector<std::int64_t> offsets);
/// offsets[k] = dy * grid.width + dx of stencil entry k.
DiaShape dia_shape(const Grid& grid, const Stencil& stencil);

/// The least and the largest offset, or 0: how far a row reaches to either side.
std::pair<std::int64_t, std::int64_t> reach_of(const std::vector<std::int64_t>& offsets);

/// The macros of a program of its own for a matrix with these offsets: -DPITCH, -DLOWEST and
/// -DHIGHEST, as reach_of() gives them, and -DTERMS=BLOCK(TERM(0,-481)TERM(1,-1)...)BLOCK(...)...
/// with so many terms in a block.
std::string compiled_offsets(const std::vector<std::int64_t>& offsets, std::size_t pitch,
                             std::size_t block_terms);

/// On the host: values.size() == shape.stored().
struct HostDiaMatrix {
  DiaShape shape;
  std::vector<float> values;
};

/// On the device: values.size() == shape.stored().
struct DiaMatrix {
  DiaShape shape;
  Buffer<float> values;
};

HostDiaMatrix download(const DiaMatrix& matrix);
DiaMatrix upload(Context& context, const HostDiaMatrix& matrix);

/// The product in double, by the definition above: what kernels are tested against. `x` and the
/// result hold shape.rows elements. If `magnitude` is given it receives sum |a_i x_i| a row, the
/// scale of the rounding error that is allowed.
std::vector<double> reference_matvec(const HostDiaMatrix& matrix, const std::vector<double>& x,
                                     std::vector<double>* magnitude = nullptr);

}  // namespace diacut
