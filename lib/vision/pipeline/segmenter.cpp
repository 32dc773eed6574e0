#include "diacut/segmenter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
        "boundary.weights "
        "names none: use the preset nuclei (--config nuclei), or such a network (--weights "
        "nuclei)");
  }
}

class Segmenter::Implementation {
 public:
  Implementation(const Parameters& asked, const std::string& device, const std::string& kernel_dir)
      : parameters(checked(asked)), stages(device, kernel_dir) {}

  const Parameters parameters;
  Stages stages;

  /// As Segmenter::begin(), without a second computation.
  std::vector<UnfinishedSegmentation> begin_once(std::span<const ImageToSegment> images,
                                                 const Watch& watch) {
    std::vector<UnfinishedSegmentation> all(images.size());
    // The images of one working size, and their places in `images`.
    struct Group {
      std::vector<WorkingImage> images;
      std::vector<std::size_t> members;
    };
    // By width, height, and whether there is a boundary map of one's own. Images with features go
    // alone: their last number is their own.
    std::map<std::tuple<int, int, bool, std::size_t>, Group> alike;
    note_held(images);
    std::vector<std::optional<WorkingImage>> working(images.size());
    parallel_for(static_cast<int>(images.size()), [&](int index) {
      const auto k = static_cast<std::size_t>(index);
      const Image& image = *images[k].image;
      try {
        check_image(image);
        check_regions(image, parameters.region);
        working[k] = working_image(images[k], parameters);
      } catch (const Error&) {
        all[k].failure = std::current_exception();
      }
    });
    for (std::size_t k = 0; k < images.size(); ++k) {
      if (!working[k]) continue;
      const PictureSize size = working[k]->size();
      Group& group = alike[{size.width, size.height, working[k]->boundary_map != nullptr,
                            working[k]->features ? k + 1 : 0}];
      group.images.push_back(std::move(*working[k]));
      group.members.push_back(k);
    }
    for (const auto& [likeness, group] : alike) {
      std::vector<UnfinishedSegmentation> begun = begin_group(group.images, watch);
      for (std::size_t i = 0; i < group.members.size(); ++i) {
        all[group.members[i]] = std::move(begun[i]);
      }
    }
    return all;
  }

 private:
  /// Notes what the process holds before the first images are begun; what they hold does not count.
  void note_held(std::span<const ImageToSegment> images) {
    if (held_before_) return;
    std::uint64_t held = host_memory_held();
    for (const ImageToSegment& each : images) {
      const Image& image = *each.image;
      held -=
          std::min<std::uint64_t>(held, image.pixels.size() * sizeof(float) + image.valid.size());
    }
    held_before_ = held;
  }

  /// Begins working images of one size: together where they fit the device so, else in halves, down
  /// to one by one. Throws CancelledError alone: other errors are the failure of an image.
  std::vector<UnfinishedSegmentation> begin_group(std::span<const WorkingImage> images,
                                                  const Watch& watch) {
    if (images.size() == 1) {
      std::vector<UnfinishedSegmentation> only(1);
      try {
        only.front() = begin_one(images.front(), watch);
      } catch (const CancelledError&) {
        throw;
      } catch (...) {
        only.front().failure = std::current_exception();
      }
      return only;
    }
    if (auto together = begin_together(images, watch)) return std::move(*together);
    const std::size_t half = images.size() / 2;
    std::vector<UnfinishedSegmentation> begun = begin_group(images.first(half), watch);
    std::vector<UnfinishedSegmentation> others = begin_group(images.subspan(half), watch);
    std::move(others.begin(), others.end(), std::back_inserter(begun));
    return begun;
  }

  WantedResults results_of(const WorkingImage& image) const {
    WantedResults results{image.boundary_map != nullptr, stages.options.keep_eigenvectors};
    if (image.features) results.features = image.features->size();
    results.verified = stages.options.verify;
    return results;
  }

  RunParameters parameters_of(const WorkingImage& image) const {
    const PictureSize size = image.size();
    RunParameters own = working_parameters(parameters, size, image.full ? image.full->size : size,
                                           results_of(image));
    if (image.seeds) own.labels = static_cast<int>(image.seeds->values.size());
    return own;
  }

  UnfinishedSegmentation begin_one(const WorkingImage& image, const Watch& watch) {
    const PictureSize size = image.size();
    return std::move(run_first({&image, 1},
                               forms_to_try(grid_for(size.width, size.height), 1,
                                            parameters_of(image), stages.device()),
                               watch)
                         ->front());
  }

  /// Nothing if the images cannot go together: if they do not fit, or one of them fails.
  std::optional<std::vector<UnfinishedSegmentation>> begin_together(
      std::span<const WorkingImage> images, const Watch& watch) {
    // Of a hierarchy, whose parameters depend on the working size, and on whether an image has a
    // boundary map of its own: all images of a group have or none.
    const PictureSize size = images.front().size();
    const std::vector<RunForm> forms =
        forms_to_try(grid_for(size.width, size.height), static_cast<int>(images.size()),
                     parameters_of(images.front()), stages.device());
    const std::uint64_t limit = stages.options.memory_limit;
    if (forms.empty() || !device_memory(forms.front()).fits(stages.device(), limit)) {
      return std::nullopt;
    }
    try {
      return run_first(images, forms, watch);
    } catch (const DeviceError&) {
      return std::nullopt;
    } catch (const NumericalError&) {
      return std::nullopt;
    }
  }

  /// Runs the first of the forms that fits: by the table of device memory, and in fact.
  std::optional<std::vector<UnfinishedSegmentation>> run_first(std::span<const WorkingImage> images,
                                                               std::span<const RunForm> forms,
                                                               const Watch& watch) {
    for (;;) {
      const RunForm& form = first_that_fits(forms, stages.device(), stages.options.memory_limit);
      try {
        auto begun = stages.run(images, form, watch);
        if (begun) announce(form, images, *begun);
        return begun;
      } catch (const DeviceMemoryError&) {
        if (&form == &forms.back() || stages.lost()) throw;
        forms = forms.subspan(static_cast<std::size_t>(&form - forms.data()) + 1);
      }
    }
  }

  /// Adds to the results of images what was announced for all of them.
  void announce(const RunForm& form, std::span<const WorkingImage> images,
                std::vector<UnfinishedSegmentation>& begun) const {
    MemoryNeed all;
    for (const WorkingImage& each : images) {
      const PictureSize size = each.full ? each.full->size : each.size();
      const MemoryNeed one = memory_need(form, {size.width, size.height, each.image->channels},
                                         results_of(each), stages.device());
      all = {one.device_bytes, all.waiting_bytes + one.host_bytes,
             all.waiting_bytes + one.waiting_bytes};
    }
    for (UnfinishedSegmentation& each : begun) {
      each.result.costs.announced = all;
      each.result.costs.host_before_bytes = held_before_.value_or(0);
    }
  }

  std::optional<std::uint64_t> held_before_;
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

std::int64_t Segmenter::pixels_together() const {
  return device().kind == DeviceKind::kCpu ? 0 : kPixelsTogether;
}

std::int64_t Segmenter::working_pixels(const Image& image) const {
  const PictureSize size = reduced_size({image.width, image.height}, parameters().image.detail);
  return std::int64_t{size.width} * size.height;
}

BegunSegmentation Segmenter::begin(const ImageToSegment& image, const Watch& watch) {
  BegunSegmentation begun = std::move(begin({&image, 1}, watch).front());
  if (begun.failure()) std::rethrow_exception(begun.failure());
  return begun;
}

std::vector<BegunSegmentation> Segmenter::begin(std::span<const ImageToSegment> images,
                                                const Watch& watch) {
  std::vector<UnfinishedSegmentation> begun = implementation_->begin_once(images, watch);
  if (stages().options.verify) {
    stages().forget_networks();
    std::vector<UnfinishedSegmentation> again = implementation_->begin_once(images, watch);
    for (std::size_t k = 0; k < images.size(); ++k) {
      const std::exception_ptr failure = begun[k].failure ? begun[k].failure : again[k].failure;
      if (!begun[k].failure != !again[k].failure) {
        begun[k].failure = failure_of_one(failure, device().name);
      }
      begun[k].again = std::make_unique<UnfinishedSegmentation>(std::move(again[k]));
      begun[k].device = device().name;
    }
  }
  std::vector<BegunSegmentation> all(images.size());
  for (std::size_t k = 0; k < images.size(); ++k) {
    all[k].begun_ = std::make_shared<UnfinishedSegmentation>(std::move(begun[k]));
  }
  return all;
}

Segmentation Segmenter::segment(const Image& image, const Watch& watch) {
  return segment(ImageToSegment{&image}, watch);
}

Segmentation Segmenter::segment(const ImageToSegment& image, const Watch& watch) {
  return begin(image, watch).finish(watch);
}

Labels written_labels(const Segmentation& segmentation) {
  return written_labels(SeededRegions{segmentation.labels, segmentation.seed_labels});
}

namespace {

Segmentation finished(UnfinishedSegmentation& begun, const Watch& watch) {
  if (begun.failure) std::rethrow_exception(begun.failure);
  if (begun.host_work) begun.host_work(begun.result, watch);
  if (begun.again) check_same_results(begun.result, finished(*begun.again, watch), begun.device);
  begun.result.costs.host_peak_bytes = host_memory_peak();
  return std::move(begun.result);
}

}  // namespace

Segmentation BegunSegmentation::finish(const Watch& watch) && {
  return begun_ ? finished(*begun_, watch) : Segmentation();
}

std::exception_ptr BegunSegmentation::failure() const { return begun_ ? begun_->failure : nullptr; }

}  // namespace diacut
