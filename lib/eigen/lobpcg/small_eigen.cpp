#include "eigen/lobpcg/small_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr int kLanes = SmallMatrix::kLanes;

/// QL sweeps for one eigenvalue, at most: many times the usual number, less than two.
constexpr int kMostSweeps = 60;

/// Sums of squares of entries of at most 2 that are smaller may have lost digits to underflow.
constexpr double kUnderflow =
    std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();

struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< Entry (i, i + 1); the last one is 0.
};

/// The sum of x y over a multiple of kLanes elements.
double dot(const double* x, const double* y, int width) {
  double sums[kLanes] = {};
  for (int first = 0; first < width; first += kLanes) {
    for (int l = 0; l < kLanes; ++l) sums[l] += x[first + l] * y[first + l];
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

/// Divides `a` by the power of two above its largest entry, and returns the exponent: squares of
/// entries are neither too large nor, where they matter, too small.
int scale_to_one(SmallMatrix& a) {
  double most[kLanes] = {};
  for (std::size_t first = 0; first < a.values.size(); first += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double size = std::abs(a.values[first + l]);
      most[l] = most[l] < size ? size : most[l];
    }
  }
  const double largest = *std::max_element(most, most + kLanes);
  if (!std::isnormal(largest)) return 0;
  const int exponent = std::clamp(std::ilogb(largest) + 1, -1000, 1000);
  const double scale = std::ldexp(1.0, -exponent);
  for (double& value : a.values) value *= scale;
  return exponent;
}

/// Makes `a` tridiagonal by the reflections I - v v', one for each row but the last two: the v of
/// row k is left in that row, at the columns after k, 0 where there was nothing to do.
Tridiagonal tridiagonalise(SmallMatrix& a) {
  const int size = a.rows;
  Tridiagonal t{std::vector<double>(static_cast<std::size_t>(size), 0.0),
                std::vector<double>(static_cast<std::size_t>(size), 0.0)};
  std::vector<double> buffer(static_cast<std::size_t>(a.stride));
  for (int k = 0; k < size; ++k) {
    const auto at = static_cast<std::size_t>(k);
    double* v = a.row(k);
    t.diagonal[at] = v[k];
    if (k + 1 == size) break;
    const double next = std::exchange(v[k + 1], 0.0);
    t.beside[at] = next;
    // Whole lanes, of which those up to k are zero.
    const int first = (k + 1) / kLanes * kLanes;
    const int width = a.stride - first;
    std::fill(v + first, v + k + 1, 0.0);
    const double below = dot(v + first, v + first, width);
    if (below < kUnderflow) continue;
    // v is (x -+ |x| e) / sqrt(|x| (|x| + |x_1|)), of squared norm 2.
    const double norm = std::sqrt(below + next * next);
    const double scale = 1 / std::sqrt(norm * (norm + std::abs(next)));
    t.beside[at] = next > 0 ? -norm : norm;
    v[k + 1] = next - t.beside[at];
    for (int l = first; l < a.stride; ++l) v[l] *= scale;
    // (I - v v') a (I - v v') = a - v w' - w v', with w = p - v (v'p) / 2 and p = a v.
    double* w = buffer.data();
    std::fill(w + first, w + a.stride, 0.0);
    add_combination(v + k + 1, 1, a.row(k + 1) + first, a.stride, size - k - 1, w + first, width);
    std::fill(w + first, w + k + 1, 0.0);
    const double half = dot(v + first, w + first, width) / 2;
    for (int l = first; l < a.stride; ++l) w[l] -= half * v[l];
    subtract_symmetric(v + first, w + first, a.row(k + 1) + first, a.stride, k + 1 - first,
                       size - k - 1, width);
  }
  return t;
}

/// The norm of `t` by sums over rows. Throws where an entry is not finite.
double finite_norm(const Tridiagonal& t) {
  double norm = 0;
  double sum = 0;
  for (std::size_t i = 0; i < t.diagonal.size(); ++i) {
    const double above = i > 0 ? std::abs(t.beside[i - 1]) : 0;
    norm = std::max(norm, std::abs(t.diagonal[i]) + std::abs(t.beside[i]) + above);
    sum += t.diagonal[i];
  }
  if (!std::isfinite(norm + sum)) {
    throw NumericalError("a small matrix whose eigenvalues are wanted is not finite");
  }
  return norm;
}

/// A tridiagonal matrix as the QL iteration of Pal, Walker and Kahan keeps it: the squares of the
/// entries beside the diagonal follow from each other, which leaves the roots for the rotations out
/// of the way. Of the entries themselves the signs alone are kept up.
struct SquaredTridiagonal {
  std::vector<double>& d;
  std::vector<double>& e;
  std::vector<double> ee;
};

/// Wilkinson's shift: the eigenvalue of the 2 x 2 block at `low` that is closer to its first entry.
double wilkinson_shift(const SquaredTridiagonal& t, std::size_t low) {
  const double half = (t.d[low + 1] - t.d[low]) / 2;
  const double root = std::sqrt(half * half + t.ee[low]);
  return t.d[low] - t.ee[low] / (half + (half > 0 ? root : -root));
}

/// One QL sweep on t - shift over rows [low, high], from the lower end.
void ql_sweep(SquaredTridiagonal& t, int low, int high, double shift,
              std::vector<PlaneRotation>& rotations) {
  double cc = 1;
  double ss = 0;
  double gamma = t.d[static_cast<std::size_t>(high)] - shift;
  double pp = gamma * gamma;
  double sign = gamma < 0 ? -1 : 1;  // Of p.
  double sign_before = 1;            // Of the c before.
  for (int row = high - 1; row >= low; --row) {
    const auto i = static_cast<std::size_t>(row);
    if (pp < kUnderflow) pp = 0;
    const double bb = t.ee[i];
    const double rr = pp + bb;
    t.ee[i + 1] = ss * rr;
    const double inverse = 1 / rr;
    const double before = cc;
    cc = pp * inverse;
    ss = bb * inverse;
    rotations.push_back({sign * std::sqrt(cc), std::copysign(std::sqrt(ss), t.e[i]), row});
    const double above = t.d[i];
    const double numerator = pp * (above - shift) - bb * gamma;
    const double next = numerator * inverse;
    t.d[i + 1] = gamma + (above - next);
    gamma = next;
    if (pp > 0) {
      pp = numerator * numerator / (rr * pp);
      sign_before = sign;
      if (gamma < 0) sign = -sign;
    } else {
      pp = before * bb;
      sign = -std::exchange(sign_before, 1);  // p = -s e c, with the c before.
    }
  }
  const auto first = static_cast<std::size_t>(low);
  t.ee[first] = ss * pp;
  t.e[first] *= sign;
  t.d[first] = gamma + shift;
  t.ee[static_cast<std::size_t>(high)] = 0;
}

/// Makes `t` diagonal; its eigenvectors are the product of the rotations.
std::vector<PlaneRotation> diagonalise(Tridiagonal& t) {
  const int size = static_cast<int>(t.diagonal.size());
  const double norm = finite_norm(t);
  const double negligible = std::pow(std::numeric_limits<double>::epsilon() * norm, 2);
  SquaredTridiagonal squared{t.diagonal, t.beside, {}};
  for (const double value : t.beside) squared.ee.push_back(value * value);
  std::vector<PlaneRotation> rotations;
  rotations.reserve(static_cast<std::size_t>(size * size));
  for (int low = 0; low < size; ++low) {
    for (int sweep = 0;; ++sweep) {
      int high = low;
      while (high + 1 < size && squared.ee[static_cast<std::size_t>(high)] > negligible) ++high;
      if (high == low) break;
      if (sweep == kMostSweeps) {
        throw NumericalError("the eigenvalues of a small matrix did not converge");
      }
      const double shift = wilkinson_shift(squared, static_cast<std::size_t>(low));
      ql_sweep(squared, low, high, shift, rotations);
    }
  }
  return rotations;
}

}  // namespace

SmallEigenpairs largest_eigenpairs(SmallMatrix a, int count) {
  const int size = a.rows;
  const int exponent = scale_to_one(a);
  Tridiagonal t = tridiagonalise(a);
  const std::vector<PlaneRotation> rotations = diagonalise(t);
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    return t.diagonal[static_cast<std::size_t>(i)] > t.diagonal[static_cast<std::size_t>(j)];
  });
  SmallEigenpairs result{{}, SmallMatrix(size, count)};
  for (int k = 0; k < count; ++k) {
    const int i = order[static_cast<std::size_t>(k)];
    result.values.push_back(std::ldexp(t.diagonal[static_cast<std::size_t>(i)], exponent));
    result.vectors.row(i)[k] = 1;
  }
  apply_reversed(rotations, result.vectors);
  std::vector<double> along(static_cast<std::size_t>(result.vectors.stride));
  for (int k = size - 3; k >= 0; --k) {
    const double* v = a.row(k) + k + 1;
    std::fill(along.begin(), along.end(), 0.0);
    add_combination(v, 1, result.vectors.row(k + 1), result.vectors.stride, size - k - 1,
                    along.data(), result.vectors.stride);
    subtract_outer(v, along.data(), result.vectors.row(k + 1), result.vectors.stride, size - k - 1,
                   result.vectors.stride);
  }
  return result;
}

}  // namespace diacut
