#include "pipeline/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "affinity/kept_affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "contour/spectral_contour.hpp"
#include "diacut/objects.hpp"
#include "eigen/decimation/contour_eigenvectors.hpp"
#include "eigen/decimation/decimation.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/resolution.hpp"
#include "image/colour.hpp"
#include "image/feature_planes.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"
#include "pipeline/device_checks.hpp"
#include "pipeline/timed_stages.hpp"
#include "pipeline/walk_stage.hpp"
#include "region/device_graph.hpp"
#include "region/hierarchy.hpp"
#include "region/merging_weights.hpp"
#include "region/region.hpp"

namespace diacut {

namespace {

constexpr char kRegions[] = "regions";

bool hierarchical(const SegmentationPlan& plan) { return makes_hierarchy(plan.parameters); }

/// Makes launchers of later stages for one pixel: what they ask for is then built
/// together with the kernels of the boundary maps, which takes less time.
void ask_for_later_kernels(Context& context, const RunParameters& parameters) {
  const Grid pixel = grid_for(1, 1);
  if (needs_matrix(parameters) && !parameters.has_features()) {
    const AffinityKernels affinity(context, pixel, parameters.affinity);
  }
  if (!makes_hierarchy(parameters)) return;
  if (decimates(parameters)) {
    const KeptKernels kept(context, parameters.affinity);
    const Decimation decimation(context, parameters.affinity.radius, 1);
  }
  if (parameters.contour.spectral == SpectralUse::kNever) {
    cue_contour_kernel(context);
  } else {
    const SpectralContour spectral(context, pixel, 1);
  }
  boundary_orientation_launcher(context, pixel);
}

/// The boundary maps of all images.
struct Boundaries {
  std::vector<BoundaryMap> maps;  ///< What affinities are made from.
  /// What contours are made from: of an image whose map is thinned, its map before that; else
  /// empty.
  std::vector<Buffer<float>> unthinned;
  std::vector<std::vector<float>> inside;  ///< Segmentation::inside of each image.
  std::vector<Embedding> embeddings;       ///< Of each image; empty where merging needs none.
};

/// Whether regions of the image merge by probability.
bool merges_by_probability(const WorkingImage& image, const RunParameters& parameters) {
  const bool no_network = image.edges != nullptr || !parameters.has_boundary();
  return makes_hierarchy(parameters) && merges_by_probability(parameters, no_network);
}

/// Whether merging by probability needs the image's embedding.
bool embeds(const WorkingImage& image, const RunParameters& parameters) {
  return image.edges == nullptr && parameters.has_boundary() &&
         parameters.region.merging_weights != kBoundaryMerging && gives_embedding(parameters.cue);
}

/// How regions of one image merge, once its colours are known.
struct MergingToCome {
  bool embeds = false;                  ///< Whether the image's embedding is needed too.
  std::future<LearnedMerging> learned;  ///< Not valid where regions merge by strength.
};

Boundaries find_boundaries(Context& context, DeviceNetworks& networks,
                           std::span<const WorkingImage> images,
                           std::span<const MergingToCome> merging, const SegmentationPlan& plan) {
  const Grid& grid = plan.batch.image;
  const CueParameters& cue = plan.parameters.cue;
  CueParameters whole = cue;
  whole.thin = false;
  Boundaries found;
  for (std::size_t k = 0; k < images.size(); ++k) {
    const WorkingImage& each = images[k];
    Embedding& embedding = found.embeddings.emplace_back();
    if (!plan.parameters.has_boundary()) {
      found.maps.push_back(empty_boundary_map(context, *each.image, grid));
      found.unthinned.emplace_back();
      found.inside.emplace_back();
      continue;
    }
    Buffer<float> unthinned;
    const bool for_affinity = needs_matrix(plan.parameters) || decimates(plan.parameters);
    if (hierarchical(plan) && for_affinity && !each.edges && thins(cue)) {
      unthinned = boundary_map(context, *each.image, grid, whole, networks).values;
      check_boundary_map(unthinned);
    }
    found.unthinned.push_back(std::move(unthinned));
    found.maps.push_back(boundary_map(context, *each.image, grid, for_affinity ? cue : whole,
                                      networks, each.edges.get(),
                                      merging[k].embeds ? &embedding : nullptr));
    check_boundary_map(found.maps.back().values);
    if (each.seeds && !each.seeds->walls.empty()) add_walls(found.maps.back(), each.seeds->walls);
    if (!for_affinity) found.maps.back().valid = {};
    // On the host, since no later stage of the device reads it.
    const Buffer<float> inside = std::move(found.maps.back().inside);
    const bool wanted = plan.parameters.region.method == RegionMethod::kObjects;
    if (wanted) check_boundary_map(inside);
    found.inside.push_back(wanted ? without_padding(inside.download(), grid)
                                  : std::vector<float>());
  }
  networks.tensors().clear();  // Later stages need their memory.
  return found;
}

/// Features of the caller's, which are resized to a grid some channels at a time.
class HostFeatures final : public FeatureSource {
 public:
  HostFeatures(const FeatureMap& features, const Grid& grid) : map_(features), grid_(grid) {}

  int channels() const override { return map_.channels; }
  /// Waits for the device.
  void load(int first, int count, std::size_t pitch, std::size_t offset,
            Buffer<float>& block) override {
    const std::vector<float> planes =
        feature_planes(map_, first, count, {grid_.width, grid_.height});
    const std::span<const float> all(planes);
    const auto width = static_cast<std::size_t>(grid_.width);
    const auto stride = static_cast<std::size_t>(grid_.stride);
    for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c) {
      const std::span<const float> plane = all.subspan(c * grid_.pixels(), grid_.pixels());
      const std::size_t to = c * pitch + offset;
      if (stride == width) {
        block.upload(plane, to);
        continue;
      }
      for (std::size_t y = 0; y < static_cast<std::size_t>(grid_.height); ++y) {
        block.upload(plane.subspan(y * width, width), to + y * stride);
      }
    }
  }

 private:
  const FeatureMap& map_;
  Grid grid_;
};

/// The matrix of all images, and what contours need of the boundary maps.
struct Affinities {
  NormalizedMatrix matrix;
  std::vector<Buffer<float>> strengths;  ///< With a hierarchy: each image's boundary strength.
  double feature_scale = 0;              ///< Segmentation::feature_scale.
};

/// Frees everything of the boundary maps that it does not return.
Affinities find_affinities(Context& context, Boundaries boundaries,
                           std::span<const WorkingImage> images, const SegmentationPlan& plan) {
  const AffinityParameters& parameters = plan.parameters.affinity;
  double feature_scale = 0;
  const auto affinity = [&](const BoundaryMap& map) {
    if (!plan.parameters.has_features()) return affinity_matrix(context, map, parameters);
    HostFeatures features(*images.front().features, map.grid);
    FeatureAffinity made = feature_affinity(context, map, features, parameters);
    feature_scale = made.scale;
    return std::move(made.matrix);
  };
  const auto normalized = [&](const BoundaryMap& map) {
    return normalize(context, plan.batch, affinity(map), parameters);
  };
  std::vector<BoundaryMap>& maps = boundaries.maps;
  Affinities found{plan.batch.count == 1 ? normalized(maps.front())
                                         : normalized(batched(context, maps, plan.batch)),
                   {},
                   0};
  found.feature_scale = feature_scale;
  check_degrees(found.matrix.sqrt_degree());
  if (!hierarchical(plan)) return found;
  found.strengths = std::move(boundaries.unthinned);
  for (std::size_t k = 0; k < maps.size(); ++k) {
    if (!found.strengths[k]) found.strengths[k] = std::move(maps[k].values);
  }
  return found;
}

/// The square roots of one image's degrees. `sqrt_degree`: of all images of the batch. The result
/// is `copy` if the batch has several images, else `sqrt_degree`.
const Buffer<float>& degrees_of(Context& context, const Batch& batch, std::size_t image,
                                const Buffer<float>& sqrt_degree, Buffer<float>& copy) {
  if (batch.count == 1) return sqrt_degree;
  copy = context.allocate<float>(batch.image.rows(), "square roots of the degrees");
  copy_elements(sqrt_degree, image * batch.segment(), copy, 0, batch.image.rows());
  return copy;
}

/// The eigenvectors of all images.
struct FoundEigenvectors {
  std::vector<DeviceEigenvectors> on_device;
  std::vector<Eigenvectors> on_host;  ///< Without vectors and degrees, if they are not to be kept.
  std::vector<std::string> notes;     ///< What a person should know of the solver.
};

/// Nothing if several images cannot be solved together. A matrix that is to be compressed is
/// compressed on the way. `keep`: whether the vectors go to the host.
std::optional<FoundEigenvectors> find_eigenvectors(Context& context, NormalizedMatrix& matrix,
                                                   const SegmentationPlan& plan, bool keep,
                                                   const Watch& watch) {
  const SolverParameters parameters{plan.parameters.eigen, plan.product, plan.form};
  FoundEigenvectors found;
  found.on_device = eigenvectors(context, matrix, parameters, watch);
  if (found.on_device.empty()) return std::nullopt;
  if (solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel &&
      found.on_device.front().report.solver == "lanczos") {
    found.notes.emplace_back(
        "the multilevel eigensolver cannot coarsen this image, or did not converge: Lanczos was "
        "used, which is slower");
  }
  const Grid& image = plan.batch.image;
  for (std::size_t k = 0; k < found.on_device.size(); ++k) {
    const DeviceEigenvectors& one = found.on_device[k];
    check_eigenpairs(context, one);
    found.on_host.push_back(
        keep ? to_host(one, matrix, static_cast<int>(k))
             : Eigenvectors{image.width, image.height, one.values, {}, {}, one.report});
  }
  return found;
}

/// What the hierarchy of one image is made from, on the host.
struct Contours {
  std::vector<float> strength;     ///< Segmentation::contours.
  std::vector<float> orientation;  ///< The direction of the boundary at each pixel.
};

Contours on_host(Context& context, const Buffer<float>& contours, const Grid& grid) {
  const Buffer<float> orientation = boundary_orientation(context, grid, contours);
  Contours found{without_padding(contours.download(), grid),
                 without_padding(orientation.download(), grid)};
  check_contours(context, found.strength, found.orientation);
  return found;
}

/// The contours of `count` images, of which make(k) gives those of image k.
template <class Make>
std::vector<Contours> contours_of(Context& context, const Grid& grid, std::size_t count,
                                  const Make& make) {
  std::vector<Contours> found;
  for (std::size_t k = 0; k < count; ++k) found.push_back(on_host(context, make(k), grid));
  return found;
}

std::vector<Contours> find_contours(Context& context,
                                    const std::vector<DeviceEigenvectors>& eigenvectors,
                                    const Affinities& affinities, const SegmentationPlan& plan) {
  const Batch& batch = plan.batch;
  using Make = Buffer<float>(Context&, const Grid&, const DeviceEigenvectors&, const Buffer<float>&,
                             const Buffer<float>&, const ContourParameters&);
  Make* const make = plan.parameters.has_boundary() ? static_cast<Make*>(combined_contour)
                                                    : spectral_contour_alone;
  return contours_of(context, batch.image, eigenvectors.size(), [&](std::size_t k) {
    Buffer<float> copy;
    const Buffer<float>& degrees =
        degrees_of(context, batch, k, affinities.matrix.sqrt_degree(), copy);
    return make(context, batch.image, eigenvectors[k], degrees, affinities.strengths[k],
                plan.parameters.contour);
  });
}

/// The map that an image's contours are made from.
const Buffer<float>& strength_of(const Boundaries& boundaries, std::size_t image) {
  const Buffer<float>& unthinned = boundaries.unthinned[image];
  return unthinned ? unthinned : boundaries.maps[image].values;
}

/// The contours of all images with the eigenvectors of a decimated grid, and what these are.
struct DecimatedContours {
  std::vector<Contours> contours;
  std::vector<ContourEigenvectors::Image> spectra;
};

/// Where eigenvectors of the image's own grid follow, all of it is one stage.
DecimatedContours find_decimated_contours(Context& context, TimedStages& timed,
                                          const Boundaries& boundaries,
                                          const SegmentationPlan& plan, const Watch& watch) {
  const Grid& grid = plan.batch.image;
  const bool one_stage = needs_matrix(plan.parameters);
  const auto stage = [&](const char* name, const auto& work) {
    return one_stage ? work() : timed(name, work);
  };
  const auto all = [&] {
    const KeptAffinity kept = stage("affinity", [&] {
      return kept_affinity(context, boundaries.maps, plan.parameters.affinity);
    });
    ContourEigenvectors found = stage("eigenvectors", [&] {
      return contour_eigenvectors(context, kept.interpolation, grid, one_stage ? Watch() : watch);
    });
    DecimatedContours result;
    result.contours = stage("contours", [&] {
      return contours_of(context, grid, found.images.size(), [&](std::size_t k) {
        return combined_contour(context, grid, found, k, kept.masks[k], strength_of(boundaries, k),
                                plan.parameters.contour);
      });
    });
    result.spectra = std::move(found.images);
    return result;
  };
  return one_stage ? timed("contours", all) : all();
}

/// Places a segmentation in the full image, if the image was reduced: a stage that needs no device.
void add_placement(Segmentation& result, const Grid& grid,
                   const std::shared_ptr<const FullImage>& full, const Watch& watch) {
  if (!full) return;
  watch.report(kPlacement, 0);
  const auto start = std::chrono::steady_clock::now();
  place(result, {grid.width, grid.height}, *full);
  result.costs.times.push_back({kPlacement, milliseconds_since(start), 0});
  watch.report(kPlacement, 1);
}

/// Begins to find the colours of all images, which takes the host no longer than the device takes
/// for the boundaries. The results are to be asked for while the images are there.
std::vector<MergingToCome> begin_merging(std::span<const WorkingImage> images,
                                         const RunParameters& parameters) {
  std::vector<MergingToCome> begun;
  for (const WorkingImage& each : images) {
    MergingToCome& merging = begun.emplace_back();
    if (!merges_by_probability(each, parameters)) continue;
    merging.embeds = embeds(each, parameters);
    const auto find = [image = each.image, &region = parameters.region, embeds = merging.embeds] {
      LearnedMerging learned;
      learned.weights = load_merging_weights(region.merging_weights, embeds);
      learned.colours.channels = image->channels;
      learned.colours.values = lab_bytes(*image);
      return learned;
    };
    merging.learned = std::async(std::launch::async, find);
  }
  return begun;
}

/// The cut of the hierarchy, by seeds if there are some, or what of it lies inside of objects.
Labels cut_or_objects(Segmentation& result, const RegionParameters& parameters,
                      const Seeds* seeds) {
  if (seeds != nullptr) {
    SeededRegions found = cut_by_seeds(*result.hierarchy, *seeds, result.notes);
    result.seed_labels = std::move(found.seed_labels);
    return std::move(found.regions);
  }
  if (parameters.method != RegionMethod::kObjects) {
    return cut(*result.hierarchy, parameters, result.notes);
  }
  std::vector<std::string> of_cut;  // Of one region, which is no news: it may be the background.
  return objects_of_regions(cut(*result.hierarchy, parameters, of_cut), result.inside, parameters,
                            result.notes);
}

/// Empty where regions merge by strength, without colours.
std::optional<LearnedMerging> learned_merging(MergingToCome merging, Embedding embedding) {
  if (!merging.learned.valid()) return std::nullopt;
  LearnedMerging learned = merging.learned.get();
  learned.colours.embedding = std::move(embedding);
  return learned;
}

/// Leaves the hierarchy of one image and its cut to the host.
void leave_hierarchy(UnfinishedSegmentation& begun, Contours contours, const WorkingImage& image,
                     std::optional<LearnedMerging> merging, const SegmentationPlan& plan) {
  begun.result.contours = std::move(contours.strength);
  begun.host_work = [orientation = std::move(contours.orientation), valid = image.image->valid,
                     grid = plan.batch.image, full = image.full, seeds = image.cut_seeds,
                     parameters = plan.parameters.region,
                     learned = std::move(merging)](Segmentation& result, const Watch& watch) {
    watch.report(kRegions, 0);
    const auto start = std::chrono::steady_clock::now();
    result.hierarchy = hierarchy(result.contours, orientation, valid, grid.width, grid.height,
                                 parameters, learned ? &*learned : nullptr);
    const std::size_t stage = result.costs.times.size();
    result.costs.times.push_back({kRegions, milliseconds_since(start), 0});
    watch.report(kRegions, 1);
    add_placement(result, grid, full, watch);
    const auto cut_start = std::chrono::steady_clock::now();
    result.labels = cut_or_objects(result, parameters, seeds.get());
    result.costs.times[stage].wall_ms += milliseconds_since(cut_start);
  };
}

/// Finds the labels of one image by direct cuts, and leaves their placement to the host.
void begin_direct_cuts(Context& context, const NormalizedMatrix& matrix, const WorkingImage& image,
                       const SegmentationPlan& plan, bool keep_eigenvectors,
                       UnfinishedSegmentation& begun, const Watch& watch) {
  Segmentation& result = begun.result;
  DeviceAffinityGraph graph(context, matrix);
  DirectCuts cuts =
      segment_regions(result.eigenvectors, graph, plan.parameters.region, result.notes, watch);
  result.labels = std::move(cuts.labels);
  result.normalized_cut = cuts.normalized_cut;
  if (!keep_eigenvectors) {
    result.eigenvectors.vectors.clear();
    result.eigenvectors.sqrt_degree.clear();
  }
  begun.host_work = [grid = plan.batch.image, full = image.full](Segmentation& unplaced,
                                                                 const Watch& watching) {
    add_placement(unplaced, grid, full, watching);
  };
}

/// Results with what was known of the images before they were solved.
std::vector<UnfinishedSegmentation> begun_results(std::span<const WorkingImage> images,
                                                  const SegmentationPlan& plan) {
  std::vector<UnfinishedSegmentation> begun(images.size());
  for (std::size_t k = 0; k < images.size(); ++k) {
    std::vector<std::string>& notes = begun[k].result.notes;
    notes = images[k].image->notes;
    notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  }
  return begun;
}

/// Results without eigenvectors. `spectra`: what contours were made with; empty: of no
/// eigenvectors.
std::vector<UnfinishedSegmentation> without_eigenvectors(
    std::vector<ContourEigenvectors::Image> spectra, std::span<const WorkingImage> images,
    const SegmentationPlan& plan) {
  std::vector<UnfinishedSegmentation> begun = begun_results(images, plan);
  for (std::size_t k = 0; k < images.size(); ++k) {
    Eigenvectors& eigenvectors = begun[k].result.eigenvectors;
    eigenvectors.width = plan.batch.image.width;
    eigenvectors.height = plan.batch.image.height;
    eigenvectors.report.converged = true;
    if (spectra.empty()) continue;
    eigenvectors.values = {0};
    eigenvectors.values.insert(eigenvectors.values.end(), spectra[k].values.begin(),
                               spectra[k].values.end());
    eigenvectors.report = std::move(spectra[k].report);
  }
  return begun;
}

/// Results that hold the eigenvectors, which are moved from `found`. `told`: whether notes tell how
/// many eigenvalues are resolved.
std::vector<UnfinishedSegmentation> with_eigenvectors(FoundEigenvectors& found,
                                                      std::span<const WorkingImage> images,
                                                      const SegmentationPlan& plan, bool told) {
  std::vector<UnfinishedSegmentation> begun = begun_results(images, plan);
  for (std::size_t k = 0; k < images.size(); ++k) {
    Segmentation& result = begun[k].result;
    result.eigenvectors = std::move(found.on_host[k]);
    result.notes.insert(result.notes.end(), found.notes.begin(), found.notes.end());
    const auto note = resolution_note(result.eigenvectors.report);
    if (told && note) result.notes.push_back(*note);
  }
  return begun;
}

/// Adds what the device did for the images, and their inside maps, to their results.
void note_run(std::vector<UnfinishedSegmentation>& begun, const TimedStages& timed,
              const Context& context, const ProgramBuilds& before,
              std::vector<std::vector<float>> inside) {
  for (std::size_t k = 0; k < begun.size(); ++k) {
    UnfinishedSegmentation& each = begun[k];
    each.result.inside = std::move(inside[k]);
    each.result.costs.times = timed.shares(begun.size());
    each.result.costs.device_peak_bytes = context.memory_peak();
    each.result.costs.programs_built = context.builds().programs - before.programs;
    each.result.costs.programs_ms = context.builds().milliseconds - before.milliseconds;
  }
}

}  // namespace

Stages::Stages(const std::string& device, const std::string& kernel_dir) : kernel_dir_(kernel_dir) {
  context_.emplace(device, kernel_dir_);
  device_ = context_->info();
}

template <class Work>
auto Stages::guarded(const char* doing, const Work& work) {
  try {
    return with_device_errors(doing, work);
  } catch (const DeviceError&) {
    // After some errors a driver refuses all further work in the context, so the next image gets
    // a fresh one. The networks are the only buffers left in this context.
    lost_ = lost_ || (context_ && context_->lost());
    networks_.clear();
    context_.reset();
    throw;
  }
}

std::optional<std::vector<UnfinishedSegmentation>> Stages::run(std::span<const WorkingImage> images,
                                                               const SegmentationPlan& plan,
                                                               const Watch& watch) {
  auto begun = guarded("segmenting", [&] {
    const Watched watched(opened(), watch);
    return run_all(images, plan, watch);
  });
  if (begun) {
    // All buffers of the run are free from here on.
    for (auto& each : *begun) each.result.costs.device_kept_bytes = context_->memory_kept();
  }
  return begun;
}

void Stages::work(const char* doing, const std::function<void(Context&, DeviceNetworks&)>& what) {
  guarded(doing, [&] { what(opened(), networks_); });
}

Context& Stages::opened() {
  if (lost_) {
    throw DeviceError(
        fmt::format("{} has not finished an earlier image and gets no other; run again, or on "
                    "another device (--list-devices)",
                    device_.name));
  }
  if (!context_) context_.emplace(device_.index(), kernel_dir_);
  context_->limit_memory(options.memory_limit);
  context_->on_slow_build(options.compiling);
  context_->reset_memory_peak();
  return *context_;
}

std::optional<std::vector<UnfinishedSegmentation>> Stages::run_all(
    std::span<const WorkingImage> images, const SegmentationPlan& plan, const Watch& watch) {
  Context& context = opened();
  TimedStages timed(context, watch);
  const ProgramBuilds before = context.builds();
  const bool keep = options.keep_eigenvectors || !hierarchical(plan);

  ask_for_later_kernels(context, plan.parameters);
  std::vector<MergingToCome> merging = begin_merging(images, plan.parameters);
  Boundaries boundaries = timed(
      "boundaries", [&] { return find_boundaries(context, networks_, images, merging, plan); });
  std::vector<std::vector<float>> inside = std::move(boundaries.inside);
  std::vector<Embedding> embeddings = std::move(boundaries.embeddings);
  const SpectralUse spectral = plan.parameters.contour.spectral;
  DecimatedContours decimated;
  if (decimates(plan.parameters)) {
    decimated = find_decimated_contours(context, timed, boundaries, plan, watch);
  } else if (hierarchical(plan) && spectral == SpectralUse::kNever) {
    decimated.contours = timed("contours", [&] {
      const Grid& grid = plan.batch.image;
      return contours_of(context, grid, images.size(), [&](std::size_t k) {
        return cue_contour(context, grid, strength_of(boundaries, k), plan.parameters.contour);
      });
    });
  }
  const auto leave_hierarchies = [&](std::vector<UnfinishedSegmentation>& begun,
                                     std::vector<Contours> contours) {
    for (std::size_t k = 0; k < images.size(); ++k) {
      leave_hierarchy(begun[k], std::move(contours[k]), images[k],
                      learned_merging(std::move(merging[k]), std::move(embeddings[k])), plan);
    }
  };
  if (!needs_matrix(plan.parameters)) {
    std::vector<UnfinishedSegmentation> begun =
        without_eigenvectors(std::move(decimated.spectra), images, plan);
    leave_hierarchies(begun, std::move(decimated.contours));
    note_run(begun, timed, context, before, std::move(inside));
    return begun;
  }
  Affinities affinities = timed(
      "affinity", [&] { return find_affinities(context, std::move(boundaries), images, plan); });
  const double feature_scale = affinities.feature_scale;
  if (plan.parameters.region.method == RegionMethod::kWalker) {
    std::vector<UnfinishedSegmentation> walked(1);
    walked.front() = timed("random walk", [&] {
      return find_walk(context, std::move(affinities.matrix), images.front(), plan,
                       options.keep_probabilities, watch);
    });
    walked.front().result.feature_scale = feature_scale;
    note_run(walked, timed, context, before, std::move(inside));
    return walked;
  }
  std::optional<FoundEigenvectors> found = timed("eigenvectors", [&] {
    return find_eigenvectors(context, affinities.matrix, plan, keep, watch);
  });
  if (!found) return std::nullopt;

  std::vector<UnfinishedSegmentation> begun =
      with_eigenvectors(*found, images, plan, options.keep_eigenvectors);
  for (UnfinishedSegmentation& each : begun) each.result.feature_scale = feature_scale;
  if (hierarchical(plan)) {
    affinities.matrix.free_weights();
    if (spectral == SpectralUse::kFull) {
      decimated.contours = timed(
          "contours", [&] { return find_contours(context, found->on_device, affinities, plan); });
    }
    leave_hierarchies(begun, std::move(decimated.contours));
  } else {
    found->on_device.clear();
    timed(kRegions, [&] {
      begin_direct_cuts(context, affinities.matrix, images.front(), plan, options.keep_eigenvectors,
                        begun.front(), watch);
      return true;
    });
  }
  note_run(begun, timed, context, before, std::move(inside));
  return begun;
}

}  // namespace diacut
