#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "matrix/normalized_matrix.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// Sets the MATRIX of kernels/matrix/grid_matrix.clh, for KernelFile.
void set_argument(cl::Kernel& kernel, cl_uint& index, const NormalizedMatrix& matrix);

/// The diagonals of a matrix that a kernel reads.
enum class MatrixPart {
  kWhole,
  kDisc,  ///< Those of the stencil's disc of stride 1.
};

/// The macros that kernels/matrix/grid_matrix.clh and band_table.clh need on that device, and
/// -DREACH, for that part of a matrix with that stencil in that form. A disc has one band for each
/// dy.
std::string matrix_options(const DeviceInfo& device, const Stencil& stencil, MatrixForm form,
                           MatrixPart part = MatrixPart::kWhole);

/// BAND(first diagonal, dy, first dx, number of diagonals) for each band of that part, without
/// spaces.
std::string matrix_bands(const Stencil& stencil, MatrixForm form, MatrixPart part);

/// Columns of a block that holds `wanted` vectors (kernels/matrix/block.clh): a multiple of 8.
constexpr int block_columns(int wanted) { return (wanted + 7) / 8 * 8; }

/// Columns of the narrowest block of at least `wanted` vectors, for kernels that need no multiple
/// of 8.
constexpr int narrow_block_columns(int wanted) { return wanted <= 4 ? 4 : block_columns(wanted); }

/// Columns that one set holds in a block of `columns` columns, a multiple of 4.
int block_vector(const DeviceInfo& device, int columns);

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
/// Elements of an image, below which several work-items compute one of them on a GPU
/// (kernels/matrix/band_parts.clh).
inline constexpr std::size_t kFewElements = 60'000;

/// Whether kernels take blocks of that width as planes (kernels/matrix/block_planes.clh) on that
/// device.
bool takes_planes(const DeviceInfo& device, int columns);

/// How kernels that pass over a matrix deal elements of a block to work-items: `run` elements, of
/// which `tile` are taken at a time, and `taken` of their sets. On a GPU all are 1; on a CPU as
/// many sums are open at once as it has registers for.
struct BlockRuns {
  std::size_t sets = 1;  ///< Of an element.
  std::size_t run = 1;
  std::size_t tile = 1;
  std::size_t taken = 1;
  std::size_t group = 1;  ///< Work-items of a group.
  std::size_t rows = 1;   ///< Image rows that an item takes.

  std::string options() const;
  /// Elements that an item of a kernel that shares reads between some may take on a GPU, of a
  /// matrix in that form. More of a compressed one would need more registers than it saves reads.
  std::size_t most_each(MatrixForm form) const {
    return run > 1 ? 1 : form == MatrixForm::kDia ? 4 : 2;
  }
  /// Work-items that may compute an element together on a GPU.
  std::size_t most_parts() const { return std::min<std::size_t>(group, 4); }
  /// Launches kernel `name`, on a CPU for `lines` image rows of `length` elements each, elsewhere
  /// for `items` items and sets of each active segment.
  template <class... Arguments>
  void launch(const KernelFile& kernels, const char* name, std::size_t lines, std::size_t length,
              std::size_t items, const ActiveSegments& active,
              const Arguments&... arguments) const {
    if (run == 1) {
      kernels.launch(name, cl::NDRange(round_up(items * sets, group), active.count()),
                     cl::NDRange(group, 1), arguments...);
    } else {
      kernels.launch(
          name,
          cl::NDRange(round_up(lines, rows) / rows * (round_up(length, run) / run), sets / taken),
          cl::NDRange(1, 1), arguments...);
    }
  }
};
BlockRuns block_runs(const DeviceInfo& device, int columns);
/// How kernels that take planes where takes_planes() says so deal elements: as block_runs() says
/// elsewhere.
BlockRuns plane_runs(const DeviceInfo& device, int columns);

/// kernels/matrix/block_product.clh: products of a normalized affinity matrix with a block of
/// vectors, by the one of five kernels that suits the device and the form of the matrix.
class BlockProduct {
 public:
  /// For matrices with that stencil in that form, and for the images of a batch that are active
  /// (one image where `active` is null). `columns` is a result of block_columns(). Asks for
  /// the kernel for blocks of that width over small images; others are built at their first launch.
  BlockProduct(Context& context, const Stencil& stencil, int columns,
               MatrixForm form = MatrixForm::kDia,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  /// What reports call the kernel with that form: "block", "block half".
  static const char* name(MatrixForm form) {
    return form == MatrixForm::kDia ? "block" : "block half";
  }

  int columns() const { return columns_; }
  /// Asks for all kernels for blocks of that width, so that they are built together with others
  /// (opencl/context.hpp).
  void prepare(int columns);

  /// out = alpha (A x) + beta x + gamma other. Enqueues. `other` may be `out`, `x` may not; with
  /// gamma 0 `other` is not read. Blocks are `columns` wide, a multiple of block_vector(), and hold
  /// at least matrix.rows() * columns values. Precondition: `matrix` has the stencil and the form
  /// that the kernel was built for, and as many images as `active`.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, float alpha, float beta, float gamma, int columns) {
    launch(matrix, x, other, out, {{alpha, beta, gamma, 0}}, unused_, -1, columns);
  }
  /// out = alpha_k (A x) + beta_k x + gamma_k other for image k of a batch, columns() wide, where
  /// element first_factor + k of `factors` is (alpha_k, beta_k, gamma_k, 0). `other` and `out` are
  /// as above. Precondition: columns() is not 4.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, const Buffer<cl_float4>& factors, int first_factor) {
    launch(matrix, x, other, out, {}, factors, first_factor, columns_);
  }
  /// out = A x, columns() wide.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, Buffer<float>& out) {
    launch(matrix, x, x, out, 1, 0, 0, columns_);
  }

 private:
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, const cl_float4& same, const Buffer<cl_float4>& factors,
              int first_factor, int columns);

  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  MatrixForm form_;
  std::string matrix_options_;
  Buffer<cl_float4> unused_;  ///< What a launch with the same factors for all images names.
  /// The kernel for blocks of `columns` columns of which a work-item computes `each` elements, or
  /// `parts` of them one.
  const KernelFile& kernel(int columns, std::size_t each, std::size_t parts);
  /// By program_columns(), `each` and `parts`, which are 1 on a CPU.
  std::map<std::tuple<int, std::size_t, std::size_t>, KernelFile> kernels_;
};

}  // namespace diacut
