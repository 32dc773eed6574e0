#include "diacut/features.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/npy.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/input_checks.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

/// Squares of greater numbers, summed over channels, do not fit a float.
constexpr float kLargest = 1e15F;

float value_of(float value) { return value; }
float value_of(std::uint16_t half) {
  return static_cast<float>(std::bit_cast<cv::float16_t>(half));
}

/// Copies one channel of elements to a plane.
void copy_channel(const FeatureMap& features, std::size_t channel, float* plane) {
  const std::size_t pixels = PictureSize{features.width, features.height}.pixels();
  const auto channels = static_cast<std::size_t>(features.channels);
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < pixels; ++i) {
          plane[i] = value_of(values[i * channels + channel]);
        }
      },
      features.values);
}

/// Throws where a value is not finite or too large, or each channel has one value.
template <class T>
void check_values(const std::vector<T>& values, const FeatureMap& features) {
  const auto channels = static_cast<std::size_t>(features.channels);
  const auto width = static_cast<std::size_t>(features.width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = value_of(values[i]);
    if (std::abs(value) <= kLargest) continue;  // False for NaN.
    const std::size_t pixel = i / channels;
    throw InputError(fmt::format(
        "the features hold the value {} at column {}, row {}, channel {}: expected finite numbers "
        "of magnitude at most 1e15",
        value, pixel % width, pixel / width, i % channels));
  }
  const auto differs = [&](std::size_t i) {
    return value_of(values[i]) != value_of(values[i % channels]);
  };
  for (std::size_t i = channels; i < values.size(); ++i) {
    if (differs(i)) return;
  }
  throw InputError(
      "the features are the same at every pixel: they do not show what belongs together; check "
      "how they were made");
}

/// What the header says. Throws InputError, whose message does not name the file.
FeatureSize size_of(const NpyFile& file) {
  const NpyHeader& header = file.header;
  const bool halves = header.kind() == "f2";
  if ((!halves && header.kind() != "f4") || header.byte_order() == '>') {
    throw InputError(fmt::format(
        "it holds elements of type '{}'; expected float32 ('<f4') or float16 ('<f2'): save "
        "features.astype('<f4')",
        header.type));
  }
  const std::vector<std::uint64_t>& shape = header.shape;
  if (shape.size() != 2 && shape.size() != 3) {
    throw InputError(
        fmt::format("its array has the shape {}: expected (height, width, channels), or (height, "
                    "width) for one channel",
                    npy_shape_text(shape)));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  for (const std::uint64_t size : shape) {
    if (size > 0 && size <= kMost) continue;
    throw InputError(
        fmt::format("its array has the shape {}: expected 1 to {} rows, columns and channels",
                    npy_shape_text(shape), kMost));
  }
  const int bytes = halves ? 2 : 4;
  npy_elements(header, static_cast<std::size_t>(bytes), file.available);
  return {static_cast<int>(shape[1]), static_cast<int>(shape[0]),
          shape.size() == 3 ? static_cast<int>(shape[2]) : 1, bytes};
}

template <class T>
std::vector<T> read_elements(NpyFile& file, const FeatureSize& size) {
  const std::size_t count = npy_elements(file.header, sizeof(T), file.available);
  std::vector<T> elements = read_npy_elements<T>(file.stream, count);
  if (!file.header.fortran_order) return elements;
  return in_c_order(elements, size.height, size.width, size.channels);
}

}  // namespace

void check_features(const FeatureMap& features) {
  if (features.width < 1 || features.height < 1 || features.channels < 1) {
    throw InputError(
        fmt::format("the features have {}x{} pixels of {} channels, expected at least one of each",
                    features.width, features.height, features.channels));
  }
  const FeatureSize size = features.size();
  const std::uint64_t expected = size.bytes() / static_cast<std::uint64_t>(size.bytes_per_value);
  std::visit(
      [&](const auto& values) {
        if (values.size() == expected) return check_values(values, features);
        throw InputError(
            fmt::format("the features hold {} values, expected {}: {}x{} of {} channels",
                        values.size(), expected, size.width, size.height, size.channels));
      },
      features.values);
}

std::vector<float> feature_planes(const FeatureMap& features, int first, int count,
                                  const PictureSize& size) {
  const PictureSize own{features.width, features.height};
  const std::size_t pixels = size.pixels();
  std::vector<float> planes(pixels * static_cast<std::size_t>(count));
  parallel_for(count, [&](int k) {
    float* plane = planes.data() + static_cast<std::size_t>(k) * pixels;
    const auto channel = static_cast<std::size_t>(first + k);
    if (own == size) return copy_channel(features, channel, plane);
    std::vector<float> unscaled(own.pixels());
    copy_channel(features, channel, unscaled.data());
    const cv::Mat from(own.height, own.width, CV_32F, unscaled.data());
    cv::Mat to(size.height, size.width, CV_32F, plane);
    const bool smaller = size.width < own.width || size.height < own.height;
    cv::resize(from, to, to.size(), 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
  });
  return planes;
}

bool features_fit(const FeatureSize& features, int width, int height) {
  if (features.width > width || features.height > height) return false;
  // The factors f with |width / f - features.width| < 1 are between these two.
  struct Factors {
    double least;
    double most;
  };
  const auto factors = [](int full, int reduced) {
    return Factors{full / (reduced + 1.0),
                   reduced > 1 ? full / (reduced - 1.0) : std::numeric_limits<double>::infinity()};
  };
  const Factors across = factors(width, features.width);
  const Factors down = factors(height, features.height);
  return across.least < down.most && down.least < across.most;
}

FeatureSize read_feature_size(const std::string& path) {
  return naming(fmt::format("the features '{}'", path),
                [&] { return size_of(open_npy_of(path, "features")); });
}

FeatureMap read_features(const std::string& path) {
  return naming(fmt::format("the features '{}'", path), [&] {
    NpyFile file = open_npy_of(path, "features");
    const FeatureSize size = size_of(file);
    FeatureMap features{size.width, size.height, size.channels, {}};
    if (size.bytes_per_value == 2) {
      features.values = read_elements<std::uint16_t>(file, size);
    } else {
      features.values = read_elements<float>(file, size);
    }
    check_features(features);
    return features;
  });
}

}  // namespace diacut
