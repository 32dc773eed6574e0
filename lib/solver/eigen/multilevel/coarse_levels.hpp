#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "matrix/block.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// A normalized affinity matrix A on ever coarser grids, each of every other row and column of the
/// grid before (kernels/eigen/multilevel/coarsen.cl), down to a coarsest level that is solved
/// densely; and the V-cycle over them (Briggs, Henson and McCormick 2000): about the inverse of
/// I - A on the complement of the trivial eigenvector, at the cost of a few products. An eigenvalue
/// of I - A near 0 is about kHops times as large on the next grid.
///
/// The matrix may be one of several images (Batch): all images have the same levels, and on the
/// coarsest level each image has a solution of its own. Blocks hold the images' segments one after
/// the other.
///
/// Where the stencil has discs of several strides, each coarser level has half of them, down to one
/// disc.
///
/// Eigenvectors that are filtered, not iterated on (filtered_eigenvectors()), need no V-cycle.
class CoarseLevels : public LobpcgLevels {
 public:
  /// What levels are for. Without a V-cycle, precondition() may not be called, and elements that
  /// cannot be interpolated to are 0 until something else sets them.
  enum class Use { kCycle, kVectors };

  /// Steps of the smoother before and after the coarser grid.
  static constexpr int kSmoothing = 2;
  /// I - A between interpolated vectors is about kHops times I - A of the coarse grid: an entry of
  /// the coarse matrix stands for two steps on the finer grid.
  static constexpr double kHops = 2;

  /// The image rows that each of several images of that size has to be given (Batch::height), so
  /// that every level halves them.
  static int batched_height(const Grid& image, const Stencil& stencil);

  /// Builds the levels, for blocks of `columns` columns, with matrices in `form`. `matrix`, in DIA
  /// form, becomes the finest level's matrix. In the compressed form it, and the matrix of every
  /// other level but the coarsest, is compressed (NormalizedMatrix::compress()) as soon as the next
  /// level is made from it, which frees its DIA form. Nothing is returned if an image has fewer
  /// than `least` elements with data or cannot be coarsened down to a grid small enough: a radius
  /// of 1, elements with data that no kept pixel is near, or hardly any elements with data;
  /// `matrix` may be compressed by then. `matrix` must outlive the result. Precondition: several
  /// images lie batched_height() apart.
  ///
  /// With NullSpace::kNone the levels serve precondition() alone, which is then about the inverse
  /// of I - A on all vectors. Elements that no kept pixel is near are left to the smoother, and
  /// last_vectors() and last_values() are empty. In the compressed form the levels then hold a
  /// compressed copy of `matrix`, which stays in DIA form. Precondition: one image.
  static std::optional<CoarseLevels> build(Context& context, NormalizedMatrix& matrix,
                                           MatrixForm form, std::size_t least, int columns,
                                           NullSpace null_space = NullSpace::kTrivial,
                                           Use use = Use::kCycle);

  /// Levels, the finest being level 0.
  int count() const override { return static_cast<int>(levels_.size()); }
  const NormalizedMatrix& matrix(int level) const { return *at(level).matrix; }
  /// Elements of all images.
  std::size_t rows(int level) const { return matrix(level).rows(); }
  Segments segments(int level) const override;
  /// The images that the functions below work on, on a GPU on no others; all images at first.
  const std::shared_ptr<ActiveSegments>& active() const { return active_; }

  /// out = alpha A x + beta x + gamma other on that level, with factors of each image, as
  /// BlockProduct::launch() takes them. Blocks have all columns that the levels were built for.
  void step(int level, const Buffer<float>& x, const Buffer<float>& other, Buffer<float>& out,
            const Buffer<cl_float4>& factors, int first_factor);
  /// out = (I - A) x on that level. Here and below, blocks are `columns` wide, at most the columns
  /// that the levels were built for and a multiple of block_vector().
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) override;
  /// x = about the inverse of I - A times b; t is overwritten, and serves the coarser levels too.
  void precondition(int level, const Buffer<float>& b, Buffer<float>& x, Buffer<float>& t,
                    int columns) override;
  /// fine = the interpolation of the next level's `coarse`, with the trivial eigenvector in column
  /// 0. Blocks have all columns that the levels were built for.
  void prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine);
  /// The eigenvectors on the coarsest level, by descending eigenvalue, the trivial one first, as a
  /// block of the columns that the levels were built for.
  const std::vector<float>& last_vectors() const { return last_vectors_; }
  /// The eigenvalues of last_vectors(), `columns` for each image.
  const std::vector<double>& last_values() const { return last_values_; }

  std::int64_t passes() const override { return at(0).passes; }

 private:
  /// What multiplies by matrices with one stencil.
  struct LevelKernels {
    BlockProduct product;
    BlockTransfer transfer;
  };
  struct Level {
    NormalizedMatrix* matrix = nullptr;   ///< `own`, or on the finest level the caller's matrix.
    std::optional<NormalizedMatrix> own;  ///< On the finest level, its compressed copy.
    Buffer<float> gain;                   ///< Gains of the interpolation from the next level.
    Buffer<float> b;          ///< Right-hand sides for the V-cycle; on coarse levels only.
    Buffer<float> x;          ///< The V-cycle's solution; on coarse levels only.
    std::int64_t passes = 0;  ///< Over the matrix.
    std::shared_ptr<LevelKernels> kernels;  ///< Those of levels with one stencil are the same.
  };
  /// The coarsest level's matrix and D^1/2 on the host.
  struct CoarsestMatrix {
    std::vector<float> sqrt_degree;
    std::vector<float> values;
  };

  CoarseLevels(Context& context, NormalizedMatrix& matrix, MatrixForm form, int columns, Use use);

  Level& at(int level) { return *levels_[static_cast<std::size_t>(level)]; }
  const Level& at(int level) const { return *levels_[static_cast<std::size_t>(level)]; }
  LevelKernels kernels_for(const Stencil& stencil, MatrixForm form) const;
  void add_level(Coarsen& coarsen, MatrixForm form);
  void compress(Coarsen& coarsen, Level& level, Buffer<float>& coarse_sqrt_degree);
  void allocate_blocks();
  std::optional<CoarsestMatrix> download_coarsest() const;
  bool solve_coarsest(const CoarsestMatrix& matrix, NullSpace null_space);
  std::optional<std::vector<float>> solve_all(const CoarsestMatrix& matrix);
  void step(int level, const Buffer<float>& x, const Buffer<float>& other, Buffer<float>& out,
            double alpha, double beta, double gamma, int columns);
  /// What scales the right-hand side for the level after `level`.
  float correction_factor(int level) const;

  Context* context_;
  int columns_;
  int images_;
  double coarse_share_ = 1;  ///< Of the corrections from below the second level.
  std::shared_ptr<ActiveSegments> active_;
  std::optional<DenseProduct> dense_;  ///< Nothing without a V-cycle.
  BlockColumns block_columns_;
  std::vector<std::unique_ptr<Level>> levels_;
  Buffer<float> scales_;   ///< 1 / the norm of D^1/2, as LevelDegrees::scales.
  Buffer<float> inverse_;  ///< The dense inverses on the coarsest level, one for each image.
  std::vector<float> last_vectors_;
  std::vector<double> last_values_;
};

}  // namespace diacut
