#include "image/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/value_range.hpp"

namespace diacut {
namespace {

/// Samples of type T as numbers: straight colours, and what has no data.
template <typename T>
class Samples {
 public:
  explicit Samples(const Decoded& decoded)
      : decoded_(decoded),
        with_data_(pixels_with_data(decoded)),
        colours_(decoded.colours()),
        full_alpha_(decoded.premultiplied ? full_alpha(decoded) : 1) {}

  int colours() const { return colours_; }
  /// Whether each sample of a row is a colour as it is stored.
  bool is_plain() const { return !decoded_.has_alpha && with_data_.empty(); }
  const T* pixel(int y, int x) const { return decoded_.samples.ptr<T>(y, x); }

  const std::string& why_hidden() const { return decoded_.hidden; }
  bool is_hidden(int y, int x) const { return !with_data_.empty() && with_data_(y, x) == 0; }
  bool is_finite(const T* pixel) const {
    return std::all_of(pixel, pixel + colours_,
                       [](T sample) { return std::isfinite(static_cast<double>(sample)); });
  }
  /// Precondition: is_finite(pixel), which is not hidden.
  double colour(const T* pixel, int channel) const {
    const auto stored = static_cast<double>(pixel[channel]);
    if (!decoded_.premultiplied) return stored;
    const double straight = stored / (static_cast<double>(pixel[colours_]) / full_alpha_);
    return decoded_.type_range ? std::min(straight, decoded_.type_range->second) : straight;
  }

 private:
  const Decoded& decoded_;
  cv::Mat1b with_data_;
  int colours_;
  double full_alpha_;
};

void note_pixels_without_data(const std::string& why, std::size_t hidden, std::size_t not_finite,
                              Image& image) {
  const std::size_t count = image.pixel_count();
  if (hidden + not_finite == count) {
    throw InputError(fmt::format("nothing to segment: of {} pixels {} are {} and {} are not finite",
                                 count, hidden, why, not_finite));
  }
  if (hidden > 0) {
    image.notes.push_back(
        fmt::format("{} of {} pixels are {}: they have no data.", hidden, count, why));
  }
  if (not_finite > 0) {
    image.notes.push_back(fmt::format(
        "{} of {} pixels are not finite (NaN or infinite): they have no data.", not_finite, count));
  }
}

/// The range of the values of a row of pixels, and how many pixels have data or why they have none.
struct RowValues {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::size_t with_data = 0;
  std::size_t hidden = 0;
  std::size_t not_finite = 0;
};

/// The range of a row of plain samples; nothing if one of them is not finite.
template <typename T>
std::optional<RowValues> plain_row(const T* samples, int width, int channels) {
  // Several ranges side by side, so that the loop takes vector instructions.
  constexpr int kLanes = 16;
  std::array<T, kLanes> low;
  std::array<T, kLanes> high;
  low.fill(std::numeric_limits<T>::max());
  high.fill(std::numeric_limits<T>::lowest());
  std::array<int, kLanes> odd{};
  const auto add = [&](T value, int lane) {
    if constexpr (std::is_floating_point_v<T>) {
      odd[lane] |= int{!(std::abs(value) <= std::numeric_limits<T>::max())};
    }
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
  };
  const int count = width * channels;
  int at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) add(samples[at + lane], lane);
  }
  for (; at < count; ++at) add(samples[at], 0);
  if (std::any_of(odd.begin(), odd.end(), [](int each) { return each != 0; })) return std::nullopt;
  return RowValues{static_cast<double>(*std::min_element(low.begin(), low.end())),
                   static_cast<double>(*std::max_element(high.begin(), high.end())),
                   static_cast<std::size_t>(width), 0, 0};
}

/// Marks which pixels of a row have data.
template <typename T>
RowValues find_valid_in_row(const Samples<T>& samples, int y, int width, std::uint8_t* valid) {
  if (samples.is_plain()) {
    if (const auto plain = plain_row(samples.pixel(y, 0), width, samples.colours())) {
      std::fill_n(valid, width, std::uint8_t{1});
      return *plain;
    }
  }
  RowValues row;
  for (int x = 0; x < width; ++x) {
    const T* pixel = samples.pixel(y, x);
    valid[x] = 0;
    if (samples.is_hidden(y, x)) {
      ++row.hidden;
    } else if (!samples.is_finite(pixel)) {
      ++row.not_finite;
    } else {
      valid[x] = 1;
      ++row.with_data;
      for (int channel = 0; channel < samples.colours(); ++channel) {
        const double value = samples.colour(pixel, channel);
        row.low = std::min(row.low, value);
        row.high = std::max(row.high, value);
      }
    }
  }
  return row;
}

/// Evenly spaced values of the pixels with data, in scan order.
template <typename T>
class Sample {
 public:
  /// `rows` are those of the image, whose mask is complete or empty.
  Sample(const Samples<T>& samples, const Image& image, const std::vector<RowValues>& rows)
      : samples_(samples),
        image_(image),
        step_(image.pixel_count() * static_cast<std::size_t>(image.channels) / kSampled + 1) {
    std::size_t count = 0;
    for (const RowValues& row : rows) {
      first_.push_back(count);
      count += row.with_data * static_cast<std::size_t>(image.channels);
    }
    size_ = (count + step_ - 1) / step_;
  }

  std::size_t size() const { return size_; }

  std::vector<double> values() const {
    std::vector<double> values(size_);
    parallel_for(image_.height, [&](int y) {
      each_of_row(y, [&](std::size_t index, double value) { values[index] = value; });
    });
    return values;
  }

  CountsBeyond beyond(const ValueLimits& range) const {
    std::vector<CountsBeyond> rows(static_cast<std::size_t>(image_.height));
    parallel_for(image_.height, [&](int y) {
      CountsBeyond row;
      each_of_row(y, [&](std::size_t, double value) {
        row.low += std::size_t{value <= range.low};
        row.below += std::size_t{value < range.high};
      });
      rows[static_cast<std::size_t>(y)] = row;
    });
    CountsBeyond sum;
    for (const CountsBeyond& row : rows) {
      sum.low += row.low;
      sum.below += row.below;
    }
    return sum;
  }

 private:
  /// Calls visit(index in the sample, value) for the values in row y.
  template <class Visit>
  void each_of_row(int y, const Visit& visit) const {
    const auto row = static_cast<std::size_t>(y);
    const std::size_t begin = first_[row];
    if (step_ == 1 && samples_.is_plain() && image_.valid.empty()) {
      const T* plain = samples_.pixel(y, 0);
      const auto count =
          static_cast<std::size_t>(image_.width) * static_cast<std::size_t>(image_.channels);
      for (std::size_t i = 0; i < count; ++i) visit(begin + i, static_cast<double>(plain[i]));
      return;
    }
    std::size_t next = (begin + step_ - 1) / step_;
    std::size_t until_next = next * step_ - begin;
    for (int x = 0; x < image_.width; ++x) {
      const std::size_t pixel = row * static_cast<std::size_t>(image_.width) + x;
      if (!image_.valid.empty() && image_.valid[pixel] == 0) continue;
      for (int channel = 0; channel < image_.channels; ++channel) {
        if (until_next-- != 0) continue;
        visit(next++, samples_.colour(samples_.pixel(y, x), channel));
        until_next = step_ - 1;
      }
    }
  }

  const Samples<T>& samples_;
  const Image& image_;
  std::size_t step_;
  std::size_t size_ = 0;
  std::vector<std::size_t> first_;  ///< Of each row, among the values of all pixels with data.
};

/// Marks the pixels that have no data in image.valid, and tells of them in image.notes. Returns the
/// values of the pixels that have data, which refer to both arguments.
template <typename T>
StoredValues find_valid(const Samples<T>& samples, Image& image) {
  image.valid.resize(image.pixel_count());
  std::vector<RowValues> rows(static_cast<std::size_t>(image.height));
  parallel_for(image.height, [&](int y) {
    const auto row = static_cast<std::size_t>(y);
    rows[row] = find_valid_in_row(samples, y, image.width,
                                  image.valid.data() + row * static_cast<std::size_t>(image.width));
  });
  StoredValues values;
  std::size_t hidden = 0;
  std::size_t not_finite = 0;
  for (const RowValues& row : rows) {
    values.low = std::min(values.low, row.low);
    values.high = std::max(values.high, row.high);
    hidden += row.hidden;
    not_finite += row.not_finite;
  }
  note_pixels_without_data(samples.why_hidden(), hidden, not_finite, image);
  if (hidden + not_finite == 0) image.valid.clear();
  const auto sample = std::make_shared<Sample<T>>(samples, image, rows);
  values.sample_size = sample->size();
  values.sample = [sample] { return sample->values(); };
  values.beyond = [sample](const ValueLimits& range) { return sample->beyond(range); };
  return values;
}

/// Tells of a picture in which nothing can be told apart.
void note_flat(Image& image) {
  constexpr float kLeast = 1.0F / 512;  // Half a step of 8 bits.
  float low = 1;
  float high = 0;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (!image.valid.empty() && image.valid[i / channels] == 0) continue;
    low = std::min(low, image.pixels[i]);
    high = std::max(high, image.pixels[i]);
    if (high - low > kLeast) return;
  }
  image.notes.emplace_back(
      "The picture is flat: all its pixels have the same colour, so it shows no boundary.");
}

/// Where a value lies in a range, from 0 to 1.
float share_of(const ValueLimits& range, double value, bool zero_is_white) {
  // Halves, because the difference of two doubles may be too large for one.
  const double extent = range.high / 2 - range.low / 2;
  const double place = extent > 0 ? (value / 2 - range.low / 2) / extent : 0;
  const double share = place < 0 ? 0 : place > 1 ? 1 : place;  // Vector instructions take this.
  return static_cast<float>(zero_is_white ? 1 - share : share);
}

/// Samples of at most 16 bits that all have data: by a table of what each value becomes.
template <typename T>
void convert_by_table(const Decoded& decoded, const ValueLimits& range, Image& image) {
  constexpr int kLeast = std::numeric_limits<T>::min();
  std::vector<float> table;
  for (int value = kLeast; value <= std::numeric_limits<T>::max(); ++value) {
    table.push_back(share_of(range, value, decoded.zero_is_white));
  }
  const std::size_t row =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  parallel_for(image.height, [&](int y) {
    const T* samples = decoded.samples.ptr<T>(y);
    std::transform(samples, samples + row, image.pixels.data() + static_cast<std::size_t>(y) * row,
                   [&](T value) { return table[static_cast<std::size_t>(value - kLeast)]; });
  });
}

/// Fills in the image but for its size and the notes of the decoder.
template <typename T>
void convert(const Decoded& decoded, ValueRange rule, Image& image) {
  const Samples<T> samples(decoded);
  image.channels = samples.colours();
  image.pixels =
      large_vector<float>(image.pixel_count() * static_cast<std::size_t>(image.channels));
  constexpr bool kTable = std::is_integral_v<T> && sizeof(T) <= sizeof(std::uint16_t);
  const bool whole_range = decoded.samples.depth() == CV_8U && rule == ValueRange::kType;
  if constexpr (kTable) {
    if (samples.is_plain() && whole_range) {
      const auto [low, high] = *decoded.type_range;
      return convert_by_table<T>(decoded, {low, high}, image);
    }
  }
  const StoredValues values = find_valid(samples, image);
  const ValueLimits range = choose_range(decoded, values, rule, image);
  if constexpr (kTable) {
    if (samples.is_plain()) return convert_by_table<T>(decoded, range, image);
  }
  parallel_for(image.height, [&](int y) {
    std::size_t index = static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width);
    float* out = image.pixels.data() + index * static_cast<std::size_t>(image.channels);
    if (samples.is_plain() && image.valid.empty()) {
      const T* plain = samples.pixel(y, 0);
      for (int i = 0; i < image.width * image.channels; ++i) {
        out[i] = share_of(range, static_cast<double>(plain[i]), decoded.zero_is_white);
      }
      return;
    }
    for (int x = 0; x < image.width; ++x, ++index, out += image.channels) {
      if (!image.valid.empty() && image.valid[index] == 0) continue;
      const T* pixel = samples.pixel(y, x);
      for (int channel = 0; channel < image.channels; ++channel) {
        out[channel] = share_of(range, samples.colour(pixel, channel), decoded.zero_is_white);
      }
    }
  });
}

}  // namespace

Image to_image(const Decoded& decoded, ValueRange rule) {
  Image image;
  image.width = decoded.samples.cols;
  image.height = decoded.samples.rows;
  image.notes = decoded.notes;
  switch (decoded.samples.depth()) {
    case CV_8U:
      convert<std::uint8_t>(decoded, rule, image);
      break;
    case CV_8S:
      convert<std::int8_t>(decoded, rule, image);
      break;
    case CV_16U:
      convert<std::uint16_t>(decoded, rule, image);
      break;
    case CV_16S:
      convert<std::int16_t>(decoded, rule, image);
      break;
    case CV_32S:
      convert<std::int32_t>(decoded, rule, image);
      break;
    case CV_32F:
      convert<float>(decoded, rule, image);
      break;
    default:
      convert<double>(decoded, rule, image);
      break;
  }
  note_flat(image);
  return image;
}

PictureValues::PictureValues(std::uint64_t values) : step_(values / kSampled + 1) {}

std::pair<double, double> PictureValues::range(
    int depth, const std::optional<std::pair<double, double>>& type_range, ValueRange rule,
    std::vector<std::string>& notes) && {
  if (sampled_.empty()) throw InputError("nothing to segment: no pixel has data");
  Decoded like;
  like.samples.create(1, 1, CV_MAKETYPE(depth, 1));
  like.type_range = type_range;
  StoredValues values;
  values.low = low_;
  values.high = high_;
  values.sample_size = sampled_.size();
  values.sample = [this] { return sampled_; };
  values.beyond = [this](const ValueLimits& range) {
    CountsBeyond beyond;
    for (const double value : sampled_) {
      beyond.low += std::size_t{value <= range.low};
      beyond.below += std::size_t{value < range.high};
    }
    return beyond;
  };
  Image image;
  const ValueLimits range = choose_range(like, values, rule, image);
  notes.insert(notes.end(), image.notes.begin(), image.notes.end());
  return {range.low, range.high};
}

}  // namespace diacut
