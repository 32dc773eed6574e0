#include "core/parallel.hpp"

#include <algorithm>
#include <exception>
#include <opencv2/core/utility.hpp>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define DIACUT_THREAD_SANITIZER
#endif
#endif

namespace diacut {

namespace {

/// The thread sanitizer does not see how OpenCV's threads wait for each other, because OpenCV is
/// not built with it: what comes before a point that is told, in the thread that tells it, comes
/// before what follows a wait for that point.
void tell(const void* point) {
#ifdef DIACUT_THREAD_SANITIZER
  __tsan_release(const_cast<void*>(point));
#else
  static_cast<void>(point);
#endif
}
void wait_for(const void* point) {
#ifdef DIACUT_THREAD_SANITIZER
  __tsan_acquire(const_cast<void*>(point));
#else
  static_cast<void>(point);
#endif
}

/// What OpenCV's threads call. The point that they wait for is the loop itself, so that nothing of
/// it is read before.
class Loop final : public cv::ParallelLoopBody {
 public:
  Loop(int count, const std::function<void(int)>& work)
      : work_(work), failures_(static_cast<std::size_t>(count)) {}

  void operator()(const cv::Range& range) const override {
    wait_for(this);
    for (int i = range.start; i < range.end; ++i) {
      try {
        work_(i);
      } catch (...) {
        failures_[static_cast<std::size_t>(i)] = std::current_exception();
      }
    }
    tell(this);
  }

  void rethrow() const {
    for (const std::exception_ptr& failure : failures_) {
      if (failure) std::rethrow_exception(failure);
    }
  }

 private:
  const std::function<void(int)>& work_;
  mutable std::vector<std::exception_ptr> failures_;  ///< OpenCV calls a const loop.
};

/// A few for each core of a large machine, since ranges take different times.
constexpr std::size_t kMostRanges = 64;
}  // namespace

void parallel_for(int count, const std::function<void(int)>& work) {
  if (count == 1) return work(0);
  const Loop loop(count, work);
  tell(&loop);
  cv::parallel_for_(cv::Range(0, count), loop);
  wait_for(&loop);
  loop.rethrow();
}

int parallel_threads() { return std::max(cv::getNumThreads(), 1); }

std::vector<IndexRange> ranges_of(std::size_t count, std::size_t least) {
  const std::size_t number =
      std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, kMostRanges);
  std::vector<IndexRange> ranges;
  for (std::size_t k = 0; k < number; ++k) {
    ranges.push_back({k * count / number, (k + 1) * count / number});
  }
  return ranges;
}

void parallel_ranges(std::size_t count, std::size_t least,
                     const std::function<void(std::size_t, std::size_t)>& work) {
  const std::vector<IndexRange> ranges = ranges_of(count, least);
  parallel_for(static_cast<int>(ranges.size()), [&](int k) {
    const IndexRange& range = ranges[static_cast<std::size_t>(k)];
    work(range.begin, range.end);
  });
}

}  // namespace diacut
