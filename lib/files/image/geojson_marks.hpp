#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <vector>

#include "core/bytes.hpp"
#include "diacut/seeds.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// Whether the bytes of a file begin as those of a JSON object, or of XML, do.
bool begins_as_json(Bytes file);
bool begins_as_xml(Bytes file);

/// What drawn features mark.
enum class MarkedBy {
  kLabels,  ///< Points, lines and areas, each with properties.label.
  kLines,   ///< Points and lines alone, the outlines of areas among them; labels do not count.
};

/// Calls mark(pixel, label) for each pixel that a feature of a GeoJSON file (RFC 7946, but with
/// coordinates in pixels from the upper left corner, x to the right and y down) marks, in the
/// file's order; label is 1 with MarkedBy::kLines. The file holds a FeatureCollection or a Feature.
/// A point marks the pixel that it lies in, a line an 8-connected path of pixels, and an area the
/// pixels whose centres it holds by the even-odd rule, or those of its outline where it holds none.
/// Throws InputError, whose message does not name the file, where it is not as said, has a feature
/// without a label, or a point outside of the picture of `width` x `height` pixels.
void draw_geojson(Bytes file, int width, int height, MarkedBy by,
                  const std::function<void(std::size_t pixel, std::int32_t label)>& mark);

/// Calls visit(pixel) for the pixels whose centres an area holds by the even-odd rule, and returns
/// whether there are any. `rings`: closed, in pixels from the upper left corner. Throws InputError
/// where it has too many edges.
bool fill_area(const std::vector<std::vector<cv::Point2d>>& rings, int width, int height,
               const std::function<void(std::size_t pixel)>& visit);

/// Whether a picture has colours, or transparent pixels beside others in more than one channel.
bool is_painted(const Decoded& picture);

/// The seeds that somebody painted; see read_seeds(). Throws InputError where there are more
/// colours than somebody paints with.
Seeds painted_seeds(const Decoded& picture);

}  // namespace diacut
