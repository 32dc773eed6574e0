#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// What a check threw: the device's answer is not the one that is known.
class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sums of terms, and of their magnitudes, to which rounding errors are relative.
struct TermSums {
  std::vector<double> values;
  std::vector<double> magnitudes;

  explicit TermSums(std::size_t count) : values(count, 0.0), magnitudes(count, 0.0) {}
  /// Of one term each.
  explicit TermSums(const std::vector<float>& terms) : TermSums(terms.size()) {
    for (std::size_t i = 0; i < terms.size(); ++i) add(i, terms[i]);
  }
  void add(std::size_t at, double term) {
    values[at] += term;
    magnitudes[at] += std::abs(term);
  }
};

/// The sum of the products of a and b, and of their magnitudes.
std::pair<double, double> dot_product(std::span<const double> a, std::span<const double> b);

/// Where one check of a device computes, and how it compares. Buffers that it allocates hold no
/// numbers until they are written, so that a kernel that does nothing leaves no answer of an
/// earlier one behind. The numbers that it draws are the same in every run.
class Trial {
 public:
  static constexpr double kEps = std::numeric_limits<float>::epsilon();

  /// The context must outlive the trial.
  explicit Trial(Context& context) : context_(&context) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  Context& context() { return *context_; }

  /// Normally distributed numbers.
  std::vector<float> normal(std::size_t count);
  /// Numbers in [0, 1).
  std::vector<float> uniform(std::size_t count);

  Buffer<float> empty(std::size_t count) { return context_->allocate<float>(count, "values"); }
  template <class T>
  Buffer<T> uploaded(const std::vector<T>& values) {
    Buffer<T> buffer = context_->allocate<T>(values.size(), "values");
    buffer.upload(values);
    return buffer;
  }

  /// Holds each number found against the one that is expected: they may differ by `roundings`
  /// roundings of a float of that magnitude. Throws WrongAnswer naming `what`.
  void expect(std::string_view what, std::span<const float> found, std::span<const double> expected,
              std::span<const double> magnitude, double roundings);
  void expect(std::string_view what, std::span<const float> found, const TermSums& expected,
              double roundings) {
    expect(what, found, expected.values, expected.magnitudes, roundings);
  }
  /// Holds each number found against the one that is expected: they may differ by the number of
  /// the same place that says how far. Throws WrongAnswer naming `what`.
  void expect_within(std::string_view what, std::span<const float> found,
                     std::span<const double> expected, std::span<const double> allowed);
  /// Holds each number found against the one that is expected, with one tolerance for all. Throws
  /// WrongAnswer naming `what`.
  void expect_near(std::string_view what, std::span<const float> found,
                   std::span<const double> expected, double allowed);
  /// Holds one number found against the one that is expected. Throws WrongAnswer naming `what`.
  void expect_one(std::string_view what, double found, double expected, double allowed,
                  std::size_t index = 0);
  /// Throws WrongAnswer saying `what` is wrong, unless `holds`.
  static void require(bool holds, const std::string& what);
  /// Throws WrongAnswer where a kernel has written beyond a buffer (Context::overrun()).
  void require_bounds() const {
    require(!context_->overrun(), "a kernel has written beyond the end of a buffer");
  }

  /// The largest error so far, as a share of what was allowed.
  double worst() const { return worst_; }

 private:
  Context* context_;
  std::mt19937 random_{11};
  double worst_ = 0;
};

}  // namespace diacut
