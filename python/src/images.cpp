#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/label_stack.hpp"
#include "diacut/labels.hpp"
#include "diacut/output.hpp"
#include "diacut/parameters.hpp"
#include "diacut/samples.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

using SampleArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

SampleType sample_type(const nb::dlpack::dtype& type) {
  static const std::pair<nb::dlpack::dtype, SampleType> kTypes[] = {
      {nb::dtype<bool>(), SampleType::kBool},
      {nb::dtype<std::uint8_t>(), SampleType::kUint8},
      {nb::dtype<std::int8_t>(), SampleType::kInt8},
      {nb::dtype<std::uint16_t>(), SampleType::kUint16},
      {nb::dtype<std::int16_t>(), SampleType::kInt16},
      {nb::dtype<std::uint32_t>(), SampleType::kUint32},
      {nb::dtype<std::int32_t>(), SampleType::kInt32},
      {nb::dtype<float>(), SampleType::kFloat32},
      {nb::dtype<double>(), SampleType::kFloat64},
  };
  for (const auto& [known, sample] : kTypes) {
    if (known == type) return sample;
  }
  throw InputError("the array's elements are of a type that no image has");
}

/// Precondition, which the Python side holds: two or three dimensions.
Image image_from_array(const SampleArray& array, const Parameters& parameters) {
  const Samples samples{array.data(), sample_type(array.dtype()),
                        static_cast<std::int64_t>(array.shape(1)),
                        static_cast<std::int64_t>(array.shape(0)),
                        array.ndim() == 3 ? static_cast<std::int64_t>(array.shape(2)) : 1};
  const Released release;
  return image_from_samples(samples, parameters.image);
}

Image image_from_file(const nb::bytes& name, const Parameters& parameters) {
  const std::string path = name_of(name);
  const Released release;
  return read_image(path, parameters.image);
}

Labels labels_of(const Plane<std::int32_t>& plane) {
  Labels labels{static_cast<int>(plane.shape(1)), static_cast<int>(plane.shape(0)), 0, {}};
  labels.values.assign(plane.data(), plane.data() + plane.size());
  labels.count = *std::max_element(labels.values.begin(), labels.values.end());
  return labels;
}

/// (height, width, channels) of pixels that `make` makes of an image and labels.
template <class Make>
nb::object picture(const Image& image, const Plane<std::int32_t>& plane, int channels,
                   const Make& make) {
  std::vector<std::uint8_t> pixels;
  {
    const Released release;
    pixels = make(image, labels_of(plane));
  }
  const auto [data, owner] = taken(std::move(pixels));
  return nb::cast(Array3<std::uint8_t>(
      data, {plane.shape(0), plane.shape(1), static_cast<std::size_t>(channels)}, owner));
}

nb::object flat(const Image& image, const Plane<std::int32_t>& labels) {
  return picture(image, labels, 3, flat_picture);
}

nb::object cutout(const Image& image, const Plane<std::int32_t>& labels,
                  const std::vector<std::int32_t>& of) {
  return picture(image, labels, 4, [&of](const Image& whole, const Labels& regions) {
    return cutout_picture(whole, regions, of.empty() ? foreground(regions) : of);
  });
}

/// The labels with the numbers that their regions have, and what a person should know of them.
nb::tuple linked(PageLinker& linker, const Plane<std::int32_t>& plane) {
  std::vector<std::string> notes;
  Labels labels = labels_of(plane);
  std::vector<std::int32_t> numbers = linker.link(labels, notes);
  numbers.insert(numbers.begin(), 0);
  for (std::int32_t& value : labels.values) value = numbers[static_cast<std::size_t>(value)];
  return nb::make_tuple(array_of(std::move(labels.values), labels.height, labels.width), notes);
}

/// (height, width) or (height, width, 3), over the image's own memory.
nb::object pixels(nb::handle_t<Image> self) {
  auto& image = nb::cast<Image&>(self);
  if (image.channels == 1) {
    return nb::cast(view<const float>(image.pixels.data(), image.height, image.width, self));
  }
  return nb::cast(Array3<const float>(
      image.pixels.data(),
      {static_cast<std::size_t>(image.height), static_cast<std::size_t>(image.width),
       static_cast<std::size_t>(image.channels)},
      self));
}

/// What numpy.asarray() asks for.
nb::object as_array(nb::handle_t<Image> self, const nb::object& dtype, const nb::object& copy) {
  const nb::object array = pixels(self);
  const bool copies = nb::cast<bool>(nb::bool_(copy));
  if (!copies && (dtype.is_none() || array.attr("dtype").equal(dtype))) return array;
  if (!copies && !copy.is_none()) {
    throw nb::value_error("numbers of another type than float32 are a copy");
  }
  return array.attr("astype")(dtype.is_none() ? array.attr("dtype") : dtype);
}

nb::object mask(nb::handle_t<Image> self) {
  auto& image = nb::cast<Image&>(self);
  if (image.valid.empty()) return nb::none();
  // The mask's bytes are 0 and 1, as those of a bool are.
  return nb::cast(view<const bool>(reinterpret_cast<const bool*>(image.valid.data()), image.height,
                                   image.width, self));
}

}  // namespace

void bind_images(nb::module_& module) {
  nb::class_<Image>(module, "Image", "An image as diacut segments it: values in [0, 1] and a mask.")
      .def_prop_ro(
          "shape",
          [](const Image& image) {
            return image.channels == 1 ? nb::make_tuple(image.height, image.width)
                                       : nb::make_tuple(image.height, image.width, image.channels);
          },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "(height, width), or (height, width, 3) of a colour image.")
      .def_prop_ro("pixels", &pixels,
                   nb::sig("def pixels(self) -> numpy.typing.NDArray[numpy.float32]"),
                   "Its values in [0, 1], read-only and without a copy; 0 where it has no data.")
      .def("__array__", &as_array, "dtype"_a.none() = nb::none(), "copy"_a.none() = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "numpy.typing.NDArray[typing.Any]"),
           "Its values, as `pixels` has them.")
      .def_prop_ro("valid", &mask,
                   nb::sig("def valid(self) -> numpy.typing.NDArray[numpy.bool_] | None"),
                   "Which pixels have data; None: all of them.")
      .def_ro("notes", &Image::notes, "What a person should know of how it was read.")
      .def("__repr__", [](const Image& image) {
        return "<Image " + std::to_string(image.width) + "x" + std::to_string(image.height) +
               (image.channels == 1 ? ", grey>" : ", colour>");
      });
  module.def("image_from_array", &image_from_array, "array"_a, "parameters"_a,
             nb::sig("def image_from_array(array: numpy.typing.NDArray[typing.Any], parameters: "
                     "Parameters) -> Image"),
             "The image that an array in C order holds.");
  module.def("image_from_file", &image_from_file, "path"_a, "parameters"_a,
             "The image that a file holds.");
  nb::class_<PageLinker>(module, "PageLinker")
      .def(nb::init<double>(), "least"_a)
      .def("link", &linked, "labels"_a,
           nb::sig("def link(self, labels: numpy.typing.NDArray[numpy.int32]) -> "
                   "tuple[numpy.typing.NDArray[numpy.int32], list[str]]"))
      .def(
          "displace",
          [](PageLinker& linker, const Plane<float>& flow) {
            linker.displace({flow.data(), flow.size()});
          },
          "flow"_a,
          nb::sig("def displace(self, flow: numpy.typing.NDArray[numpy.float32]) -> None"))
      .def("end", [](PageLinker& linker) { linker.end({}); });
  module.def("flat", &flat, "image"_a, "labels"_a,
             nb::sig("def flat(image: Image, labels: numpy.typing.NDArray[numpy.int32]) -> "
                     "numpy.typing.NDArray[numpy.uint8]"));
  module.def("cutout", &cutout, "image"_a, "labels"_a, "of"_a,
             nb::sig("def cutout(image: Image, labels: numpy.typing.NDArray[numpy.int32], of: "
                     "list[int]) -> numpy.typing.NDArray[numpy.uint8]"));
  module.def(
      "use_sandbox_program", [](const nb::bytes& path) { use_sandbox_program(name_of(path)); },
      "path"_a, "Names the program that decodes images that are not trusted.");
}

}  // namespace diacut::python
