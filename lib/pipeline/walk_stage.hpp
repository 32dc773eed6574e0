#pragma once

#include "diacut/progress.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"
#include "pipeline/segmentation_plan.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"

namespace diacut {

/// Labels of one image that grow from its seeds by random_walk(). Their connected parts are found
/// on the host, in the image itself, which is left to UnfinishedSegmentation::host_work. `matrix`:
/// of the image. `keep`: whether the result holds probabilities. Throws as random_walk() does.
UnfinishedSegmentation find_walk(Context& context, NormalizedMatrix matrix,
                                 const WorkingImage& image, const SegmentationPlan& plan, bool keep,
                                 const Watch& watch);

}  // namespace diacut
