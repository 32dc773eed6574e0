#pragma once

#include <nanobind/nanobind.h>

/// What each source of the module adds to it. The order is that of module.cpp: a class is bound
/// before the functions that take or return it, so that signatures name it.
namespace diacut::python {

namespace nb = nanobind;

/// Turns diacut's errors into the exceptions of the Python module diacut._errors.
void register_errors();

void bind_parameters(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_images(nb::module_& module);
void bind_hierarchy(nb::module_& module);
void bind_segmentation(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_evaluation(nb::module_& module);
void bind_graph(nb::module_& module);

}  // namespace diacut::python
