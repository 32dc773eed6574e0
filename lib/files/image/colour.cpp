#include "image/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/parallel.hpp"

namespace diacut {
namespace {

/// Rows together have this many pixels before they are worth another thread.
constexpr std::size_t kLeastPixels = 32'768;

/// A function on [0, 1], interpolated linearly between equidistant values.
template <int kSteps>
class Table {
 public:
  template <class Function>
  explicit Table(const Function& function) {
    for (int i = 0; i <= kSteps; ++i) {
      values_[static_cast<std::size_t>(i)] =
          static_cast<float>(function(static_cast<double>(i) / kSteps));
    }
    values_.back() = values_[kSteps];
  }

  float operator()(float x) const {
    const float at = std::clamp(x, 0.0f, 1.0f) * kSteps;
    const auto i = static_cast<std::size_t>(at);
    return values_[i] + (at - static_cast<float>(i)) * (values_[i + 1] - values_[i]);
  }

 private:
  std::array<float, kSteps + 2> values_;  // One more, which is read at 1.
};

/// Undoes the sRGB encoding (IEC 61966-2-1).
double linear_light(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

/// CIE 15, equation 8.4: the cube root, and near 0 a line.
double lightness_function(double share) {
  constexpr double kEnd = 216.0 / 24389;
  return share > kEnd ? std::cbrt(share) : share * (841.0 / 108) + 4.0 / 29;
}

struct Lab {
  float l = 0;
  float a = 0;
  float b = 0;
};

/// Brings sRGB to CIE Lab. OpenCV's conversion first fills tables for 0.15 seconds. The tables here
/// are exact to 0.001 in all three values.
class LabConversion {
 public:
  Lab operator()(float red, float green, float blue) const {
    const float r = light_(red);
    const float g = light_(green);
    const float b = light_(blue);
    // The matrix of ITU-R BT.709's primaries, its rows divided by the white point D65.
    const float x = share_(0.433953f * r + 0.376219f * g + 0.189828f * b);
    const float y = share_(0.212671f * r + 0.715160f * g + 0.072169f * b);
    const float z = share_(0.017758f * r + 0.109477f * g + 0.872765f * b);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
  }

  /// Of a grey value L alone.
  float lightness(float grey) const { return 116 * share_(light_(grey)) - 16; }

 private:
  Table<4096> light_{linear_light};
  Table<16384> share_{lightness_function};
};

const LabConversion& lab_conversion() {
  static const LabConversion conversion;
  return conversion;
}

/// Calls visit(i) for each pixel, on all cores.
template <class Visit>
void each_pixel(std::size_t count, const Visit& visit) {
  parallel_ranges(count, kLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visit(i);
  });
}

/// Rounded; written so that a compiler makes vector instructions of it.
std::uint8_t byte_of(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
}

/// The nearest value of 8 bits, of 255.
float of_bytes(float value) { return static_cast<float>(byte_of(255 * value)) / 255; }

}  // namespace

std::vector<float> lab_planes(const Image& image) {
  const LabConversion& lab_of = lab_conversion();
  const std::size_t count = image.pixel_count();
  const float* values = image.pixels.data();
  std::vector<float> planes(count * static_cast<std::size_t>(image.channels));
  each_pixel(count, [&](std::size_t i) {
    if (!image.has_data(i)) return;
    if (image.channels == 1) {
      planes[i] = lab_of.lightness(values[i]);
      return;
    }
    const Lab lab = lab_of(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
    planes[i] = lab.l;
    planes[count + i] = lab.a;
    planes[2 * count + i] = lab.b;
  });
  return planes;
}

std::vector<std::uint8_t> lab_bytes(const Image& image) {
  const LabConversion& lab_of = lab_conversion();
  constexpr float kLightness = 255.0f / 100;
  const float* values = image.pixels.data();
  std::vector<std::uint8_t> result(image.pixels.size());
  each_pixel(image.pixel_count(), [&](std::size_t i) {
    if (image.channels == 1) {
      result[i] = byte_of(kLightness * lab_of.lightness(of_bytes(values[i])));
      return;
    }
    const float* pixel = values + 3 * i;
    const Lab lab = lab_of(of_bytes(pixel[0]), of_bytes(pixel[1]), of_bytes(pixel[2]));
    result[3 * i] = byte_of(kLightness * lab.l);
    result[3 * i + 1] = byte_of(lab.a + 128);
    result[3 * i + 2] = byte_of(lab.b + 128);
  });
  return result;
}

}  // namespace diacut
