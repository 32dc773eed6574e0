#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "diacut/boundary_map.hpp"
#include "diacut/image.hpp"
#include "diacut/memory.hpp"
#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"
#include "image/resize.hpp"
#include "pipeline/run_forms.hpp"

namespace diacut {

std::size_t pixels_with_data(const Image& image);

/// What is kept of an image to place the boundaries in it that were found in its reduction.
struct FullImage {
  PictureSize size;
  std::vector<std::uint8_t> valid;  ///< As Image::valid.
  Image detail;                     ///< detail_picture() of the image.
};

/// Seeds of an image as the stages see them.
struct WorkingSeeds {
  /// The labels, ascending: number k of `labels` and `full_labels` stands for values[k - 1].
  std::vector<std::int32_t> values;
  std::vector<std::int32_t> labels;       ///< Of the working image, row by row; 0: no seed.
  std::vector<std::int32_t> full_labels;  ///< Of the image itself, if that was reduced; else empty.
  /// Of the working image, for each pixel whether it is a barrier; empty: there is none. A line
  /// through neighbours by edges and corners that passes from one side of a barrier to the other
  /// meets such a pixel.
  std::vector<std::uint8_t> walls;
  std::vector<std::uint8_t> full_walls;  ///< Of the image itself, if that was reduced; else empty.
  /// Of the working image, what the walk starts from: of each label, or of the first ones, the
  /// probabilities; empty: from 0.
  std::vector<std::vector<float>> start;
};

/// An image as the stages see it: as large as it is, or reduced to the size at which regions are
/// found. Copies share what they hold. Of the pointers only `image` is never null; others are where
/// there is nothing of their kind.
struct WorkingImage {
  std::shared_ptr<const Image> image;
  std::shared_ptr<const BoundaryMap> boundary_map;  ///< As ImageToSegment::boundary_map.
  std::shared_ptr<const FullImage> full;            ///< Null: `image` is not reduced.
  std::shared_ptr<const WorkingSeeds> seeds;        ///< That labels grow from.
  std::shared_ptr<const Seeds> cut_seeds;           ///< That a hierarchy is cut by.
  std::shared_ptr<const FeatureMap> features;  ///< As ImageToSegment::features, in their own size.

  PictureSize size() const { return {image->width, image->height}; }
};

/// The image reduced as parameters.image.detail says, with its boundary map, of which a pixel takes
/// the largest strength of its area, so that thin lines keep theirs. An image that is not reduced
/// is not copied: it must outlive the result. Features are not copied: they must outlive the
/// result. Throws ConfigError where there are a boundary map or features that the method has no use
/// for; InputError where the method needs seeds, features do not fit, or the map of an image that
/// is reduced has another size, or a value outside [0, 1].
WorkingImage working_image(const ImageToSegment& asked, const Parameters& parameters);

/// As working_image() of an image with seeds, for RegionMethod::kWalker or kHierarchy. Where there
/// are barriers, FullImage::valid is 0 at them. Throws InputError where seeds are not as
/// Segmenter::begin() wants them, or a label has no pixel of its own in the working image;
/// ConfigError where the method takes no seeds, barriers or start.
WorkingImage working_image(const SeededImage& asked, const Parameters& parameters);

/// The parameters for an image of the size `working` that was reduced from the size `full`, or not.
/// contours.spectral is kFull where a decimated grid does not do. The network sees a picture whose
/// longer side is three quarters of parameters.image.detail, at scale 1 of
/// parameters.boundary.scales, or what is left of it in a smaller picture. A least size of direct
/// cuts, in pixels, is in those of the working image.
RunParameters working_parameters(const Parameters& parameters, const PictureSize& working,
                                 const PictureSize& full, const WantedResults& results);

/// Makes the regions of a segmentation from labels that grew from seeds: the connected parts of
/// each label, in the image itself. `labels`: numbers of seeds.values in the working image of that
/// size, 0 where there is no data, and seeds.values.size() + 1 where no seed can be reached, whose
/// regions get the label 0. `full`: null if that is the image. Barriers get the label of a side.
void place_walk(SeedGrowth& result, const std::vector<std::int32_t>& labels,
                const PictureSize& working, const FullImage* full, const WorkingSeeds& seeds);

/// Takes a segmentation from the working image to the full one: labels are placed.
void place(Segmentation& result, const PictureSize& working, const FullImage& full);

/// Takes a hierarchy from the working image to the full one: its leaves are placed, its contours
/// and inside map interpolated. The caller cuts it.
void place(HierarchyCut& result, const PictureSize& working, const FullImage& full);

}  // namespace diacut
