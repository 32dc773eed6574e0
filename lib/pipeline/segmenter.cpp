#include "diacut/segmenter.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "affinity/affinity.hpp"
#include "contour/combined_contour.hpp"
#include "contour/suppression.hpp"
#include "cues/cue.hpp"
#include "eigen/eigensolver.hpp"
#include "opencl/context.hpp"
#include "pipeline/run_plan.hpp"
#include "region/device_graph.hpp"
#include "region/hierarchy.hpp"
#include "region/region.hpp"
#include "sparse/dia_operator.hpp"
#include "sparse/symmetric_dia.hpp"

namespace diacut {

namespace {

std::size_t pixels_with_data(const Image& image) {
  const auto none = std::count(image.valid.begin(), image.valid.end(), std::uint8_t{0});
  return image.pixel_count() - static_cast<std::size_t>(none);
}

/// Holds the caller to the contract of Image, which the stages rely on.
void check_image(const Image& image) {
  constexpr auto kMaxPixels = std::numeric_limits<std::int32_t>::max();  // Labels are 32 bits wide.
  if (image.width < 1 || image.height < 1 || image.pixel_count() > kMaxPixels) {
    throw InputError(fmt::format("the image's size is {}x{}, expected 1 to {} pixels", image.width,
                                 image.height, kMaxPixels));
  }
  if (image.channels != 1 && image.channels != 3) {
    throw InputError(
        fmt::format("the image has {} channels, expected 1 (grey) or 3 (colour)", image.channels));
  }
  const std::size_t values = image.pixel_count() * static_cast<std::size_t>(image.channels);
  if (image.pixels.size() != values) {
    throw InputError(fmt::format("the image holds {} values, expected {}: {}x{} of {} channels",
                                 image.pixels.size(), values, image.width, image.height,
                                 image.channels));
  }
  if (!image.valid.empty() && image.valid.size() != image.pixel_count()) {
    throw InputError(fmt::format("the image's mask holds {} values, expected {} or none",
                                 image.valid.size(), image.pixel_count()));
  }
  const auto bad = std::find_if(image.pixels.begin(), image.pixels.end(),
                                [](float value) { return !(value >= 0.0f && value <= 1.0f); });
  if (bad != image.pixels.end()) {
    throw InputError(
        fmt::format("the image holds the value {}, expected values from 0 to 1", *bad));
  }
  if (pixels_with_data(image) == 0) {
    throw InputError(
        "no pixel of the image has data (all are transparent or not finite): there is nothing to "
        "segment");
  }
}

void check_regions(const Image& image, const RegionParameters& parameters) {
  const std::size_t pixels = pixels_with_data(image);
  if (static_cast<std::size_t>(parameters.regions) <= pixels) return;
  throw ConfigError(
      fmt::format("region.regions is {}, but the image of {}x{} has {} pixels with data; ask for "
                  "at most {} regions",
                  parameters.regions, image.width, image.height, pixels, pixels));
}

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Runs stages one after another, with their times and the caller's watch between them.
class Stages {
 public:
  Stages(Context& context, const Watch& watch, std::vector<StageTime>& times)
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

constexpr char kRegions[] = "regions";

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

std::uint64_t host_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

}  // namespace

class Segmenter::Implementation {
 public:
  Implementation(const Parameters& parameters, const std::string& device,
                 const std::string& kernel_dir)
      : parameters_(parameters), kernel_dir_(kernel_dir) {
    validate(parameters_);
    check_cue(parameters_.cue);
    context_.emplace(device, kernel_dir_);
    device_ = context_->info();
  }

  const Parameters& parameters() const { return parameters_; }
  const DeviceInfo& device() const { return device_; }
  void limit_memory(std::uint64_t bytes) { memory_limit_ = bytes; }
  void keep_eigenvectors(bool keep) { keep_eigenvectors_ = keep; }

  /// Sets what is left to do on the host, if anything, in `rest`.
  Segmentation begin(const Image& image, const EdgeMap* edges, const Watch& watch,
                     std::function<void(Segmentation&, const Watch&)>& rest) {
    check_image(image);
    check_regions(image, parameters_.region);
    const Grid grid = grid_for(image.width, image.height);
    Parameters usable = solver_that_fits(grid, parameters_, device_, memory_limit_);
    const MatvecChoice product = product_that_fits(grid, usable, device_, memory_limit_);
    usable.matvec = {product.kind, product.storage};
    const RunPlan plan = plan_run(grid, usable);
    check_memory(plan, grid, usable, device_, memory_limit_);
    try {
      return with_device_errors("segmenting", [&] {
        std::vector<float> orientation;
        Segmentation result =
            run(image, edges, grid, plan, eigen_parameters(usable), product, watch, orientation);
        if (parameters_.region.method == RegionMethod::kHierarchy) {
          rest = [orientation = std::move(orientation), valid = image.valid, grid,
                  parameters = parameters_.region](Segmentation& so_far, const Watch& watching) {
            add_hierarchy(so_far, orientation, valid, grid, parameters, watching);
          };
        }
        return result;
      });
    } catch (const DeviceError&) {
      // After some errors a driver refuses all further work in the context: the next image gets a
      // fresh one. Every other buffer is gone by now.
      networks_.clear();
      context_.reset();
      throw;
    }
  }

 private:
  Context& opened() {
    if (!context_) context_.emplace(device_.index(), kernel_dir_);
    context_->limit_memory(memory_limit_);
    context_->reset_memory_peak();
    return *context_;
  }

  Segmentation run(const Image& image, const EdgeMap* edges, const Grid& grid, const RunPlan& plan,
                   const EigenParameters& eigen, const MatvecChoice& choice, const Watch& watch,
                   std::vector<float>& orientation) {
    Context& context = opened();
    Segmentation result;
    Stages stages(context, watch, result.times);
    result.notes = image.notes;
    result.device_memory = plan.uses;
    if (eigen.solver != solver_wanted(parameters_.eigen.solver)) {
      result.notes.push_back(
          "the multilevel eigensolver does not fit the device's memory: Lanczos is used, which is "
          "slower");
    }

    const bool hierarchical = parameters_.region.method == RegionMethod::kHierarchy;
    const bool thinned = edges == nullptr && thins(parameters_.cue);
    Buffer<float> cue;
    NormalisedAffinity affinity = [&] {
      BoundaryMap boundary = stages.run("boundaries", [&] {
        if (hierarchical && thinned) {
          CueParameters whole = parameters_.cue;
          whole.thin = false;
          cue = boundary_strength(context, image, grid, whole, networks_).strength;
        }
        return boundary_strength(context, image, grid, parameters_.cue, networks_, edges);
      });
      NormalisedAffinity normalised = stages.run("affinity", [&] {
        return normalise(context, boundary,
                         affinity_matrix(context, boundary, parameters_.affinity),
                         parameters_.affinity);
      });
      // The rest of the boundary map dies here: nothing else that later stages read.
      if (hierarchical && !thinned) cue = std::move(boundary.strength);
      return normalised;
    }();

    DeviceEigenvectors found = stages.run("eigenvectors", [&] {
      result.matvec = choice.name();
      if (!choice.note.empty()) result.notes.push_back(choice.note);
      const std::unique_ptr<DeviceOperator> product = make_product(
          context, affinity.matrix, affinity.grid, affinity.stencil, affinity.sqrt_degree, choice);
      DeviceEigenvectors vectors =
          eigenvectors(context, *product, affinity.matrix, affinity.grid, affinity.stencil,
                       affinity.sqrt_degree, eigen, watch);
      if (eigen.solver == SolverKind::kMultilevel && vectors.report.solver == "lanczos") {
        result.notes.push_back(
            "the multilevel eigensolver cannot make this image coarser, or did not settle: Lanczos "
            "was used, which is slower");
      }
      if (keep_eigenvectors_ || !hierarchical) {
        result.eigenvectors = to_host(vectors, grid, affinity.sqrt_degree);
      } else {
        result.eigenvectors = {grid.width, grid.height, vectors.values, {}, {}, vectors.report};
      }
      return vectors;
    });

    if (hierarchical) {
      affinity.matrix.values = {};
      result.contours = stages.run("contours", [&] {
        const Buffer<float> contours =
            combined_contour(context, grid, found, affinity.sqrt_degree, cue, parameters_.contour);
        orientation =
            without_padding(boundary_orientation(context, grid, contours).download(), grid);
        return without_padding(contours.download(), grid);
      });
    }
    found.basis = {};
    cue = {};

    if (!hierarchical) {
      result.labels = stages.run(kRegions, [&] {
        DeviceAffinityGraph graph(context, grid, affinity.stencil, affinity.matrix,
                                  affinity.sqrt_degree);
        return segment_regions(result.eigenvectors, graph, parameters_.region, result.notes, watch);
      });
      if (!keep_eigenvectors_) {
        result.eigenvectors.vectors.clear();
        result.eigenvectors.sqrt_degree.clear();
      }
    }
    result.device_peak_bytes = context.memory_peak();
    return result;
  }

  Parameters parameters_;
  std::string kernel_dir_;
  DeviceInfo device_;
  std::uint64_t memory_limit_ = 0;
  bool keep_eigenvectors_ = true;
  std::optional<Context> context_;
  DeviceNetworks networks_;  // After the context, which must outlive it.
};

Segmenter::Segmenter(const Parameters& parameters, const std::string& device,
                     const std::string& kernel_dir)
    : implementation_(std::make_unique<Implementation>(parameters, device, kernel_dir)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

const DeviceInfo& Segmenter::device() const { return implementation_->device(); }
const Parameters& Segmenter::parameters() const { return implementation_->parameters(); }

void Segmenter::limit_device_memory(std::uint64_t bytes) { implementation_->limit_memory(bytes); }

void Segmenter::keep_eigenvectors(bool keep) { implementation_->keep_eigenvectors(keep); }

BegunSegmentation Segmenter::begin(const Image& image, const EdgeMap* edges, const Watch& watch) {
  BegunSegmentation begun;
  begun.result_ = implementation_->begin(image, edges, watch, begun.rest_);
  return begun;
}

Segmentation Segmenter::segment(const Image& image, const Watch& watch) {
  return begin(image, nullptr, watch).finish(watch);
}

Segmentation Segmenter::segment(const Image& image, const EdgeMap& edges, const Watch& watch) {
  return begin(image, &edges, watch).finish(watch);
}

Segmentation BegunSegmentation::finish(const Watch& watch) && {
  if (rest_) rest_(result_, watch);
  result_.host_peak_bytes = host_peak();
  return std::move(result_);
}

}  // namespace diacut
