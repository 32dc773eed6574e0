#include "eigen/small_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

// GCC compiles a function once for each of these and has the loader choose.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define DIACUT_VECTOR_CLONES __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define DIACUT_VECTOR_CLONES
#endif

// Keeps GCC from taking loops over lanes apart before it looks for vectors, which it then finds
// across the wrong loop.
#if defined(__GNUC__) && !defined(__clang__)
#define DIACUT_LANES _Pragma("GCC unroll 1")
#else
#define DIACUT_LANES
#endif

namespace diacut {

namespace {

constexpr int kLanes = SmallMatrix::kLanes;
/// Columns whose sums are kept in registers.
constexpr int kWide = 4 * kLanes;

/// The first of the lanes that column `i` is in.
int lanes_before(int i) { return i / kLanes * kLanes; }

/// Zeros that row `i` begins with.
int zeros_before(const SmallMatrix& a, int i) {
  const double* row = a.row(i);
  return static_cast<int>(
      std::find_if(row, row + a.columns, [](double value) { return value != 0; }) - row);
}

}  // namespace

DIACUT_VECTOR_CLONES
void add_combination(const double* coefficients, int step, const double* rows, int stride,
                     int count, double* out, int width) {
  int first = 0;
  for (; first + kWide <= width; first += kWide) {
    double sum[kWide];
    for (int l = 0; l < kWide; ++l) sum[l] = out[first + l];
    for (int j = 0; j < count; ++j) {
      const double coefficient = coefficients[static_cast<std::ptrdiff_t>(j) * step];
      const double* row = rows + static_cast<std::ptrdiff_t>(j) * stride + first;
      for (int l = 0; l < kWide; ++l) sum[l] += coefficient * row[l];
    }
    for (int l = 0; l < kWide; ++l) out[first + l] = sum[l];
  }
  for (; first < width; first += kLanes) {
    double sum[kLanes];
    DIACUT_LANES
    for (int l = 0; l < kLanes; ++l) sum[l] = out[first + l];
    for (int j = 0; j < count; ++j) {
      const double coefficient = coefficients[static_cast<std::ptrdiff_t>(j) * step];
      const double* row = rows + static_cast<std::ptrdiff_t>(j) * stride + first;
      DIACUT_LANES
      for (int l = 0; l < kLanes; ++l) sum[l] += coefficient * row[l];
    }
    DIACUT_LANES
    for (int l = 0; l < kLanes; ++l) out[first + l] = sum[l];
  }
}

DIACUT_VECTOR_CLONES
void subtract_outer(const double* v, const double* w, double* a, int stride, int count, int width) {
  for (int i = 0; i < count; ++i) {
    double* __restrict__ row = a + static_cast<std::ptrdiff_t>(i) * stride;
    const double factor = v[i];
    for (int l = 0; l < width / kLanes * kLanes; ++l) row[l] -= factor * w[l];
  }
}

DIACUT_VECTOR_CLONES
void subtract_symmetric(const double* v, const double* w, double* a, int stride, int offset,
                        int count, int width) {
  for (int i = 0; i < count; ++i) {
    double* __restrict__ row = a + static_cast<std::ptrdiff_t>(i) * stride;
    const double with_v = w[offset + i];
    const double with_w = v[offset + i];
    for (int l = 0; l < width / kLanes * kLanes; ++l) row[l] -= with_w * w[l] + with_v * v[l];
  }
}

DIACUT_VECTOR_CLONES
void apply_reversed(const std::vector<PlaneRotation>& rotations, SmallMatrix& a) {
  const std::ptrdiff_t stride = a.stride;
  for (std::ptrdiff_t end = std::ssize(rotations), begin = end; end > 0; end = begin) {
    // Such as go down the rows one by one: the lower row of one is the upper one of the next.
    begin = end - 1;
    while (begin > 0 && rotations[begin - 1].i == rotations[begin].i + 1) --begin;
    int first = 0;
    for (; first + kWide <= stride; first += kWide) {
      double* row = a.row(rotations[end - 1].i) + first;
      double carried[kWide];
      for (int l = 0; l < kWide; ++l) carried[l] = row[l];
      for (std::ptrdiff_t k = end - 1; k >= begin; --k, row += stride) {
        const PlaneRotation rotation = rotations[k];
        for (int l = 0; l < kWide; ++l) {
          const double below = row[stride + l];
          row[l] = rotation.c * carried[l] + rotation.s * below;
          carried[l] = rotation.c * below - rotation.s * carried[l];
        }
      }
      for (int l = 0; l < kWide; ++l) row[l] = carried[l];
    }
    for (; first < stride; first += kLanes) {
      double* row = a.row(rotations[end - 1].i) + first;
      double carried[kLanes];
      DIACUT_LANES
      for (int l = 0; l < kLanes; ++l) carried[l] = row[l];
      for (std::ptrdiff_t k = end - 1; k >= begin; --k, row += stride) {
        const PlaneRotation rotation = rotations[k];
        DIACUT_LANES
        for (int l = 0; l < kLanes; ++l) {
          const double below = row[stride + l];
          row[l] = rotation.c * carried[l] + rotation.s * below;
          carried[l] = rotation.c * below - rotation.s * carried[l];
        }
      }
      DIACUT_LANES
      for (int l = 0; l < kLanes; ++l) row[l] = carried[l];
    }
  }
}

DIACUT_VECTOR_CLONES
bool cholesky(SmallMatrix& a) {
  for (int k = 0; k < a.rows; ++k) {
    double* __restrict__ pivot = a.row(k);
    if (!(pivot[k] > 0)) return false;
    const double scale = 1 / std::sqrt(pivot[k]);
    for (int l = k / kLanes * kLanes; l < a.stride; ++l) pivot[l] *= scale;
    for (int i = k + 1; i < a.rows; ++i) {
      double* __restrict__ row = a.row(i);
      const double factor = pivot[i];
      for (int l = i / kLanes * kLanes; l < a.stride; ++l) row[l] -= factor * pivot[l];
    }
  }
  return true;
}

SmallMatrix inverse_of_upper(const SmallMatrix& u) {
  SmallMatrix result(u.rows, u.rows);
  // Row i of u result = identity, from the last: the rows below it are known.
  for (int i = u.rows - 1; i >= 0; --i) {
    double* row = result.row(i);
    const int first = lanes_before(i + 1);
    if (i + 1 < u.rows) {
      add_combination(u.row(i) + i + 1, 1, result.row(i + 1) + first, result.stride, u.rows - i - 1,
                      row + first, result.stride - first);
    }
    const double scale = 1 / u.row(i)[i];
    for (int l = first; l < result.stride; ++l) row[l] *= -scale;
    row[i] = scale;
  }
  return result;
}

SmallMatrix multiply(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix result(a.rows, b.columns);
  // Rows of b, so many at once, from where the first of them has something but zeros.
  for (int j = 0; j < b.rows; j += kLanes) {
    const int count = std::min(kLanes, b.rows - j);
    int first = b.columns;
    for (int k = j; k < j + count; ++k) first = std::min(first, zeros_before(b, k));
    first = lanes_before(first);
    if (first == b.columns) continue;
    for (int i = 0; i < a.rows; ++i) {
      add_combination(a.row(i) + j, 1, b.row(j) + first, b.stride, count, result.row(i) + first,
                      b.stride - first);
    }
  }
  return result;
}

SmallMatrix multiply_transposed(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix result(a.columns, b.columns);
  int count = 0;  // Rows of a that have anything in the columns so far.
  for (int i = 0; i < a.columns; ++i) {
    for (int j = a.rows; j > count; --j) {
      if (a.row(j - 1)[i] != 0) count = j;
    }
    add_combination(a.row(0) + i, a.stride, b.row(0), b.stride, count, result.row(i), b.stride);
  }
  return result;
}

}  // namespace diacut
