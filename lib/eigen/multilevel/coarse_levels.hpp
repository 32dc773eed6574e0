#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eigen/lobpcg/columns.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/cycle.hpp"
#include "eigen/multilevel/dense_product.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "matrix/batch.hpp"
#include "matrix/block_product.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/stencil.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

/// The stencil's entries as kernels over grids take them.
std::vector<GridDiagonal> diagonals_of(const Stencil& stencil);

/// A normalized affinity matrix A on ever coarser grids, each of every other row and column of the
/// one before (kernels/eigen/multilevel/coarsen.cl), down to one that is solved densely; and the
/// V-cycle over them: about the inverse of I - A on what is orthogonal to the trivial eigenvector,
/// at the cost of a few products. An eigenvalue of I - A near 0 is about kHops times as large on
/// the next grid.
///
/// The matrix may be that of several images (Batch): all have the same levels, and on the last one
/// each has a solution of its own. Blocks hold their segments one after the other.
///
/// On a GPU the V-cycle ends in one launch for the last two levels
/// (kernels/eigen/multilevel/cycle.cl) where an image is small enough on the first of these and the
/// matrix in DIA form. That depends on the size of the images alone, never on how many there are.
class CoarseLevels {
 public:
  /// Steps of the smoother before and after the coarser grid.
  static constexpr int kSmoothing = BlockCycle::kSmoothing;
  /// I - A between interpolated vectors is about twice that of the coarse grid: two hops for one.
  static constexpr double kHops = 2;

  /// The rows that each of several images of that size has to be given (Batch::height): every level
  /// halves them.
  static int batched_height(const Grid& image, const Stencil& stencil);

  /// Builds the levels, for blocks of `columns` columns. Nothing if an image has fewer than `least`
  /// pixels with data or cannot be coarsened down to a grid small enough: a radius of 1, pixels
  /// with data that no kept pixel is near, or hardly any pixels with data. `matrix` and
  /// `sqrt_degree` must outlive the result. Precondition: several images lie batched_height()
  /// apart.
  static std::optional<CoarseLevels> build(Context& context, const DiaMatrix& matrix,
                                           const Batch& batch, const Stencil& stencil,
                                           const Buffer<float>& sqrt_degree, std::size_t least,
                                           int columns);
  /// The same with the matrices of all levels but the last compressed (compress_rooted(), in 16
  /// bits): `compressed`, which must outlive the result, is that of `matrix`, whose values are
  /// freed as soon as the next level's are made from them.
  static std::optional<CoarseLevels> build(Context& context, DiaMatrix&& matrix,
                                           const SymmetricDia& compressed, const Batch& batch,
                                           const Stencil& stencil, const Buffer<float>& sqrt_degree,
                                           std::size_t least, int columns);

  /// Bytes that the result holds at most; and those that there are, beside `matrix` and
  /// `compressed`, until `matrix` is freed.
  struct Memory {
    std::size_t held = 0;
    std::size_t building = 0;
  };
  static Memory memory(const Batch& batch, const Stencil& stencil, int columns, MatrixForm form);

  MatrixForm form() const { return at(0).matrix().form(); }
  /// On the finest level.
  GridMatrix matrix() const { return at(0).matrix(); }
  const std::vector<GridDiagonal>& diagonals() const { return diagonals_; }
  int count() const { return static_cast<int>(levels_.size()); }
  /// Of all images.
  std::size_t rows(int level) const { return at(level).layout.rows(); }
  Segments segments(int level) const;
  /// The images that all that follows works on, on a GPU only on those; all from the start.
  const std::shared_ptr<ActiveSegments>& active() const { return active_; }

  /// out = (I - A) x on that level. Here and below, blocks are `columns` wide, at most those that
  /// the levels were built for and a multiple of block_vector().
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns);
  /// x = about the inverse of I - A times b; t is overwritten, and serves the coarser levels too.
  void precondition(int level, const Buffer<float>& b, Buffer<float>& x, Buffer<float>& t,
                    int columns);
  /// fine = the interpolation of the next level's `coarse`, with the trivial eigenvector in column
  /// 0: blocks of as many columns as the levels were built for.
  void prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine);
  /// The eigenvectors on the last level, descending, the trivial one first, in a block; rows(last)
  /// by columns.
  const std::vector<float>& last_vectors() const { return last_vectors_; }
  /// Theirs, `columns` of each image.
  const std::vector<double>& last_values() const { return last_values_; }

  /// Passes over a level's matrix so far.
  std::int64_t passes(int level) const { return at(level).passes; }

 private:
  struct Level {
    GridLayout layout;
    int image_height = 0;
    /// One of the two, which is the level's own or, on the finest, another's.
    const Buffer<float>* values = nullptr;
    const SymmetricDia* compressed = nullptr;
    const Buffer<float>* sqrt_degree = nullptr;
    Buffer<float> own_values;
    SymmetricDia own_compressed;
    Buffer<float> own_sqrt_degree;
    Buffer<float> gain;  ///< Of the interpolation from the next level.
    Buffer<float> b;     ///< Blocks for the V-cycle, on coarse levels.
    Buffer<float> x;
    std::int64_t passes = 0;

    GridMatrix matrix() const;
  };

  CoarseLevels(Context& context, const std::vector<GridDiagonal>& diagonals, int columns,
               int images, MatrixForm form);

  Level& at(int level) { return *levels_[static_cast<std::size_t>(level)]; }
  const Level& at(int level) const { return *levels_[static_cast<std::size_t>(level)]; }
  /// Both: `freed` and `compressed` are null, or `freed` is `matrix`.
  static std::optional<CoarseLevels> build(Context& context, const DiaMatrix& matrix,
                                           DiaMatrix* freed, const SymmetricDia* compressed,
                                           const Batch& batch, const Stencil& stencil,
                                           const Buffer<float>& sqrt_degree, std::size_t least,
                                           int columns);
  /// What there is of the last level on the host.
  struct LastMatrix {
    std::vector<float> sqrt_degree;
    std::vector<float> values;
  };
  void coarsen_last(Level& next, Coarsen& coarsen, const Stencil& stencil);
  void compress_last(Level& next, DiaMatrix* finest, Coarsen& coarsen, const Stencil& stencil);
  LastMatrix last_matrix() const;
  bool solve_last(const LastMatrix& matrix);
  void choose_cycle();
  void step(int level, const Buffer<float>& x, const Buffer<float>& other, Buffer<float>& out,
            double alpha, double beta, double gamma, int columns);

  Context* context_;
  int columns_;
  int images_;
  std::vector<GridDiagonal> diagonals_;
  std::shared_ptr<ActiveSegments> active_;
  BlockProduct product_;
  BlockTransfer transfer_;
  std::optional<BlockCycle> cycle_;  ///< Of the last two levels.
  DenseProduct dense_;
  BlockColumns block_columns_;
  std::vector<std::unique_ptr<Level>> levels_;
  Buffer<float> scales_;  ///< Of each level, of each image there: 1 / the norm of sqrt_degree.
  Buffer<float> inverse_;
  std::vector<float> last_vectors_;
  std::vector<double> last_values_;
};

}  // namespace diacut
