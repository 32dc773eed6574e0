#pragma once

#include <cstddef>
#include <vector>

namespace diacut {

/// A dense matrix of at most some hundred rows, row-major in double. A row takes a multiple of
/// kLanes elements, zero where the matrix ends, so that loops over rows have no remainders.
struct SmallMatrix {
  static constexpr int kLanes = 8;

  SmallMatrix(int rows_wanted, int columns_wanted)
      : rows(rows_wanted),
        columns(columns_wanted),
        stride((columns + kLanes - 1) / kLanes * kLanes),
        values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride), 0.0) {}

  double* row(int i) { return values.data() + static_cast<std::ptrdiff_t>(i) * stride; }
  const double* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * stride; }

  int rows;
  int columns;
  int stride;
  std::vector<double> values;
};

// What follows is compiled for several instruction sets, of which the machine's best is taken when
// the program starts.

/// Each out[l], l < `width`, a multiple of kLanes, gets the sum over j < `count` of
/// coefficients[j * step] * rows[j * stride + l] added. `out` is none of the rows.
void add_combination(const double* coefficients, int step, const double* rows, int stride,
                     int count, double* out, int width);

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

/// The inverse of the upper triangle `u`, zero below the diagonal.
SmallMatrix inverse_of_upper(const SmallMatrix& u);

/// a b; zeros that rows of b begin with cost nothing.
SmallMatrix multiply(const SmallMatrix& a, const SmallMatrix& b);

/// a' b; neither do those that columns of a end in.
SmallMatrix multiply_transposed(const SmallMatrix& a, const SmallMatrix& b);

}  // namespace diacut
