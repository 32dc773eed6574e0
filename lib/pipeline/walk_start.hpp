#pragma once

#include <vector>

#include "pipeline/working_image.hpp"

namespace diacut {

/// Throws ConfigError where a random walk starts from probabilities that nothing can make use of,
/// and InputError where they do not fit the image and its seeds.
void check_walk_start(const ImageToSegment& asked, const Parameters& parameters);

/// For each label of the seeds the probabilities that a walk over the working image starts from,
/// of labels without any 0. Pixels of parts without seeds start from 0: where nothing leads to a
/// seed, the linear system keeps what it starts from. Precondition: check_walk_start() holds.
std::vector<std::vector<float>> walk_start(const Probabilities& start, const WorkingSeeds& seeds,
                                           const Image& working);

}  // namespace diacut
