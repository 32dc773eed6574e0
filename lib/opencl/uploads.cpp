#include "opencl/uploads.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut {

struct Uploaded::Item {
  Buffer<std::int32_t> device;
};

const Buffer<std::int32_t>& Uploaded::words() const { return item_->device; }

/// The smallest memory that no upload holds and that is large enough, or else the largest, grown;
/// which one does not depend on how far the device is.
std::shared_ptr<Uploaded::Item> Uploads::memory_for(std::size_t size) {
  std::shared_ptr<Uploaded::Item> best;
  const auto fits = [size](const Uploaded::Item& each) { return each.device.size() >= size; };
  for (const std::shared_ptr<Uploaded::Item>& each : items_) {
    if (each.use_count() > 1) continue;
    const bool better =
        best == nullptr || (fits(*each) && !fits(*best)) ||
        (fits(*each) == fits(*best) && (each->device.size() < best->device.size()) == fits(*best));
    if (better) best = each;
  }
  if (best == nullptr) best = items_.emplace_back(std::make_shared<Uploaded::Item>());
  if (!fits(*best)) {
    best->device = {};
    best->device = context_->allocate<std::int32_t>(size, "uploaded words");
  }
  return best;
}

Uploaded Uploads::put(std::vector<std::int32_t> words) {
  std::shared_ptr<Uploaded::Item> item = memory_for(words.size());
  item->device.upload_later(std::move(words));
  return Uploaded(std::move(item));
}

std::vector<std::int32_t> words_of(std::span<const float> values) {
  std::vector<std::int32_t> words(values.size());
  std::transform(values.begin(), values.end(), words.begin(),
                 [](float value) { return std::bit_cast<std::int32_t>(value); });
  return words;
}

}  // namespace diacut
