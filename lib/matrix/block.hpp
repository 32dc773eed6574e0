#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// One diagonal of a matrix on a grid: it multiplies the neighbour dx to the right and dy down.
struct GridDiagonal {
  int dx;
  int dy;
};

/// How a matrix lies on a grid: width x height pixels, `stride` elements from one image row to the
/// next, `pitch` from one diagonal to the next.
struct GridLayout {
  int width = 0;
  int height = 0;
  int stride = 0;
  std::size_t pitch = 0;

  std::size_t rows() const {
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(height);
  }
};

/// How the weights of a matrix on a grid are stored; see kernels/matrix/grid_matrix.clh.
enum class MatrixForm {
  kDia,         ///< Both halves as floats.
  kCompressed,  ///< Later neighbours alone in 16 bits, and the main diagonal as floats.
};

/// Such a matrix, which must outlive this.
struct GridMatrix {
  GridMatrix(const Buffer<float>& dia_values, const GridLayout& dia_layout)
      : layout(dia_layout), values(&dia_values) {}
  /// `weights` and `main_diagonal` as a SymmetricLayout of 16 bits with `weight_stride` says.
  GridMatrix(const Buffer<std::uint8_t>& weights, const Buffer<float>& main_diagonal,
             std::size_t weight_stride, const GridLayout& grid_layout)
      : layout(grid_layout), upper(&weights), diagonal(&main_diagonal), stride(weight_stride) {}

  MatrixForm form() const { return values != nullptr ? MatrixForm::kDia : MatrixForm::kCompressed; }

  GridLayout layout;  ///< Its pitch only says how kDia lies.
  const Buffer<float>* values = nullptr;
  const Buffer<std::uint8_t>* upper = nullptr;
  const Buffer<float>* diagonal = nullptr;
  std::size_t stride = 0;
};

/// Sets the first arguments of a kernel, those of MATRIX; the index of the next.
cl_uint set_matrix(cl::Kernel& kernel, const GridMatrix& matrix);

/// The macros that grid_matrix.clh asks for, and -DBANDS and -DREACH. `diagonals` are those of a
/// disc in reading order.
std::string matrix_options(std::span<const GridDiagonal> diagonals, MatrixForm form);

/// Columns of a block that holds `wanted` vectors (kernels/matrix/block.clh): a multiple of 8.
constexpr int block_columns(int wanted) { return (wanted + 7) / 8 * 8; }

/// Columns that one vector of the device's holds.
int block_vector(const DeviceInfo& device);

/// The columns that a program is built for which serves blocks of `columns` of them: on a GPU one
/// program, 0, serves all widths, and is no slower. What a CPU's compiler does not know costs it
/// too much.
int program_columns(const DeviceInfo& device, int columns);
/// The macros that block.clh asks for; of any width for 0 columns.
std::string block_options(const DeviceInfo& device, int columns);

/// The images of a batch that kernels work on, by their places in it: all, or those that are not
/// done yet.
class ActiveSegments {
 public:
  /// All of them.
  ActiveSegments(Context& context, int segments);
  /// Precondition: ascending, at least one; the device was waited for since the last change.
  void set(const std::vector<std::int32_t>& places);
  void set_all();

  std::size_t all() const { return list_.size(); }
  std::size_t count() const { return places_.size(); }
  const std::vector<std::int32_t>& places() const { return places_; }
  const Buffer<std::int32_t>& list() const { return list_; }

 private:
  std::vector<std::int32_t> places_;
  Buffer<std::int32_t> list_;
};

/// Those of `active`, or of one image where it is null.
std::shared_ptr<const ActiveSegments> or_one_image(Context& context,
                                                   std::shared_ptr<const ActiveSegments> active);

/// Items that keep a GPU busy: an item takes more than the least it can only where so many are
/// left.
inline constexpr std::size_t kManyItems = 100'000;

/// How kernels that pass over a matrix deal elements of a block to work-items: `run` elements, of
/// which `tile` are taken at a time, and `taken` of their sets. On a GPU all are 1; on a CPU as
/// many sums are open at once as it has registers for.
struct BlockRuns {
  std::size_t sets = 1;  ///< Of an element.
  std::size_t run = 1;
  std::size_t tile = 1;
  std::size_t taken = 1;
  std::size_t group = 1;  ///< Work-items of a group.

  std::string options() const;
  /// Elements that an item of a kernel that shares reads between some may take on a GPU.
  std::size_t most_each() const { return run == 1 ? 4 : 1; }
  /// Launches `kernel`, on a CPU for `lines` lines of `length` elements each, elsewhere for `items`
  /// items and sets of each active segment.
  void launch(Context& context, const cl::Kernel& kernel, std::size_t lines, std::size_t length,
              std::size_t items, const ActiveSegments& active) const;
};
BlockRuns block_runs(const DeviceInfo& device, int columns);

}  // namespace diacut
