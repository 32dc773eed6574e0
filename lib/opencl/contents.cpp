#include "opencl/contents.hpp"

#include <algorithm>
#include <cstring>

#include "opencl/arguments.hpp"
#include "opencl/context.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "opencl/contents.cl";
constexpr std::size_t kVector = 16;
constexpr std::size_t kWord = 4;
/// A thread of a CPU has enough to do with these.
constexpr std::size_t kRunBytes = std::size_t{1} << 18;
constexpr std::size_t kMostRuns = 256;
constexpr std::size_t kGroup = 256;
constexpr std::size_t kMostGroups = 4096;

}  // namespace

Contents::Contents(Context& context) : context_(&context) {
  const char* const options = context.info().kind == DeviceKind::kCpu ? "-DRUNS" : "";
  fill_ = context.own_kernel(kFile, "fill_contents", options);
  copy_words_ = context.own_kernel(kFile, "copy_words", options);
  copy_bytes_ = context.own_kernel(kFile, "copy_bytes", options);
}

void Contents::launch(const Kernel& kernel, std::size_t bytes) const {
  const bool runs = context_->info().kind == DeviceKind::kCpu;
  const std::size_t group = runs ? 1 : std::min(kGroup, context_->info().max_work_group);
  const std::size_t share = runs ? kRunBytes : group * kVector;
  const std::size_t groups =
      std::clamp<std::size_t>(bytes / share, 1, runs ? kMostRuns : kMostGroups);
  context_->launch(kernel, cl::NDRange(groups * group), cl::NDRange(group));
}

void Contents::fill(const cl::Buffer& to, std::size_t offset, std::size_t bytes,
                    const void* pattern, std::size_t pattern_bytes) const {
  if (bytes == 0) return;
  unsigned char repeated[kVector];
  for (std::size_t k = 0; k < kVector; ++k) {
    repeated[(offset + k) % kVector] =
        static_cast<const unsigned char*>(pattern)[k % pattern_bytes];
  }
  cl_uint4 words;
  std::memcpy(&words, repeated, kVector);
  set_arguments(fill_, to, offset, offset + bytes, words);
  launch(fill_, bytes);
}

void Contents::copy(const cl::Buffer& from, std::size_t from_offset, const cl::Buffer& to,
                    std::size_t to_offset, std::size_t bytes) const {
  if (bytes == 0) return;
  const bool words = (from_offset | to_offset | bytes) % kWord == 0;
  const Kernel& kernel = words ? copy_words_ : copy_bytes_;
  const std::size_t unit = words ? kWord : 1;
  set_arguments(kernel, from, from_offset / unit, to, to_offset / unit, bytes / unit);
  launch(kernel, bytes);
}

}  // namespace diacut
