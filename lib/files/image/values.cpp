#include "image/values.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <opencv2/core.hpp>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

/// The values that become 0 and 1.
using Limits = std::pair<double, double>;

double extent_of(const Limits& limits) { return limits.second - limits.first; }

/// The share of the values that robust_range() leaves out at either end.
constexpr double kBeyond = 0.001;

/// The range that all but about a thousandth of the values lie in, at either end; the range of all
/// values where that is a single number.
Limits robust_range(StoredValues& values) {
  std::vector<double>& sample = values.sample;
  const auto last = static_cast<double>(sample.size() - 1);
  const auto value_at = [&](double index) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(sample.begin(), at, sample.end());
    return *at;
  };
  // In a picture of less than a thousand values these are the least and the greatest.
  const Limits range{value_at(std::floor(kBeyond * last)),
                     value_at(std::ceil((1 - kBeyond) * last))};
  if (range.second > range.first) return range;
  return {values.low, values.high};
}

/// Whether robust_range() surely takes up half of the range of a type. Counting the values beyond
/// two limits that lie so far apart is much faster than finding the quantiles. each(visit) calls
/// visit(value, times) for the `count` values of the sample.
template <class Each>
bool surely_fills_half(const Limits& of_type, std::size_t count, const Each& each) {
  // More than half, so that rounding cannot change what the quantiles would say.
  constexpr double kHalf = 0.5 + 1e-9;
  const double extent = extent_of(of_type);
  const auto last = static_cast<double>(count - 1);
  const auto least = static_cast<std::size_t>(std::floor(kBeyond * last));
  const auto most = static_cast<std::size_t>(std::ceil((1 - kBeyond) * last));
  for (const double begin : {0.25, 0.0, 0.5 - 1e-9}) {
    const double low = of_type.first + begin * extent;
    const double high = low + kHalf * extent;
    std::size_t at_low = 0;
    std::size_t below_high = 0;
    each([&](double value, std::size_t times) {
      at_low += value <= low ? times : 0;
      below_high += value < high ? times : 0;
    });
    if (at_low > least && below_high <= most) return true;
  }
  return false;
}

/// As surely_fills_half() of the sample of all values, which are bytes.
bool bytes_surely_fill_half(const Limits& of_type, const cv::Mat& samples) {
  if (!samples.isContinuous()) return false;
  const std::size_t values = samples.total() * static_cast<std::size_t>(samples.channels());
  const std::size_t step = StoredValues::step_of(values);
  std::array<std::size_t, 256> times{};
  for (std::size_t i = 0; i < values; i += step) ++times[samples.data[i]];
  return surely_fills_half(of_type, (values - 1) / step + 1, [&](const auto& visit) {
    for (std::size_t value = 0; value < times.size(); ++value) {
      visit(static_cast<double>(value), times[value]);
    }
  });
}

/// A range within `of` of at least `least`, about the middle of `range`.
Limits widened(const Limits& range, double least, const Limits& of) {
  if (extent_of(range) >= least) return range;
  const double middle =
      std::clamp((range.first + range.second) / 2, of.first + least / 2, of.second - least / 2);
  return {middle - least / 2, middle + least / 2};
}

/// The range of ValueRange::kAuto. Values of 8 bits are stretched 20 times at most: rounding is all
/// that a picture of fewer steps shows.
Limits automatic_range(const TypeRange& of_type, bool eight_bits, StoredValues& values,
                       std::vector<std::string>& notes) {
  const auto each = [&](const auto& visit) {
    for (const double value : values.sample) visit(value, std::size_t{1});
  };
  if (of_type && surely_fills_half(*of_type, values.sample.size(), each)) return *of_type;
  Limits robust = robust_range(values);
  if (eight_bits && robust.second > robust.first) {
    robust = widened(robust, extent_of(*of_type) / 20, *of_type);
  }
  const auto [low, high] = robust;
  // Twelve bits of a camera stored in sixteen, say. A photograph that was exposed for its type
  // fills more than half of the range, and stays as it is.
  constexpr double kMostlyEmpty = 0.5;
  if (!(high > low)) return of_type.value_or(robust);
  if (of_type && high / 2 - low / 2 >= kMostlyEmpty * (of_type->second / 2 - of_type->first / 2)) {
    return *of_type;
  }
  const std::string of =
      of_type ? fmt::format(", take up less than half of {:.6g} to {:.6g}:", of_type->first,
                            of_type->second)
              : ", lie beyond 0 to 1:";
  notes.push_back(
      fmt::format("Its values, {:.6g} to {:.6g}{} {:.6g} to {:.6g} became 0 to 1 (image.range).",
                  values.low, values.high, of, low, high));
  return robust;
}

/// The samples of a picture as numbers: straight colours, and what has no data.
class Colours {
 public:
  explicit Colours(const Decoded& decoded)
      : decoded_(decoded),
        with_data_(pixels_with_data(decoded)),
        full_alpha_(decoded.premultiplied ? full_alpha(decoded) : 1) {}

  int count() const { return decoded_.colours(); }
  /// Whether each sample is a colour as it is stored.
  bool is_plain() const { return !decoded_.has_alpha && with_data_.empty(); }
  bool is_hidden(int y, int x) const { return !with_data_.empty() && with_data_(y, x) == 0; }
  cv::Mat stored_row(int y) const { return decoded_.samples.row(y); }
  /// The colours of a row, pixel after pixel; of hidden pixels any numbers.
  cv::Mat1d row(int y) const {
    cv::Mat1d values;
    stored_row(y).reshape(1).convertTo(values, CV_64F);
    if (!decoded_.has_alpha) return values;
    const int colours = count();
    const double* stored = values.ptr<double>();
    double* to = values.ptr<double>();
    for (int x = 0; x < decoded_.samples.cols; ++x, stored += colours + 1) {
      const double alpha = stored[colours] / full_alpha_;
      to = std::transform(stored, stored + colours, to,
                          [&](double colour) { return straight(colour, alpha); });
    }
    return values.colRange(0, decoded_.samples.cols * colours);
  }

 private:
  double straight(double colour, double alpha) const {
    if (!decoded_.premultiplied) return colour;
    const double value = colour / alpha;
    return decoded_.type_range ? std::min(value, decoded_.type_range->second) : value;
  }

  const Decoded& decoded_;
  cv::Mat1b with_data_;
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

/// Marks which pixels of a row have data.
RowValues find_valid_in_row(const Colours& colours, int y, int width, std::uint8_t* valid) {
  RowValues row;
  const cv::Mat stored = colours.stored_row(y);
  if (colours.is_plain() && (stored.depth() < CV_32F || cv::checkRange(stored))) {
    cv::minMaxIdx(stored.reshape(1), &row.low, &row.high);
    std::fill_n(valid, width, std::uint8_t{1});
    return row;
  }
  const cv::Mat1d values = colours.row(y);
  const double* pixel = values.ptr<double>();
  for (int x = 0; x < width; ++x, pixel += colours.count()) {
    const double* const end = pixel + colours.count();
    valid[x] = 0;
    if (colours.is_hidden(y, x)) {
      ++row.hidden;
    } else if (!std::all_of(pixel, end, [](double value) { return std::isfinite(value); })) {
      ++row.not_finite;
    } else {
      valid[x] = 1;
      const auto [low, high] = std::minmax_element(pixel, end);
      row.low = std::min(row.low, *low);
      row.high = std::max(row.high, *high);
    }
  }
  return row;
}

/// Marks the pixels that have no data in image.valid, and reports them in image.notes. Returns the
/// values of the pixels that have data. `hidden_are`: what the notes say of hidden pixels.
StoredValues find_valid(const Colours& colours, const std::string& hidden_are, Image& image) {
  image.valid.resize(image.pixel_count());
  std::vector<RowValues> rows(static_cast<std::size_t>(image.height));
  parallel_for(image.height, [&](int y) {
    const auto row = static_cast<std::size_t>(y);
    rows[row] = find_valid_in_row(colours, y, image.width,
                                  image.valid.data() + row * static_cast<std::size_t>(image.width));
  });
  StoredValues values(image.pixel_count() * static_cast<std::size_t>(image.channels));
  std::size_t hidden = 0;
  std::size_t not_finite = 0;
  for (const RowValues& row : rows) {
    values.extend(row.low, row.high);
    hidden += row.hidden;
    not_finite += row.not_finite;
  }
  note_pixels_without_data(hidden_are, hidden, not_finite, image);
  if (hidden + not_finite == 0) image.valid.clear();
  std::size_t index = 0;
  for (int y = 0; y < image.height; ++y) {
    const cv::Mat1d row = colours.row(y);
    const double* pixel = row.ptr<double>();
    for (int x = 0; x < image.width; ++x, ++index, pixel += image.channels) {
      if (!image.has_data(index)) continue;
      values.take(pixel, static_cast<std::size_t>(image.channels));
    }
  }
  return values;
}

/// Where a value lies in a range, from 0 to 1.
float share_of(const Limits& range, double value, bool zero_is_white) {
  // Halves, because the difference of two doubles may be too large for one.
  const double extent = range.second / 2 - range.first / 2;
  const double place = extent > 0 ? (value / 2 - range.first / 2) / extent : 0;
  const double share = place < 0 ? 0 : place > 1 ? 1 : place;  // Vector instructions take this.
  return static_cast<float>(zero_is_white ? 1 - share : share);
}

}  // namespace

bool is_flat(const Image& image) {
  constexpr float kLeast = 1.0F / 512;  // Half a step of 8 bits.
  float low = 1;
  float high = 0;
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (!image.has_data(i / channels)) continue;
    low = std::min(low, image.pixels[i]);
    high = std::max(high, image.pixels[i]);
    if (high - low > kLeast) return false;
  }
  return true;
}

Image to_image(const Decoded& decoded, ValueRange rule) {
  const Colours colours(decoded);
  Image image;
  image.width = decoded.samples.cols;
  image.height = decoded.samples.rows;
  image.channels = colours.count();
  image.notes = decoded.notes;
  image.is_damaged = decoded.is_damaged;
  image.pixels =
      large_vector<float>(image.pixel_count() * static_cast<std::size_t>(image.channels));
  Limits range;
  if (colours.is_plain() && decoded.samples.depth() == CV_8U &&
      (rule == ValueRange::kType ||
       (rule == ValueRange::kAuto &&
        bytes_surely_fill_half(*decoded.type_range, decoded.samples)))) {
    range = *decoded.type_range;
  } else {
    StoredValues values = find_valid(colours, decoded.hidden, image);
    range = choose_range(decoded.samples.depth(), decoded.type_range, values, rule, image.notes);
  }
  parallel_for(image.height, [&](int y) {
    std::size_t index = static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width);
    float* out = image.pixels.data() + index * static_cast<std::size_t>(image.channels);
    const cv::Mat1d row = colours.row(y);
    const double* value = row.ptr<double>();
    if (image.valid.empty()) {
      for (int i = 0; i < row.cols; ++i) out[i] = share_of(range, value[i], decoded.zero_is_white);
      return;
    }
    for (int x = 0; x < image.width; ++x, ++index) {
      for (int channel = 0; channel < image.channels; ++channel, ++out, ++value) {
        if (image.valid[index] != 0) *out = share_of(range, *value, decoded.zero_is_white);
      }
    }
  });
  if (is_flat(image)) {
    image.notes.emplace_back(
        "The picture is flat: all its pixels have the same colour, so it shows no boundary.");
  }
  return image;
}

std::size_t StoredValues::step_of(std::uint64_t count) {
  // So many values are enough for a thousandth at either end.
  return static_cast<std::size_t>(count / (std::uint64_t{1} << 20) + 1);
}

StoredValues::StoredValues(std::uint64_t count) {
  step_ = step_of(count);
  sample.reserve(static_cast<std::size_t>(count) / step_ + 1);
}

std::pair<double, double> choose_range(int depth, const TypeRange& type_range, StoredValues& values,
                                       ValueRange rule, std::vector<std::string>& notes) {
  if (values.sample.empty()) throw InputError("nothing to segment: no pixel has data");
  const bool unit = values.low >= 0 && values.high <= 1;
  const TypeRange of_type = type_range || !unit ? type_range : std::pair{0.0, 1.0};
  switch (rule.rule) {
    case ValueRange::kLimits:
      return {rule.low, rule.high};
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

}  // namespace diacut
