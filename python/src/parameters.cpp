#include "diacut/parameters.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

Parameters make_parameters(const std::string& config,
                           const std::vector<std::pair<std::string, std::string>>& values) {
  Parameters parameters = config.empty() ? Parameters{} : load_parameters(config);
  for (const auto& [key, value] : values) set_parameter(parameters, key, value);
  validate(parameters);
  return parameters;
}

}  // namespace

void bind_parameters(nb::module_& module) {
  nb::class_<ParameterInfo>(module, "ParameterInfo", "What a person should know of a parameter.")
      .def_ro("key", &ParameterInfo::key, "Its name, as \"affinity.radius\".")
      .def_ro("unit", &ParameterInfo::unit, "Its unit; empty for flags, names and pure numbers.")
      .def_ro("allowed", &ParameterInfo::allowed, "The values that it takes.")
      .def_ro("meaning", &ParameterInfo::meaning, "What it does, with the source.")
      .def("__repr__", [](const ParameterInfo& info) {
        return "<ParameterInfo " + info.key + ": " + info.allowed + ">";
      });
  nb::class_<Parameters>(module, "Parameters", "Every parameter of a run.")
      .def("items", &list_parameters, "Keys and values as text, in the order of a configuration.")
      .def("toml", &print_parameters, "The configuration file of these values.");
  module.def(
      "make_parameters", &make_parameters, "config"_a, "values"_a,
      "A preset or configuration file, or \"\" for the defaults, with some values replaced.");
  module.def("describe_parameters", &describe_parameters,
             "Every parameter, with its unit, its values and its meaning.");
  module.def("preset_names", &preset_names, "The names of the presets that are built in.");
}

}  // namespace diacut::python
