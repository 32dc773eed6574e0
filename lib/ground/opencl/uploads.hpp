#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// A small buffer of elements. Does not wait for the device: the context keeps a copy of them until
/// it has read them.
template <class T>
Buffer<T> device_table(Context& context, const std::vector<T>& elements, const char* what) {
  auto buffer = context.allocate<T>(elements.size(), what);
  buffer.upload_later(elements);
  return buffer;
}

/// The words of floats.
inline std::vector<std::int32_t> words_of(std::span<const float> values) {
  std::vector<std::int32_t> words(values.size());
  std::transform(values.begin(), values.end(), words.begin(),
                 [](float value) { return std::bit_cast<std::int32_t>(value); });
  return words;
}

/// 32-bit words, integers or floats, on the device. Copies share them.
class Uploaded {
 public:
  Uploaded(Context& context, const std::vector<std::int32_t>& words)
      : words_(std::make_shared<Buffer<std::int32_t>>(
            device_table(context, words, "uploaded words"))) {}
  Uploaded(Context& context, std::span<const float> values) : Uploaded(context, words_of(values)) {}

  const Buffer<std::int32_t>& words() const { return *words_; }

 private:
  std::shared_ptr<Buffer<std::int32_t>> words_;
};

}  // namespace diacut
