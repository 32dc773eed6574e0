#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opencl/cl.hpp"
#include "opencl/memory_pool.hpp"

namespace diacut {

class Context;

/// Context::hold() and Context::wait(), for the templates below.
void hold(Context& context, const cl::Event& command, std::shared_ptr<const void> memory);
void wait_for(Context& context, const cl::Event& command);
/// Context::transfer_memory().
std::shared_ptr<std::byte> transfer_memory(Context& context, std::size_t bytes);

/// Owned device memory, untyped: what Buffer<T> is made of.
class RawBuffer {
 public:
  RawBuffer() = default;
  RawBuffer(Context& context, std::size_t bytes, const std::string& what);
  /// Memory of somebody else's, of that context.
  RawBuffer(Context& context, cl::Buffer borrowed, std::size_t bytes);
  ~RawBuffer();
  RawBuffer(RawBuffer&& other) noexcept;
  RawBuffer& operator=(RawBuffer&& other) noexcept;
  RawBuffer(const RawBuffer&) = delete;
  RawBuffer& operator=(const RawBuffer&) = delete;

  const cl::Buffer& cl() const { return buffer_; }
  std::size_t bytes() const { return bytes_; }
  Context& context() const { return *context_; }
  explicit operator bool() const { return context_ != nullptr; }

  /// Blocking copies; `offset` in bytes. Preconditions: the range lies within the buffer.
  void write(const void* data, std::size_t bytes, std::size_t offset);
  void read(void* data, std::size_t bytes, std::size_t offset) const;
  /// Copies that do not block. The data have to stay until the command that is returned is done:
  /// they are given to Context::hold() with it.
  cl::Event write_later(const void* data, std::size_t bytes, std::size_t offset);
  cl::Event read_later(void* data, std::size_t bytes, std::size_t offset) const;
  /// Sets all of it to a pattern of 1, 2, 4 or 8 bytes. Enqueues.
  void fill(const void* pattern, std::size_t pattern_bytes);

 private:
  void release() noexcept;
  void fill_bytes(const void* pattern, std::size_t pattern_bytes, std::size_t bytes);

  struct Part;
  /// Copies by way of the context's memory for that: begin(part) enqueues a part's command and
  /// returns it, and end(part) follows when that is done. The next part begins before, so that the
  /// device copies one while the host is busy with another.
  template <class Begin, class End>
  void each_part(std::size_t bytes, const Begin& begin, const End& end) const;

  Context* context_ = nullptr;
  MemoryPool::Memory memory_;  ///< Of the context's pool, if it has one.
  cl::Buffer buffer_;
  std::size_t bytes_ = 0;
  bool guarded_ = false;  ///< See Context::guard_allocations().
  bool borrowed_ = false;
};

/// Elements that a command in the queue brings from the device.
template <class T>
class Arriving {
 public:
  /// `data`: memory for `count` elements, which the command `read` fills.
  Arriving(Context& context, std::shared_ptr<std::byte> data, std::size_t count, cl::Event read)
      : context_(&context), data_(std::move(data)), count_(count), read_(std::move(read)) {}
  /// Waits for the elements, which stay here.
  const T* wait() {
    wait_for(*context_, read_);
    return reinterpret_cast<const T*>(data_.get());
  }
  /// Waits for the elements, and hands them over: to be called once.
  std::vector<T> take() {
    wait_for(*context_, read_);
    std::vector<T> result(count_);
    std::memcpy(result.data(), data_.get(), count_ * sizeof(T));
    data_.reset();
    return result;
  }

 private:
  Context* context_;
  std::shared_ptr<std::byte> data_;
  std::size_t count_;
  cl::Event read_;
};

/// Owned device memory of size() elements of T. Made by Context::allocate(); must not outlive its
/// context. Contents are undefined until written; size 0 is allowed.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Context& context, std::size_t count, const std::string& what)
      : raw_(context, count * sizeof(T), what), count_(count) {}
  Buffer(Context& context, cl::Buffer borrowed, std::size_t count)
      : raw_(context, std::move(borrowed), count * sizeof(T)), count_(count) {}
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::size_t size() const { return count_; }
  std::size_t bytes() const { return raw_.bytes(); }
  const cl::Buffer& cl() const { return raw_.cl(); }
  Context& context() const { return raw_.context(); }
  explicit operator bool() const { return static_cast<bool>(raw_); }

  void upload(std::span<const T> data, std::size_t offset = 0) {
    raw_.write(data.data(), data.size_bytes(), offset * sizeof(T));
  }
  /// Does not wait for the device.
  void upload_later(const std::vector<T>& data) {
    if (data.empty()) return;
    const std::size_t bytes = data.size() * sizeof(T);
    const auto kept = transfer_memory(context(), bytes);
    std::memcpy(kept.get(), data.data(), bytes);
    hold(context(), raw_.write_later(kept.get(), bytes, 0), kept);
  }
  void download(std::span<T> data, std::size_t offset = 0) const {
    raw_.read(data.data(), data.size_bytes(), offset * sizeof(T));
  }
  /// Does not wait for the device. Precondition: size() is not 0.
  Arriving<T> download_later() const {
    auto data = transfer_memory(context(), bytes());
    const cl::Event read = raw_.read_later(data.get(), bytes(), 0);
    hold(context(), read, data);
    return {context(), std::move(data), count_, read};
  }
  std::vector<T> download() const {
    std::vector<T> data(count_);
    download(std::span<T>(data));
    return data;
  }
  void fill(T value) { raw_.fill(&value, sizeof(T)); }

 private:
  RawBuffer raw_;
  std::size_t count_ = 0;
};

}  // namespace diacut
