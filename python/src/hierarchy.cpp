#include "diacut/hierarchy.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/errors.hpp"
#include "diacut/objects.hpp"
#include "diacut/output.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

using Notes = std::vector<std::string>;
/// Labels, and what a person should know of them.
using Noted = std::pair<Array2<std::int32_t>, Notes>;

/// The labels that `work` makes without the interpreter's lock, and its notes.
template <class Work>
Noted noted_by(const Work& work) {
  Notes notes;
  Labels labels;
  {
    const Released release;
    labels = work(notes);
  }
  return {array_of(std::move(labels.values), labels.height, labels.width), std::move(notes)};
}

LeastSize least_size(const std::string& text) {
  const std::optional<LeastSize> size = parse_least_size(text);
  if (size) return *size;
  throw ConfigError("min_size is '" + text +
                    "', expected a number of pixels, a share as \"0.2%\", or \"auto\"");
}

Noted cut_labels(const Hierarchy& hierarchy, std::int64_t regions, double compactness,
                 double threshold, const std::string& min_size) {
  RegionParameters wanted;
  wanted.regions = static_cast<int>(regions);
  wanted.compactness = compactness;
  wanted.threshold = threshold;
  wanted.min_size = least_size(min_size);
  return noted_by([&](Notes& notes) { return cut(hierarchy, wanted, notes); });
}

Noted labels_by_seeds(const Hierarchy& hierarchy, const Plane<std::int32_t>& plane) {
  const auto seeds = map_of<Seeds>(plane);
  return noted_by(
      [&](Notes& notes) { return written_labels(cut_by_seeds(hierarchy, seeds, notes)); });
}

using Ends = std::pair<std::optional<double>, std::optional<double>>;
using Sizes = std::pair<std::optional<std::string>, std::optional<std::string>>;

/// The numbers between two ends, of which None leaves out one.
Interval interval(const Ends& ends) {
  Interval range;
  if (ends.first) range.low = *ends.first;
  if (ends.second) range.high = *ends.second;
  return range;
}

std::optional<LeastSize> area_limit(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::optional<LeastSize> size = parse_least_size(*text);
  if (size && size->unit != LeastSize::Unit::kAutomatic) return size;
  throw ConfigError("a limit of area is '" + *text +
                    "', expected a number of pixels, or a share as \"0.2%\"");
}

/// What the score of this name leaves to be met.
ObjectConditions conditions_of(const std::string& score) {
  if (score == "contrast") return {};
  if (score == "nuclei") return nuclei_conditions();
  throw ConfigError("score is '" + score + "', expected 'contrast' or 'nuclei'");
}

Noted object_labels(const Hierarchy& hierarchy, const std::optional<Sizes>& area,
                    const std::optional<Ends>& solidity, const std::optional<Ends>& contrast,
                    const std::optional<Ends>& brightness, const std::string& score,
                    const Image* image) {
  ObjectConditions conditions = conditions_of(score);
  if (area) {
    conditions.least_area = area_limit(area->first);
    conditions.greatest_area = area_limit(area->second);
  }
  if (solidity) conditions.solidity = interval(*solidity);
  if (contrast) conditions.contrast = interval(*contrast);
  if (brightness) conditions.brightness = interval(*brightness);
  return noted_by([&](Notes& notes) { return find_objects(hierarchy, conditions, image, notes); });
}

Array2<float> ultrametric(const Hierarchy& hierarchy) {
  std::vector<float> map;
  {
    const Released release;
    map = ultrametric_map(hierarchy);
  }
  return array_of(std::move(map), 2 * hierarchy.leaves.height + 1, 2 * hierarchy.leaves.width + 1);
}

/// (merges, 2): the children of each merge, over the tree's own memory.
Array2<const std::int32_t> children(nb::handle_t<Hierarchy> self) {
  static_assert(sizeof(Merge) == 3 * sizeof(std::int32_t));
  const auto& merges = nb::cast<Hierarchy&>(self).merges;
  return {reinterpret_cast<const std::int32_t*>(merges.data()), {merges.size(), 2}, self, {3, 1}};
}

Array1<const float> heights(nb::handle_t<Hierarchy> self) {
  const auto& merges = nb::cast<Hierarchy&>(self).merges;
  const float* first = merges.empty() ? nullptr : &merges.front().height;
  return {first, {merges.size()}, self, {3}};
}

nb::bytes encoded(const Hierarchy& hierarchy) {
  const std::vector<std::uint8_t> bytes = encode_tree(hierarchy);
  return nb::bytes(bytes.data(), bytes.size());
}

Hierarchy decoded(const nb::bytes& bytes) {
  const auto* data = static_cast<const std::uint8_t*>(bytes.data());
  return decode_tree({data, data + bytes.size()}, "the hierarchy");
}

}  // namespace

void bind_hierarchy(nb::module_& module) {
  nb::class_<Hierarchy>(module, "MergeTree", "A merge tree, with the calls of the library.")
      .def(
          "__init__",
          [](Hierarchy* self, Hierarchy& tree) { new (self) Hierarchy(std::move(tree)); }, "tree"_a,
          "Takes what another tree holds.")
      .def_prop_ro(
          "leaves",
          [](nb::handle_t<Hierarchy> self) {
            const Labels& leaves = nb::cast<Hierarchy&>(self).leaves;
            return view<const std::int32_t>(leaves.values.data(), leaves.height, leaves.width,
                                            self);
          },
          "The finest labels, (height, width), read-only and without a copy; 0 where there is no "
          "data.")
      .def_prop_ro(
          "leaf_count", [](const Hierarchy& hierarchy) { return hierarchy.leaves.count; },
          "The number of leaves.")
      .def_prop_ro(
          "children", &children,
          "The two nodes that each merge joins, (merges, 2), read-only and without a copy.")
      .def_prop_ro("heights", &heights,
                   "The probability or mean strength at which each merge is made, ascending, in "
                   "[0, 1]; read-only and without a copy.")
      .def_ro("threshold", &Hierarchy::threshold, "The height of the automatic cut.")
      .def("_cut", &cut_labels, "regions"_a, "compactness"_a, "threshold"_a, "min_size"_a)
      .def("_cut_by_seeds", &labels_by_seeds, "seeds"_a)
      .def("_objects", &object_labels, "area"_a.none(), "solidity"_a.none(), "contrast"_a.none(),
           "brightness"_a.none(), "score"_a, "image"_a.none())
      .def("ultrametric", &ultrametric,
           "The ultrametric contour map, (2 height + 1, 2 width + 1): between two pixels the "
           "height at which their regions merge, infinity where they never do.")
      .def("to_bytes", &encoded, "The bytes of the file that save() writes.")
      .def("_save", [](const Hierarchy& hierarchy, const nb::bytes& name) {
        const std::string path = name_of(name);
        const Released release;
        write_tree(path, hierarchy);
      });
  module.def("decode_tree", &decoded, "bytes"_a);
  module.def(
      "read_tree",
      [](const nb::bytes& name) {
        const std::string path = name_of(name);
        const Released release;
        return read_tree(path);
      },
      "path"_a);
}

}  // namespace diacut::python
