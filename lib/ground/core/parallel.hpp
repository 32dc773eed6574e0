#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace diacut {

/// Calls work(0) to work(count - 1), each once, on the processor's cores, and returns when all are
/// done, in any order. If several calls throw, the exception of the least index is rethrown.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work);

/// How many cores parallel_for() uses, at least 1.
int parallel_threads();

/// Limits the whole process to `count` cores in parallel_for(); 0: all that it may use.
void set_parallel_threads(int count);

/// The elements begin to end - 1 of a sequence.
struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Divides 0 to count - 1 into consecutive ranges for parallel_for(): each of at least `least`
/// elements, unless there is only one, and not more of them than keep many cores busy. The ranges
/// do not depend on the number of cores. At least one range, which may be empty.
std::vector<IndexRange> ranges_of(std::size_t count, std::size_t least);

/// Calls work(begin, end) for the ranges_of(count, least) in parallel.
void parallel_ranges(std::size_t count, std::size_t least,
                     const std::function<void(std::size_t, std::size_t)>& work);

/// What work(begin, end) returns for each of the ranges_of(count, least), in parallel.
template <class Work>
auto results_of_ranges(std::size_t count, std::size_t least, const Work& work) {
  const std::vector<IndexRange> ranges = ranges_of(count, least);
  std::vector<decltype(work(count, count))> results(ranges.size());
  parallel_for(ranges.size(),
               [&](std::size_t k) { results[k] = work(ranges[k].begin, ranges[k].end); });
  return results;
}

}  // namespace diacut
