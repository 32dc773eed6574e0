#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// Finds numbers in an ascending list, as std::lower_bound() does, but by way of a table: of
/// millions of numbers that lie about evenly, one or two places in memory are read in place of
/// twenty.
class Places {
 public:
  /// `numbers`: must outlive the object. None is negative.
  explicit Places(std::span<const std::int32_t> numbers) : numbers_(numbers) {
    if (numbers.empty()) return;
    const std::uint32_t range = offset(numbers.back());
    while ((range >> shift_) > numbers.size()) ++shift_;
    begins_.reserve((range >> shift_) + 2);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::uint32_t bucket = offset(numbers[k]) >> shift_;
      while (begins_.size() <= bucket) begins_.push_back(static_cast<std::uint32_t>(k));
    }
    begins_.push_back(static_cast<std::uint32_t>(numbers.size()));
  }

  /// The place of the first number that is not less.
  std::size_t of(std::int32_t number) const {
    if (numbers_.empty() || number <= numbers_.front()) return 0;
    if (number > numbers_.back()) return numbers_.size();
    const std::uint32_t bucket = offset(number) >> shift_;
    const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(begins_[bucket]);
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(begins_[bucket + 1]);
    return static_cast<std::size_t>(std::lower_bound(begin, end, number) - numbers_.begin());
  }

 private:
  std::uint32_t offset(std::int32_t number) const {
    return static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(numbers_.front());
  }

  std::span<const std::int32_t> numbers_;
  unsigned shift_ = 0;
  /// By bucket of 2^shift_ numbers, the place of the first that is in it or in a later one.
  std::vector<std::uint32_t> begins_;
};

}  // namespace diacut
