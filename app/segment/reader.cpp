#include "reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/background.hpp"
#include "diacut/errors.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "stopwatch.hpp"

namespace diacut::app {

namespace {

/// Throws InputError where a sidecar is not there.
void require(const SidecarInfo& info, const std::string& file) {
  if (file.empty() || exists(file)) return;
  std::vector<std::string> extensions = extensions_in(info.extensions);
  const std::string last = extensions.back();
  extensions.pop_back();
  throw InputError(fmt::format(
      "{}: there is no file '{}' (in a folder with {}{}{} behind the image's name)", info.option,
      file, fmt::join(extensions, ", "), extensions.empty() ? "" : " or ", last));
}

/// Reports that small regions of a large scene are not looked for. Of pictures nobody expects them,
/// and who names a size knows.
void note_reduction(const ImageParameters& parameters, Image& image) {
  if (parameters.detail != ImageParameters().detail) return;
  if (std::max(image.width, image.height) <= parameters.detail) return;
  image.notes.push_back(fmt::format(
      "The scene is segmented as a photograph is: reduced to a longer side of {} pixels, "
      "with regions of at least a thousandth of it. For fields and houses there is "
      "--config scene.",
      parameters.detail));
}

/// Names the presets for microscopes where the file is from one, and the parameters are not theirs.
void note_microscope(const ImageParameters& parameters, const PictureFacts& facts, Image& image) {
  if (parameters.detail != ImageParameters().detail || facts.pixel.unit != "um") return;
  image.notes.emplace_back(
      "The file tells the size of its pixels, as microscopes write it: --config nuclei finds "
      "nuclei, "
      "--config micrographs other things whose size is in pixels.");
}

/// Reads a picture from standard input. What it holds beside the picture is lost.
Image read_standard_input(const ImageFile& file, const ImageParameters& parameters,
                          const ImagePart& part, const SizeCheck& accepts) {
  Image image = file.read(parameters, part, accepts);
  if (is_map(file.bytes())) {
    image.notes.emplace_back(
        "It was read as a picture, without its coordinates: a scene is read from a file, not from "
        "standard input.");
  }
  return image;
}

/// Reads labels that are corrected by seeds.
Correction correction_of(const std::string& path, const ImageParameters& parameters,
                         const LoadedImage& loaded, std::optional<Seeds>& seeds) {
  Correction correction{read_label_image(path, parameters, {.image = loaded.job->name}), {}};
  const Image& image = loaded.image;
  Labels& labels = correction.labels.labels;
  lay_on(loaded.frame, path, labels.width, labels.height, labels.values);
  if (labels.width != image.width || labels.height != image.height) {
    throw InputError(
        fmt::format("--correct: '{}' has {} x {} pixels, the image {} x {}: give the "
                    "labels of this image",
                    path, labels.width, labels.height, image.width, image.height));
  }
  if (!seeds) {
    seeds = {image.width, image.height, std::vector<std::int32_t>(labels.values.size(), 0)};
  }
  const std::vector<std::int32_t> valid(image.valid.begin(), image.valid.end());
  take_marks(correction, fmt::format("--correct: '{}'", path), valid, seeds);
  return correction;
}

/// Reads the image, from `file` if there is one, and sees whether its regions can be written as
/// polygons, if they are to be.
void read_picture(const Job& job, const ImageFile* file, const ImageParameters& parameters,
                  const SizeCheck& accepts, LoadedImage& loaded) {
  if (job.map) {
    Map map = read_map(job.input, parameters, job.bands, accepts);
    loaded.image = std::move(map.image);
    note_reduction(parameters, loaded.image);
    loaded.frame = std::move(map.frame);
  } else if (job.input == "-") {
    loaded.image = read_standard_input(file != nullptr ? *file : ImageFile("-"), parameters,
                                       job.part, accepts);
  } else {
    loaded.image = file != nullptr ? file->read(parameters, job.part, accepts)
                                   : read_image(job.input, parameters, job.part, accepts);
  }
  if (job.as_picture) {
    loaded.image.notes.emplace_back(
        "It was read as a picture, without its coordinates (--bands chooses bands of a scene).");
  }
  const std::string& labels = job.results[Result::kLabels];
  if (names_polygons(labels)) check_map_regions(labels, loaded.frame.value_or(MapFrame{}));
}

bool is_file(const std::string& name) {
  std::error_code ignored;
  return name != "-" && std::filesystem::is_regular_file(name, ignored);
}

}  // namespace

void take_marks(Correction& correction, const std::string& name,
                const std::vector<std::int32_t>& valid, std::optional<Seeds>& read) {
  Seeds& seeds = *read;
  const std::vector<std::int64_t>& numbers = correction.labels.numbers;
  if (!seeds.notes.empty() && !numbers.empty()) {
    const std::int64_t most = *std::max_element(seeds.labels.begin(), seeds.labels.end());
    if (numbers.back() + most > kMostSeedLabel) {
      throw InputError(
          fmt::format("{} has labels up to {}, and there are {} up to {}: number them anew", name,
                      numbers.back(), most, kMostSeedLabel));
    }
    for (std::int32_t& label : seeds.labels) {
      if (label != 0) label += static_cast<std::int32_t>(numbers.back());
    }
    seeds.notes.push_back(
        fmt::format("The labels that are corrected go up to {}: colours are counted from there.",
                    numbers.back()));
  }
  correction.marks = seeds;
  std::int32_t one = 0;
  bool several = false;
  for (const std::int32_t label : seeds.labels) {
    several = several || (label != 0 && one != 0 && label != one);
    if (label != 0) one = label;
  }
  for (std::size_t i = 0; one != 0 && !several && i < seeds.labels.size(); ++i) {
    if (seeds.labels[i] != 0 || (i < valid.size() && valid[i] == 0)) continue;
    seeds.labels[i] = one == kMostSeedLabel ? 1 : kMostSeedLabel;
    break;
  }
  if (one == 0) read.reset();
}

Reader::Reader(const std::vector<Job>& jobs, const ImageParameters& parameters,
               std::function<bool(const Job&)> skips, MemoryCheck* memory, bool keeps)
    : jobs_(jobs),
      parameters_(parameters),
      skips_(std::move(skips)),
      memory_(memory),
      keeps_(keeps) {}

LoadedImage Reader::load(const Job& job) const {
  const Stopwatch stopwatch;
  LoadedImage loaded;
  loaded.job = &job;
  FeatureSize features;
  const Sidecars& files = job.sidecars;
  const auto accepts = [&](const ImageSize& size) {
    loaded.memory.reset();  // What it took for a size that was reported before.
    if (memory_ != nullptr) loaded.memory = memory_->take(size, features);
  };
  loaded.failure = attempt(job.input, [&] {
    for (const SidecarInfo& info : kSidecars) require(info, files[info.sidecar]);
    if (files.has(Sidecar::kFeatures)) features = read_feature_size(files[Sidecar::kFeatures]);
    try {
      auto file = job.pages > 1 ? file_of(job) : nullptr;
      const bool has_facts = (keeps_ || names_tiff(job.input)) && !job.map;
      if (has_facts) {
        if (!file) file = std::make_shared<const ImageFile>(job.input);
        loaded.facts = file->facts(parameters_, job.part);
        if (keeps_) loaded.file = file;
      }
      read_picture(job, file.get(), parameters_, accepts, loaded);
      if (has_facts) note_microscope(parameters_, loaded.facts, loaded.image);
    } catch (const NoRoomBesideOthers&) {
      loaded.postponed = true;
      return;
    }
    const int width = loaded.image.width;
    const int height = loaded.image.height;
    if (files.has(Sidecar::kBoundary)) {
      const std::string& file = files[Sidecar::kBoundary];
      BoundaryMap& map = loaded.boundary_map.emplace(read_boundary_map(file, parameters_));
      lay_on(loaded.frame, file, map.width, map.height, map.strength);
    }
    if (files.has(Sidecar::kSeeds)) {
      const std::string& file = files[Sidecar::kSeeds];
      Seeds& seeds = loaded.seeds.emplace(read_seeds(file, parameters_, width, height));
      lay_on(loaded.frame, file, seeds.width, seeds.height, seeds.labels);
    }
    if (files.has(Sidecar::kCorrected)) {
      loaded.correction =
          correction_of(files[Sidecar::kCorrected], parameters_, loaded, loaded.seeds);
      const std::vector<std::string>& told = loaded.correction->labels.notes;
      loaded.image.notes.insert(loaded.image.notes.end(), told.begin(), told.end());
      if (!loaded.seeds) {
        loaded.image.notes.emplace_back("It has no marks: its labels are those of --correct.");
      }
    }
    if (loaded.seeds) {
      std::vector<std::string>& notes = loaded.image.notes;
      notes.insert(notes.end(), loaded.seeds->notes.begin(), loaded.seeds->notes.end());
    }
    if (files.has(Sidecar::kBarriers)) {
      const std::string& file = files[Sidecar::kBarriers];
      Barriers& lines = loaded.barriers.emplace(read_barriers(file, parameters_, width, height));
      lay_on(loaded.frame, file, lines.width, lines.height, lines.pixels);
    }
    if (files.has(Sidecar::kStart)) loaded.start = read_probabilities(files[Sidecar::kStart]);
    if (files.has(Sidecar::kFeatures)) {
      loaded.features = read_features(files[Sidecar::kFeatures]);
    }
  });
  if (loaded.failure) loaded.memory.reset();
  loaded.seconds = stopwatch.seconds();
  return loaded;
}

std::shared_ptr<const ImageFile> Reader::file_of(const Job& job) const {
  const std::lock_guard lock(file_mutex_);
  if (!file_ || file_path_ != job.input) {
    file_.reset();
    file_ = std::make_shared<const ImageFile>(job.input);
    file_path_ = job.input;
  }
  return file_;
}

void Reader::read_ahead(std::size_t index, std::size_t count) {
  const std::size_t end = std::min(index + count, jobs_.size());
  for (std::size_t i = ahead_.empty() ? index : ahead_.rbegin()->first + 1; i < end; ++i) {
    const Job& job = jobs_[i];
    if (skips_(job) || !is_file(job.input)) return;
    for (const std::string& beside : job.sidecars) {
      if (!beside.empty() && !is_file(beside)) return;
    }
    ahead_[i] = in_background([this, &job] { return load(job); });
  }
}

LoadedImage Reader::take(std::size_t index) {
  auto ahead = take_if(index, [](const LoadedImage&) { return true; });
  return ahead ? std::move(*ahead) : load(jobs_[index]);
}

std::optional<LoadedImage> Reader::take_if(std::size_t index,
                                           const std::function<bool(const LoadedImage&)>& wanted) {
  const auto found = ahead_.find(index);
  if (found == ahead_.end()) return std::nullopt;
  LoadedImage loaded = found->second.get();
  if (wanted(loaded)) {
    ahead_.erase(found);
    return loaded;
  }
  std::promise<LoadedImage> again;
  found->second = again.get_future();
  again.set_value(std::move(loaded));
  return std::nullopt;
}

void Reader::drop(std::size_t index) { ahead_.erase(index); }

}  // namespace diacut::app
