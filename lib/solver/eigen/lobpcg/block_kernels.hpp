#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "eigen/lobpcg/workspace.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/column_sums.cl: the sum of each column of x, of each active segment. Waits.
std::vector<double> column_sums(Workspace& workspace, const Buffer<float>& x,
                                const Segments& segments);
/// The sum of each column, added up from the groups' sums in the workspace's partials(). Waits.
std::vector<double> column_totals(Workspace& workspace, const SegmentGroups& groups);

/// kernels/eigen/lobpcg/peaks.cl: the entry of largest magnitude of each column of x in each active
/// segment, the first of equal ones, by which eigenvectors get their signs. `scratch` is
/// overwritten: a block. Enqueues.
Arriving<float> column_peaks(Workspace& workspace, const Buffer<float>& x, const Segments& segments,
                             Buffer<float>& scratch);

/// kernels/eigen/lobpcg/columns.cl: vectors into columns of a block and out of them.
class BlockColumns {
 public:
  /// For blocks of `columns` columns.
  BlockColumns(Context& context, int columns);

  /// Column `column` of x = factor * vector, of `segments` segments of `rows` elements that follow
  /// each other, each with its factor: `factors` from `first_factor` on. Enqueues.
  void insert(const Buffer<float>& vector, const Buffer<float>& factors, std::size_t first_factor,
              std::size_t segments, std::size_t rows, int column, Buffer<float>& x);

  /// What extract() takes from one segment of a block: elements [first, first + rows) of the
  /// `count` columns that `columns` names from `first_column` on: c + 1 for column c, -c - 1 for
  /// column c with its sign turned.
  struct Extraction {
    std::size_t first = 0;
    std::size_t rows = 0;
    Uploaded columns;
    std::size_t first_column = 0;
    int count = 0;
  };
  /// Writes the columns of x that `from` names as vectors `pitch` apart, 0 from `rows` on.
  /// Enqueues.
  void extract(const Buffer<float>& x, const Extraction& from, std::size_t pitch,
               Buffer<float>& vectors);

 private:
  int columns_;
  std::size_t rows_;   ///< Elements that a work-group of extract() takes.
  std::size_t group_;  ///< Its work-items.
  KernelFile kernels_;
};

/// The columns of X that soft locking still corrects, on the device: of each active segment `width`
/// columns, one for each column of the narrow blocks R, W and P; -1 where a segment has fewer.
struct ColumnSelection {
  int width = 0;
  Uploaded words;              ///< The columns of X, and then those of P.
  std::size_t directions = 0;  ///< Where in `words` the columns of P begin.
};

/// Names the columns of X to correct, and for each its column in the narrow block P so far, -1
/// where it has none: as many for each active segment, a multiple of Workspace::narrow_columns(1).
/// Enqueues.
ColumnSelection select_columns(Workspace& workspace, std::span<const std::int32_t> columns,
                               std::span<const std::int32_t> directions);

/// kernels/eigen/lobpcg/residuals.cl: out = the columns of `p`, `p_columns` wide, that
/// `selection` names in P; 0 where it names none and between images. Enqueues.
void gather_columns(Workspace& workspace, const ColumnSelection& selection, const Buffer<float>& p,
                    int p_columns, const Segments& segments, Buffer<float>& out);

/// The matrix Q of a Rayleigh-Ritz step on the device, with the Ritz values that belong to S Q.
struct Rotation {
  Uploaded words;            ///< The Ritz values, `places` and Q.
  std::size_t places = 0;    ///< Where in `words` the places in the next P begin.
  std::size_t rotation = 0;  ///< Where in `words` Q begins.
};

/// One upload for all that a basis update takes. `places`, for each active segment: of each column
/// of S Q its column in the next P, or -1, and then how many columns P has. `q`, for each active
/// segment: row-major, one row for each column of S. Enqueues.
Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const std::int32_t> places, std::span<const float> q);

/// One image's rotation: its basis has columns() of X, and one of W, and of P, for each column of X
/// that it corrects.
struct ImageRotation {
  std::span<const float> q;                ///< Row-major, columns() wide.
  std::span<const std::int32_t> selected;  ///< The columns of X that are corrected, ascending.
};
/// Rotations of all active images in a basis of `blocks` blocks, W and P `width` columns wide: rows
/// of Q for columns of W and P that an image does not have are 0. Enqueues.
Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const ImageRotation> images, int blocks, int width);

/// kernels/eigen/lobpcg/residuals.cl: residuals M X - X diag(theta) of Ritz pairs, `product` being
/// M X, and theta the workspace's columns() for each of all segments, whether active or not.
/// R = those of the columns of X that are selected, `selection.width` columns; 0 where none is
/// named and between images. Enqueues.
void ritz_residuals(Workspace& workspace, const Buffer<float>& x, const Buffer<float>& product,
                    const Uploaded& theta, const ColumnSelection& selection,
                    const Segments& segments, Buffer<float>& r);
/// The norms of all columns' residuals, of each active segment. Waits.
std::vector<double> ritz_residual_norms(Workspace& workspace, const Buffer<float>& x,
                                        const Buffer<float>& product, const Uploaded& theta,
                                        const Segments& segments);

/// kernels/eigen/lobpcg/rayleigh_quotients.cl with kernels/matrix/block_quadratic.cl: Rayleigh
/// quotients of unit vectors with the normalized Laplacian I - A, as sums of squares: 1 minus a
/// quotient with A would keep no digit of the least of them in float. The workspace has to outlive
/// the object.
class RayleighQuotients {
 public:
  /// For matrices with the stencil and the form of `matrix`.
  RayleighQuotients(Workspace& workspace, const NormalizedMatrix& matrix);

  /// x' (I - A) x of each column x, for each active image of the matrix's batch, as the sum over
  /// i < j of a_ij s_i s_j (y_i - y_j)^2, where s = D^1/2 and y = x / s (0 where s is 0). `y` and
  /// `parts` are overwritten, blocks both; `parts` may be x. Waits.
  std::vector<double> compute(const NormalizedMatrix& matrix, const Buffer<float>& x,
                              Buffer<float>& y, Buffer<float>& parts);

 private:
  Workspace* workspace_;
  BlockQuadratic quadratic_;
};

/// kernels/eigen/lobpcg/basis_update.cl: the next Ritz vectors and directions. P' = W Q_W + P Q_P,
/// of which `next_p` gets the columns that the rotation has places for, and zeros in its other
/// columns; then X = X Q_X + P'. W, P and `next_p` are `width` columns wide; P is null in a basis
/// [X W], and W too in a basis X, which leaves `next_p` alone. What is between images stays as it
/// is. Enqueues.
void update_basis(Workspace& workspace, const Rotation& rotation, Buffer<float>& x,
                  const Buffer<float>* w, const Buffer<float>* p, int width,
                  const Segments& segments, Buffer<float>& next_p);

}  // namespace diacut
