// Packs a matrix as matvec_symmetric_tile.cl and matvec_symmetric_run.cl read it.
#include "matrix/symmetric_dia.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

int bits_of(MatvecStorage storage) {
  switch (storage) {
    case MatvecStorage::kFloat32:
      return 32;
    case MatvecStorage::kHalf:
      return 16;
    case MatvecStorage::kMinifloat:
      return 8;
    case MatvecStorage::kAuto:
      break;
  }
  throw ConfigError("the storage 'auto' is a choice still to be made");
}

MatvecStorage choose_storage(MatvecStorage asked) {
  return asked == MatvecStorage::kAuto ? MatvecStorage::kMinifloat : asked;
}

double rounding(MatvecStorage storage) {
  switch (bits_of(storage)) {
    case 8:
      return std::ldexp(1.0, -5);
    case 16:
      return std::ldexp(1.0, -11);
    default:
      return std::ldexp(1.0, -24);
  }
}

double reference_weight(double weight, MatvecStorage storage) {
  if (bits_of(storage) == 32) return weight;
  const bool half = storage == MatvecStorage::kHalf;
  const int mantissa_bits = half ? 10 : 4;
  const double least = std::ldexp(1.0, half ? -29 : -14);
  const double most = half ? 2.0 - std::ldexp(1.0, -10) : 2.0 - std::ldexp(1.0, -4);
  if (!(weight >= least / 2)) return 0.0;
  if (weight <= least) return least;
  int exponent = 0;
  const double fraction = std::frexp(weight, &exponent);  // In [1/2, 1).
  const double unit = std::ldexp(1.0, mantissa_bits + 1);
  // To nearest, halves to even: the default rounding.
  return std::min(std::ldexp(std::nearbyint(fraction * unit) / unit, exponent), most);
}

const char* to_string(MatvecStorage storage) {
  const std::string_view name = enum_name(kMatvecStorageNames, storage);
  return name.empty() ? "unknown" : name.data();
}

MatvecStorage matvec_storage(const std::string& name) {
  return enum_named(kMatvecStorageNames, name, "storage of a matrix");
}

namespace {

/// A work-item's runs may reach below the image, as far as these rows of no weights.
constexpr std::size_t kRowsBelow = 3;

/// The largest dx of each band of later neighbours.
std::vector<int> reaches(const Stencil& stencil) {
  std::vector<int> result(static_cast<std::size_t>(stencil.radius) + 1, 0);
  for (const StencilOffset& entry : stencil.entries) {
    if (entry.dy < 0) continue;
    int& reach = result.at(static_cast<std::size_t>(entry.dy));
    reach = std::max(reach, entry.dx);
  }
  return result;
}

/// k of each band's first later neighbour.
std::vector<int> firsts(const SymmetricLayout& layout) {
  std::vector<int> result;
  int next = 0;
  for (std::size_t band = 0; band < layout.reaches.size(); ++band) {
    result.push_back(next);
    next += band == 0 ? layout.reaches[0] : 2 * layout.reaches[band] + 1;
  }
  return result;
}

/// A layout that suits the device, with `padding` weights of zero or more at the end of an image
/// row.
SymmetricLayout layout_of(const DeviceInfo& device, const Grid& grid, const Stencil& stencil,
                          MatvecStorage storage, int padding) {
  constexpr std::size_t kRun = 64;    // The widest that any form reads at once.
  constexpr std::size_t kLine = 128;  // Bytes that a GPU reads at once.
  SymmetricLayout layout{grid.width, grid.height, bits_of(storage), reaches(stencil), 0};
  const auto longest = static_cast<std::size_t>(grid.width + padding);
  if (device.kind == DeviceKind::kCpu) {
    // An odd multiple: rows a power of two apart would share cache sets.
    layout.stride = round_up(longest, kRun);
    if (layout.stride / kRun % 2 == 0) layout.stride += kRun;
  } else {
    layout.stride =
        round_up(longest, std::max(kRun, kLine * 8 / static_cast<std::size_t>(layout.bits)));
  }
  return layout;
}

}  // namespace

int SymmetricLayout::upper() const {
  int count = reaches.at(0);
  for (std::size_t band = 1; band < reaches.size(); ++band) count += 2 * reaches[band] + 1;
  return count;
}

std::size_t SymmetricLayout::bytes() const {
  const std::size_t rows = static_cast<std::size_t>(height + radius()) + kRowsBelow;
  return rows * static_cast<std::size_t>(upper()) * stride * static_cast<std::size_t>(bits / 8);
}

std::string SymmetricLayout::options(const std::string& stride_value) const {
  return fmt::format("-DRADIUS={} -DUPPER={} -DSTRIDE={} -DREACHES={} -DFIRSTS={} -DBITS={}",
                     radius(), upper(), stride_value, fmt::join(reaches, ","),
                     fmt::join(firsts(*this), ","), bits);
}

SymmetricDia compress(Context& context, const DiaMatrix& matrix, const Grid& grid,
                      const Stencil& stencil, MatvecStorage storage, MainDiagonal keeps,
                      const Buffer<float>* sqrt_degree) {
  // Kernels that read a neighbour beyond the end of an image row find a weight of zero.
  const bool solved = keeps == MainDiagonal::kRooted || keeps == MainDiagonal::kKept;
  SymmetricDia result{
      grid, storage, layout_of(context.info(), grid, stencil, storage, solved ? stencil.radius : 0),
      {},   {},      {}};
  const SymmetricLayout& layout = result.layout;
  result.upper = context.allocate<std::uint8_t>(layout.bytes(), "the compressed matrix");
  result.diagonal = context.allocate<float>(grid.rows(), "its main diagonal");
  const bool scaled = keeps == MainDiagonal::kScaled;
  if (scaled) result.scale = context.allocate<float>(grid.rows(), "its scale");

  const std::string options = fmt::format("{} -D{}", layout.options("stride"),
                                          keeps == MainDiagonal::kOwn    ? "OWN"
                                          : scaled                       ? "SCALED"
                                          : keeps == MainDiagonal::kKept ? "KEPT"
                                                                         : "ROOTED");
  // What a kernel does not read may be any buffer.
  const Buffer<float>& roots = sqrt_degree != nullptr ? *sqrt_degree : matrix.values;
  const KernelFile kernels(context, "matrix/matvec_symmetric_pack.cl", options);
  if (layout.upper() > 0) {
    const auto rows = static_cast<std::size_t>(layout.height + layout.radius()) + kRowsBelow;
    kernels.launch("matvec_symmetric_pack",
                   cl::NDRange(layout.stride, rows, static_cast<std::size_t>(layout.upper())),
                   cl::NullRange, matrix.values, roots, layout.columns, layout.height,
                   matrix.shape.pitch, layout.stride, result.upper);
  }
  kernels.launch_rows("matvec_symmetric_diagonal", static_cast<std::size_t>(layout.columns),
                      static_cast<std::size_t>(layout.height), matrix.values, roots, layout.columns,
                      layout.height, matrix.shape.pitch, layout.stride, result.upper,
                      scaled ? result.scale : result.diagonal, result.diagonal);
  return result;
}

}  // namespace diacut
