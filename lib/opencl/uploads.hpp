#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// 32-bit words on the device. Copies share them; the memory serves further uploads when the last
/// copy is gone.
class Uploaded {
 public:
  const Buffer<std::int32_t>& words() const;

 private:
  friend class Uploads;
  struct Item;
  explicit Uploaded(std::shared_ptr<Item> item) : item_(std::move(item)) {}
  std::shared_ptr<Item> item_;
};

/// Uploads without waiting for the device: the context keeps the host's copy of the words until the
/// device has read it.
class Uploads {
 public:
  explicit Uploads(Context& context) : context_(&context) {}
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  Uploaded put(std::vector<std::int32_t> words);

 private:
  std::shared_ptr<Uploaded::Item> memory_for(std::size_t size);

  Context* context_;
  std::vector<std::shared_ptr<Uploaded::Item>> items_;
};

/// The words of floats.
std::vector<std::int32_t> words_of(std::span<const float> values);

}  // namespace diacut
