#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// 32-bit words on the device. Copies share them.
class Uploaded {
 public:
  /// Does not wait for the device: the context keeps a copy of the words until it has read them.
  Uploaded(Context& context, const std::vector<std::int32_t>& words)
      : words_(std::make_shared<Buffer<std::int32_t>>(
            context.allocate<std::int32_t>(words.size(), "uploaded words"))) {
    words_->upload_later(words);
  }

  const Buffer<std::int32_t>& words() const { return *words_; }

 private:
  std::shared_ptr<Buffer<std::int32_t>> words_;
};

/// The words of floats.
inline std::vector<std::int32_t> words_of(std::span<const float> values) {
  std::vector<std::int32_t> words(values.size());
  std::transform(values.begin(), values.end(), words.begin(),
                 [](float value) { return std::bit_cast<std::int32_t>(value); });
  return words;
}

}  // namespace diacut
