// The module diacut._core: the library's values and calls as Python has them. The Python files
// beside it make the interface of it that people use.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "diacut/version.hpp"
#include "released.hpp"

NB_MODULE(_core, module) {
  using namespace diacut::python;
  // Other packages may hold results until the interpreter ends.
  nanobind::set_leak_warnings(false);
  module.doc() = "The library diacut, as the package diacut calls it.";
  module.attr("version") = diacut::kVersion;
  register_errors();
  register_ending();
  bind_parameters(module);
  bind_devices(module);
  bind_images(module);
  bind_hierarchy(module);
  bind_segmentation(module);
  bind_engine(module);
  bind_evaluation(module);
  bind_graph(module);
}
