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

// The functions below are compiled for several instruction sets; the program takes the machine's
// best one when it starts.

/// Adds to each out[l], l < `width`, the sum over j < `count` of
/// coefficients[j * step] * rows[j * stride + l]. `width` is a multiple of kLanes; `out` is none of
/// the rows.
void add_combination(const double* coefficients, int step, const double* rows, int stride,
                     int count, double* out, int width);

/// Adds to `out_rows` rows of `out`, `out_stride` apart: row i gets what add_combination() adds
/// with the coefficients coefficients[i * next + j * step].
void add_combinations(const float* coefficients, int next, int step, const float* rows, int stride,
                      int count, float* out, int out_stride, int out_rows, int width);
void add_combinations(const double* coefficients, int next, int step, const double* rows,
                      int stride, int count, double* out, int out_stride, int out_rows, int width);

/// a -= v w', `a` having `count` rows `stride` apart and w `width` elements, a multiple of kLanes.
void subtract_outer(const double* v, const double* w, double* a, int stride, int count, int width);

/// a -= v w' + w v', `a` having `count` rows `stride` apart. v and w have `width` elements, a
/// multiple of kLanes; row i of `a` belongs to their element `offset` + i.
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

/// Cholesky's factorisation a = U'U: the upper triangle of `a` becomes U, and what is below the
/// diagonal is lost. False at a pivot that is not positive.
bool cholesky(SmallMatrix& a);

/// Inverts a symmetric matrix of whole blocks of kLanes rows by the sweep operator, one block of
/// rows at a time (Goodnight, A tutorial on the SWEEP operator, The American Statistician 33,
/// 1979): of the matrix [d p; p' r] it makes [-1/d p/d; p'/d r - p'p/d] for each row d in turn, and
/// minus the inverse of the whole in the end. Only the upper triangle of `a` is read. The pivots
/// are those of Cholesky's factorisation. False where a pivot is not positive and finite.
bool invert_symmetric(FloatMatrix& a);

/// The inverse of the upper triangle `u`, zero below the diagonal.
SmallMatrix inverse_of_upper(const SmallMatrix& u);

/// The product a b. Leading zeros of rows of b cost nothing.
SmallMatrix multiply(const SmallMatrix& a, const SmallMatrix& b);

/// The product a' b. Trailing zeros of columns of a cost nothing.
SmallMatrix multiply_transposed(const SmallMatrix& a, const SmallMatrix& b);

}  // namespace diacut
