#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include "core/connected_parts.hpp"
#include "diacut/errors.hpp"
#include "image/geojson_marks.hpp"

namespace diacut {
namespace {

/// Red, green and blue of 8 bits.
using PaintedColour = std::array<int, 3>;

/// A picture of 8 bits, its colours and what is painted in it.
struct Painting {
  int width = 0;
  int height = 0;
  std::vector<PaintedColour> colours;
  std::vector<double> alpha;  ///< Of each pixel, 0 to 1.
  std::vector<bool> core;     ///< Whether it is as opaque as its stroke is.
  bool is_cut_out = false;    ///< Whether some pixels are transparent.
};

constexpr double kSoft = 0.99;  ///< A share of opacity up to which something is an edge.

/// Sets what is core of its stroke: where an edge is soft, its pixels are less opaque than those in
/// the middle. A stroke is what is of one colour and connected. One along a more opaque one is the
/// edge of that, and what can hardly be seen beside the others, as what an eraser leaves, is none.
void find_cores(Painting& painting) {
  constexpr double kFaint = 0.2;
  const std::vector<double>& alpha = painting.alpha;
  std::vector<std::int32_t> classes;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const auto& [red, green, blue] = painting.colours[i];
    classes.push_back(alpha[i] > 0 ? 1 + (red << 16 | green << 8 | blue) : 0);
  }
  const Labels strokes = connected_parts(painting.width, painting.height, classes);
  struct Stroke {
    double opacity = 0;
    std::int64_t pixels = 0;
    std::int64_t beside = 0;  ///< Pixels beside more opaque ones of other strokes.
  };
  std::vector<Stroke> of(static_cast<std::size_t>(strokes.count) + 1);
  const auto stroke_at = [&](int x, int y) {
    return strokes.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(painting.width) +
                          static_cast<std::size_t>(x)];
  };
  std::size_t pixel = 0;
  const auto at = [&](int x, int y) {
    return alpha[static_cast<std::size_t>(y) * static_cast<std::size_t>(painting.width) +
                 static_cast<std::size_t>(x)];
  };
  for (int y = 0; y < painting.height; ++y) {
    for (int x = 0; x < painting.width; ++x, ++pixel) {
      if (alpha[pixel] == 0) continue;
      Stroke& own = of[static_cast<std::size_t>(strokes.values[pixel])];
      own.opacity = std::max(own.opacity, alpha[pixel]);
      ++own.pixels;
      bool beside = false;
      for (int j = std::max(y - 1, 0); j < std::min(y + 2, painting.height); ++j) {
        for (int i = std::max(x - 1, 0); i < std::min(x + 2, painting.width); ++i) {
          beside = beside ||
                   (stroke_at(i, j) != strokes.values[pixel] && alpha[pixel] <= kSoft * at(i, j));
        }
      }
      own.beside += beside ? 1 : 0;
    }
  }
  const double least = kFaint * *std::max_element(alpha.begin(), alpha.end());
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const Stroke& own = of[static_cast<std::size_t>(strokes.values[i])];
    painting.core.push_back(2 * own.beside < own.pixels && alpha[i] > kSoft * own.opacity &&
                            alpha[i] > least);
  }
}

Painting painting_of(const Decoded& picture) {
  cv::Mat samples;
  const auto [low, high] = picture.type_range.value_or(std::pair{0.0, 1.0});
  picture.samples.convertTo(samples, CV_64F, 255 / (high - low), -low * 255 / (high - low));
  const int colours = picture.colours();
  Painting painting{samples.cols, samples.rows, {}, {}, {}, !picture.valid.empty()};
  for (int y = 0; y < samples.rows; ++y) {
    for (int x = 0; x < samples.cols; ++x) {
      const double* pixel = samples.ptr<double>(y, x);
      const bool is_kept = picture.valid.empty() || picture.valid(y, x) != 0;
      const double alpha = !is_kept ? 0 : picture.has_alpha ? pixel[colours] / 255 : 1;
      const double full = picture.premultiplied && alpha > 0 ? alpha : 1;
      PaintedColour colour;
      for (std::size_t c = 0; c < 3; ++c) {
        colour[c] = static_cast<int>(std::lround(pixel[colours == 3 ? c : 0] / full));
      }
      painting.colours.push_back(colour);
      painting.alpha.push_back(alpha);
    }
  }
  const auto [least, most] = std::minmax_element(painting.alpha.begin(), painting.alpha.end());
  painting.is_cut_out = painting.is_cut_out || *least < *most;
  find_cores(painting);
  return painting;
}

double to_light(double value) {
  const double v = value / 255;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}
double to_stored(double light) {
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055);
}
double as_is(double value) { return value; }

/// A colour's red, green and blue, as stored or as light.
cv::Vec3d vector_of(const PaintedColour& colour, double (*there)(double)) {
  return {there(colour[0]), there(colour[1]), there(colour[2])};
}

/// Whether a colour is a mixture of others (two or three), of stored values or of light.
bool is_mixture(const PaintedColour& colour, const std::vector<PaintedColour>& others) {
  constexpr double kRounding = 3;
  for (const auto& [there, back] : {std::pair(&as_is, &as_is), std::pair(&to_light, &to_stored)}) {
    const cv::Vec3d first = vector_of(others.front(), there);
    cv::Mat1d steps(3, static_cast<int>(others.size()) - 1);
    for (int k = 0; k < steps.cols; ++k) {
      const cv::Vec3d step = vector_of(others[static_cast<std::size_t>(k) + 1], there) - first;
      cv::Mat(step).copyTo(steps.col(k));
    }
    cv::Mat1d shares;
    cv::solve(steps, cv::Mat(vector_of(colour, there) - first), shares, cv::DECOMP_SVD);
    double least = 0;
    cv::minMaxLoc(shares, &least);
    if (least < 0 || cv::sum(shares)[0] > 1) continue;
    const cv::Mat mixed = cv::Mat(first) + steps * shares;
    bool fits = true;
    for (int c = 0; c < 3; ++c) {
      fits = fits &&
             std::abs(back(mixed.at<double>(c)) - colour[static_cast<std::size_t>(c)]) <= kRounding;
    }
    if (fits) return true;
  }
  return false;
}

/// Edges of soft brushes have rows of equal pixels, but no squares of this side.
constexpr int kThick = 4;

struct Use {
  std::int64_t pixels = 0;
  bool is_thick = false;  ///< Whether it fills a square of kThick pixels' side.
  double opacity = 0;     ///< The most that it has.
};

std::map<PaintedColour, Use> uses_of(const Painting& painting) {
  std::map<PaintedColour, Use> uses;
  const auto width = static_cast<std::size_t>(painting.width);
  // The side of the largest square of one colour whose lower right pixel is the one in question.
  std::vector<int> sides(width, 0);
  int corner = 0;  // Above and left.
  for (std::size_t i = 0; i < painting.colours.size(); ++i) {
    const std::size_t x = i % width;
    const auto same = [&](std::size_t back) {
      return i >= back && painting.core[i - back] &&
             painting.colours[i - back] == painting.colours[i];
    };
    const int above = sides[x];
    sides[x] = painting.core[i] ? 1 : 0;
    if (painting.core[i]) {
      Use& use = uses[painting.colours[i]];
      ++use.pixels;
      use.opacity = std::max(use.opacity, painting.alpha[i]);
      if (x > 0 && same(1) && same(width) && same(width + 1)) {
        sides[x] = std::min({sides[x - 1], above, corner}) + 1;
      }
      use.is_thick = use.is_thick || sides[x] >= kThick;
    }
    corner = above;
  }
  return uses;
}

/// Whether two colours look the same.
bool is_near(const PaintedColour& a, const PaintedColour& b) {
  constexpr int kUnseen = 8;
  return std::abs(a[0] - b[0]) <= kUnseen && std::abs(a[1] - b[1]) <= kUnseen &&
         std::abs(a[2] - b[2]) <= kUnseen;
}

/// Whether a colour is nearly one of the others, or a mixture of two of them.
bool comes_from(const PaintedColour& colour, const std::vector<PaintedColour>& others) {
  for (const PaintedColour& a : others) {
    if (a == colour) continue;
    if (is_near(colour, a)) return true;
    for (const PaintedColour& b : others) {
      if (b != colour && a < b && is_mixture(colour, {a, b})) return true;
    }
  }
  return false;
}

/// Whether a colour is a mixture of the ground and two strokes, as where soft edges meet.
bool comes_from_meeting(const PaintedColour& colour, const PaintedColour& ground,
                        const std::vector<PaintedColour>& others) {
  for (const PaintedColour& a : others) {
    for (const PaintedColour& b : others) {
      if (a < b && a != colour && b != colour && a != ground && b != ground &&
          is_mixture(colour, {ground, a, b})) {
        return true;
      }
    }
  }
  return false;
}

std::string hex(const PaintedColour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

}  // namespace

bool is_painted(const Decoded& picture) {
  if (picture.colours() != 3) return false;
  if (picture.has_alpha && painting_of(picture).is_cut_out) return true;
  std::vector<cv::Mat> planes;
  cv::split(picture.samples, planes);
  return cv::countNonZero(planes[0] != planes[1]) > 0 ||
         cv::countNonZero(planes[0] != planes[2]) > 0;
}

Seeds painted_seeds(const Decoded& picture) {
  const Painting painting = painting_of(picture);
  const std::map<PaintedColour, Use> uses = uses_of(painting);
  std::vector<std::pair<PaintedColour, Use>> common(uses.begin(), uses.end());
  std::stable_sort(common.begin(), common.end(),
                   [](const auto& a, const auto& b) { return a.second.pixels > b.second.pixels; });
  // Colours that are no mixtures of others, or that a share of the strokes has and not their edges
  // alone.
  constexpr std::size_t kMostColours = 64;
  constexpr double kShare = 0.1;
  std::vector<PaintedColour> own;
  double largest = 0;  // Stroke.
  const auto is_stroke = [&](const PaintedColour& colour) {
    const Use& use = uses.at(colour);
    const bool is_edge = std::any_of(own.begin(), own.end(), [&](const PaintedColour& other) {
      return is_near(colour, other) && use.opacity <= kSoft * uses.at(other).opacity;
    });
    return !is_edge && use.is_thick && static_cast<double>(use.pixels) >= kShare * largest;
  };
  for (const auto& [colour, use] : common) {
    if (comes_from(colour, own) && !is_stroke(colour)) continue;
    own.push_back(colour);
    if (painting.is_cut_out || own.size() > 1) {
      largest = std::max(largest, static_cast<double>(use.pixels));
    }
    if (own.size() > kMostColours) {
      throw InputError(
          fmt::format("it has {} colours, more than somebody paints labels with: paint each label "
                      "in one colour "
                      "with a hard brush, on a transparent layer or one plain colour",
                      uses.size()));
    }
  }
  // A very soft brush has less of its own colour than of mixtures. The ground stays.
  for (std::size_t k = own.size(); k-- > (painting.is_cut_out ? 0 : 1);) {
    if (is_stroke(own[k])) continue;
    if (comes_from(own[k], own) ||
        (!painting.is_cut_out && comes_from_meeting(own[k], own.front(), own))) {
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  Seeds seeds{painting.width, painting.height, {}};
  std::optional<PaintedColour> ground;
  if (!painting.is_cut_out && !own.empty()) {
    ground = own.front();
    own.erase(own.begin());
  }
  std::sort(own.begin(), own.end());
  std::vector<std::int64_t> soft(own.size(), 0);  // Pixels of a colour that are no core.
  std::int64_t mixed = 0;
  for (std::size_t i = 0; i < painting.colours.size(); ++i) {
    seeds.labels.push_back(0);
    if (painting.alpha[i] == 0 || painting.colours[i] == ground) continue;
    const auto found = std::lower_bound(own.begin(), own.end(), painting.colours[i]);
    if (found == own.end() || *found != painting.colours[i]) {
      ++mixed;
    } else if (painting.core[i]) {
      seeds.labels.back() = static_cast<std::int32_t>(found - own.begin()) + 1;
    } else {
      ++soft[static_cast<std::size_t>(found - own.begin())];
    }
  }
  std::string text;
  std::string left_out;
  const auto leave_out = [&](std::int64_t pixels, const std::string& colour) {
    if (pixels == 0) return;
    left_out +=
        fmt::format("{}{} pixels of {}", left_out.empty() ? "; left out: " : ", ", pixels, colour);
  };
  for (std::size_t k = 0; k < own.size(); ++k) {
    text += fmt::format("{}{} is {}", k == 0 ? "" : ", ", hex(own[k]), k + 1);
    leave_out(soft[k], hex(own[k]) + " that are less opaque than their stroke");
  }
  leave_out(mixed, "mixed colours");
  seeds.notes.push_back(fmt::format("Seeds are in colour: {}; {} is no seed{}.",
                                    text.empty() ? "there are none" : text,
                                    ground ? hex(*ground) : "what is transparent", left_out));
  return seeds;
}

}  // namespace diacut
