#include "diacut/segmenter.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "boundary/boundary.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/stencil.hpp"
#include "pipeline/memory_budget.hpp"
#include "pipeline/stages.hpp"

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

/// What images begun together have in all: from here on more of them are no quicker.
constexpr std::int64_t kPixelsTogether = std::int64_t{1} << 22;

std::uint64_t host_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

/// Throws ConfigError.
Parameters checked(const Parameters& parameters) {
  validate(parameters);
  check_cue(parameters.cue);
  return parameters;
}

}  // namespace

class Segmenter::Implementation {
 public:
  Implementation(const Parameters& parameters, const std::string& device,
                 const std::string& kernel_dir)
      : parameters_(checked(parameters)), stages_(device, kernel_dir) {}

  const Parameters& parameters() const { return parameters_; }
  Stages& stages() { return stages_; }
  const Stages& stages() const { return stages_; }

  /// Throws as Segmenter::begin() for one image does.
  Begun begin(const ImageToSegment& asked, const Watch& watch) {
    const Image& image = *asked.image;
    check_image(image);
    check_regions(image, parameters_.region);
    return std::move(
        stages_.run({&asked, 1}, course_alone(grid_for(image.width, image.height)), watch)
            ->front());
  }

  /// Images of one size, together; nothing if they cannot be.
  std::optional<std::vector<Begun>> begin(std::span<const ImageToSegment> images,
                                          const Watch& watch) {
    const Image& first = *images.front().image;
    const std::optional<Course> course =
        course_together(grid_for(first.width, first.height), static_cast<int>(images.size()));
    if (!course) return std::nullopt;
    try {
      return stages_.run(images, *course, watch);
    } catch (const DeviceError&) {
      return std::nullopt;  // Fewer need less.
    } catch (const NumericalError&) {
      return std::nullopt;
    }
  }

 private:
  /// Of one image. Throws DeviceError when it fits in no way.
  Course course_alone(const Grid& grid) const {
    const DeviceInfo& device = stages_.device();
    const std::uint64_t limit = stages_.memory_limit();
    Course found(Batch(grid), solver_that_fits(grid, parameters_, device, limit));
    const Parameters& usable = found.parameters;
    found.form = form_that_fits(grid, usable, device, limit);
    found.product = product_that_fits(grid, usable, device, limit);
    if (found.form == MatrixForm::kCompressed) {
      found.product.kind = MatvecKind::kSymmetric;
      found.product.storage = MatvecStorage::kHalf;
    }
    Parameters planned = usable;
    planned.matvec = {found.product.kind, found.product.storage};
    found.budget = budget_run(grid, planned, found.form);
    check_memory(found.budget, grid, usable, device, limit);

    if (solver_wanted(eigen_parameters(usable).solver) != solver_wanted(parameters_.eigen.solver)) {
      found.notes.emplace_back(
          "the multilevel eigensolver does not fit the device's memory: Lanczos is used, which is "
          "slower");
    }
    if (found.form == MatrixForm::kCompressed && !budget_run(grid, usable).fits(device, limit)) {
      found.notes.emplace_back(
          "the affinity matrix does not fit the device's memory beside the eigensolver: it is "
          "compressed to 16 bits");
    }
    if (!found.product.note.empty()) found.notes.push_back(found.product.note);
    return found;
  }

  /// Of several images of one size; nothing if they cannot go together.
  std::optional<Course> course_together(const Grid& grid, int images) const {
    const DeviceInfo& device = stages_.device();
    const std::uint64_t limit = stages_.memory_limit();
    const std::optional<Batch> batch = batch_for(
        grid, images, disc_stencil(parameters_.affinity.radius), eigen_parameters(parameters_));
    if (parameters_.region.method != RegionMethod::kHierarchy || !batch) return std::nullopt;
    Course found(*batch, parameters_);
    found.parameters.eigen.solver = SolverKind::kMultilevel;
    found.product = product_that_fits(grid, found.parameters, device, limit);
    found.parameters.matvec = {found.product.kind, found.product.storage};
    found.budget = budget_run(*batch, found.parameters);
    if (!found.budget.fits(device, limit)) return std::nullopt;
    if (!found.product.note.empty()) found.notes.push_back(found.product.note);
    return found;
  }

  Parameters parameters_;
  Stages stages_;
};

Segmenter::Segmenter(const Parameters& parameters, const std::string& device,
                     const std::string& kernel_dir)
    : implementation_(std::make_unique<Implementation>(parameters, device, kernel_dir)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

const DeviceInfo& Segmenter::device() const { return implementation_->stages().device(); }
const Parameters& Segmenter::parameters() const { return implementation_->parameters(); }

void Segmenter::limit_device_memory(std::uint64_t bytes) {
  implementation_->stages().limit_memory(bytes);
}

void Segmenter::keep_eigenvectors(bool keep) { implementation_->stages().keep_eigenvectors(keep); }

std::int64_t Segmenter::pixels_together() const {
  return device().kind == DeviceKind::kCpu ? 0 : kPixelsTogether;
}

BegunSegmentation Segmenter::begin(const Image& image, const EdgeMap* edges, const Watch& watch) {
  Begun done = implementation_->begin({&image, edges}, watch);
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
  groups.reserve(of_size.size());
  for (auto& [size, members] : of_size) groups.push_back(std::move(members));
  while (!groups.empty()) {
    const std::vector<std::size_t> members = std::move(groups.back());
    groups.pop_back();
    std::optional<std::vector<Begun>> together;
    if (members.size() > 1) {
      std::vector<ImageToSegment> several;
      several.reserve(members.size());
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
        Begun done = together ? std::move((*together)[i])
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
