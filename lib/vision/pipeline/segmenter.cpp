#include "diacut/segmenter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "boundary/boundary.hpp"
#include "core/host_memory.hpp"
#include "core/parallel.hpp"
#include "core/unit_range.hpp"
#include "image/resize.hpp"
#include "pipeline/device_checks.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"
#include "region/tree/merging_weights.hpp"

namespace diacut {

namespace {

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
  if (const auto bad = value_outside_unit_range(image.pixels)) {
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

/// The failure of an image of whose two segmentations one failed of `failure`.
std::exception_ptr failure_of_one(const std::exception_ptr& failure, const std::string& device) {
  try {
    std::rethrow_exception(failure);
  } catch (const NumericalError& error) {
    return std::make_exception_ptr(DeviceError(
        fmt::format("{} computed the image twice, and failed once ({}): the device or its driver "
                    "fails; run again, or on another device (--list-devices)",
                    device, error.what())));
  } catch (...) {
    return failure;
  }
}

/// Pixels of all images that are begun together. More of them would be no faster.
constexpr std::int64_t kPixelsTogether = std::int64_t{1} << 22;

/// The parameters. Throws as check_parameters() does.
const Parameters& checked(const Parameters& parameters) {
  check_parameters(parameters);
  return parameters;
}

/// The only one of these. Throws what the work on the device failed of.
BegunSegmentation only(std::vector<BegunSegmentation> begun) {
  if (begun.front().failure()) std::rethrow_exception(begun.front().failure());
  return std::move(begun.front());
}

std::unique_ptr<Segmentation> finished(UnfinishedSegmentation& begun, const Watch& watch) {
  if (begun.failure) std::rethrow_exception(begun.failure);
  begun.host_work(watch);
  if (begun.again) check_same_results(*begun.result, *finished(*begun.again, watch), begun.device);
  begun.result->costs.host_peak_bytes = host_memory_peak();
  return std::move(begun.result);
}

}  // namespace

void check_parameters(const Parameters& parameters) {
  validate(parameters);
  check_boundary(parameters.boundary);
  if (merges_by_probability(parameters, false)) {
    load_merging_weights(parameters.region.merging_weights, gives_embedding(parameters.boundary));
  }
  if (parameters.region.method == RegionMethod::kObjects && !gives_inside(parameters.boundary)) {
    throw ConfigError(
        "region.method objects needs a network that finds the inside of objects, and "
        "boundary.weights names none: use the preset nuclei (--config nuclei), or such a network "
        "(--weights nuclei)");
  }
}

class Segmenter::Implementation {
 public:
  Implementation(const Parameters& asked, const std::string& device, const std::string& kernel_dir)
      : parameters(checked(asked)), stages(device, kernel_dir) {}

  const Parameters parameters;
  Stages stages;

  /// The result of one image by a method, which is of this type.
  template <class Kind, class Asked>
  Kind result(const Asked& image, RegionMethod method, const Watch& watch) {
    BegunSegmentation begun = only(begin(std::span(&image, 1), method, watch));
    return std::move(dynamic_cast<Kind&>(*std::move(begun).finish(watch)));
  }

  /// As Segmenter::prepare(): kernels depend little on the size of an image.
  void prepare() {
    const PictureSize size = reduced_size({481, 321}, parameters.image.detail);
    WantedResults results;
    results.eigenvectors = stages.options.keep_eigenvectors;
    const std::vector<RunForm> forms =
        forms_to_try(Grid{size.width, size.height}, 1,
                     working_parameters(parameters, size, size, results), stages.device());
    stages.prepare(first_that_fits(forms, stages.device(), stages.options.memory_limit));
  }

  /// As Segmenter::begin() by this method.
  template <class Asked>
  std::vector<BegunSegmentation> begin(std::span<const Asked> images, RegionMethod method,
                                       const Watch& watch) {
    Parameters own = parameters;
    own.region.method = method;
    if (method != parameters.region.method) check_parameters(own);
    note_held(images);
    std::vector<BegunSegmentation> all(images.size());
    std::vector<Group> groups = groups_of(images, own, all);
    begin_groups(own, groups, watch);
    if (!stages.options.verify) return all;
    stages.forget_networks();
    for (Group& group : groups) {
      const std::vector<UnfinishedSegmentation*> first = group.begun;
      for (UnfinishedSegmentation*& each : group.begun) {
        each->again = std::make_unique<UnfinishedSegmentation>();
        each = each->again.get();
      }
      begin_group(stages, own, group.part(), watch);
      for (UnfinishedSegmentation* const each : first) {
        each->device = stages.device().name;
        const std::exception_ptr failure = each->failure ? each->failure : each->again->failure;
        if (!each->failure == !each->again->failure) continue;
        each->failure = failure_of_one(failure, each->device);
      }
    }
    return all;
  }

 private:
  /// Images of one working size, and the segmentations that they begin.
  struct Part {
    std::span<const WorkingImage> images;
    std::span<UnfinishedSegmentation* const> begun;

    std::vector<Part> halves() const {
      const std::size_t half = images.size() / 2;
      return {{images.first(half), begun.first(half)}, {images.subspan(half), begun.subspan(half)}};
    }
  };
  struct Group {
    std::vector<WorkingImage> images;
    std::vector<UnfinishedSegmentation*> begun;

    Part part() const { return {images, begun}; }
  };

  /// The images that may go together. Those that cannot be segmented have their failure in `all`.
  template <class Asked>
  static std::vector<Group> groups_of(std::span<const Asked> images, const Parameters& own,
                                      std::vector<BegunSegmentation>& all) {
    std::vector<std::optional<WorkingImage>> working(images.size());
    parallel_for(images.size(), [&](std::size_t k) {
      all[k].begun_ = std::make_shared<UnfinishedSegmentation>();
      try {
        check_image(*images[k].image);
        check_regions(*images[k].image, own.region);
        working[k] = working_image(images[k], own);
      } catch (const Error&) {
        all[k].begun_->failure = std::current_exception();
      }
    });
    // By width, height, and whether there is a boundary map of one's own. Images with features go
    // alone: their last number is their own.
    std::map<std::tuple<int, int, bool, std::size_t>, Group> alike;
    for (std::size_t k = 0; k < images.size(); ++k) {
      if (!working[k]) continue;
      const PictureSize size = working[k]->size();
      Group& group = alike[{size.width, size.height, working[k]->boundary_map != nullptr,
                            working[k]->features ? k + 1 : 0}];
      group.images.push_back(std::move(*working[k]));
      group.begun.push_back(all[k].begun_.get());
    }
    std::vector<Group> groups;
    for (auto& [likeness, group] : alike) groups.push_back(std::move(group));
    return groups;
  }

  /// Notes what the process holds before the first images are begun; what they hold does not count.
  template <class Asked>
  void note_held(std::span<const Asked> images) {
    if (held_before_) return;
    std::uint64_t held = host_memory_held();
    for (const ImageToSegment& each : images) {
      const Image& image = *each.image;
      held -=
          std::min<std::uint64_t>(held, image.pixels.size() * sizeof(float) + image.valid.size());
    }
    held_before_ = held;
  }

  /// Begins groups. On a GPU with room for any two of them, or for the halves of the only one, two
  /// threads take one after the other: one has the device work while the other computes.
  void begin_groups(const Parameters& own, const std::vector<Group>& groups, const Watch& watch) {
    std::vector<Part> parts;
    for (const Group& group : groups) parts.push_back(group.part());
    if (parts.size() == 1 && parts.front().images.size() > 1) parts = parts.front().halves();
    std::atomic<std::size_t> next = 0;
    const auto begin = [&](Stages& on, const Watch& watched) {
      for (std::size_t k = next++; k < parts.size(); k = next++) {
        begin_group(on, own, parts[k], watched);
      }
    };
    const bool two = stages.device().kind != DeviceKind::kCpu && parts.size() > 1 &&
                     std::all_of(parts.begin(), parts.end(),
                                 [&](const Part& part) { return fits_twice(own, part); });
    if (!two) {
      for (const Group& group : groups) begin_group(stages, own, group.part(), watch);
      return;
    }
    if (!beside_) beside_.emplace(stages);
    beside_->options = stages.options;
    beside_->options.compiling = {};  // The caller hears of it in this thread alone.
    auto other = std::async(std::launch::async, [&] { begin(*beside_, {{}, watch.cancel}); });
    begin(stages, watch);
    other.get();
  }

  /// Whether two parts like this one fit the device by the table of device memory.
  bool fits_twice(const Parameters& own, const Part& part) const {
    const std::uint64_t limit = stages.options.memory_limit;
    const std::uint64_t half = (limit != 0 ? limit : stages.device().global_memory) / 2;
    try {
      const std::vector<RunForm> forms = forms_of(own, part.images);
      return !forms.empty() && device_memory(forms.front()).fits(stages.device(), half);
    } catch (const Error&) {  // Of an image of the part, for which it is reported later.
      return false;
    }
  }

  /// Begins working images of one size: together, by the first form that fits the device by the
  /// table of device memory and in fact, else in halves, down to one by one. Throws CancelledError
  /// alone: other errors are the failure of an image.
  void begin_group(Stages& on, const Parameters& own, const Part& part, const Watch& watch) {
    const auto& [images, begun] = part;
    const bool alone = images.size() == 1;
    const std::uint64_t limit = on.options.memory_limit;
    try {
      const std::vector<RunForm> forms = forms_of(own, images);
      std::span<const RunForm> left = forms;
      while (alone || (!left.empty() && device_memory(left.front()).fits(on.device(), limit))) {
        const RunForm& form = first_that_fits(left, on.device(), limit);
        left = left.subspan(static_cast<std::size_t>(&form - left.data()) + 1);
        try {
          auto found = on.run(images, form, watch);
          if (!found) break;
          note_memory(on, form, images, *found);
          for (std::size_t k = 0; k < begun.size(); ++k) *begun[k] = std::move((*found)[k]);
          return;
        } catch (const DeviceMemoryError&) {
          if (left.empty() || on.lost()) throw;
        }
      }
    } catch (const CancelledError&) {
      throw;
    } catch (...) {
      if (alone) begun.front()->failure = std::current_exception();
    }
    if (alone) return;
    for (const Part& half : part.halves()) begin_group(on, own, half, watch);
  }

  WantedResults results_of(const WorkingImage& image) const {
    WantedResults results{image.boundary_map != nullptr, stages.options.keep_eigenvectors};
    if (image.features) results.features = image.features->size();
    results.verified = stages.options.verify;
    return results;
  }

  /// The forms in which the images can be segmented together: all have one working size, and a
  /// boundary map of their own, or none.
  std::vector<RunForm> forms_of(const Parameters& own, std::span<const WorkingImage> images) const {
    const WorkingImage& first = images.front();
    const PictureSize size = first.size();
    RunParameters run =
        working_parameters(own, size, first.full ? first.full->size : size, results_of(first));
    if (first.seeds) run.labels = static_cast<int>(first.seeds->values.size());
    return forms_to_try(Grid{size.width, size.height}, static_cast<int>(images.size()), run,
                        stages.device());
  }

  /// Adds to the results of images the memory that was announced for all of them, and that is kept.
  /// Of the main memory that their buffers took, that is little, and no more than they take less
  /// from here on.
  void note_memory(Stages& on, const RunForm& form, std::span<const WorkingImage> images,
                   std::vector<UnfinishedSegmentation>& begun) const {
    MemoryNeed all;
    for (const WorkingImage& each : images) {
      const PictureSize size = each.full ? each.full->size : each.size();
      const MemoryNeed one =
          memory_need(form, {size.width, size.height, each.image->channels}, results_of(each));
      all = {one.device_bytes, all.waiting_bytes + one.host_bytes,
             all.waiting_bytes + one.waiting_bytes};
    }
    constexpr std::uint64_t kLittle = std::uint64_t{128} << 20;
    const std::uint64_t less = all.host_bytes - all.waiting_bytes;
    const std::uint64_t kept =
        on.keep_main_memory(std::min(kLittle, less - std::min(less, kKernelsOnCpu)));
    for (UnfinishedSegmentation& each : begun) {
      each.result->costs.announced = all;
      each.result->costs.device_kept_bytes = kept;
      each.result->costs.host_before_bytes = held_before_.value_or(0);
    }
  }

  std::optional<std::uint64_t> held_before_;
  std::optional<Stages> beside_;  ///< On the same device.
};

Segmenter::Segmenter(const Parameters& parameters, const std::string& device,
                     const std::string& kernel_dir)
    : implementation_(std::make_unique<Implementation>(parameters, device, kernel_dir)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

Stages& Segmenter::stages() { return implementation_->stages; }
const DeviceInfo& Segmenter::device() const { return implementation_->stages.device(); }
const Parameters& Segmenter::parameters() const { return implementation_->parameters; }

void Segmenter::limit_device_memory(std::uint64_t bytes) { stages().options.memory_limit = bytes; }

void Segmenter::keep_eigenvectors(bool keep) { stages().options.keep_eigenvectors = keep; }

void Segmenter::keep_probabilities(bool keep) { stages().options.keep_probabilities = keep; }

void Segmenter::verify_results(bool verify) { stages().options.verify = verify; }

void Segmenter::on_compiling(std::function<void()> tell) {
  stages().options.compiling = std::move(tell);
}

void Segmenter::prepare() { implementation_->prepare(); }

std::int64_t Segmenter::pixels_together() const {
  return device().kind == DeviceKind::kCpu ? 0 : kPixelsTogether;
}

std::int64_t Segmenter::working_pixels(const Image& image) const {
  const PictureSize size = reduced_size({image.width, image.height}, parameters().image.detail);
  return std::int64_t{size.width} * size.height;
}

BegunSegmentation Segmenter::begin(const ImageToSegment& image, const Watch& watch) {
  return only(begin({&image, 1}, watch));
}

BegunSegmentation Segmenter::begin(const SeededImage& image, const Watch& watch) {
  return only(begin({&image, 1}, watch));
}

std::vector<BegunSegmentation> Segmenter::begin(std::span<const ImageToSegment> images,
                                                const Watch& watch) {
  return implementation_->begin(images, parameters().region.method, watch);
}

std::vector<BegunSegmentation> Segmenter::begin(std::span<const SeededImage> images,
                                                const Watch& watch) {
  return implementation_->begin(images, parameters().region.method, watch);
}

HierarchyCut Segmenter::segment(const ImageToSegment& image, const Watch& watch) {
  return implementation_->result<HierarchyCut>(image, RegionMethod::kHierarchy, watch);
}

Objects Segmenter::find_objects(const Image& image, const Watch& watch) {
  return implementation_->result<Objects>(ImageToSegment(image), RegionMethod::kObjects, watch);
}

KwayCut Segmenter::cut(const ImageToSegment& image, const Watch& watch) {
  return implementation_->result<KwayCut>(image, RegionMethod::kKway, watch);
}

SeedGrowth Segmenter::grow(const SeededImage& image, const Watch& watch) {
  return implementation_->result<SeedGrowth>(image, RegionMethod::kWalker, watch);
}

std::unique_ptr<Segmentation> BegunSegmentation::finish(const Watch& watch) && {
  return begun_ ? finished(*begun_, watch) : std::make_unique<Segmentation>();
}

std::exception_ptr BegunSegmentation::failure() const { return begun_ ? begun_->failure : nullptr; }

}  // namespace diacut
