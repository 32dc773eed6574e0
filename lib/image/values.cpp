#include "image/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

/// Every how many-th value is sampled: so many values are enough for a thousandth at either end.
std::uint64_t sampling_step(std::uint64_t values) { return values / (std::uint64_t{1} << 20) + 1; }

/// The values that become 0 and 1.
struct ValueLimits {
  double low = 0;
  double high = 1;
};

/// The share of the values that robust_range() leaves out at either end.
constexpr double kBeyond = 0.001;

/// The range that all but about a thousandth of the values lie in, at either end; the range of all
/// values where that is a single number.
ValueLimits robust_range(StoredValues& values) {
  std::vector<double>& sample = values.sample;
  const auto last = static_cast<double>(sample.size() - 1);
  const auto value_at = [&](double index) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(sample.begin(), at, sample.end());
    return *at;
  };
  // In a picture of less than a thousand values these are the least and the greatest.
  const ValueLimits range{value_at(std::floor(kBeyond * last)),
                          value_at(std::ceil((1 - kBeyond) * last))};
  if (range.high > range.low) return range;
  return {values.low, values.high};
}

/// Whether robust_range() surely takes up half of the range of a type. Counting the values beyond
/// two limits that lie so far apart is much faster than finding the quantiles.
bool surely_fills_half(const ValueLimits& of_type, const StoredValues& values) {
  // More than half, so that rounding cannot change what the quantiles would say.
  constexpr double kHalf = 0.5 + 1e-9;
  const double extent = of_type.high - of_type.low;
  const auto last = static_cast<double>(values.sample.size() - 1);
  const auto least = static_cast<std::size_t>(std::floor(kBeyond * last));
  const auto most = static_cast<std::size_t>(std::ceil((1 - kBeyond) * last));
  for (const double begin : {0.25, 0.0, 0.5 - 1e-9}) {
    const double low = of_type.low + begin * extent;
    const double high = low + kHalf * extent;
    std::size_t at_low = 0;
    std::size_t below_high = 0;
    for (const double value : values.sample) {
      at_low += std::size_t{value <= low};
      below_high += std::size_t{value < high};
    }
    if (at_low > least && below_high <= most) return true;
  }
  return false;
}

/// A range within `of` of at least `least`, about the middle of `range`.
ValueLimits widened(const ValueLimits& range, double least, const ValueLimits& of) {
  if (range.high - range.low >= least) return range;
  const double middle =
      std::clamp((range.low + range.high) / 2, of.low + least / 2, of.high - least / 2);
  return {middle - least / 2, middle + least / 2};
}

/// The range of ValueRange::kAuto. Values of 8 bits are stretched 20 times at most: rounding is all
/// that a picture of fewer steps shows.
ValueLimits automatic_range(std::optional<ValueLimits> of_type, bool eight_bits,
                            StoredValues& values, std::vector<std::string>& notes) {
  if (of_type && surely_fills_half(*of_type, values)) return *of_type;
  ValueLimits robust = robust_range(values);
  if (eight_bits && robust.high > robust.low) {
    robust = widened(robust, (of_type->high - of_type->low) / 20, *of_type);
  }
  // Twelve bits of a camera stored in sixteen, say. A photograph that was exposed for its type
  // fills more than half of the range, and stays as it is.
  constexpr double kMostlyEmpty = 0.5;
  if (!(robust.high > robust.low)) return of_type.value_or(robust);
  if (of_type &&
      robust.high / 2 - robust.low / 2 >= kMostlyEmpty * (of_type->high / 2 - of_type->low / 2)) {
    return *of_type;
  }
  const std::string of =
      of_type ? fmt::format(", take up less than half of {:.6g} to {:.6g}:", of_type->low,
                            of_type->high)
              : "";
  notes.push_back(fmt::format(
      "Its values, {:.6g} to {:.6g}{} {:.6g} to {:.6g} became 0 to 1 (image.range).", values.low,
      values.high, of.empty() ? ", lie beyond 0 to 1:" : of, robust.low, robust.high));
  return robust;
}

/// The values of a picture that become 0 and 1 by `rule`. `notes` get one where they are neither
/// the type's nor those of a rule that was asked for. Throws InputError where the rule does not
/// hold.
ValueLimits choose_range(int depth, const TypeRange& type_range, StoredValues& values,
                         ValueRange rule, std::vector<std::string>& notes) {
  const bool unit = values.low >= 0 && values.high <= 1;
  std::optional<ValueLimits> of_type;
  if (type_range) {
    of_type = ValueLimits{type_range->first, type_range->second};
  } else if (unit) {
    of_type = ValueLimits{0, 1};
  }
  switch (rule) {
    case ValueRange::kData:
      return {values.low, values.high};
    case ValueRange::kRobust:
      return robust_range(values);
    case ValueRange::kType:
      if (of_type) return *of_type;
      throw InputError(fmt::format(
          "its values run from {:.6g} to {:.6g}, where image.range \"type\" expects floats within "
          "[0, 1]: set image.range to \"data\" or \"auto\"",
          values.low, values.high));
    case ValueRange::kAuto:
      break;
  }
  return automatic_range(of_type, depth == CV_8U, values, notes);
}

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
  cv::Mat row(int y) const { return decoded_.samples.row(y); }
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

/// The range of the values of a row of pixels, and how many pixels have no data, and why.
struct RowValues {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::size_t hidden = 0;
  std::size_t not_finite = 0;
};

/// The range of a row of plain samples; nothing if one of them is not finite.
std::optional<RowValues> plain_row(const cv::Mat& row) {
  RowValues values;
  if (row.depth() >= CV_32F && !cv::checkRange(row)) return std::nullopt;
  cv::minMaxIdx(row.reshape(1), &values.low, &values.high);
  return values;
}

/// Marks which pixels of a row have data.
template <typename T>
RowValues find_valid_in_row(const Samples<T>& samples, int y, int width, std::uint8_t* valid) {
  if (samples.is_plain()) {
    if (const auto plain = plain_row(samples.row(y))) {
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
std::vector<double> sample_of(const Samples<T>& samples, const Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t step = sampling_step(image.pixel_count() * channels);
  std::vector<double> sample;
  sample.reserve(image.pixel_count() * channels / step + 1);
  std::size_t next = 0;  // Of the values from this pixel on.
  std::size_t index = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x, ++index) {
      if (!image.valid.empty() && image.valid[index] == 0) continue;
      for (; next < channels; next += step) {
        sample.push_back(samples.colour(samples.pixel(y, x), static_cast<int>(next)));
      }
      next -= channels;
    }
  }
  return sample;
}

/// Marks the pixels that have no data in image.valid, and tells of them in image.notes. Returns the
/// values of the pixels that have data.
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
  values.sample = sample_of(samples, image);
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
  StoredValues values = find_valid(samples, image);
  const ValueLimits range =
      choose_range(decoded.samples.depth(), decoded.type_range, values, rule, image.notes);
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
  using Convert = void (*)(const Decoded&, ValueRange, Image&);
  constexpr std::array<Convert, 7> kOfDepth = {
      convert<std::uint8_t>, convert<std::int8_t>, convert<std::uint16_t>, convert<std::int16_t>,
      convert<std::int32_t>, convert<float>,       convert<double>};
  static_assert(CV_8S == 1 && CV_16U == 2 && CV_16S == 3 && CV_32S == 4 && CV_64F == 6);
  kOfDepth.at(static_cast<std::size_t>(decoded.samples.depth()))(decoded, rule, image);
  note_flat(image);
  return image;
}

PictureValues::PictureValues(std::uint64_t values) : step_(sampling_step(values)) {}

std::pair<double, double> PictureValues::range(int depth, const TypeRange& type_range,
                                               ValueRange rule,
                                               std::vector<std::string>& notes) && {
  if (values_.sample.empty()) throw InputError("nothing to segment: no pixel has data");
  const ValueLimits range = choose_range(depth, type_range, values_, rule, notes);
  return {range.low, range.high};
}

}  // namespace diacut
