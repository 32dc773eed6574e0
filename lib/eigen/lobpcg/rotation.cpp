#include "eigen/lobpcg/rotation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace diacut {

namespace {
/// Parts of an upload begin at multiples of so many words.
constexpr std::size_t kAligned = 16;
}  // namespace

RitzValues upload_ritz_values(Workspace& workspace, std::span<const float> values) {
  return {workspace.uploads().put(words_of(values))};
}

Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const std::int32_t> places, std::span<const float> q) {
  const std::size_t places_at = round_up(ritz_values.size(), kAligned);
  const std::size_t rotation_at = round_up(places_at + places.size(), kAligned);
  std::vector<std::int32_t> words = words_of(ritz_values);
  words.resize(rotation_at);
  std::copy(places.begin(), places.end(), words.data() + places_at);
  const std::vector<std::int32_t> rotation = words_of(q);
  words.insert(words.end(), rotation.begin(), rotation.end());
  return {workspace.uploads().put(std::move(words)), places_at, rotation_at};
}

Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const ImageRotation> images, int blocks, int width) {
  const auto columns = static_cast<std::size_t>(workspace.columns());
  std::vector<float> q;
  std::vector<std::int32_t> places(images.size() * (columns + 1), -1);
  for (std::size_t k = 0; k < images.size(); ++k) {
    const ImageRotation& image = images[k];
    const std::size_t narrow = image.selected.size() * columns;
    auto from = image.q.begin();
    const auto add_block = [&](std::size_t values, std::size_t padded) {
      q.insert(q.end(), from, from + static_cast<std::ptrdiff_t>(values));
      q.resize(q.size() + padded - values, 0.0F);
      from += static_cast<std::ptrdiff_t>(values);
    };
    add_block(columns * columns, columns * columns);
    for (int block = 1; block < blocks; ++block) {
      add_block(narrow, static_cast<std::size_t>(width) * columns);
    }
    const auto own = std::span(places).subspan(k * (columns + 1), columns + 1);
    for (std::size_t i = 0; i < image.selected.size(); ++i) {
      own[static_cast<std::size_t>(image.selected[i])] = static_cast<std::int32_t>(i);
    }
    own[columns] = static_cast<std::int32_t>(image.selected.size());
  }
  return upload_rotation(workspace, ritz_values, places, q);
}

}  // namespace diacut
