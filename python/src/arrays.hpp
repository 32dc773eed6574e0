#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/seeds.hpp"

/// NumPy arrays over the library's vectors, and the other way round.
namespace diacut::python {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Array2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T>
using Array3 = nb::ndarray<nb::numpy, T, nb::ndim<3>>;

/// What a call takes: an array in C order that it only reads.
template <class T>
using Plane = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// An array over memory of `owner`, which lives as long as the array.
template <class T>
Array2<T> view(T* data, int height, int width, nb::handle owner) {
  return Array2<T>(data, {static_cast<std::size_t>(height), static_cast<std::size_t>(width)},
                   owner);
}
template <class T>
Array1<T> view(T* data, std::size_t size, nb::handle owner) {
  return Array1<T>(data, {size}, owner);
}

/// The owner of a vector that an array takes over without a copy.
template <class T>
std::pair<T*, nb::capsule> taken(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  return {kept->data(),
          nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); })};
}

template <class T>
Array2<T> array_of(std::vector<T>&& values, int height, int width) {
  const auto [data, owner] = taken(std::move(values));
  return view(data, height, width, owner);
}

template <class T>
Array1<T> array_of(std::vector<T>&& values) {
  const std::size_t size = values.size();
  const auto [data, owner] = taken(std::move(values));
  return view(data, size, owner);
}

/// The vectors, one after the other.
inline std::vector<float> joined(std::vector<std::vector<float>>&& vectors) {
  std::vector<float> all;
  all.reserve(vectors.size() * vectors.front().size());
  for (std::vector<float>& vector : vectors) {
    all.insert(all.end(), vector.begin(), vector.end());
    vector = {};
  }
  return all;
}

template <class Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.size());
}

/// What a user marks in an image, of the values of an array: seeds, barriers or an edge map.
template <class Map, class T>
Map map_of(const Plane<T>& plane) {
  const std::span<const T> values = span_of(plane);
  return {static_cast<int>(plane.shape(1)),
          static_cast<int>(plane.shape(0)),
          {values.begin(), values.end()}};
}

/// A bound, &EigenResolution::error or &EigenResolution::angle, of each eigenvector.
inline std::vector<double> bounds(const EigenReport& report, double EigenResolution::*bound) {
  std::vector<double> all;
  for (const EigenResolution& each : report.resolution) all.push_back(each.*bound);
  return all;
}

/// EigenResolution::resolved of each eigenvector.
inline nanobind::typed<nanobind::list, bool> resolved(const EigenReport& report) {
  nanobind::typed<nanobind::list, bool> all;
  for (const EigenResolution& each : report.resolution) all.append(each.resolved);
  return all;
}

}  // namespace diacut::python
