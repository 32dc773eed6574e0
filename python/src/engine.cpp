#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/image_file.hpp"
#include "diacut/memory.hpp"
#include "diacut/segmenter.hpp"
#include "follower.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

using OwnMap = std::optional<Plane<float>>;
using SeedPlane = std::optional<Plane<std::int32_t>>;
using Start = std::optional<Cube<float>>;
/// Numbers of 32 bits, or of 16 as NumPy holds them.
using Features = std::optional<std::variant<Cube<float>, Cube<std::uint16_t>>>;

Probabilities probabilities_of(const Cube<float>& cube) {
  Probabilities result{static_cast<int>(cube.shape(2)), static_cast<int>(cube.shape(1)), {}};
  const std::size_t pixels = cube.shape(1) * cube.shape(2);
  for (std::size_t k = 0; k < cube.shape(0); ++k) {
    const float* first = cube.data() + k * pixels;
    result.of_label.emplace_back(first, first + pixels);
  }
  return result;
}

FeatureMap feature_map(const Features::value_type& features) {
  return std::visit(
      [](const auto& cube) {
        return FeatureMap{static_cast<int>(cube.shape(1)), static_cast<int>(cube.shape(0)),
                          static_cast<int>(cube.shape(2)),
                          std::vector(cube.data(), cube.data() + cube.size())};
      },
      features);
}

/// What `make` makes of an argument, if it is given.
template <class Given, class Make>
auto made_of(const std::optional<Given>& given, Make make)
    -> std::optional<std::invoke_result_t<Make, const Given&>> {
  if (!given) return std::nullopt;
  return make(*given);
}

/// Null where there is nothing.
template <class T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

using Fields = nb::typed<nb::dict, std::string, nb::any>;

/// What was found, by the names of the Python class Result and of those that derive from it, one of
/// which "type" names. Arrays are views of one Segmentation, which lives as long as any of them.
Fields fields_of(std::unique_ptr<Segmentation> made) {
  Segmentation* const found = made.release();
  const nb::capsule owner(found, [](void* p) noexcept { delete static_cast<Segmentation*>(p); });
  Labels& labels = found->labels;
  Eigenvectors& eigen = found->eigenvectors;
  const EigenReport& report = eigen.report;
  const auto map = [&](std::vector<float>& values) {
    return view(values.data(), labels.height, labels.width, owner);
  };
  const auto planes = [&](std::vector<std::vector<float>>& all, int height, int width) {
    nb::list views;
    for (std::vector<float>& each : all) {
      views.append(view(each.data(), height, width, owner));
    }
    return views;
  };
  Fields fields;
  fields["labels"] = view(labels.values.data(), labels.height, labels.width, owner);
  fields["count"] = labels.count;
  fields["feature_scale"] = found->feature_scale;
  fields["eigenvalues"] = view(eigen.values.data(), eigen.values.size(), owner);
  fields["vectors"] = planes(eigen.vectors, eigen.height, eigen.width);
  fields["sqrt_degree"] = view(eigen.sqrt_degree.data(), eigen.height, eigen.width, owner);
  fields["residuals"] = report.residuals;
  fields["error_bounds"] = bounds(report, &EigenResolution::error);
  fields["angle_bounds"] = bounds(report, &EigenResolution::angle);
  fields["resolved"] = resolved(report);
  fields["converged"] = report.converged;
  fields["solver"] = report.solver;
  nb::dict times;
  for (const StageTime& time : found->costs.times) times[time.stage.c_str()] = time.wall_ms;
  fields["times"] = times;
  fields["device_peak_bytes"] = found->costs.device_peak_bytes;
  fields["notes"] = found->notes;
  if (auto* const tree = dynamic_cast<HierarchyCut*>(found)) {
    fields["type"] = "HierarchyCut";
    fields["contours"] = map(tree->contours);
    fields["hierarchy"] = std::move(tree->hierarchy);
  }
  if (auto* const seeded = dynamic_cast<SeededCut*>(found)) {
    fields["seed_labels"] = seeded->seed_labels;
  } else if (auto* const objects = dynamic_cast<Objects*>(found)) {
    fields["type"] = "Objects";
    fields["inside"] = map(objects->inside);
  } else if (auto* const cuts = dynamic_cast<KwayCut*>(found)) {
    fields["type"] = "KwayCut";
    fields["normalized_cut"] = cuts->normalized_cut;
  } else if (auto* const growth = dynamic_cast<SeedGrowth*>(found)) {
    fields["type"] = "SeedGrowth";
    fields["seed_labels"] = growth->seed_labels;
    fields["probabilities"] = planes(growth->probabilities, labels.height, labels.width);
    fields["converged"] = growth->walk.converged;
  }
  return fields;
}

/// Does the rest of a segmentation whose work on the device is done.
Fields finish(BegunSegmentation& begun) {
  std::unique_ptr<Segmentation> made;
  {
    const Released release;
    made = std::move(begun).finish();
  }
  return fields_of(std::move(made));
}

/// A Segmenter that threads take turns with.
class Engine {
 public:
  Engine(const Parameters& parameters, const std::string& device, const nb::bytes& kernel_dir,
         std::uint64_t memory, bool verify)
      : memory_(memory), verify_(verify) {
    check_process();
    const std::string folder = name_of(kernel_dir);
    const Released release;
    segmenter_.emplace(parameters, device, folder);
    segmenter_->limit_device_memory(memory);
    segmenter_->verify_results(verify);
  }

  /// The image that a file holds. One that takes too much memory is refused before it is decoded.
  /// `boundary_map`: whether it is going to be segmented with a boundary map of the caller's;
  /// `features`: height, width, channels and bytes of a number of those that it is segmented by,
  /// zeros without any;
  /// `eigenvectors`: whether these are to be kept.
  Image read(const nb::bytes& name, bool boundary_map, const std::array<int, 4>& features,
             bool eigenvectors) const {
    const std::string path = name_of(name);
    const Released release;
    const Parameters& parameters = segmenter_->parameters();
    return read_image(path, parameters.image, {}, [&](const ImageSize& size) {
      const DeviceInfo& device = segmenter_->device();
      const auto [rows, columns, channels, bytes] = features;
      const WantedResults results{
          boundary_map, eigenvectors, {columns, rows, channels, bytes}, verify_};
      check_memory(size, parameters, device, memory_, results);
    });
  }

  Fields segment(const Image& image, const OwnMap& boundary_map, const SeedPlane& seeds,
                 const SeedPlane& barriers, const Start& start, const Features& features,
                 bool eigenvectors, bool probabilities, nb::object progress) {
    check_process();
    const auto map = made_of(boundary_map, map_of<BoundaryMap, float>);
    const auto marks = made_of(seeds, map_of<Seeds, std::int32_t>);
    const auto lines = made_of(barriers, map_of<Barriers, std::int32_t>);
    const auto earlier = made_of(start, probabilities_of);
    const auto own = made_of(features, feature_map);
    return fields_of(follow(std::move(progress), [&](Follower& follower) {
      BegunSegmentation begun;
      {
        const Turn turn(*this, follower);
        segmenter_->keep_eigenvectors(eigenvectors);
        segmenter_->keep_probabilities(probabilities);
        const ImageToSegment asked(image, pointer(map), pointer(own));
        if (marks) {
          SeededImage seeded(asked, *marks);
          seeded.barriers = pointer(lines);
          seeded.start = pointer(earlier);
          begun = segmenter_->begin(seeded, follower.watch());
        } else {
          begun = segmenter_->begin(asked, follower.watch());
        }
      }
      return std::move(begun).finish(follower.watch());
    }));
  }

  std::vector<BegunSegmentation> begin(const std::vector<const Image*>& images,
                                       const std::vector<OwnMap>& boundary_map,
                                       const std::vector<Features>& features, bool eigenvectors) {
    check_process();
    std::vector<std::optional<BoundaryMap>> maps;
    for (const OwnMap& each : boundary_map) {
      maps.push_back(made_of(each, map_of<BoundaryMap, float>));
    }
    std::vector<std::optional<FeatureMap>> own;
    for (const Features& each : features) own.push_back(made_of(each, feature_map));
    std::vector<ImageToSegment> asked;
    for (std::size_t k = 0; k < images.size(); ++k) {
      asked.emplace_back(*images[k], pointer(maps[k]), pointer(own[k]));
    }
    return follow(nb::none(), [&](Follower& follower) {
      const Turn turn(*this, follower);
      segmenter_->keep_eigenvectors(eigenvectors);
      return segmenter_->begin(asked, follower.watch());
    });
  }

  const DeviceInfo& device() const { return segmenter_->device(); }
  std::int64_t pixels_together() const { return segmenter_->pixels_together(); }

 private:
  /// The time in which one thread has the segmenter. Others wait for theirs, and look for signals
  /// meanwhile.
  class Turn {
   public:
    Turn(Engine& engine, Follower& follower) : engine_(engine) {
      if (engine.holder_ == std::this_thread::get_id()) {
        throw Error("a Segmenter was called from its own progress callable: use another Segmenter");
      }
      while (!engine.turns_.try_lock_for(std::chrono::milliseconds(100))) {
        follower.report("waiting", 0);
        follower.cancel().throw_if_cancelled();
      }
      engine.holder_ = std::this_thread::get_id();
    }
    ~Turn() {
      engine_.holder_ = std::thread::id();
      engine_.turns_.unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Engine& engine_;
  };

  std::uint64_t memory_;  ///< At most, on the device, bytes; 0: all of it.
  bool verify_;
  OfOneProcess<Segmenter> segmenter_;
  std::timed_mutex turns_;
  std::atomic<std::thread::id> holder_;
};

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<BegunSegmentation>(module, "Begun", "An image that the device is done with.")
      .def("finish", &finish, "Does the rest on the host. To be called once.");
  nb::class_<Engine>(module, "Engine", "A device with parameters, which threads take turns with.")
      .def(nb::init<const Parameters&, const std::string&, const nb::bytes&, std::uint64_t, bool>(),
           "parameters"_a, "device"_a, "kernel_dir"_a, "memory"_a, "verify"_a)
      .def("read", &Engine::read, "path"_a, "boundary_map"_a, "features"_a, "eigenvectors"_a)
      .def("segment", &Engine::segment, "image"_a, "boundary_map"_a.none(), "seeds"_a.none(),
           "barriers"_a.none(), "start"_a.none(), "features"_a.none(), "eigenvectors"_a,
           "probabilities"_a, "progress"_a.none())
      .def("begin", &Engine::begin, "images"_a, "boundary_map"_a, "features"_a, "eigenvectors"_a)
      .def_prop_ro("device", &Engine::device, nb::rv_policy::copy)
      .def_prop_ro("pixels_together", &Engine::pixels_together);
}

}  // namespace diacut::python
