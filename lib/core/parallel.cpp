#include "core/parallel.hpp"

#include <exception>
#include <opencv2/core/utility.hpp>
#include <vector>

namespace diacut {

void parallel_for(int count, const std::function<void(int)>& work) {
  if (count == 1) return work(0);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  cv::parallel_for_(cv::Range(0, count), [&](const cv::Range& range) {
    for (int i = range.start; i < range.end; ++i) {
      try {
        work(i);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace diacut
