#include "pipeline/stages.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <type_traits>
#include <utility>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "core/background.hpp"
#include "core/parallel.hpp"
#include "diacut/objects.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/resolution.hpp"
#include "eigen/solvers.hpp"
#include "image/colour.hpp"
#include "image/input_checks.hpp"
#include "image/values.hpp"
#include "matrix/normalized_matrix.hpp"
#include "pipeline/device_checks.hpp"
#include "region/affinity_graph.hpp"
#include "region/region.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/tree/merging_weights.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

namespace {

constexpr char kRegions[] = "regions";
/// The stage that places regions of a reduced image in the image itself.
constexpr char kPlacement[] = "placement";

/// Milliseconds on the wall since `start`.
double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Measures the times of stages that a device does one after another, and reports to the caller's
/// watch.
class TimedStages {
 public:
  TimedStages(Context& context, const Watch& watch) : context_(context), watch_(watch) {}

  /// Ends the stage under way and begins another one.
  void begin(const char* stage) {
    end();
    watch_.report(stage, 0);
    stage_ = stage;
    start_ = std::chrono::steady_clock::now();
    first_ = context_.mark();
  }

  /// Ends the stage under way, if there is one: waits until the device has done all of its work.
  void end() {
    if (stage_ == nullptr) return;
    const cl::Event last = context_.mark();
    context_.finish();
    StageTime& time = time_of(stage_);
    time.wall_ms += milliseconds_since(start_);
    time.device_ms += milliseconds_between(first_, last);
    watch_.report(std::exchange(stage_, nullptr), 1);
  }

  /// The times of all stages that ended, each divided by the number of images that they served.
  std::vector<StageTime> shares(std::size_t images) const {
    std::vector<StageTime> shares = times_;
    for (StageTime& time : shares) {
      time.wall_ms /= static_cast<double>(images);
      time.device_ms /= static_cast<double>(images);
    }
    return shares;
  }

 private:
  /// Where the time of a stage is added up: a stage may run twice for one image.
  StageTime& time_of(std::string_view stage) {
    for (StageTime& time : times_) {
      if (time.stage == stage) return time;
    }
    return times_.emplace_back(StageTime{std::string(stage), 0, 0});
  }

  Context& context_;
  const Watch& watch_;
  std::vector<StageTime> times_;
  const char* stage_ = nullptr;  ///< Under way; null: none is.
  std::chrono::steady_clock::time_point start_;
  cl::Event first_;
};

/// Does the work of a stage that needs no device, measures its time, and reports to the watch.
template <class Work>
void time_on_host(const char* stage, Segmentation& result, const Watch& watch, const Work& work) {
  watch.report(stage, 0);
  const auto start = std::chrono::steady_clock::now();
  work();
  result.costs.times.push_back({stage, milliseconds_since(start), 0});
  watch.report(stage, 1);
}

/// Whether regions of the image merge by probability.
bool merges_by_probability(const WorkingImage& image, const RunParameters& parameters) {
  const bool no_network = image.boundary_map != nullptr || !parameters.has_boundary();
  return makes_hierarchy(parameters) && merges_by_probability(parameters, no_network);
}

/// Whether merging by probability needs the image's embedding.
bool embeds(const WorkingImage& image, const RunParameters& parameters) {
  return image.boundary_map == nullptr && parameters.has_boundary() &&
         gives_embedding(parameters.boundary);
}

/// Features of the caller's, which are resized to a grid some channels at a time.
FeatureSource host_features(const FeatureMap& map, const Grid& grid) {
  return {map.channels, [&map, grid](int first, int count, std::size_t pitch, std::size_t offset,
                                     Buffer<float>& block) {
            const std::vector<float> planes =
                feature_planes(map, first, count, {grid.width, grid.height});
            const std::span<const float> all(planes);
            for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c) {
              block.upload(all.subspan(c * grid.rows(), grid.rows()), c * pitch + offset);
            }
          }};
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

/// Places a segmentation in the full image, if the image was reduced: a stage that needs no device.
template <class Kind>
void add_placement(Kind& result, const Grid& grid, const std::shared_ptr<const FullImage>& full,
                   const Watch& watch) {
  if (!full) return;
  time_on_host(kPlacement, result, watch, [&] { place(result, {grid.width, grid.height}, *full); });
}

/// What a person should know where a threshold leaves one region.
enum class OneRegion {
  kThreshold,  ///< What cut() says.
  kNetwork,    ///< That the network, which knows photographs, saw no boundary.
  kFlat,       ///< Nothing: the picture has one colour, which its own notes say.
};

/// What that is, as the image and what its boundaries were found by have it.
OneRegion one_region(const WorkingImage& image, const RunParameters& parameters) {
  if (is_flat(*image.image)) return OneRegion::kFlat;
  const bool network = image.boundary_map == nullptr && parameters.has_boundary() &&
                       parameters.boundary.kind == BoundaryKind::kLearned;
  return network ? OneRegion::kNetwork : OneRegion::kThreshold;
}

/// The cut of the hierarchy. Its notes are added to those of the result.
Labels cut_noting(HierarchyCut& result, const RegionParameters& parameters, OneRegion one) {
  std::vector<std::string> notes;
  Labels labels = cut(result.hierarchy, parameters, notes);
  const std::vector<Merge>& merges = result.hierarchy.merges;
  if (labels.count == 1 && parameters.regions == 0 && !merges.empty()) {
    if (one != OneRegion::kThreshold) notes.clear();
    if (one == OneRegion::kNetwork) {
      notes.push_back(fmt::format(
          "There is one region: the strongest boundary that the network sees is {:.2g}, and the "
          "threshold {:.2g}. It knows photographs: of other pictures --boundary gradient finds "
          "edges of colour; --regions divides any picture.",
          merges.back().height, parameters.threshold.value_or(result.hierarchy.threshold)));
    }
  }
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  return labels;
}

/// Fills the labels from the hierarchy: its cut, by seeds, or what of it lies inside of objects.
void cut_hierarchy(HierarchyCut& result, const RegionParameters& parameters, const Seeds* seeds,
                   OneRegion one) {
  if (auto* const seeded = dynamic_cast<SeededCut*>(&result)) {
    SeededRegions found = cut_by_seeds(result.hierarchy, *seeds, result.notes);
    seeded->seed_labels = std::move(found.seed_labels);
    result.labels = std::move(found.regions);
  } else if (auto* const objects = dynamic_cast<Objects*>(&result)) {
    std::vector<std::string> of_cut;  // Of one region, which is no news: it may be the background.
    result.labels = objects_of_regions(cut(result.hierarchy, parameters, of_cut), objects->inside,
                                       parameters, result.notes);
  } else {
    result.labels = cut_noting(result, parameters, one);
  }
}

std::unique_ptr<Segmentation> result_for(const WorkingImage& image, RegionMethod method) {
  if (method == RegionMethod::kKway) return std::make_unique<KwayCut>();
  if (method == RegionMethod::kWalker) return std::make_unique<SeedGrowth>();
  if (method == RegionMethod::kObjects) return std::make_unique<Objects>();
  if (image.cut_seeds) return std::make_unique<SeededCut>();
  return std::make_unique<HierarchyCut>();
}

/// Gives pixels with data, but for barriers, that no seed can be reached from the number after
/// those of all labels, and says how many they are.
std::size_t number_unreached(const WorkingImage& image, std::int32_t number,
                             std::vector<std::int32_t>& labels) {
  const std::vector<std::uint8_t>& walls = image.seeds->walls;
  std::size_t unreached = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0 || !image.image->has_data(i)) continue;
    if (!walls.empty() && walls[i] != 0) continue;
    labels[i] = number;
    ++unreached;
  }
  return unreached;
}

/// Labels of one image that grow from its seeds by random_walk(). Their connected parts are found
/// on the host, in the image itself, which is left to begun.host_work. `matrix`: of the image.
/// `keep`: whether the result holds probabilities. Throws as random_walk() does.
void find_walk(Context& context, NormalizedMatrix matrix, const WorkingImage& image,
               const RunForm& form, bool keep, const Watch& watch, UnfinishedSegmentation& begun) {
  const auto count = static_cast<int>(image.seeds->values.size());
  RandomWalk walk =
      random_walk(context, std::move(matrix), image.seeds->labels, count, form.parameters.walker,
                  keep, watch, image.seeds->start, form.matrix);
  check_walk(context, walk.labels, count);
  auto& result = dynamic_cast<SeedGrowth&>(*begun.result);
  result.walk = {count, walk.iterations, walk.error, walk.converged};
  result.probabilities = std::move(walk.probabilities);
  const std::size_t unreached = number_unreached(image, count + 1, walk.labels);
  if (unreached > 0) {
    result.notes.push_back(
        fmt::format("{} pixels cannot be reached from any seed: they have the label 0", unreached));
  }
  begun.host_work = [&result, labels = std::move(walk.labels), size = image.size(),
                     full = image.full, seeds = image.seeds](const Watch& watching) {
    time_on_host(kPlacement, result, watching,
                 [&] { place_walk(result, labels, size, full.get(), *seeds); });
  };
}

/// How eigenvectors are found that serve contours alone: on photographs of 481x321 pixels the
/// spectral contour correlates .998 with that of exact ones of the image's own grid.
SolverParameters rough_solver() {
  SolverParameters solver;
  solver.eigen.vectors = kContourVectors;
  solver.eigen.tolerance = 1e-3;
  solver.solved = 6000;
  return solver;
}

/// The stages of one run that need the device, in their order.
class StageRun {
 public:
  /// The arguments must outlive the run.
  StageRun(Context& context, DeviceNetworks& networks, const StageOptions& options,
           const ProgramBuilds& before, std::span<const WorkingImage> images, const RunForm& form,
           const Watch& watch)
      : context_(context),
        networks_(networks),
        options_(options),
        images_(images),
        form_(form),
        parameters_(form.parameters),
        grid_(form.batch.image),
        watch_(watch),
        before_(before),
        timed_(context, watch),
        merging_(images.size()),
        begun_(images.size()) {}

  /// The images begun. Nothing where several images cannot be solved together.
  std::optional<std::vector<UnfinishedSegmentation>> all() {
    note_images();
    begin_merging();
    find_boundaries();
    if (decimates(parameters_)) {
      if (!find_rough_contours()) return std::nullopt;
    } else if (hierarchical() && parameters_.contour_decided.spectral == SpectralUse::kNever) {
      find_boundary_contours();
    }
    if (needs_matrix(parameters_) && !solve()) return std::nullopt;
    for (std::size_t k = 0; hierarchical() && k < images_.size(); ++k) leave_hierarchy(k);
    return taken();
  }

 private:
  struct Merging {
    bool embeds = false;                  ///< Whether the image's embedding is needed too.
    std::future<LearnedMerging> learned;  ///< Not valid where regions merge by strength.
    Embedding embedding;
  };

  bool hierarchical() const { return makes_hierarchy(parameters_); }

  /// What is known before the device works.
  void note_images() {
    for (std::size_t k = 0; k < begun_.size(); ++k) {
      begun_[k].result = result_for(images_[k], parameters_.region.method);
      Segmentation& result = *begun_[k].result;
      result.notes = images_[k].image->notes;
      result.notes.insert(result.notes.end(), form_.notes.begin(), form_.notes.end());
      if (needs_matrix(parameters_)) continue;
      result.eigenvectors.width = grid_.width;
      result.eigenvectors.height = grid_.height;
      result.eigenvectors.report.converged = true;
    }
  }

  /// Begins to find the colours of all images, which takes the host no longer than the device takes
  /// for the boundaries. The results are to be asked for while the images are there.
  void begin_merging() {
    for (std::size_t k = 0; k < images_.size(); ++k) {
      if (!merges_by_probability(images_[k], parameters_)) continue;
      merging_[k].embeds = embeds(images_[k], parameters_);
      const auto find = [image = images_[k].image, &region = parameters_.region,
                         embeds = merging_[k].embeds] {
        LearnedMerging learned;
        learned.weights = load_merging_weights(region.merging_weights, embeds);
        learned.colours.channels = image->channels;
        learned.colours.values = lab_bytes(*image);
        return learned;
      };
      merging_[k].learned = in_background(find);
    }
  }

  void find_boundaries() {
    timed_.begin("boundaries");
    ask_for_kernels(context_, networks_, parameters_, images_.front().boundary_map != nullptr);
    const BoundaryParameters& boundary = parameters_.boundary;
    BoundaryParameters whole = boundary;
    whole.thin = false;
    const bool for_affinity = needs_matrix(parameters_) || decimates(parameters_);
    strengths_.resize(images_.size());
    std::vector<BoundaryInput> inputs;
    for (const WorkingImage& each : images_) {
      inputs.push_back({*each.image, each.boundary_map.get()});
    }
    if (!parameters_.has_boundary()) {
      maps_.push_back(empty_boundary_map(context_, *images_.front().image, grid_));
    } else {
      if (hierarchical() && for_affinity && !inputs.front().given && thins(boundary)) {
        auto unthinned = boundary_maps(context_, inputs, grid_, whole, networks_);
        for (std::size_t k = 0; k < unthinned.size(); ++k) {
          strengths_[k] = std::move(unthinned[k].values);
        }
      }
      maps_ = boundary_maps(context_, inputs, grid_, for_affinity ? boundary : whole, networks_,
                            merging_.front().embeds,
                            [this](double share) { watch_.report("boundaries", share); });
      check_maps();
    }
    for (std::size_t k = 0; k < images_.size(); ++k) {
      DeviceBoundary& map = maps_[k];
      const WorkingImage& each = images_[k];
      if (each.seeds && !each.seeds->walls.empty()) add_walls(map, each.seeds->walls);
      if (!for_affinity) map.valid = {};
      // On the host, since no later stage of the device reads them.
      merging_[k].embedding = DeviceEmbedding(std::move(map.embedding)).download();
      const Buffer<float> inside = std::move(map.inside);
      auto* const objects = dynamic_cast<Objects*>(begun_[k].result.get());
      if (objects != nullptr) objects->inside = inside.download();
    }
    networks_.tensors().clear();  // Later stages need their memory.
  }

  void find_boundary_contours() {
    timed_.begin("contours");
    make_contours([&](std::size_t k) {
      return boundary_contour(context_, grid_, strength_of(k), parameters_.contour_decided);
    });
  }

  /// The contours with rough eigenvectors, of the matrix of every other row and column. Where
  /// eigenvectors of the image's own grid follow, all of it is one stage. False where several
  /// images cannot be solved together.
  bool find_rough_contours() {
    const bool one_stage = needs_matrix(parameters_);
    timed_.begin(one_stage ? "contours" : "affinity");
    KeptAffinity kept = made_of_maps([&](const DeviceBoundary& map) {
      return kept_affinity(context_, form_.batch, map, parameters_.affinity);
    });
    check_computed_degrees(kept.matrix.sqrt_degree());
    if (!one_stage) timed_.begin("eigenvectors");
    std::vector<DeviceEigenvectors> found =
        eigenvectors(context_, kept.matrix, rough_solver(), one_stage ? Watch() : watch_);
    if (found.empty()) return false;
    if (!one_stage) timed_.begin("contours");
    kept.matrix.free_weights();
    make_contours([&](std::size_t k) {
      Buffer<float> copy;
      const DeviceEigenvectors at_pixels =
          interpolated(context_, kept.rows, static_cast<int>(k), found[k]);
      found[k].values = at_pixels.values;
      return combined_contour(context_, grid_, at_pixels,
                              degrees_of(context_, form_.batch, k, kept.sqrt_degree, copy),
                              strength_of(k), parameters_.contour_decided);
    });
    timed_.end();  // Before the memory of the matrix is free.
    for (std::size_t k = 0; !one_stage && k < found.size(); ++k) {
      begun_[k].result->eigenvectors = {grid_.width, grid_.height, std::move(found[k].values),
                                        {},          {},           std::move(found[k].report)};
    }
    return true;
  }

  /// What is made from the matrix. False where several images cannot be solved together.
  bool solve() {
    timed_.begin("affinity");
    find_affinities();
    if (walks(parameters_)) {
      timed_.begin("random walk");
      find_walk(context_, std::move(*matrix_), images_.front(), form_, options_.keep_probabilities,
                watch_, begun_.front());
      return true;
    }
    timed_.begin("eigenvectors");
    const std::vector<DeviceEigenvectors> found = find_eigenvectors();
    if (!hierarchical()) leave_direct_cuts();
    timed_.end();
    if (found.empty()) return false;
    if (!hierarchical()) return true;
    matrix_->free_weights();
    if (parameters_.contour_decided.spectral == SpectralUse::kFull) {
      timed_.begin("contours");
      find_contours(found);
      timed_.end();
    }
    return true;
  }

  /// Leaves the hierarchy of one image and its cut to the host.
  void leave_hierarchy(std::size_t k) {
    auto& result = dynamic_cast<HierarchyCut&>(*begun_[k].result);
    result.contours = std::move(contours_[k].strength);
    result.contour_parameters = parameters_.contour_decided;
    begun_[k].host_work = [&result, orientation = std::move(contours_[k].orientation),
                           valid = images_[k].image->valid, grid = grid_, full = images_[k].full,
                           seeds = images_[k].cut_seeds, parameters = parameters_.region,
                           learned = learned_merging(k),
                           one = one_region(images_[k], parameters_)](const Watch& watch) {
      const std::size_t stage = result.costs.times.size();
      time_on_host(kRegions, result, watch, [&] {
        result.hierarchy = hierarchy(result.contours, orientation, valid, grid.width, grid.height,
                                     parameters, learned ? &*learned : nullptr);
      });
      add_placement(result, grid, full, watch);
      const auto cut_start = std::chrono::steady_clock::now();
      cut_hierarchy(result, parameters, seeds.get(), one);
      result.costs.times[stage].wall_ms += milliseconds_since(cut_start);
    };
  }

  /// The images begun, with what the device did for them.
  std::vector<UnfinishedSegmentation> taken() {
    timed_.end();
    for (UnfinishedSegmentation& each : begun_) {
      RunCosts& costs = each.result->costs;
      costs.times = timed_.shares(begun_.size());
      costs.device_peak_bytes = context_.memory_peak();
      costs.programs_built = context_.builds().programs - before_.programs;
      costs.programs_ms = context_.builds().milliseconds - before_.milliseconds;
    }
    return std::move(begun_);
  }

  void check_maps() {
    std::vector<const Buffer<float>*> maps;
    for (std::size_t k = 0; k < maps_.size(); ++k) {
      maps.push_back(&maps_[k].values);
      for (const Buffer<float>* other : {&strengths_[k], &maps_[k].inside}) {
        if (*other) maps.push_back(other);
      }
    }
    check_computed_maps(context_, maps);
  }

  const Buffer<float>& strength_of(std::size_t k) const {
    return strengths_[k] ? strengths_[k] : maps_[k].values;
  }

  /// The contours of all images, of which make(k) gives those of image k.
  template <class Make>
  void make_contours(const Make& make) {
    std::vector<std::pair<Buffer<float>, Buffer<float>>> made;
    for (std::size_t k = 0; k < images_.size(); ++k) {
      Buffer<float> strength = make(k);
      Buffer<float> orientation = boundary_orientation(context_, grid_, strength);
      made.emplace_back(std::move(strength), std::move(orientation));
    }
    for (const auto& [strength, orientation] : made) {
      contours_.push_back({strength.download(), orientation.download()});
    }
    parallel_for(made.size(),
                 [&](std::size_t k) { check_computed_contours(context_, contours_[k]); });
  }

  /// What `make` makes of the boundary maps of all images, on one grid.
  template <class Make>
  std::invoke_result_t<Make, const DeviceBoundary&> made_of_maps(const Make& make) {
    return images_.size() == 1 ? make(maps_.front()) : make(batched(context_, maps_, form_.batch));
  }

  /// The matrix of all images. Frees everything of the boundary maps that contours do not need.
  void find_affinities() {
    const AffinityParameters& parameters = parameters_.affinity;
    const auto affinity = [&](const DeviceBoundary& map) {
      if (!parameters_.has_features()) return affinity_matrix(context_, map, parameters);
      FeatureAffinity made = feature_affinity(
          context_, map, host_features(*images_.front().features, map.grid), parameters);
      begun_.front().result->feature_scale = made.scale;
      return std::move(made.matrix);
    };
    const auto normalized = [&](const DeviceBoundary& map) {
      return normalize(context_, form_.batch, affinity(map), parameters);
    };
    matrix_.emplace(made_of_maps(normalized));
    check_computed_degrees(matrix_->sqrt_degree());
    for (std::size_t k = 0; hierarchical() && k < maps_.size(); ++k) {
      if (!strengths_[k]) strengths_[k] = std::move(maps_[k].values);
    }
    maps_.clear();
  }

  /// Empty if several images cannot be solved together. A matrix that is to be compressed is
  /// compressed on the way.
  std::vector<DeviceEigenvectors> find_eigenvectors() {
    const SolverParameters solver{parameters_.eigen, form_.product, form_.matrix};
    std::vector<DeviceEigenvectors> found = eigenvectors(context_, *matrix_, solver, watch_);
    const bool keep = options_.keep_eigenvectors || !hierarchical();
    for (std::size_t k = 0; k < found.size(); ++k) {
      const DeviceEigenvectors& one = found[k];
      check_eigenpairs(context_, one);
      Segmentation& result = *begun_[k].result;
      result.eigenvectors =
          keep ? to_host(one, *matrix_, static_cast<int>(k))
               : Eigenvectors{grid_.width, grid_.height, one.values, {}, {}, one.report};
      if (solver_wanted(parameters_.eigen.solver) == SolverKind::kMultilevel &&
          found.front().report.solver == "lanczos") {
        result.notes.emplace_back(
            "the multilevel eigensolver cannot coarsen this image, or did not converge: Lanczos "
            "was used, which is slower");
      }
      const auto note = resolution_note(one.report);
      if (options_.keep_eigenvectors && note) result.notes.push_back(*note);
    }
    return found;
  }

  void find_contours(const std::vector<DeviceEigenvectors>& found) {
    const auto make = parameters_.has_boundary() ? combined_contour : spectral_contour_alone;
    make_contours([&](std::size_t k) {
      Buffer<float> copy;
      const Buffer<float>& degrees =
          degrees_of(context_, form_.batch, k, matrix_->sqrt_degree(), copy);
      return make(context_, grid_, found[k], degrees, strengths_[k], parameters_.contour_decided);
    });
  }

  /// Leaves the direct cuts of one image to the host, and their placement.
  void leave_direct_cuts() {
    auto graph = std::make_shared<const AffinityGraph>(*matrix_);
    matrix_->free_weights();
    auto& result = dynamic_cast<KwayCut&>(*begun_.front().result);
    begun_.front().host_work = [&result, graph = std::move(graph), parameters = parameters_.region,
                                keep = options_.keep_eigenvectors, grid = grid_,
                                full = images_.front().full](const Watch& watch) {
      time_on_host(kRegions, result, watch, [&] {
        DirectCuts cuts =
            segment_regions(result.eigenvectors, *graph, parameters, result.notes, watch);
        result.labels = std::move(cuts.labels);
        result.normalized_cut = cuts.normalized_cut;
      });
      if (!keep) {
        result.eigenvectors.vectors.clear();
        result.eigenvectors.sqrt_degree.clear();
      }
      add_placement(result, grid, full, watch);
    };
  }

  /// Empty where regions merge by strength, without colours.
  std::optional<LearnedMerging> learned_merging(std::size_t k) {
    if (!merging_[k].learned.valid()) return std::nullopt;
    LearnedMerging learned = merging_[k].learned.get();
    learned.colours.embedding = std::move(merging_[k].embedding);
    return learned;
  }

  Context& context_;
  DeviceNetworks& networks_;
  const StageOptions& options_;
  std::span<const WorkingImage> images_;
  const RunForm& form_;
  const RunParameters& parameters_;
  const Grid grid_;  ///< Of one image.
  const Watch& watch_;
  const ProgramBuilds before_;  ///< What was built for earlier images.
  TimedStages timed_;
  // The vectors hold one element for each image.
  std::vector<Merging> merging_;
  std::vector<DeviceBoundary> maps_;  ///< What affinities are made from, until they are there.
  /// The maps that contours are made from. Empty buffers where the maps of affinities serve.
  std::vector<Buffer<float>> strengths_;
  std::vector<Contours> contours_;
  std::vector<UnfinishedSegmentation> begun_;
  std::optional<NormalizedMatrix> matrix_;  ///< Of all images.
};

}  // namespace

void ask_for_kernels(Context& context, DeviceNetworks& networks, const RunParameters& parameters,
                     bool own_maps) {
  const BoundaryParameters& boundary = parameters.boundary;
  if (parameters.has_boundary() && boundary.kind == BoundaryKind::kLearned && !own_maps) {
    networks.get(context, boundary.weights);
  }
  range_kernels(context);
  if (needs_matrix(parameters) && !parameters.has_features()) {
    ask_for_affinity_kernels(context, parameters.affinity);
  }
  if (!makes_hierarchy(parameters)) return;
  if (decimates(parameters)) {
    ask_for_kept_affinity_kernels(context, parameters.affinity);
    ask_for_filtered(context, affinity_stencil(parameters.affinity), rough_solver().eigen);
  }
  contour_kernels(context, parameters.contour_decided.spectral);
  orientation_kernels(context);
}

Stages::Stages(const std::string& device, const std::string& kernel_dir) : kernel_dir_(kernel_dir) {
  context_.emplace(device, kernel_dir_);
  device_ = context_->info();
}

Stages::Stages(const Stages& others) : kernel_dir_(others.kernel_dir_), device_(others.device_) {
  try {
    if (others.context_) context_.emplace(*others.context_);
  } catch (const std::exception&) {  // The first run opens it anew, and reports what fails.
  }
}

std::optional<std::vector<UnfinishedSegmentation>> Stages::run(std::span<const WorkingImage> images,
                                                               const RunForm& form,
                                                               const Watch& watch) {
  std::optional<std::vector<UnfinishedSegmentation>> begun;
  work("segmenting", [&](Context& context, DeviceNetworks& networks) {
    const Watched watched(context, watch);
    const ProgramBuilds before =
        std::exchange(before_prepared_, std::nullopt).value_or(context.builds());
    begun = StageRun(context, networks, options, before, images, form, watch).all();
  });
  return begun;
}

std::uint64_t Stages::keep_main_memory(std::uint64_t bytes) {
  std::uint64_t kept = 0;
  work("returning memory", [&](Context& context, DeviceNetworks&) {
    context.keep_main_memory(bytes);
    kept = context.memory_kept();
  });
  return kept;
}

void Stages::prepare(const RunForm& form) {
  work("building kernels", [&](Context& context, DeviceNetworks& networks) {
    if (!before_prepared_) before_prepared_ = context.builds();
    ask_for_kernels(context, networks, form.parameters, false);
    context.build_waiting();
  });
}

void Stages::work(const char* doing, const std::function<void(Context&, DeviceNetworks&)>& what) {
  try {
    with_device_errors(doing, [&] { what(opened(), networks_); });
  } catch (const DeviceError&) {
    // After some errors a driver refuses all further work in the context, so the next image gets
    // a fresh one. The networks are the only buffers left in this context.
    lost_ = lost_ || (context_ && context_->lost());
    networks_.clear();
    before_prepared_.reset();
    context_.reset();
    throw;
  }
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

}  // namespace diacut
