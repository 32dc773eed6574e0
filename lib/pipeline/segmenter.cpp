#include "diacut/segmenter.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "affinity/affinity.hpp"
#include "contour/combined_contour.hpp"
#include "contour/suppression.hpp"
#include "cues/cue.hpp"
#include "eigen/eigensolver.hpp"
#include "opencl/context.hpp"
#include "opencl/copy_elements.hpp"
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
/// What images begun together have in all: from here on more of them are no quicker.
constexpr std::int64_t kPixelsTogether = std::int64_t{1} << 22;

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
  /// An image whose work on the device is done.
  struct Begun {
    Segmentation result;
    /// What is left to do on the host, if anything.
    std::function<void(Segmentation&, const Watch&)> rest;
  };

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

  std::int64_t pixels_together() const {
    return device_.kind == DeviceKind::kCpu ? 0 : kPixelsTogether;
  }

  /// Throws as Segmenter::begin() for one image does.
  Begun begin(const ImageToSegment& asked, const Watch& watch) {
    const Image& image = *asked.image;
    check_image(image);
    check_regions(image, parameters_.region);
    const Grid grid = grid_for(image.width, image.height);
    Parameters usable = solver_that_fits(grid, parameters_, device_, memory_limit_);
    const MatrixForm form = form_that_fits(grid, usable, device_, memory_limit_);
    MatvecChoice product = product_that_fits(grid, usable, device_, memory_limit_);
    if (form == MatrixForm::kCompressed) {
      product.kind = MatvecKind::kSymmetric;
      product.storage = MatvecStorage::kHalf;
    }
    const RunPlan plan = [&] {
      Parameters planned = usable;
      planned.matvec = {product.kind, product.storage};
      return plan_run(grid, planned, form);
    }();
    check_memory(plan, grid, usable, device_, memory_limit_);
    const bool forced =
        form == MatrixForm::kCompressed && !plan_run(grid, usable).fits(device_, memory_limit_);
    std::optional<std::vector<Begun>> begun = on_device([&] {
      return run({&asked, 1}, Stack(grid), plan, usable, product, form, watch);
    });
    if (forced) {
      begun->front().result.notes.push_back(
          "the affinity matrix does not fit the device's memory beside the eigensolver: it is "
          "compressed to 16 bits");
    }
    return std::move(begun->front());
  }

  /// Images of one size, together; nothing if they cannot be.
  std::optional<std::vector<Begun>> begin(std::span<const ImageToSegment> images,
                                          const Watch& watch) {
    const Image& first = *images.front().image;
    const Grid grid = grid_for(first.width, first.height);
    const bool hierarchical = parameters_.region.method == RegionMethod::kHierarchy;
    const std::optional<Stack> stack =
        stack_for(grid, static_cast<int>(images.size()), disc_stencil(parameters_.affinity.radius),
                  eigen_parameters(parameters_));
    if (!hierarchical || !stack) return std::nullopt;
    Parameters usable = parameters_;
    usable.eigen.solver = SolverKind::kMultilevel;
    const MatvecChoice product = product_that_fits(grid, usable, device_, memory_limit_);
    usable.matvec = {product.kind, product.storage};
    const RunPlan plan = plan_run(*stack, usable);
    if (!plan.fits(device_, memory_limit_)) return std::nullopt;
    try {
      return on_device(
          [&] { return run(images, *stack, plan, usable, product, MatrixForm::kDia, watch); });
    } catch (const DeviceError&) {
      return std::nullopt;  // Fewer need less.
    } catch (const NumericalError&) {
      return std::nullopt;
    }
  }

 private:
  Context& opened() {
    if (!context_) context_.emplace(device_.index(), kernel_dir_);
    context_->limit_memory(memory_limit_);
    context_->reset_memory_peak();
    return *context_;
  }

  template <class Work>
  std::optional<std::vector<Begun>> on_device(const Work& work) {
    try {
      return with_device_errors("segmenting", work);
    } catch (const DeviceError&) {
      // After some errors a driver refuses all further work in the context: the next image gets a
      // fresh one. Every other buffer is gone by now.
      networks_.clear();
      context_.reset();
      throw;
    }
  }

  /// One image, or several of one size; nothing if several cannot go together.
  std::optional<std::vector<Begun>> run(std::span<const ImageToSegment> images, const Stack& stack,
                                        const RunPlan& plan, const Parameters& usable,
                                        const MatvecChoice& choice, MatrixForm form,
                                        const Watch& watch) {
    Context& context = opened();
    const EigenParameters eigen = eigen_parameters(usable);
    const bool hierarchical = parameters_.region.method == RegionMethod::kHierarchy;
    std::vector<Begun> begun(images.size());
    std::vector<StageTime> times;
    Stages stages(context, watch, times);
    for (std::size_t k = 0; k < images.size(); ++k) {
      begun[k].result.notes = images[k].image->notes;
      begun[k].result.device_memory = plan.uses;
    }
    if (solver_wanted(eigen.solver) != solver_wanted(parameters_.eigen.solver)) {
      begun.front().result.notes.push_back(
          "the multilevel eigensolver does not fit the device's memory: Lanczos is used, which is "
          "slower");
    }

    std::vector<Buffer<float>> cues;
    NormalisedAffinity affinity = [&] {
      std::vector<BoundaryMap> maps = stages.run("boundaries", [&] {
        std::vector<BoundaryMap> found;
        for (const ImageToSegment& each : images) {
          found.push_back(boundaries(context, each, stack.image, hierarchical, cues));
        }
        networks_.tensors().clear();  // They served all images; the rest needs the room.
        return found;
      });
      return stages.run("affinity", [&] {
        const auto affinity_of = [&](const BoundaryMap& boundary) {
          return normalise(context, boundary,
                           affinity_matrix(context, boundary, parameters_.affinity),
                           parameters_.affinity);
        };
        NormalisedAffinity result = stack.count == 1 ? affinity_of(maps.front())
                                                     : affinity_of(stacked(context, maps, stack));
        // The rest of the boundary maps dies here: nothing else that later stages read.
        for (std::size_t k = 0; hierarchical && k < maps.size(); ++k) {
          if (!cues[k]) cues[k] = std::move(maps[k].strength);
        }
        return result;
      });
    }();

    std::optional<std::vector<DeviceEigenvectors>> found = stages.run("eigenvectors", [&] {
      return find_eigenvectors(context, affinity, stack, eigen, choice, form, begun, watch);
    });
    if (!found) return std::nullopt;

    if (hierarchical) {
      affinity.matrix.values = {};
      stages.run("contours", [&] {
        for (std::size_t k = 0; k < begun.size(); ++k) {
          std::vector<float> orientation = add_contours(
              context, stack, k, (*found)[k], affinity.sqrt_degree, cues[k], begun[k].result);
          begun[k].rest = [orientation = std::move(orientation), valid = images[k].image->valid,
                           grid = stack.image, parameters = parameters_.region](
                              Segmentation& so_far, const Watch& watching) {
            add_hierarchy(so_far, orientation, valid, grid, parameters, watching);
          };
        }
        return true;
      });
    }
    found.reset();
    cues.clear();

    if (!hierarchical) {
      Segmentation& result = begun.front().result;
      result.labels = stages.run(kRegions, [&] {
        DeviceAffinityGraph graph(context, affinity.grid, affinity.stencil, affinity.matrix,
                                  affinity.sqrt_degree);
        return segment_regions(result.eigenvectors, graph, parameters_.region, result.notes, watch);
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

  /// The boundary map that the affinity is made of. Adds to `cues` the map that contours need, if
  /// that is another one.
  BoundaryMap boundaries(Context& context, const ImageToSegment& asked, const Grid& grid,
                         bool hierarchical, std::vector<Buffer<float>>& cues) {
    cues.emplace_back();
    if (hierarchical && asked.edges == nullptr && thins(parameters_.cue)) {
      CueParameters whole = parameters_.cue;
      whole.thin = false;
      cues.back() = boundary_strength(context, *asked.image, grid, whole, networks_).strength;
    }
    return boundary_strength(context, *asked.image, grid, parameters_.cue, networks_, asked.edges);
  }

  /// Frees a matrix that is to be compressed.
  std::optional<std::vector<DeviceEigenvectors>> find_eigenvectors(
      Context& context, NormalisedAffinity& affinity, const Stack& stack,
      const EigenParameters& eigen, const MatvecChoice& choice, MatrixForm form,
      std::vector<Begun>& begun, const Watch& watch) {
    std::vector<std::string> notes;
    if (!choice.note.empty()) notes.push_back(choice.note);
    std::optional<std::vector<DeviceEigenvectors>> found;
    if (stack.count > 1) {
      found = eigenvectors_of_stack(context, affinity.matrix, stack, affinity.stencil,
                                    affinity.sqrt_degree, eigen, watch);
      const auto converged = [](const DeviceEigenvectors& each) { return each.report.converged; };
      if (!found || !std::all_of(found->begin(), found->end(), converged)) return std::nullopt;
    } else {
      found.emplace();
      if (form == MatrixForm::kCompressed) {
        found->push_back(eigenvectors_compressed(context, std::move(affinity.matrix), affinity.grid,
                                                 affinity.stencil, affinity.sqrt_degree, eigen,
                                                 watch));
      } else {
        const std::unique_ptr<DeviceOperator> product =
            make_product(context, affinity.matrix, affinity.grid, affinity.stencil,
                         affinity.sqrt_degree, choice);
        found->push_back(eigenvectors(context, *product, affinity.matrix, affinity.grid,
                                      affinity.stencil, affinity.sqrt_degree, eigen, watch));
      }
      if (solver_wanted(eigen.solver) == SolverKind::kMultilevel &&
          found->front().report.solver == "lanczos") {
        notes.push_back(
            "the multilevel eigensolver cannot make this image coarser, or did not settle: Lanczos "
            "was used, which is slower");
      }
    }
    const bool kept = keep_eigenvectors_ || parameters_.region.method != RegionMethod::kHierarchy;
    for (std::size_t k = 0; k < begun.size(); ++k) {
      Segmentation& result = begun[k].result;
      const DeviceEigenvectors& own = (*found)[k];
      Buffer<float> degrees;
      result.matvec = choice.name();
      result.notes.insert(result.notes.end(), notes.begin(), notes.end());
      result.eigenvectors =
          kept
              ? to_host(own, stack.image,
                        degrees_of(context, stack, k, affinity.sqrt_degree, degrees))
              : Eigenvectors{stack.image.width, stack.image.height, own.values, {}, {}, own.report};
    }
    return found;
  }

  /// Those of one image: a copy, in `own`, if there are others.
  static const Buffer<float>& degrees_of(Context& context, const Stack& stack, std::size_t image,
                                         const Buffer<float>& sqrt_degree, Buffer<float>& own) {
    if (stack.count == 1) return sqrt_degree;
    own = context.allocate<float>(stack.image.rows(), "square roots of the degrees");
    copy_elements(sqrt_degree, image * stack.segment(), own, 0, stack.image.rows());
    return own;
  }

  /// The orientation of the contours, which regions need.
  std::vector<float> add_contours(Context& context, const Stack& stack, std::size_t image,
                                  const DeviceEigenvectors& vectors,
                                  const Buffer<float>& sqrt_degree, const Buffer<float>& cue,
                                  Segmentation& result) const {
    Buffer<float> own;
    const Buffer<float>& own_degrees = degrees_of(context, stack, image, sqrt_degree, own);
    const Buffer<float> contours =
        combined_contour(context, stack.image, vectors, own_degrees, cue, parameters_.contour);
    result.contours = without_padding(contours.download(), stack.image);
    return without_padding(boundary_orientation(context, stack.image, contours).download(),
                           stack.image);
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

std::int64_t Segmenter::pixels_together() const { return implementation_->pixels_together(); }

BegunSegmentation Segmenter::begin(const Image& image, const EdgeMap* edges, const Watch& watch) {
  Implementation::Begun done = implementation_->begin({&image, edges}, watch);
  BegunSegmentation begun;
  begun.result_ = std::move(done.result);
  begun.rest_ = std::move(done.rest);
  return begun;
}

std::vector<BegunSegmentation> Segmenter::begin(std::span<const ImageToSegment> images,
                                                const Watch& watch) {
  std::vector<BegunSegmentation> all(images.size());
  std::map<std::pair<int, int>, std::vector<std::size_t>> of_size;
  for (std::size_t k = 0; k < images.size(); ++k) {
    try {
      check_image(*images[k].image);
      check_regions(*images[k].image, parameters().region);
      of_size[{images[k].image->width, images[k].image->height}].push_back(k);
    } catch (const Error&) {
      all[k].failure_ = std::current_exception();
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [size, members] : of_size) groups.push_back(std::move(members));
  while (!groups.empty()) {
    const std::vector<std::size_t> members = std::move(groups.back());
    groups.pop_back();
    std::optional<std::vector<Implementation::Begun>> together;
    if (members.size() > 1) {
      std::vector<ImageToSegment> several;
      for (const std::size_t k : members) several.push_back(images[k]);
      together = implementation_->begin(several, watch);
      if (!together) {  // Fewer may fit, or go without the one that cannot.
        const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
        groups.emplace_back(members.begin(), half);
        groups.emplace_back(half, members.end());
        continue;
      }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      BegunSegmentation& begun = all[members[i]];
      try {
        Implementation::Begun done = together ? std::move((*together)[i])
                                              : implementation_->begin(images[members[i]], watch);
        begun.result_ = std::move(done.result);
        begun.rest_ = std::move(done.rest);
      } catch (const CancelledError&) {
        throw;
      } catch (...) {
        begun.failure_ = std::current_exception();
      }
    }
  }
  return all;
}

Segmentation Segmenter::segment(const Image& image, const Watch& watch) {
  return begin(image, nullptr, watch).finish(watch);
}

Segmentation Segmenter::segment(const Image& image, const EdgeMap& edges, const Watch& watch) {
  return begin(image, &edges, watch).finish(watch);
}

Segmentation BegunSegmentation::finish(const Watch& watch) && {
  if (failure_) std::rethrow_exception(failure_);
  if (rest_) rest_(result_, watch);
  result_.host_peak_bytes = host_peak();
  return std::move(result_);
}

}  // namespace diacut
