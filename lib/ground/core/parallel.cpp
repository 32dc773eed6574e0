#include "core/parallel.hpp"

#include <sys/resource.h>
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/background.hpp"

#ifdef DIACUT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace diacut {

namespace {

/// The thread sanitizer does not see how TBB's threads wait for each other, because TBB is not
/// built with it. A thread therefore announces a point to it: what comes before that point comes
/// before what follows a wait for it.
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

/// A few for each core of a large machine, since ranges take different times.
constexpr std::size_t kMostRanges = 64;

std::atomic<int> threads_asked{0};

std::atomic<int> background_threads{0};
thread_local bool in_the_background = false;
/// Images that are taken one by one have no more such threads.
constexpr int kFewInBackground = 3;
bool crowded() { return background_threads > kFewInBackground; }

/// Calls work(range) for ranges of 0 to count - 1. TBB itself and not cv::parallel_for_(), which
/// computes on one thread alone while another thread of the program is in it.
template <class Work>
void on_all_cores(std::size_t count, const Work& work) {
  const tbb::blocked_range<std::size_t> all(0, count);
  const int threads = parallel_threads();
  if (threads == 1) return work(all);  // As in a process that has lost its threads.
  if (in_the_background && crowded()) return work(all);
  // A thread that waits for others must not begin other work, for which it may hold locks.
  const auto run = [&] { tbb::this_task_arena::isolate([&] { tbb::parallel_for(all, work); }); };
  if (threads == tbb::this_task_arena::max_concurrency()) return run();
  tbb::task_arena(threads).execute(run);
}
}  // namespace

InBackground::InBackground() {
  in_the_background = true;
  ++background_threads;
  constexpr int kNice = 10;
  if (crowded()) setpriority(PRIO_PROCESS, 0, kNice);  // On Linux that is of the thread alone.
}

InBackground::~InBackground() { --background_threads; }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count == 1) return work(0);
  std::vector<std::exception_ptr> failures(count);
  char begin = 0;
  char end = 0;
  tell(&begin);
  on_all_cores(count, [&](const tbb::blocked_range<std::size_t>& range) {
    wait_for(&begin);
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
    tell(&end);
  });
  wait_for(&end);
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

int parallel_threads() {
  const int asked = threads_asked;
  return asked > 0 ? asked : tbb::info::default_concurrency();
}

void set_parallel_threads(int count) { threads_asked = count; }

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
  parallel_for(ranges.size(), [&](std::size_t k) { work(ranges[k].begin, ranges[k].end); });
}

}  // namespace diacut
