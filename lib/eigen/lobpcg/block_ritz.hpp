#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "matrix/block.hpp"
#include "matrix/block_quadratic.hpp"
#include "opencl/device_sums.hpp"

namespace diacut {

/// Where images lie in a block: `rows` elements each, which begin `pitch` elements apart.
struct Segments {
  std::size_t rows = 0;
  std::size_t pitch = 0;
};

/// kernels/eigen/lobpcg/block_ritz.cl: what a Rayleigh-Ritz step needs on the device. A block may
/// hold several images in segments. Sums, rotations and factors are then each segment's own, and
/// vectors of them hold one segment's after the other's; they do not depend on how many segments
/// there are. The device has to be waited for before its end (WaitAtEnd).
class BlockRitz {
 public:
  /// For blocks of `columns` columns (block_columns()) and segments of at most `max_rows` elements.
  /// All that follows is about the segments in `active` (one image where it is null), in their
  /// order.
  BlockRitz(Context& context, int columns, std::size_t max_rows,
            std::shared_ptr<const ActiveSegments> active = nullptr);

  /// The width of W and P that hold `wanted` columns.
  int correction_columns(int wanted) const;

  /// Bytes that the constructor allocates at most, on any device.
  static std::size_t memory(int columns, std::size_t max_rows, std::size_t segments = 1);

  /// Gram matrices of S = [X W P], its first `blocks` blocks, with itself and with M S for some
  /// symmetric M: row-major. W and P have `width` columns, a multiple of correction_columns(1).
  struct Gram {
    int side = 0;
    std::vector<double> with_self;
    std::vector<double> with_product;
  };
  /// `s` and `ms` are X, W, P and their products; those from `blocks` on are not read. Products may
  /// be null: of two blocks without theirs with_product holds zeros. One of each segment. Waits.
  std::vector<Gram> gram(const std::array<Buffer<float>*, 3>& s,
                         const std::array<Buffer<float>*, 3>& ms, int blocks, int width,
                         const Segments& rows);

  /// W -= X D^-1 X'W, D the diagonal of X'X; columns of X that are 0 take nothing. Enqueues.
  void project(const Buffer<float>& x, int width, const Segments& rows, Buffer<float>& w);

  /// What follows takes of a Ritz step: `theta`, of each column of X in all segments, whether they
  /// are active or not; for combine() of each segment `places`, a place for each column and then
  /// how many are not negative, and `rotation`, Q, row-major, as many rows as S has columns.
  /// Enqueues.
  void step(std::span<const float> theta, std::span<const std::int32_t> places = {},
            std::span<const float> rotation = {});
  /// S = W Q_w + P Q_p, whose column c becomes column places[c] of `out`, `width` wide, if that is
  /// not negative; then X = X Q_x + S. What `out` has more columns is 0. With one block `out` is
  /// left alone. Enqueues.
  void combine(const std::array<Buffer<float>*, 3>& s, int blocks, int width, const Segments& rows,
               Buffer<float>& out);

  /// The columns of X that rest() takes, and those that gather() does: as many of each segment as
  /// what they make is wide, negative where that is to be 0. Enqueues.
  void choose(std::span<const std::int32_t> of_rest, std::span<const std::int32_t> of_gather);
  /// Column k of `out`, `width` wide, = M x - theta x of the chosen column k, `product` being M X.
  /// Enqueues.
  void rest(const Buffer<float>& x, const Buffer<float>& product, int width, const Segments& rows,
            Buffer<float>& out);
  /// Column k of `out`, `width` wide, = the chosen column k of `in`, `from` wide. Enqueues.
  void gather(const Buffer<float>& in, int from, int width, const Segments& rows,
              Buffer<float>& out);
  /// The norms of the columns of M X - X diag(theta), `product` being M X. Waits.
  std::vector<double> residual(const Buffer<float>& x, const Segments& rows,
                               const Buffer<float>& product);

  /// y = x / s element by element, 0 where s is 0. `rows`, here and below: of all segments.
  void divide(const Buffer<float>& x, const Buffer<float>& s, std::size_t rows, Buffer<float>& y);
  /// Of each column the sum over i < j of a_ij s_i s_j (y_i - y_j)^2: its Rayleigh quotient with
  /// I - A. `diagonals`: those of a disc in reading order. t is overwritten: a block. Waits.
  std::vector<double> quadratic_form(const GridMatrix& matrix,
                                     std::span<const GridDiagonal> diagonals,
                                     const Buffer<float>& s, const Buffer<float>& y,
                                     const Segments& rows, Buffer<float>& t);
  /// Of each column the entry of largest magnitude, the first of equals. t is overwritten: a block.
  /// Waits.
  std::vector<float> peaks(const Buffer<float>& x, const Segments& rows, Buffer<float>& t);

  /// out = M b, M symmetric, one matrix a segment; blocks `columns` wide.
  void dense(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
             Buffer<float>& out, int columns);
  /// Column `column` of x = factor * vector, with the factor of each of all segments: `factors`
  /// from `at` on.
  void insert(const Buffer<float>& vector, const Buffer<float>& factors, std::size_t at,
              std::size_t rows, int column, Buffer<float>& x);
  /// What extract() takes: column c as c + 1, or as -c - 1 with its sign turned. Enqueues.
  void columns_wanted(std::vector<std::int32_t> columns);
  /// `count` of the columns wanted, from the one at `at` on, as vectors `pitch` apart: of each the
  /// `rows` elements from `first` on.
  void extract(const Buffer<float>& x, std::size_t first, std::size_t rows, std::size_t at,
               int count, std::size_t pitch, Buffer<float>& basis);

 private:
  /// How the elements of a segment are dealt to groups.
  struct Groups {
    Segments segments;
    std::size_t chunk = 0;  ///< Elements of a group.
    std::size_t each = 0;   ///< Groups of a segment.
    std::size_t all = 0;
  };
  /// Tiles of Gram matrices: their blocks and places there, and what the kernel takes.
  struct Tiles {
    std::vector<std::array<int, 4>> host;
    std::size_t parts = 0;     ///< Of a line of block_gram on a GPU.
    std::vector<cl_int4> all;  ///< And then the parts, two in each.
    Buffer<cl_int4> device;
  };
  /// Of `blocks` blocks, with the products that `known` has a bit for.
  const Tiles& gram_tiles(int blocks, int known, int width);
  /// Of X and W, and then on the diagonal of X.
  const Tiles& cross_tiles(int width);
  void finish_tiles(Tiles& tiles, int width);
  int parts_of(int block, int width) const { return (block % 3 == 0 ? columns_ : width) / tile_; }
  /// Sums, in sums_, of all tiles of each segment.
  void launch_gram(const std::array<const Buffer<float>*, 6>& blocks, const Tiles& tiles, int width,
                   const Segments& rows);
  Groups groups_of(const Segments& rows, std::size_t chunk) const;
  Groups few_groups(const Segments& rows) const;
  Groups many_groups(const Segments& rows) const;
  std::vector<double> column_sums(const Groups& groups);
  std::vector<double> wait_for_sums(std::size_t count);
  std::span<const std::int32_t> keep(std::vector<std::int32_t> words);
  void launch_gather(cl::Kernel& kernel, const Segments& rows, int width);
  Gram gram_of(std::span<const double> sums, const Tiles& tiles, int blocks, int width) const;

  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  int tile_;
  std::size_t lines_;  ///< Elements that block_gram reads at a time.
  std::size_t sets_;
  std::size_t combined_rows_;
  std::size_t combine_group_;
  std::size_t sum_values_;  ///< Of a work-group of block_sum.
  std::size_t sum_lanes_;
  DeviceSums partials_;
  DeviceSums sums_;
  std::map<std::array<int, 3>, Tiles> tiles_;  ///< By blocks, known products, and width.
  Buffer<std::int32_t> step_;                  ///< theta, and further on places and the rotation.
  std::size_t places_at_ = 0;
  std::size_t rotation_at_ = 0;
  Buffer<std::int32_t> chosen_;
  std::size_t gathered_at_ = 0;  ///< Where in chosen_ those of gather() begin.
  /// What the device may not have read yet.
  std::vector<std::vector<std::int32_t>> uploaded_;
  Buffer<std::int32_t> order_;
  cl::Kernel gram_;
  cl::Kernel sum_;
  cl::Kernel combine_;
  cl::Kernel project_;
  cl::Kernel gather_;
  cl::Kernel rest_;
  cl::Kernel residual_;
  cl::Kernel squares_;
  cl::Kernel columns_sums_;
  cl::Kernel dense_;
  cl::Kernel insert_;
  cl::Kernel extract_;
  cl::Kernel divide_;
  std::map<MatrixForm, BlockQuadratic> quadratics_;  ///< Built when first asked for.
  cl::Kernel peaks_;
  cl::Kernel peaks_join_;
};

}  // namespace diacut
