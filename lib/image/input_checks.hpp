#pragma once

#include "diacut/edges.hpp"
#include "diacut/features.hpp"
#include "diacut/seeds.hpp"

namespace diacut {

/// Throws InputError unless the map is one of an image of width x height pixels, and its values lie
/// in [0, 1].
void check_edges(const EdgeMap& edges, int width, int height);

/// Throws InputError when features are not as FeatureMap says, or have one value in each channel.
void check_features(const FeatureMap& features);

/// Throws InputError unless each label has a number in [0, 1] for each pixel.
void check_probabilities(const Probabilities& probabilities);

}  // namespace diacut
