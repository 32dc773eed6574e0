#pragma once

#include <nanobind/nanobind.h>

#include <string>

/// What each source of the module adds to it. The order is that of module.cpp: a class is bound
/// before the functions that take or return it, so that signatures name it.
namespace diacut::python {

namespace nb = nanobind;

/// A text of the library's, in which bytes of file names that are no UTF-8 are as os.fsdecode() has
/// them.
inline nb::str text_of(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

/// The bytes of a file's name, or of another text with one.
inline std::string name_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// Turns diacut's errors into the exceptions of the Python module diacut._errors.
void register_errors();

void bind_parameters(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_images(nb::module_& module);
void bind_hierarchy(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_evaluation(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_sparse(nb::module_& module);

}  // namespace diacut::python
