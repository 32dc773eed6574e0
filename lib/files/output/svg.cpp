#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>

#include "output/annotation_parts.hpp"
#include "output/markup.hpp"

namespace diacut {
namespace {

/// Smooth outlines keep corners that turn by 60 degrees or more between sides of this length.
constexpr double kLongSide = 4;

/// The path of a ring along its corners.
std::string straight_path(std::span<const Corner> ring) {
  std::string text = fmt::format("M{} {}", ring[0].x, ring[0].y);
  for (std::size_t i = 1; i < ring.size(); ++i) {
    if (ring[i].y == ring[i - 1].y) {
      fmt::format_to(std::back_inserter(text), "H{}", ring[i].x);
    } else if (ring[i].x == ring[i - 1].x) {
      fmt::format_to(std::back_inserter(text), "V{}", ring[i].y);
    } else {
      fmt::format_to(std::back_inserter(text), "L{} {}", ring[i].x, ring[i].y);
    }
  }
  return text + 'Z';
}

/// Whether three regions or more meet at a corner of pixels, or the picture has a corner there.
bool is_junction(const Labels& labels, const Corner& at) {
  std::array<std::int32_t, 4> around{};  // Clockwise.
  for (int k = 0; k < 4; ++k) {
    const int x = at.x - (k == 0 || k == 3 ? 1 : 0);
    const int y = at.y - (k < 2 ? 1 : 0);
    const bool outside = x < 0 || y < 0 || x >= labels.width || y >= labels.height;
    around[k] = outside ? -1 : labels.values[static_cast<std::size_t>(y) * labels.width + x];
  }
  int changes = 0;
  for (int k = 0; k < 4; ++k) changes += around[k] != around[(k + 1) % 4] ? 1 : 0;
  return changes > 2 || std::count(around.begin(), around.end(), -1) == 3;
}

bool is_sharp(const Corner& before, const Corner& at, const Corner& after) {
  const double x = at.x - before.x, y = at.y - before.y;
  const double u = after.x - at.x, v = after.y - at.y;
  const double lengths = std::hypot(x, y) * std::hypot(u, v);
  return std::min(std::hypot(x, y), std::hypot(u, v)) >= kLongSide && x * u + y * v < lengths / 2;
}

/// The path of a ring as quadratic B-splines, whose controls are its corners, between those that
/// stay. Each depends on the corners alone, so that neighbours share it.
std::string smooth_path(const Labels& labels, std::span<const Corner> ring) {
  const std::size_t count = ring.size();
  std::vector<bool> stays(count);
  for (std::size_t i = 0; i < count; ++i) {
    stays[i] = is_junction(labels, ring[i]) ||
               is_sharp(ring[(i + count - 1) % count], ring[i], ring[(i + 1) % count]);
  }
  const std::size_t first = std::find(stays.begin(), stays.end(), true) - stays.begin();
  // Where a curve with the control i ends: at a corner that stays, else halfway to the next
  // control.
  const auto end_of = [&](std::size_t i) {
    const Corner& from = ring[i % count];
    const Corner& to = ring[(i + 1) % count];
    if (stays[(i + 1) % count]) return fmt::format("{} {}", to.x, to.y);
    return fmt::format("{} {}", (from.x + to.x) / 2.0, (from.y + to.y) / 2.0);
  };
  const bool closed = first == count;
  std::string text =
      closed ? 'M' + end_of(count - 1) : fmt::format("M{} {}", ring[first].x, ring[first].y);
  for (std::size_t k = closed ? 0 : 1; k < count; ++k) {
    const std::size_t i = (closed ? k : first + k) % count;
    if (!stays[i]) {
      fmt::format_to(std::back_inserter(text), "Q{} {} {}", ring[i].x, ring[i].y, end_of(i));
    } else if (stays[(i + count - 1) % count]) {
      fmt::format_to(std::back_inserter(text), "L{} {}", ring[i].x, ring[i].y);
    }
  }
  return text + 'Z';
}

}  // namespace

AnnotationPart svg_part(const AnnotatedImage& image) {
  static const RegionClasses none;
  const RegionClasses& classes = image.classes == nullptr ? none : *image.classes;
  const Outlines& outlines = *image.outlines;
  const bool filled = image.colours != nullptr;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n"
      "<g fill-rule=\"evenodd\" {3}>\n",
      outlines.width, outlines.height, xml_text(image.name),
      // Strokes of the fills' own colours leave no gaps where edges are softened.
      filled ? "stroke-width=\"0.5\" stroke-linejoin=\"round\""
             : "fill=\"none\" stroke=\"#e6b400\" stroke-width=\"1\"");
  for (std::int64_t number = 1; number <= image.labels->count; ++number) {
    const std::int64_t label = image.table->regions[static_cast<std::size_t>(number) - 1].label;
    fmt::format_to(std::back_inserter(text), "<path id=\"region-{}\" class=\"{}\" ", label,
                   xml_text(classes.names[classes.of(label)]));
    if (filled) {
      const auto [r, g, b] = (*image.colours)[static_cast<std::size_t>(number)];
      const std::string colour = fmt::format("#{:02x}{:02x}{:02x}", r, g, b);
      fmt::format_to(std::back_inserter(text), "fill=\"{0}\" stroke=\"{0}\" ", colour);
    }
    text += "d=\"";
    for (const Ring& ring : outlines.of(number)) {
      const std::span<const Corner> corners = outlines.of(ring);
      text += image.smooth ? smooth_path(*image.labels, corners) : straight_path(corners);
    }
    text += "\"/>\n";
  }
  return {text + "</g>\n</svg>\n", {}};
}

}  // namespace diacut
