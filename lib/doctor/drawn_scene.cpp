#include "doctor/drawn_scene.hpp"

#include <random>

namespace diacut {

Image drawn_scene(int width, int height) {
  constexpr int kPatches = 16;
  constexpr int kChannels = 3;
  Image image{width, height, kChannels, {}, {}, {}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  std::vector<float> patches(kPatches * kChannels);
  for (float& patch : patches) patch = uniform(random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int patch = (x / 9 + 5 * ((y + x / 3) / 11)) % kPatches;
      for (int c = 0; c < kChannels; ++c) {
        image.pixels.push_back(0.8F * patches[static_cast<std::size_t>(patch * kChannels + c)] +
                               0.2F * uniform(random));
      }
    }
  }
  return image;
}

}  // namespace diacut
