#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "diacut/annotations.hpp"
#include "diacut/boundary_map.hpp"
#include "diacut/features.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/map.hpp"
#include "diacut/seeds.hpp"
#include "exit_code.hpp"
#include "image/decoded.hpp"
#include "memory_check.hpp"
#include "plan.hpp"

namespace diacut::app {

/// An image and its boundary map as they were read, or why they could not be read.
struct LoadedImage {
  const Job* job = nullptr;  ///< That it was loaded for.
  MemoryShare memory;        ///< Held as long as the image is.
  bool postponed = false;    ///< It was not read: there was no room beside other images.
  Image image;
  std::shared_ptr<const ImageFile> file;    ///< Of a picture, if the reader keeps files.
  PictureFacts facts;                       ///< Of a picture, if the reader keeps files.
  std::optional<MapFrame> frame;            ///< If the image is a scene.
  std::optional<BoundaryMap> boundary_map;  ///< If the job names a boundary map.
  std::optional<Seeds> seeds;               ///< If the job names seeds.
  std::optional<Barriers> barriers;         ///< If the job names barriers.
  std::optional<FeatureMap> features;       ///< If the job names features.
  std::optional<Probabilities> start;       ///< If the job names probabilities to start from.
  std::optional<Correction> correction;     ///< If the job names labels to be corrected.
  /// Whether there is nothing to segment: labels that are corrected, and no marks.
  bool needs_no_device() const { return correction && !seeds; }
  std::optional<Failure> failure;
  double seconds = 0;  ///< How long reading took.
};

/// Lays what a file holds for each pixel on a scene, if there is one and the file has coordinates:
/// turns it as they say. Throws InputError where it lies elsewhere.
template <class Value>
void lay_on(const std::optional<MapFrame>& scene, const std::string& file, int& width, int& height,
            std::vector<Value>& values) {
  const int orientation = scene ? turn_onto(*scene, file) : 1;
  if (orientation == 1) return;
  const cv::Mat_<Value> stored(height, width, values.data());
  const cv::Mat_<Value> upright = turn_upright(stored, orientation);
  width = upright.cols;
  height = upright.rows;
  values = std::vector<Value>(upright.begin(), upright.end());
}

/// Makes seeds the marks of a correction. Marks in colours get numbers above those of the labels.
/// Where marks have one number, the seeds get another on a pixel without any, because labels grow
/// against each other; where there are no marks, there are no seeds. `name`: what messages name;
/// `valid`: 0 where there are no data; empty: nowhere.
void take_marks(Correction& correction, const std::string& name,
                const std::vector<std::int32_t>& valid, std::optional<Seeds>& read);

/// Reads the images of jobs, in other threads ahead of their use. Its destructor waits for the
/// images that are being read.
class Reader {
 public:
  /// `jobs` and `memory` must outlive the reader. `skips` says which jobs are not to be read.
  /// `memory` says which images are not to be decoded; null: none. `keeps`: whether pictures come
  /// with their files, for what is measured in them and for what labels keep of them.
  Reader(const std::vector<Job>& jobs, const ImageParameters& parameters,
         std::function<bool(const Job&)> skips, MemoryCheck* memory = nullptr, bool keeps = false);

  /// Begins to read the images from `index` to before `index` + `count`, up to the first that is to
  /// be skipped, or that could wait for somebody, as a pipe does: a signal ends such a wait in the
  /// main thread only.
  void read_ahead(std::size_t index, std::size_t count);

  /// The image at `index`: read ahead, else read now.
  LoadedImage take(std::size_t index);

  /// The image at `index`, if it is read ahead and `wanted` says so; else it stays for later.
  std::optional<LoadedImage> take_if(std::size_t index,
                                     const std::function<bool(const LoadedImage&)>& wanted);

  /// Gives up the image at `index`, if it is read ahead.
  void drop(std::size_t index);
  /// Gives up all images that are read ahead.
  void drop_all() { ahead_.clear(); }

 private:
  LoadedImage load(const Job& job) const;
  /// The file of a job of several pages. It stays in memory for the pages after this one.
  std::shared_ptr<const ImageFile> file_of(const Job& job) const;

  const std::vector<Job>& jobs_;
  ImageParameters parameters_;
  std::function<bool(const Job&)> skips_;
  MemoryCheck* memory_;
  bool keeps_;

  mutable std::mutex file_mutex_;
  mutable std::shared_ptr<const ImageFile> file_;  ///< The last that file_of() returned.
  mutable std::string file_path_;
  std::map<std::size_t, std::future<LoadedImage>> ahead_;  ///< By index.
};

}  // namespace diacut::app
