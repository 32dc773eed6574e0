#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut {

/// Arrays one after another, each behind its length, as this machine lays them out in memory.
class ByteWriter {
 public:
  template <class Value>
  void put(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::uint64_t count = values.size();
    append(&count, sizeof(count));
    append(values.data(), values.size() * sizeof(Value));
  }
  const std::vector<std::uint8_t>& bytes() const& { return bytes_; }
  std::vector<std::uint8_t> bytes() && { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t size) {
    if (size == 0) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + size);
    std::memcpy(bytes_.data() + at, from, size);
  }

  std::vector<std::uint8_t> bytes_;
};

/// Reads what ByteWriter wrote. Throws InputError where there is less than an array's length says.
class ByteReader {
 public:
  explicit ByteReader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  template <class Value>
  std::vector<Value> take() {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::uint64_t count = 0;
    copy(&count, sizeof(count));
    if (count > (bytes_.size() - at_) / sizeof(Value)) throw InputError("it is cut off");
    std::vector<Value> values(static_cast<std::size_t>(count));
    copy(values.data(), values.size() * sizeof(Value));
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  void copy(void* to, std::size_t size) {
    if (size > bytes_.size() - at_) throw InputError("it is cut off");
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

}  // namespace diacut
