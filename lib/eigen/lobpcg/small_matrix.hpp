#pragma once

#include <cstddef>
#include <vector>

namespace diacut {

/// A dense matrix of at most some hundred rows, row-major. A row takes a multiple of kLanes
/// elements, 64 bytes, zero where the matrix ends, so that loops over rows have no remainders.
template <typename Scalar>
struct PaddedMatrix {
  static constexpr int kLanes = 64 / sizeof(Scalar);

  PaddedMatrix(int rows_wanted, int columns_wanted)
      : rows(rows_wanted),
        columns(columns_wanted),
        stride((columns + kLanes - 1) / kLanes * kLanes),
        values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride)) {}

  Scalar* row(int i) { return values.data() + static_cast<std::ptrdiff_t>(i) * stride; }
  const Scalar* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * stride; }

  int rows;
  int columns;
  int stride;
  std::vector<Scalar> values;
};

using SmallMatrix = PaddedMatrix<double>;
using FloatMatrix = PaddedMatrix<float>;

// What follows is compiled for several instruction sets, of which the machine's best is taken when
// the program starts.

/// Each out[l], l < `width`, a multiple of kLanes, gets the sum over j < `count` of
/// coefficients[j * step] * rows[j * stride + l] added. `out` is none of the rows.
void add_combination(const double* coefficients, int step, const double* rows, int stride,
                     int count, double* out, int width);

/// The same for `out_rows` rows of `out`, `out_stride` apart, at once: row i has the coefficients
/// coefficients[i * next + j * step].
void add_combinations(const float* coefficients, int next, int step, const float* rows, int stride,
                      int count, float* out, int out_stride, int out_rows, int width);
void add_combinations(const double* coefficients, int next, int step, const double* rows,
                      int stride, int count, double* out, int out_stride, int out_rows, int width);

/// Takes v w' from `a`, of `count` rows `stride` apart; w has `width` elements, a multiple of
/// kLanes.
void subtract_outer(const double* v, const double* w, double* a, int stride, int count, int width);

/// Takes v w' + w v' from `a`, of `count` rows `stride` apart; v and w have `width` elements, a
/// multiple of kLanes, of which those from `offset` on belong to the rows.
void subtract_symmetric(const double* v, const double* w, double* a, int stride, int offset,
                        int count, int width);

/// A rotation of the rows (i, i + 1): [c s; -s c].
struct PlaneRotation {
  double c;
  double s;
  int i;
};

/// Applies rotations to `a`, the last one first.
void apply_reversed(const std::vector<PlaneRotation>& rotations, SmallMatrix& a);

/// Cholesky's factorisation a = U'U: the upper triangle of `a` becomes U, and below the diagonal
/// nothing is of use any more. False at a pivot that is not positive.
bool cholesky(SmallMatrix& a);

/// Inverts a symmetric matrix of whole blocks of kLanes rows by the sweep operator, as many rows at
/// once (Goodnight, A tutorial on the SWEEP operator, The American Statistician 33, 1979): of the
/// matrix [d p; p' r] it makes [-1/d p/d; p'/d r - p'p/d] for each row d in turn, and minus the
/// inverse of the whole in the end. Of `a` the upper triangle is used. The pivots are those of
/// Cholesky's factorisation. False where one is not positive and finite.
bool invert_symmetric(FloatMatrix& a);

/// The inverse of the upper triangle `u`, zero below the diagonal.
SmallMatrix inverse_of_upper(const SmallMatrix& u);

/// a b; zeros that rows of b begin with cost nothing.
SmallMatrix multiply(const SmallMatrix& a, const SmallMatrix& b);

/// a' b; neither do those that columns of a end in.
SmallMatrix multiply_transposed(const SmallMatrix& a, const SmallMatrix& b);

}  // namespace diacut
