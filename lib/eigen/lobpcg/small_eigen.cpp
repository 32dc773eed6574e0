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

/// Many times what an eigenvalue takes, which is less than two.
constexpr int kMostSweeps = 60;

/// Sums of squares, of entries of at most 2, that may have lost digits.
constexpr double kUnderflow =
    std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();

struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< beside[i] couples i and i + 1; the last one is 0.
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

/// Makes `t` diagonal; its eigenvectors are the product of the rotations.
std::vector<PlaneRotation> diagonalise(Tridiagonal& t) {
  const int size = static_cast<int>(t.diagonal.size());
  std::vector<double>& d = t.diagonal;
  std::vector<double>& e = t.beside;
  double norm = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    norm = std::max(norm, std::abs(d[i]) + std::abs(e[i]) + (i > 0 ? std::abs(e[i - 1]) : 0));
  }
  if (!std::isfinite(std::accumulate(d.begin(), d.end(), norm))) {
    throw NumericalError("a small matrix whose eigenvalues are wanted is not finite");
  }
  const double negligible = std::pow(std::numeric_limits<double>::epsilon() * norm, 2);
  std::vector<double> ee;  // Squares; of e, the signs alone are kept up.
  for (const double value : e) ee.push_back(value * value);
  std::vector<PlaneRotation> rotations;
  rotations.reserve(static_cast<std::size_t>(size * size));
  for (int low = 0; low < size; ++low) {
    for (int sweep = 0;; ++sweep) {
      int high = low;
      while (high + 1 < size && ee[static_cast<std::size_t>(high)] > negligible) ++high;
      if (high == low) break;
      if (sweep == kMostSweeps) {
        throw NumericalError("the eigenvalues of a small matrix did not converge");
      }
      // Wilkinson's shift: the eigenvalue of the upper 2 x 2 block that is closer to its first
      // entry.
      const auto at = static_cast<std::size_t>(low);
      const double half = (d[at + 1] - d[at]) / 2;
      const double root = std::sqrt(half * half + ee[at]);
      const double shift = d[at] - ee[at] / (half + (half > 0 ? root : -root));
      // One QL sweep on t - shift, from the lower end, after Pal, Walker and Kahan: squares alone
      // follow from each other, which leaves the roots for the rotations out of the way.
      double cc = 1;
      double ss = 0;
      double gamma = d[static_cast<std::size_t>(high)] - shift;
      double pp = gamma * gamma;
      double sign = gamma < 0 ? -1 : 1;  // Of p.
      double sign_before = 1;            // Of the c before.
      for (int row = high - 1; row >= low; --row) {
        const auto i = static_cast<std::size_t>(row);
        if (pp < kUnderflow) pp = 0;
        const double bb = ee[i];
        const double rr = pp + bb;
        ee[i + 1] = ss * rr;
        const double inverse = 1 / rr;
        const double before = cc;
        cc = pp * inverse;
        ss = bb * inverse;
        rotations.push_back({sign * std::sqrt(cc), std::copysign(std::sqrt(ss), e[i]), row});
        const double above = d[i];
        const double numerator = pp * (above - shift) - bb * gamma;
        const double next = numerator * inverse;
        d[i + 1] = gamma + (above - next);
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
      ee[at] = ss * pp;
      e[at] *= sign;
      d[at] = gamma + shift;
      ee[static_cast<std::size_t>(high)] = 0;
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
