#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "opencl/cl.hpp"

namespace diacut {

class Context;

/// Owned device memory, untyped: what Buffer<T> is made of.
class RawBuffer {
 public:
  RawBuffer() = default;
  RawBuffer(Context& context, std::size_t bytes, const std::string& what);
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
  /// A copy that does not block: `data` has to stay until the context is waited for.
  void write_later(const void* data, std::size_t bytes, std::size_t offset);
  void read(void* data, std::size_t bytes, std::size_t offset) const;
  /// A copy that does not block: `data` is there, and has to stay, until the context is waited for.
  void read_later(void* data, std::size_t bytes, std::size_t offset) const;
  void fill(const void* pattern, std::size_t pattern_bytes, std::size_t bytes, std::size_t offset);

 private:
  void release() noexcept;

  Context* context_ = nullptr;
  cl::Buffer buffer_;
  std::size_t bytes_ = 0;
};

/// Owned device memory of size() elements of T. Made by Context::allocate(); must not outlive its
/// context. Contents are undefined until written; size 0 is allowed.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Context& context, std::size_t count, const std::string& what)
      : raw_(context, count * sizeof(T), what), count_(count) {}
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
  /// Does not wait: `data` has to stay until the context is waited for.
  void upload_later(std::span<const T> data, std::size_t offset = 0) {
    raw_.write_later(data.data(), data.size_bytes(), offset * sizeof(T));
  }
  void download(std::span<T> data, std::size_t offset = 0) const {
    raw_.read(data.data(), data.size_bytes(), offset * sizeof(T));
  }
  /// Does not wait: `data` is there as soon as the context, or a later download, was waited for,
  /// and has to stay until then.
  void download_later(std::span<T> data, std::size_t offset = 0) const {
    raw_.read_later(data.data(), data.size_bytes(), offset * sizeof(T));
  }
  std::vector<T> download() const {
    std::vector<T> data(count_);
    download(std::span<T>(data));
    return data;
  }
  void fill(T value) { raw_.fill(&value, sizeof(T), count_ * sizeof(T), 0); }

 private:
  RawBuffer raw_;
  std::size_t count_ = 0;
};

}  // namespace diacut
