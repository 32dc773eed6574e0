#pragma once

#include "diacut/annotations.hpp"

namespace diacut {

/// An SVG picture of an image's regions, each a path.
AnnotationPart svg_part(const AnnotatedImage& image);

}  // namespace diacut
