#include "drawn_image.hpp"

#include <random>
#include <vector>

namespace diacut::testing {

Image grey_image(int width, int height, float value) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = 1;
  image.pixels.assign(image.pixel_count(), value);
  return image;
}

Image patches_image(int width, int height, int channels, unsigned seed) {
  Image image = grey_image(width, height);
  image.channels = channels;
  image.pixels.resize(image.pixel_count() * channels);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> patches(64 * channels);
  for (float& patch : patches) patch = uniform(random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int patch = (x / 9 + 5 * ((y + x / 3) / 11)) % 64;
      for (int c = 0; c < channels; ++c) {
        image.pixels[(static_cast<std::size_t>(y) * width + x) * channels + c] =
            0.8f * patches[patch * channels + c] + 0.2f * uniform(random);
      }
    }
  }
  return image;
}

Image noise_image(int width, int height, int channels, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  Image image;
  image.width = width;
  image.height = height;
  image.channels = channels;
  image.pixels.resize(image.pixel_count() * static_cast<std::size_t>(channels));
  for (float& value : image.pixels) value = uniform(random);
  return image;
}

void mask_out(Image& image, std::size_t pixel) {
  if (image.valid.empty()) image.valid.assign(image.pixel_count(), 1);
  image.valid[pixel] = 0;
  for (int c = 0; c < image.channels; ++c) image.pixels[pixel * image.channels + c] = 0.0f;
}

}  // namespace diacut::testing
