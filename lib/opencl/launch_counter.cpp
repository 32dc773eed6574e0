#include "opencl/launch_counter.hpp"

#include <fmt/format.h>

#include <vector>

#include "diacut/errors.hpp"

namespace diacut {

const cl::Buffer& LaunchCounter::words(const cl::Context& context, std::size_t count) {
  if (words_() == nullptr) {
    std::vector<std::uint32_t> none(count);
    words_ = cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                        count * sizeof(std::uint32_t), none.data());
  }
  return words_;
}

void LaunchCounter::ask(cl::CommandQueue& queue, std::uint32_t* found) {
  asked_ = launched_;
  *found = ~asked_;  // A read that is left out finds nothing.
  queue.enqueueReadBuffer(words_, CL_FALSE, 0, sizeof *found, found);
}

void LaunchCounter::check(std::uint32_t found, const std::string& device) {
  const std::uint32_t expected = asked_;
  launched_ += found - expected;
  checked_ = found;
  if (found == expected) return;
  throw DeviceError(
      fmt::format("{} left out work that it said it had done, or did some twice: the device or its "
                  "driver fails; run again, or on another device (--list-devices)",
                  device));
}

}  // namespace diacut
