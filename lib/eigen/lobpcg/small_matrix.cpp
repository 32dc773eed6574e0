#include "eigen/lobpcg/small_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
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

constexpr int kSmallMatrixLanes = SmallMatrix::kLanes;
constexpr int kFloats = FloatMatrix::kLanes;
/// Columns whose sums are kept in registers at once.
constexpr int kWide = 4 * kSmallMatrixLanes;
/// Rows whose sums are kept in registers at once.
constexpr int kAtOnce = 4;

/// The first of the lanes that column `i` is in.
int lanes_before(int i) { return i / kSmallMatrixLanes * kSmallMatrixLanes; }

/// Zeros that row `i` begins with.
int zeros_before(const SmallMatrix& a, int i) {
  const double* row = a.row(i);
  return static_cast<int>(
      std::find_if(row, row + a.columns, [](double value) { return value != 0; }) - row);
}

/// 64 bytes of a row, wherever they begin.
template <typename Scalar>
struct Lanes {
  typedef Scalar Type [[gnu::vector_size(64), gnu::aligned(sizeof(Scalar)), gnu::may_alias]];
};

/// kRows rows and kVectors times 64 bytes of add_combinations(), the sums in registers.
template <int kRows, int kVectors, typename Scalar>
[[gnu::always_inline]] inline void add_tile(const Scalar* coefficients, std::ptrdiff_t next,
                                            std::ptrdiff_t step, const Scalar* rows,
                                            std::ptrdiff_t stride, int count, Scalar* out,
                                            std::ptrdiff_t out_stride) {
  using Vector = typename Lanes<Scalar>::Type;
  constexpr int kElements = PaddedMatrix<Scalar>::kLanes;
  Vector sum[kRows][kVectors];
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      sum[i][v] = *reinterpret_cast<const Vector*>(out + i * out_stride + v * kElements);
    }
  }
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < kRows; ++i) {
      const Scalar coefficient = coefficients[i * next + j * step];
      for (int v = 0; v < kVectors; ++v) {
        sum[i][v] +=
            coefficient * *reinterpret_cast<const Vector*>(rows + j * stride + v * kElements);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      *reinterpret_cast<Vector*>(out + i * out_stride + v * kElements) = sum[i][v];
    }
  }
}

template <int kRows, typename Scalar>
[[gnu::always_inline]] inline void add_strip(const Scalar* coefficients, std::ptrdiff_t next,
                                             std::ptrdiff_t step, const Scalar* rows,
                                             std::ptrdiff_t stride, int count, Scalar* out,
                                             std::ptrdiff_t out_stride, int width) {
  constexpr int kElements = PaddedMatrix<Scalar>::kLanes;
  int first = 0;
  for (; first + 2 * kElements <= width; first += 2 * kElements) {
    add_tile<kRows, 2>(coefficients, next, step, rows + first, stride, count, out + first,
                       out_stride);
  }
  if (first < width) {
    add_tile<kRows, 1>(coefficients, next, step, rows + first, stride, count, out + first,
                       out_stride);
  }
}

template <typename Scalar>
[[gnu::always_inline]] inline void add_strips(const Scalar* coefficients, std::ptrdiff_t next,
                                              std::ptrdiff_t step, const Scalar* rows,
                                              std::ptrdiff_t stride, int count, Scalar* out,
                                              std::ptrdiff_t out_stride, int out_rows, int width) {
  int i = 0;
  for (; i + kAtOnce <= out_rows; i += kAtOnce) {
    add_strip<kAtOnce>(coefficients + i * next, next, step, rows, stride, count,
                       out + i * out_stride, out_stride, width);
  }
  for (; i < out_rows; ++i) {
    add_strip<1>(coefficients + i * next, next, step, rows, stride, count, out + i * out_stride,
                 out_stride, width);
  }
}

/// Sweeps a symmetric block, which becomes minus its inverse. False at a pivot that is not
/// positive, or not finite.
[[gnu::always_inline]] inline bool sweep(float (&block)[kFloats][kFloats]) {
  for (int k = 0; k < kFloats; ++k) {
    const float pivot = block[k][k];
    if (!(pivot > 0 && std::isfinite(pivot))) return false;
    const float inverse = 1 / pivot;
    float scaled[kFloats];
    for (int j = 0; j < kFloats; ++j) scaled[j] = inverse * block[k][j];
    scaled[k] = 1 - inverse;  // What each row has there, times 1/d, is wanted.
    for (int i = 0; i < kFloats; ++i) {
      const float factor = i == k ? 0 : block[i][k];
      for (int j = 0; j < kFloats; ++j) block[i][j] -= factor * scaled[j];
    }
    scaled[k] = -inverse;
    for (int j = 0; j < kFloats; ++j) block[k][j] = scaled[j];
  }
  return true;
}

}  // namespace

DIACUT_VECTOR_CLONES
void add_combinations(const float* coefficients, int next, int step, const float* rows, int stride,
                      int count, float* out, int out_stride, int out_rows, int width) {
  add_strips(coefficients, next, step, rows, stride, count, out, out_stride, out_rows, width);
}

DIACUT_VECTOR_CLONES
void add_combinations(const double* coefficients, int next, int step, const double* rows,
                      int stride, int count, double* out, int out_stride, int out_rows, int width) {
  add_strips(coefficients, next, step, rows, stride, count, out, out_stride, out_rows, width);
}

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
  for (; first < width; first += kSmallMatrixLanes) {
    double sum[kSmallMatrixLanes];
    DIACUT_LANES
    for (int l = 0; l < kSmallMatrixLanes; ++l) sum[l] = out[first + l];
    for (int j = 0; j < count; ++j) {
      const double coefficient = coefficients[static_cast<std::ptrdiff_t>(j) * step];
      const double* row = rows + static_cast<std::ptrdiff_t>(j) * stride + first;
      DIACUT_LANES
      for (int l = 0; l < kSmallMatrixLanes; ++l) sum[l] += coefficient * row[l];
    }
    DIACUT_LANES
    for (int l = 0; l < kSmallMatrixLanes; ++l) out[first + l] = sum[l];
  }
}

DIACUT_VECTOR_CLONES
void subtract_outer(const double* v, const double* w, double* a, int stride, int count, int width) {
  for (int i = 0; i < count; ++i) {
    double* __restrict__ row = a + static_cast<std::ptrdiff_t>(i) * stride;
    const double factor = v[i];
    for (int l = 0; l < width / kSmallMatrixLanes * kSmallMatrixLanes; ++l) row[l] -= factor * w[l];
  }
}

DIACUT_VECTOR_CLONES
void subtract_symmetric(const double* v, const double* w, double* a, int stride, int offset,
                        int count, int width) {
  for (int i = 0; i < count; ++i) {
    double* __restrict__ row = a + static_cast<std::ptrdiff_t>(i) * stride;
    const double with_v = w[offset + i];
    const double with_w = v[offset + i];
    for (int l = 0; l < width / kSmallMatrixLanes * kSmallMatrixLanes; ++l)
      row[l] -= with_w * w[l] + with_v * v[l];
  }
}

DIACUT_VECTOR_CLONES
void apply_reversed(const std::vector<PlaneRotation>& rotations, SmallMatrix& a) {
  const std::ptrdiff_t stride = a.stride;
  for (std::ptrdiff_t end = std::ssize(rotations), begin = end; end > 0; end = begin) {
    // A run of rotations down the rows: the lower row of one is the upper row of the next.
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
    for (; first < stride; first += kSmallMatrixLanes) {
      double* row = a.row(rotations[end - 1].i) + first;
      double carried[kSmallMatrixLanes];
      DIACUT_LANES
      for (int l = 0; l < kSmallMatrixLanes; ++l) carried[l] = row[l];
      for (std::ptrdiff_t k = end - 1; k >= begin; --k, row += stride) {
        const PlaneRotation rotation = rotations[k];
        DIACUT_LANES
        for (int l = 0; l < kSmallMatrixLanes; ++l) {
          const double below = row[stride + l];
          row[l] = rotation.c * carried[l] + rotation.s * below;
          carried[l] = rotation.c * below - rotation.s * carried[l];
        }
      }
      DIACUT_LANES
      for (int l = 0; l < kSmallMatrixLanes; ++l) row[l] = carried[l];
    }
  }
}

DIACUT_VECTOR_CLONES
bool cholesky(SmallMatrix& a) {
  for (int k = 0; k < a.rows; ++k) {
    double* __restrict__ pivot = a.row(k);
    if (!(pivot[k] > 0)) return false;
    const double scale = 1 / std::sqrt(pivot[k]);
    for (int l = k / kSmallMatrixLanes * kSmallMatrixLanes; l < a.stride; ++l) pivot[l] *= scale;
    for (int i = k + 1; i < a.rows; ++i) {
      double* __restrict__ row = a.row(i);
      const double factor = pivot[i];
      for (int l = i / kSmallMatrixLanes * kSmallMatrixLanes; l < a.stride; ++l)
        row[l] -= factor * pivot[l];
    }
  }
  return true;
}

DIACUT_VECTOR_CLONES
bool invert_symmetric(FloatMatrix& a) {
  const int size = a.rows;
  FloatMatrix panel(kFloats, size);
  FloatMatrix product(kFloats, size);  // -p/d
  for (int k = 0; k < size; k += kFloats) {
    float block[kFloats][kFloats];
    for (int i = 0; i < kFloats; ++i) {
      for (int j = 0; j < kFloats; ++j) block[i][j] = a.row(k + std::min(i, j))[k + std::max(i, j)];
    }
    if (!sweep(block)) return false;
    for (int j = 0; j < k; ++j) {
      for (int i = 0; i < kFloats; ++i) panel.row(i)[j] = a.row(j)[k + i];
    }
    for (int i = 0; i < kFloats; ++i) {
      std::copy(a.row(k + i) + k, a.row(k + i) + size, panel.row(i) + k);
    }
    std::fill(product.values.begin(), product.values.end(), 0.0F);
    add_combinations(block[0], kFloats, 1, panel.row(0), panel.stride, kFloats, product.row(0),
                     product.stride, kFloats, size);
    for (int i = 0; i < size; i += kFloats) {
      if (i == k) continue;
      add_combinations(panel.row(0) + i, 1, panel.stride, product.row(0) + i, product.stride,
                       kFloats, a.row(i) + i, a.stride, kFloats, size - i);
    }
    for (int j = 0; j < k; ++j) {
      for (int i = 0; i < kFloats; ++i) a.row(j)[k + i] = -product.row(i)[j];
    }
    for (int i = 0; i < kFloats; ++i) {
      std::copy_n(block[i], kFloats, a.row(k + i) + k);
      std::transform(product.row(i) + k + kFloats, product.row(i) + size,
                     a.row(k + i) + k + kFloats, std::negate<>());
    }
  }
  // Square by square, which the cache holds.
  for (int k = 0; k < size; k += kFloats) {
    for (int l = k; l < size; l += kFloats) {
      for (int i = k; i < k + kFloats; ++i) {
        float* row = a.row(i);
        for (int j = std::max(i, l); j < l + kFloats; ++j) a.row(j)[i] = row[j] = -row[j];
      }
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
  // Rows of b whose first entry that is not 0 lies in one group of lanes are taken together.
  for (int j = 0, end = 0; j < b.rows; j = end) {
    const int first = lanes_before(zeros_before(b, j));
    for (end = j + 1; end < b.rows; ++end) {
      if (lanes_before(zeros_before(b, end)) != first) break;
    }
    if (first >= b.columns) continue;
    add_combinations(a.row(0) + j, a.stride, 1, b.row(j) + first, b.stride, end - j,
                     result.row(0) + first, result.stride, a.rows, b.stride - first);
  }
  return result;
}

SmallMatrix multiply_transposed(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix result(a.columns, b.columns);
  int count = 0;  // Rows of a that have anything in the columns so far.
  for (int i = 0; i < a.columns; i += kAtOnce) {
    const int end = std::min(i + kAtOnce, a.columns);
    for (int j = a.rows; j > count; --j) {
      if (std::any_of(a.row(j - 1) + i, a.row(j - 1) + end, [](double v) { return v != 0; })) {
        count = j;
      }
    }
    add_combinations(a.row(0) + i, 1, a.stride, b.row(0), b.stride, count, result.row(i),
                     result.stride, end - i, b.stride);
  }
  return result;
}

}  // namespace diacut
