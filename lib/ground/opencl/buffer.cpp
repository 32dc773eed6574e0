#include "opencl/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>

#include "opencl/context.hpp"

namespace diacut {

void hold(Context& context, const cl::Event& command, std::shared_ptr<const void> memory) {
  context.hold(command, std::move(memory));
}

void wait_for(Context& context, const cl::Event& command) { context.wait(command); }

std::shared_ptr<std::byte> transfer_memory(Context& context, std::size_t bytes) {
  return with_device_errors("allocating memory for transfers",
                            [&] { return context.transfer_memory(bytes); });
}

namespace {

/// Behind a buffer of a context that guards its allocations: all bits are set.
constexpr std::array<std::uint8_t, 512> kBand = [] {
  std::array<std::uint8_t, 512> band{};
  band.fill(0xff);
  return band;
}();

}  // namespace

RawBuffer::RawBuffer(Context& context, std::size_t bytes, const std::string& what) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const std::uint64_t limit =
      context.memory_limit() != 0 ? context.memory_limit() : context.info().global_memory;
  if (bytes > limit - std::min(limit, context.memory_in_use())) {
    throw DeviceMemoryError(fmt::format(
        "{} ({:.1f} MiB) does not fit on {}: {:.1f} of {:.1f} MiB are in use; ask for less (a "
        "smaller image or radius, fewer eigenvectors), or use a device with more memory",
        what, static_cast<double>(bytes) / kMiB, context.info().name,
        static_cast<double>(context.memory_in_use()) / kMiB, static_cast<double>(limit) / kMiB));
  }
  if (bytes > context.info().max_allocation) {
    throw DeviceMemoryError(
        fmt::format("{} ({:.1f} MiB) is more than {} allocates in one piece ({:.1f} MiB); use a "
                    "smaller image or radius, or another device",
                    what, static_cast<double>(bytes) / kMiB, context.info().name,
                    static_cast<double>(context.info().max_allocation) / kMiB));
  }
  with_device_errors(
      fmt::format("allocating {} ({:.1f} MiB)", what, static_cast<double>(bytes) / kMiB), [&] {
        // OpenCL has no empty buffers.
        const std::size_t at_least_one =
            context.guards_ ? bytes + kBand.size() : std::max<std::size_t>(bytes, 1);
        if (context.pool_) {
          memory_ = context.pool_->take(at_least_one);
          if (!memory_) throw cl::Error(CL_OUT_OF_HOST_MEMORY, "mmap");
          buffer_ = cl::Buffer(context.cl(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, at_least_one,
                               memory_.get());
          return;
        }
        if (!context.guards_) buffer_ = context.take_kept(bytes);
        if (buffer_() != nullptr) return;
        if (bytes + context.memory_in_use() + context.memory_kept() > limit) context.drop_kept();
        try {
          buffer_ = cl::Buffer(context.cl(), CL_MEM_READ_WRITE, at_least_one);
        } catch (const cl::Error&) {
          if (context.memory_kept() == 0) throw;
          context.drop_kept();
          buffer_ = cl::Buffer(context.cl(), CL_MEM_READ_WRITE, at_least_one);
        }
      });
  context_ = &context;
  bytes_ = bytes;
  context.memory_in_use_ += bytes;
  context.memory_peak_ = std::max(context.memory_peak_, context.memory_in_use_);
  guarded_ = context.guards_;
  if (guarded_) fill_bytes(kBand.data(), 1, bytes_ + kBand.size());
}

RawBuffer::RawBuffer(Context& context, cl::Buffer borrowed, std::size_t bytes)
    : context_(&context), buffer_(std::move(borrowed)), bytes_(bytes), borrowed_(true) {}

RawBuffer::~RawBuffer() { release(); }

void RawBuffer::release() noexcept {
  if (context_ != nullptr && !borrowed_) {
    context_->memory_in_use_ -= bytes_;
    try {
      if (guarded_) {
        std::array<std::uint8_t, kBand.size()> band{};
        read(band.data(), band.size(), bytes_);
        if (band != kBand) context_->overrun_ = true;
      } else if (!memory_) {
        context_->keep(buffer_);
      }
    } catch (const std::exception&) {
      // Without host memory, or an answer of the device, it is released, as it may be.
    }
  }
  context_ = nullptr;
  bytes_ = 0;
  // Assigning an empty buffer would throw when the driver fails to release this one; destroying it
  // does not.
  { const cl::Buffer released(std::move(buffer_)); }
  memory_.reset();
}

RawBuffer::RawBuffer(RawBuffer&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      memory_(std::move(other.memory_)),
      buffer_(std::move(other.buffer_)),
      bytes_(std::exchange(other.bytes_, 0)),
      guarded_(other.guarded_),
      borrowed_(other.borrowed_) {}

RawBuffer& RawBuffer::operator=(RawBuffer&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::exchange(other.context_, nullptr);
    memory_ = std::move(other.memory_);
    buffer_() = std::exchange(other.buffer_(), nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    guarded_ = other.guarded_;
    borrowed_ = other.borrowed_;
  }
  return *this;
}

struct RawBuffer::Part {
  std::size_t begin;  ///< In what is copied.
  std::size_t bytes;
  std::byte* staged;
};

template <class Begin, class End>
void RawBuffer::each_part(std::size_t bytes, const Begin& begin, const End& end) const {
  Part former{};
  cl::Event copied;
  for (std::size_t at = 0, k = 0; at < bytes; at += Context::kStaged, ++k) {
    const Part part{at, std::min(bytes - at, Context::kStaged),
                    context_->staged() + k % 2 * Context::kStaged};
    cl::Event next = begin(part);
    if (k > 0) {
      context_->wait(copied);
      end(former);
    }
    std::swap(copied(), next());  // To assign an event may fail, and release it once too often.
    former = part;
  }
  if (bytes == 0) return;
  context_->wait(copied);
  end(former);
}

void RawBuffer::write(const void* data, std::size_t bytes, std::size_t offset) {
  const auto* from = static_cast<const std::byte*>(data);
  const auto begin = [&](const Part& part) {
    std::memcpy(part.staged, from + part.begin, part.bytes);
    return write_later(part.staged, part.bytes, offset + part.begin);
  };
  with_device_errors("writing to the device", [&] { each_part(bytes, begin, [](const Part&) {}); });
}

void RawBuffer::read(void* data, std::size_t bytes, std::size_t offset) const {
  auto* to = static_cast<std::byte*>(data);
  const auto begin = [&](const Part& part) {
    return read_later(part.staged, part.bytes, offset + part.begin);
  };
  with_device_errors("reading from the device", [&] {
    each_part(bytes, begin,
              [&](const Part& part) { std::memcpy(to + part.begin, part.staged, part.bytes); });
  });
}

cl::Event RawBuffer::write_later(const void* data, std::size_t bytes, std::size_t offset) {
  return with_device_errors("writing to the device", [&] {
    cl::Event written;
    context_->uploaded_ += bytes;
    context_->queue().enqueueWriteBuffer(buffer_, CL_FALSE, offset, bytes, data, nullptr, &written);
    return written;
  });
}

cl::Event RawBuffer::read_later(void* data, std::size_t bytes, std::size_t offset) const {
  return with_device_errors("reading from the device", [&] {
    cl::Event read;
    context_->queue().enqueueReadBuffer(buffer_, CL_FALSE, offset, bytes, data, nullptr, &read);
    return read;
  });
}

void RawBuffer::fill(const void* pattern, std::size_t pattern_bytes) {
  fill_bytes(pattern, pattern_bytes, bytes_);
}

void RawBuffer::fill_bytes(const void* pattern, std::size_t pattern_bytes, std::size_t bytes) {
  if (bytes == 0) return;
  const cl_int code = clEnqueueFillBuffer(context_->queue()(), buffer_(), pattern, pattern_bytes, 0,
                                          bytes, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) throw_device_error("filling memory", {code, "clEnqueueFillBuffer"});
}

}  // namespace diacut
