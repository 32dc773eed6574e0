#include "map/components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/core.hpp>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "map/scene.hpp"

namespace diacut {
namespace {

constexpr std::size_t kMostComponents = 3;

/// How far red, green and blue go along each component: axes of length 1 at right angles to each
/// other, so that distances between colours are those between components. These are the axes along
/// which the colours of photographs vary the most, the first the most of all (Ohta, Kanade and
/// Sakai 1980), so that the network sees scenes as it saw photographs.
constexpr double kThird = 0.57735026918962576;
constexpr double kHalf = 0.70710678118654752;
constexpr double kSixth = 0.40824829046386302;
constexpr std::array<std::array<double, 3>, kMostComponents> kColours = {
    {{kThird, kThird, kThird}, {kHalf, 0, -kHalf}, {-kSixth, 2 * kSixth, -kSixth}}};

/// The samples of evenly spaced pixels that have data in every band.
std::vector<double> spaced_samples(const Scene& scene, const std::vector<int>& bands) {
  constexpr std::size_t kMostPixels = std::size_t{1} << 18;
  constexpr std::size_t kMostSamples = std::size_t{1} << 24;
  const std::size_t most =
      std::max<std::size_t>(std::min(kMostPixels, kMostSamples / bands.size()), 1);
  const double pixels = static_cast<double>(scene.width()) * scene.height();
  const int step =
      std::max(static_cast<int>(std::ceil(std::sqrt(pixels / static_cast<double>(most)))), 1);
  std::vector<double> samples;
  BandRows rows;
  const auto width = static_cast<std::size_t>(scene.width());
  // Around the middle, so that no edge is left out.
  for (int y = step / 2; y < scene.height(); y += step) {
    scene.read_rows(y, 1, bands, rows);
    for (auto x = static_cast<std::size_t>(step / 2); x < width;
         x += static_cast<std::size_t>(step)) {
      for (std::size_t b = 0; b < bands.size(); ++b) samples.push_back(rows.values[b * width + x]);
      const auto pixel = samples.end() - static_cast<std::ptrdiff_t>(bands.size());
      if (std::any_of(pixel, samples.end(), [](double value) { return std::isnan(value); })) {
        samples.erase(pixel, samples.end());
      }
    }
  }
  return samples;
}

/// The colours of a row of pixels, with alpha behind them. `row`: within `rows`.
void colour_row(const Components& components, const BandRows& rows, int row, std::size_t width,
                float* to) {
  const std::size_t bands = components.mean.size();
  const std::size_t plane = static_cast<std::size_t>(rows.rows) * width;
  const std::size_t start = static_cast<std::size_t>(row) * width;
  for (std::size_t x = 0; x < width; ++x, to += 4) {
    std::array<double, kMostComponents> values{};
    bool whole = true;
    for (std::size_t b = 0; b < bands && whole; ++b) {
      const std::size_t at = b * plane + start + x;
      whole = !std::isnan(rows.values[at]);
      const double value = (rows.values[at] - components.mean[b]) * components.scale[b];
      for (std::size_t k = 0; k < components.weights.size(); ++k) {
        values[k] += components.weights[k][b] * value;
      }
    }
    for (std::size_t channel = 0; channel < 3; ++channel) {
      double sum = 0;
      for (std::size_t k = 0; k < kMostComponents; ++k) sum += values[k] * kColours[k][channel];
      to[channel] = whole ? static_cast<float>(sum) : 0;
    }
    to[3] = whole ? 1 : 0;
  }
}

}  // namespace

Components principal_components(const std::vector<double>& samples, std::size_t bands) {
  // A view of numbers that OpenCV does not write to.
  const cv::Mat1d pixels(static_cast<int>(samples.size() / bands), static_cast<int>(bands),
                         const_cast<double*>(samples.data()));
  cv::Mat1d covariance;
  cv::Mat1d mean;
  cv::calcCovarMatrix(pixels, covariance, mean, cv::COVAR_NORMAL | cv::COVAR_ROWS | cv::COVAR_SCALE,
                      CV_64F);
  Components components{mean, std::vector<double>(bands, 0), {}};
  for (std::size_t k = 0; k < bands; ++k) {
    const double deviation = std::sqrt(covariance(static_cast<int>(k), static_cast<int>(k)));
    // What rounding leaves of a band with one value is no deviation.
    if (deviation > 1e-12 * std::abs(components.mean[k])) components.scale[k] = 1 / deviation;
  }
  const cv::Mat1d scale(components.scale);
  cv::Mat values;
  cv::Mat vectors;
  cv::eigen(covariance.mul(scale * scale.t()), values, vectors);
  double all = 0;
  double kept = 0;
  for (std::size_t k = 0; k < bands; ++k) {
    const double variance = std::max(values.at<double>(static_cast<int>(k)), 0.0);
    all += variance;
    if (k >= kMostComponents) continue;
    kept += variance;
    const double* row = vectors.ptr<double>(static_cast<int>(k));
    std::vector<double> weights(row, row + bands);
    double sum = 0;
    for (const double weight : weights) sum += weight;
    for (double& weight : weights) weight = sum < 0 ? -weight : weight;
    components.weights.push_back(std::move(weights));
  }
  if (all > 0) components.share = kept / all;
  return components;
}

Decoded decode_components(const Scene& scene, const std::vector<int>& bands) {
  Decoded decoded;
  decoded.type_range.reset();
  decoded.has_alpha = true;
  decoded.hidden = "masked, or hold no data in one of the bands";
  decoded.samples = cv::Mat::zeros(scene.height(), scene.width(), CV_32FC4);
  const std::vector<double> samples = spaced_samples(scene, bands);
  if (samples.empty()) {
    throw InputError(
        fmt::format("nothing to segment: no sampled pixel has data in all of its {} "
                    "bands; --bands chooses one or three of them",
                    bands.size()));
  }
  const Components components = principal_components(samples, bands.size());
  const auto width = static_cast<std::size_t>(scene.width());
  scene.each_rows(bands, [&](const BandRows& rows) {
    parallel_for(rows.rows, [&](int row) {
      colour_row(components, rows, row, width, decoded.samples.ptr<float>(rows.first + row));
    });
  });
  decoded.notes.push_back(fmt::format(
      "All of its {} bands were looked at together: {} principal components of the standardized "
      "bands, with {:.1f}% of their variance, became brightness and colours (--bands chooses one "
      "or three bands instead).",
      bands.size(), components.weights.size(), 100 * components.share));
  return decoded;
}

}  // namespace diacut
