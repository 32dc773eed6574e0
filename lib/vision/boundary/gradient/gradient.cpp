#include "boundary/gradient/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/core.hpp>
#include <utility>

#include "core/parallel.hpp"
#include "image/colour.hpp"
#include "image/resize.hpp"

namespace diacut {

namespace {

/// Rows of a picture that a thread computes at once.
constexpr int kBandRows = 64;

/// Non-maximum suppression removes a pixel whose gradient is less than 1 - kRidgeSoftness times the
/// gradient beside it, and reduces pixels above that.
constexpr float kRidgeSoftness = 0.1F;

/// Along rows, or down columns: the weighted sums of what lies t ahead and t behind, or of their
/// differences. Differences are taken before they are weighted, so that the gradient of a flat
/// image is zero, not almost zero. The result has no margin of `weights`' radius on that axis.
cv::Mat filtered(const cv::Mat& in, const GradientWeights& weights, bool derivative, bool down) {
  const int radius = weights.radius();
  const cv::Size size(in.cols - (down ? 0 : 2 * radius), in.rows - (down ? 2 * radius : 0));
  const auto moved = [&](int t) {
    return in(cv::Rect(cv::Point(down ? 0 : radius + t, down ? radius + t : 0), size));
  };
  cv::Mat sum = derivative ? cv::Mat::zeros(size, CV_32F) : cv::Mat(moved(0) * weights.smooth[0]);
  cv::Mat pair;
  for (int t = 1; t <= radius; ++t) {
    const auto at = static_cast<std::size_t>(t);
    if (derivative) {
      cv::subtract(moved(t), moved(-t), pair);
      cv::scaleAdd(pair, weights.derivative[at - 1], sum, sum);
    } else {
      cv::add(moved(t), moved(-t), pair);
      cv::scaleAdd(pair, weights.smooth[at], sum, sum);
    }
  }
  return sum;
}

float at(const cv::Mat& plane, int x, int y) {
  return plane.at<float>(std::clamp(y, 0, plane.rows - 1), std::clamp(x, 0, plane.cols - 1));
}

/// The share of its value that a pixel keeps beside a rival. Suppression is soft, so that two
/// pixels that share a ridge both stay, although one of them is larger by a rounding error.
float fade(float own, float rival) {
  if (own >= rival) return 1;
  return std::max(0.0F, 1 - (rival - own) / (kRidgeSoftness * rival));
}

/// The structure tensor of some rows of a picture, and the magnitude of their gradient: the square
/// root of the tensor's larger eigenvalue, which is the steepest slope in any direction.
struct Slopes {
  cv::Mat xx;
  cv::Mat xy;
  cv::Mat yy;
  cv::Mat magnitude;

  /// Of the rows `rows` of all channels.
  Slopes(const std::vector<cv::Mat>& channels, const cv::Range& rows,
         const GradientWeights& weights) {
    const int radius = weights.radius();
    for (const cv::Mat& channel : channels) {
      cv::Mat padded;  // By pixels of other rows, and beyond the picture by the nearest ones.
      cv::copyMakeBorder(channel.rowRange(rows), padded, radius, radius, radius, radius,
                         cv::BORDER_REPLICATE);
      const cv::Mat gx = filtered(filtered(padded, weights, true, false), weights, false, true);
      const cv::Mat gy = filtered(filtered(padded, weights, false, false), weights, true, true);
      add(gx.mul(gx), xx);
      add(gx.mul(gy), xy);
      add(gy.mul(gy), yy);
    }
    cv::Mat spread;
    cv::magnitude(xx - yy, 2 * xy, spread);
    cv::sqrt(0.5 * (xx + yy + spread), magnitude);
  }

  /// Non-maximum suppression (Canny, A computational approach to edge detection, PAMI 1986), then
  /// ridges closed where they step diagonally.
  cv::Mat ridges() const {
    cv::Mat ridge(magnitude.size(), CV_32F);
    for (int y = 0; y < ridge.rows; ++y) {
      for (int x = 0; x < ridge.cols; ++x) {
        const float own = magnitude.at<float>(y, x);
        ridge.at<float>(y, x) = own * fade(own, rival(x, y));
      }
    }
    // Between two pixels of a thin ridge that touch only at a corner, a line could pass without
    // crossing the ridge. Of the two pixels beside that corner the one of larger magnitude is
    // raised to the lesser value of the two ridge pixels; softly, so that of two equal ones both
    // are raised.
    cv::Mat bridged = ridge.clone();
    for (int y = 0; y < ridge.rows; ++y) {
      for (int x = 0; x < ridge.cols; ++x) {
        float& value = bridged.at<float>(y, x);
        for (const int dy : {-1, 1}) {
          for (const int dx : {-1, 1}) {
            const bool inside =
                x + dx >= 0 && x + dx < ridge.cols && y + dy >= 0 && y + dy < ridge.rows;
            if (!inside) continue;
            const float lesser = std::min(at(ridge, x + dx, y), at(ridge, x, y + dy));
            value =
                std::max(value, lesser * fade(at(magnitude, x, y), at(magnitude, x + dx, y + dy)));
          }
        }
      }
    }
    return bridged;
  }

 private:
  static void add(const cv::Mat& product, cv::Mat& sum) {
    sum = sum.empty() ? product : cv::Mat(sum + product);
  }

  /// The larger of the magnitudes on both sides across the boundary, on the square through the
  /// eight neighbours, interpolated between two of them. The direction across is that of the
  /// steepest slope, the first eigenvector of the tensor.
  float rival(int x, int y) const {
    // The eigenvector of the larger eigenvalue, in the form without cancellation.
    const float half_gap = 0.5F * (xx.at<float>(y, x) - yy.at<float>(y, x));
    const float cross = xy.at<float>(y, x);
    const float root = std::hypot(half_gap, cross);
    const float across_x = half_gap >= 0 ? half_gap + root : cross;
    const float across_y = half_gap >= 0 ? cross : root - half_gap;
    const bool steep = std::abs(across_y) > std::abs(across_x);
    const float longer = steep ? across_y : across_x;
    const float share = longer == 0 ? 0.0F : (steep ? across_x : across_y) / longer;
    // One pixel along the axis in which the vector is longer, `share` of a pixel along the other.
    const int side = share < 0 ? -1 : 1;
    const int dx = steep ? 0 : 1;
    const int dy = steep ? 1 : 0;
    const int diagonal_x = steep ? side : 1;
    const int diagonal_y = steep ? 1 : side;
    const float part = std::abs(share);
    const auto between = [&](int sign) {
      return (1 - part) * at(magnitude, x + sign * dx, y + sign * dy) +
             part * at(magnitude, x + sign * diagonal_x, y + sign * diagonal_y);
    };
    return std::max(between(1), between(-1));
  }
};

/// The gradient of an image: its magnitude, and with `thin` the ridges of that.
struct GradientPlanes {
  std::vector<float> magnitude;
  std::vector<float> ridges;
};

GradientPlanes gradient_planes(const Image& image, double sigma, bool thin) {
  const std::size_t pixels = image.pixel_count();
  GradientPlanes result{std::vector<float>(pixels), std::vector<float>(thin ? pixels : 0)};
  std::vector<float> planes;
  cv::Mat gaps = cv::Mat::zeros(image.height, image.width, CV_8U);  // 255 where there is no data.
  if (image.valid.empty()) {
    planes = lab_planes(image);
  } else {
    planes =
        lab_planes({image.width, image.height, image.channels, filled_from_nearest(image), {}, {}});
    std::transform(
        image.valid.begin(), image.valid.end(), gaps.begin<std::uint8_t>(),
        [](std::uint8_t valid) { return static_cast<std::uint8_t>(valid == 0 ? 255 : 0); });
  }
  std::vector<cv::Mat> channels;
  for (int c = 0; c < image.channels; ++c) {
    channels.emplace_back(image.height, image.width, CV_32F,
                          planes.data() + static_cast<std::size_t>(c) * pixels);
  }
  const GradientWeights weights = gradient_weights(sigma);
  parallel_for((image.height + kBandRows - 1) / kBandRows, [&](int band) {
    const cv::Range own(band * kBandRows, std::min((band + 1) * kBandRows, image.height));
    // Ridges look two rows further.
    const cv::Range seen(std::max(own.start - 2, 0), std::min(own.end + 2, image.height));
    // Ridges are those of the magnitude that is 0 where there is no data.
    Slopes slopes(channels, seen, weights);
    const auto keep = [&](cv::Mat plane, std::vector<float>& of_image) {
      cv::Mat all(image.height, image.width, CV_32F, of_image.data());
      plane.setTo(0, gaps.rowRange(seen));
      plane.rowRange(own - seen.start).copyTo(all.rowRange(own));
    };
    keep(slopes.magnitude, result.magnitude);
    if (thin) keep(slopes.ridges(), result.ridges);
  });
  return result;
}

/// The value of rank ceil(share * count) of the magnitudes of pixels with data; 0 of none.
float quantile_of(const std::vector<float>& magnitude, const Image& image, double share) {
  std::vector<float> values;
  for (std::size_t i = 0; i < magnitude.size(); ++i) {
    if (image.has_data(i)) values.push_back(magnitude[i]);
  }
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

int gradient_reach(double sigma) {
  // As far as the convolution, and from there as far as pixels without data are filled in.
  const int radius = gradient_weights(sigma).radius();
  return radius + (3 * radius + 1) / 2;
}

GradientWeights gradient_weights(double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  GradientWeights weights;
  double area = 0;
  double slope = 0;
  for (int t = 0; t <= radius; ++t) {
    // Relative to the weight of the first neighbour, so that a difference of neighbours remains
    // however small sigma is.
    const double gauss = std::exp(-0.5 * t * t / (sigma * sigma));
    weights.smooth.push_back(gauss);
    area += t == 0 ? gauss : 2 * gauss;
    if (t == 0) continue;
    weights.derivative.push_back(t * std::exp(-0.5 * (t * t - 1) / (sigma * sigma)));
    slope += 2 * t * weights.derivative.back();
  }
  for (double& weight : weights.smooth) weight /= area;
  for (double& weight : weights.derivative) weight /= slope;
  return weights;
}

std::vector<float> gradient_magnitude(const Image& image, double sigma) {
  return gradient_planes(image, sigma, false).magnitude;
}

float gradient_strength(float magnitude, float full) {
  // In a flat image with a floor of 0, both are 0.
  return magnitude < full ? magnitude / full : magnitude > 0 ? 1.0F : 0.0F;
}

std::vector<float> gradient_boundary_map(const Image& image, const BoundaryParameters& parameters) {
  GradientPlanes planes = gradient_planes(image, parameters.sigma, parameters.thin);
  const float full = std::max(quantile_of(planes.magnitude, image, parameters.quantile),
                              static_cast<float>(parameters.floor));
  std::vector<float> map = std::move(parameters.thin ? planes.ridges : planes.magnitude);
  for (float& value : map) value = gradient_strength(value, full);
  return map;
}

}  // namespace diacut
