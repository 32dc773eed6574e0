#include "eigen/lanczos/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diacut {

ChebyshevFilter::ChebyshevFilter(int degree, double lower, double upper)
    : degree_(degree), centre_((lower + upper) / 2), half_width_((upper - lower) / 2) {}

double ChebyshevFilter::value(double lambda) const {
  if (half_width_ == 0) return lambda;
  const double x = (lambda - centre_) / half_width_;
  if (std::abs(x) <= 1) return std::cos(degree_ * std::acos(x));
  const double magnitude = std::cosh(degree_ * std::acosh(std::abs(x)));
  return x < 0 && degree_ % 2 == 1 ? -magnitude : magnitude;
}

double ChebyshevFilter::inverse(double theta) const {
  if (half_width_ == 0) return theta;
  return centre_ + half_width_ * std::cosh(std::acosh(std::max(theta, 1.0)) / degree_);
}

double ChebyshevFilter::least_slope(double theta) const {
  if (half_width_ == 0) return 1;
  // p grows ever faster above `upper`, so the chord to the far end is the flattest.
  return (theta + 1) / (inverse(theta) - (centre_ - half_width_));
}

bool ChebyshevFilter::apply(DeviceOperator& op, Buffer<float>& in, Buffer<float>& other) const {
  if (half_width_ == 0) {
    op.perform_op(in, other);
    return true;
  }
  const auto scale = static_cast<float>(1 / half_width_);
  const auto shift = static_cast<float>(-centre_ / half_width_);
  op.perform_recurrence(in, other, scale, shift, 0);
  Buffer<float>* previous = &in;
  Buffer<float>* current = &other;
  for (int k = 2; k <= degree_; ++k) {
    op.perform_recurrence(*current, *previous, 2 * scale, 2 * shift, -1);
    std::swap(previous, current);
  }
  return current == &other;
}

}  // namespace diacut
