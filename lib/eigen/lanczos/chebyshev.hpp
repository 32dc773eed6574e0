#pragma once

#include "matrix/operator.hpp"
#include "opencl/buffer.hpp"

namespace diacut {

/// p(A) = T_degree((A - centre) / half_width): a Chebyshev polynomial that stays within [-1, 1] on
/// [lower, upper] and grows steeply, and ever more so, above it. Lanczos on p(A) finds the
/// eigenvectors of A above `upper` in a `degree`th of the steps: T_m(T_d(x)) = T_md(x), so hardly a
/// product is lost, and the work of a step beside the product is done once in `degree` products.
/// (Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
/// Chebyshev-filtered subspace iteration", 2006; H. Fang, Y. Saad, "A filtered Lanczos procedure
/// for extreme and interior eigenvalue problems", 2012.)
class ChebyshevFilter {
 public:
  /// p(A) = A.
  ChebyshevFilter() = default;
  /// Preconditions: degree >= 1, lower < upper.
  ChebyshevFilter(int degree, double lower, double upper);

  int degree() const { return degree_; }
  double upper() const { return centre_ + half_width_; }

  double value(double lambda) const;
  /// The lambda >= upper with value(lambda) = theta; `upper` for theta <= 1. (Any theta for p(A) =
  /// A.)
  double inverse(double theta) const;
  /// The least of (theta - p(x)) / (lambda - x) over x in [lower, upper], p(lambda) = theta: a
  /// residual r of p(A) is one of at most about r / least_slope(theta) of A, because what is wrong
  /// in a Ritz vector lies in the damped interval. (1 for p(A) = A.)
  double least_slope(double theta) const;

  /// p(A) in, by `degree` products. `in` and `other` are both overwritten; true if the result is in
  /// `other`, false if it is in `in`.
  bool apply(DeviceOperator& op, Buffer<float>& in, Buffer<float>& other) const;

 private:
  int degree_ = 1;
  double centre_ = 0;
  double half_width_ = 0;  ///< 0: p(A) = A.
};

}  // namespace diacut
