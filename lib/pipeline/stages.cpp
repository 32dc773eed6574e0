#include "pipeline/stages.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "affinity/affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/combined_contour.hpp"
#include "contour/suppression.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/copy_elements.hpp"
#include "region/device_graph.hpp"
#include "region/hierarchy.hpp"
#include "region/region.hpp"

namespace diacut {

namespace {

constexpr char kRegions[] = "regions";

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Runs stages one after another, with their times and the caller's watch between them.
class TimedStages {
 public:
  TimedStages(Context& context, const Watch& watch, std::vector<StageTime>& times)
      : context_(context), watch_(watch), times_(times) {}

  template <class Work>
  auto run(std::string_view stage, Work&& work) {
    watch_.report(stage, 0);
    const Clock::time_point start = Clock::now();
    const cl::Event first = context_.mark();
    auto result = std::forward<Work>(work)();
    const cl::Event last = context_.mark();
    context_.finish();
    times_.push_back(
        {std::string(stage), milliseconds_since(start), milliseconds_between(first, last)});
    watch_.report(stage, 1);
    return result;
  }

 private:
  Context& context_;
  const Watch& watch_;
  std::vector<StageTime>& times_;
};

Labels cut_as_asked(const Hierarchy& hierarchy, const RegionParameters& parameters,
                    std::vector<std::string>& notes) {
  if (parameters.regions > 0) return cut_to_count(hierarchy, parameters.regions, notes);
  return cut(hierarchy, hierarchy.threshold);
}

/// The regions of a hierarchy: a stage that needs no device. `orientation` is the contours'.
void add_hierarchy(Segmentation& result, const std::vector<float>& orientation,
                   const std::vector<std::uint8_t>& valid, const Grid& grid,
                   const RegionParameters& parameters, const Watch& watch) {
  watch.report(kRegions, 0);
  const Clock::time_point start = Clock::now();
  result.hierarchy =
      hierarchy(result.contours, orientation, valid, grid.width, grid.height, parameters);
  result.labels = cut_as_asked(*result.hierarchy, parameters, result.notes);
  result.times.push_back({kRegions, milliseconds_since(start), 0});
  watch.report(kRegions, 1);
}

bool hierarchical(const Course& course) {
  return course.parameters.region.method == RegionMethod::kHierarchy;
}

/// The degrees of one image: a copy, in `own`, if there are others.
const Buffer<float>& degrees_of(Context& context, const Batch& batch, std::size_t image,
                                const Buffer<float>& sqrt_degree, Buffer<float>& own) {
  if (batch.count == 1) return sqrt_degree;
  own = context.allocate<float>(batch.image.rows(), "square roots of the degrees");
  copy_elements(sqrt_degree, image * batch.segment(), own, 0, batch.image.rows());
  return own;
}

/// Frees a matrix that is to be compressed.
std::optional<std::vector<DeviceEigenvectors>> find_eigenvectors(Context& context,
                                                                 NormalizedAffinity& affinity,
                                                                 const Course& course, bool keep,
                                                                 std::vector<Begun>& begun,
                                                                 const Watch& watch) {
  const Batch& batch = course.batch;
  const EigenParameters eigen = eigen_parameters(course.parameters);
  std::optional<std::vector<DeviceEigenvectors>> found;
  if (batch.count > 1) {
    found = eigenvectors_of_batch(context, affinity.matrix, batch, affinity.stencil,
                                  affinity.sqrt_degree, eigen, watch);
    const auto converged = [](const DeviceEigenvectors& each) { return each.report.converged; };
    if (!found || !std::all_of(found->begin(), found->end(), converged)) return std::nullopt;
  } else {
    found.emplace();
    if (course.form == MatrixForm::kCompressed) {
      found->push_back(eigenvectors_compressed(context, std::move(affinity.matrix), affinity.grid,
                                               affinity.stencil, affinity.sqrt_degree, eigen,
                                               watch));
    } else {
      const std::unique_ptr<DeviceOperator> product =
          make_product(context, affinity.matrix, affinity.grid, affinity.stencil,
                       affinity.sqrt_degree, course.product);
      found->push_back(eigenvectors(context, *product, affinity.matrix, affinity.grid,
                                    affinity.stencil, affinity.sqrt_degree, eigen, watch));
    }
    if (solver_wanted(eigen.solver) == SolverKind::kMultilevel &&
        found->front().report.solver == "lanczos") {
      begun.front().result.notes.push_back(
          "the multilevel eigensolver cannot make this image coarser, or did not settle: Lanczos "
          "was used, which is slower");
    }
  }
  for (std::size_t k = 0; k < begun.size(); ++k) {
    Segmentation& result = begun[k].result;
    const DeviceEigenvectors& own = (*found)[k];
    Buffer<float> degrees;
    result.matvec = course.product.name();
    result.eigenvectors =
        keep ? to_host(own, batch.image,
                       degrees_of(context, batch, k, affinity.sqrt_degree, degrees))
             : Eigenvectors{batch.image.width, batch.image.height, own.values, {}, {}, own.report};
  }
  return found;
}

/// Returns the orientation of the contours, which regions need.
std::vector<float> add_contours(Context& context, const Batch& batch, std::size_t image,
                                const DeviceEigenvectors& vectors, const Buffer<float>& sqrt_degree,
                                const Buffer<float>& cue, const ContourParameters& parameters,
                                Segmentation& result) {
  Buffer<float> own;
  const Buffer<float>& own_degrees = degrees_of(context, batch, image, sqrt_degree, own);
  const Buffer<float> contours =
      combined_contour(context, batch.image, vectors, own_degrees, cue, parameters);
  result.contours = without_padding(contours.download(), batch.image);
  return without_padding(boundary_orientation(context, batch.image, contours).download(),
                         batch.image);
}

}  // namespace

Stages::Stages(const std::string& device, const std::string& kernel_dir) : kernel_dir_(kernel_dir) {
  context_.emplace(device, kernel_dir_);
  device_ = context_->info();
}

std::optional<std::vector<Begun>> Stages::run(std::span<const ImageToSegment> images,
                                              const Course& course, const Watch& watch) {
  try {
    auto begun = with_device_errors("segmenting", [&] { return run_all(images, course, watch); });
    if (begun) {
      // Only now all buffers of the run are free.
      for (Begun& each : *begun) each.result.device_kept_bytes = context_->memory_kept();
    }
    return begun;
  } catch (const DeviceError&) {
    // After some errors a driver refuses all further work in the context: the next image gets a
    // fresh one. Every other buffer is gone by now.
    networks_.clear();
    context_.reset();
    throw;
  }
}

Context& Stages::opened() {
  if (!context_) context_.emplace(device_.index(), kernel_dir_);
  context_->limit_memory(memory_limit_);
  context_->reset_memory_peak();
  return *context_;
}

std::optional<std::vector<Begun>> Stages::run_all(std::span<const ImageToSegment> images,
                                                  const Course& course, const Watch& watch) {
  Context& context = opened();
  const Batch& batch = course.batch;
  const Parameters& parameters = course.parameters;
  std::vector<Begun> begun(images.size());
  std::vector<StageTime> times;
  TimedStages stages(context, watch, times);
  for (std::size_t k = 0; k < images.size(); ++k) {
    Segmentation& result = begun[k].result;
    result.notes = images[k].image->notes;
    result.notes.insert(result.notes.end(), course.notes.begin(), course.notes.end());
    result.device_memory = course.budget.uses;
  }

  std::vector<Buffer<float>> cues;
  NormalizedAffinity affinity = [&] {
    std::vector<BoundaryMap> maps = stages.run("boundaries", [&] {
      std::vector<BoundaryMap> found;
      for (const ImageToSegment& each : images) {
        found.push_back(boundaries(context, each, course, cues));
      }
      networks_.tensors().clear();  // They served all images; the rest needs the room.
      return found;
    });
    return stages.run("affinity", [&] {
      const auto affinity_of = [&](const BoundaryMap& boundary) {
        return normalize(context, boundary, affinity_matrix(context, boundary, parameters.affinity),
                         parameters.affinity);
      };
      NormalizedAffinity result =
          batch.count == 1 ? affinity_of(maps.front()) : affinity_of(batched(context, maps, batch));
      // The rest of the boundary maps dies here: nothing else that later stages read.
      for (std::size_t k = 0; hierarchical(course) && k < maps.size(); ++k) {
        if (!cues[k]) cues[k] = std::move(maps[k].values);
      }
      return result;
    });
  }();

  std::optional<std::vector<DeviceEigenvectors>> found = stages.run("eigenvectors", [&] {
    const bool keep = keep_eigenvectors_ || !hierarchical(course);
    return find_eigenvectors(context, affinity, course, keep, begun, watch);
  });
  if (!found) return std::nullopt;

  if (hierarchical(course)) {
    affinity.matrix.values = {};
    stages.run("contours", [&] {
      for (std::size_t k = 0; k < begun.size(); ++k) {
        std::vector<float> orientation =
            add_contours(context, batch, k, (*found)[k], affinity.sqrt_degree, cues[k],
                         parameters.contour, begun[k].result);
        begun[k].rest = [orientation = std::move(orientation), valid = images[k].image->valid,
                         grid = batch.image,
                         region = parameters.region](Segmentation& so_far, const Watch& watching) {
          add_hierarchy(so_far, orientation, valid, grid, region, watching);
        };
      }
      return true;
    });
  }
  found.reset();
  cues.clear();

  if (!hierarchical(course)) {
    Segmentation& result = begun.front().result;
    result.labels = stages.run(kRegions, [&] {
      DeviceAffinityGraph graph(context, affinity.grid, affinity.stencil, affinity.matrix,
                                affinity.sqrt_degree);
      return segment_regions(result.eigenvectors, graph, parameters.region, result.notes, watch);
    });
    if (!keep_eigenvectors_) {
      result.eigenvectors.vectors.clear();
      result.eigenvectors.sqrt_degree.clear();
    }
  }
  const auto images_in_all = static_cast<double>(images.size());
  for (StageTime& time : times) {
    time.wall_ms /= images_in_all;
    time.device_ms /= images_in_all;
  }
  for (Begun& each : begun) {
    each.result.times = times;
    each.result.device_peak_bytes = context.memory_peak();
  }
  return begun;
}

BoundaryMap Stages::boundaries(Context& context, const ImageToSegment& asked, const Course& course,
                               std::vector<Buffer<float>>& cues) {
  const Grid& grid = course.batch.image;
  const CueParameters& cue = course.parameters.cue;
  cues.emplace_back();
  if (hierarchical(course) && asked.edges == nullptr && thins(cue)) {
    CueParameters whole = cue;
    whole.thin = false;
    cues.back() = boundary_map(context, *asked.image, grid, whole, networks_).values;
  }
  return boundary_map(context, *asked.image, grid, cue, networks_, asked.edges);
}

}  // namespace diacut
