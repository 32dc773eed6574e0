#pragma once

#include <vector>

#include "diacut/progress.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"
#include "pipeline/segmentation_plan.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"

namespace diacut {

/// Labels of one image that grow from its seeds by random_walk(). Their connected parts are found
/// on the host, in the image itself, which is left to begun.host_work. `matrix`: of the image.
/// `keep`: whether the result holds probabilities. Throws as random_walk() does.
void find_walk(Context& context, NormalizedMatrix matrix, const WorkingImage& image,
               const SegmentationPlan& plan, bool keep, const Watch& watch,
               UnfinishedSegmentation& begun);

/// Throws ConfigError where a random walk starts from probabilities that nothing can make use of,
/// and InputError where they do not fit the image and its seeds.
void check_walk_start(const ImageToSegment& asked, const Parameters& parameters);

/// For each label of the seeds the probabilities that a walk over the working image starts from,
/// of labels without any 0. Pixels of parts without seeds start from 0: where nothing leads to a
/// seed, the linear system keeps what it starts from. Precondition: check_walk_start() holds.
std::vector<std::vector<float>> walk_start(const Probabilities& start, const WorkingSeeds& seeds,
                                           const Image& working);

}  // namespace diacut
