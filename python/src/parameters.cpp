#include "diacut/parameters.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

Parameters make_parameters(const nb::bytes& config,
                           const std::vector<std::pair<std::string, nb::bytes>>& values) {
  Parameters parameters = config.size() == 0 ? Parameters{} : load_parameters(name_of(config));
  for (const auto& [key, value] : values) set_parameter(parameters, key, name_of(value));
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
      .def(
          "items",
          [](const Parameters& parameters) {
            std::vector<std::pair<std::string, nb::str>> items;
            for (const auto& [key, value] : list_parameters(parameters)) {
              items.emplace_back(key, text_of(value));
            }
            return items;
          },
          "Keys and values as text, in the order of a configuration.")
      .def(
          "toml",
          [](const Parameters& parameters) { return text_of(print_parameters(parameters)); },
          "The configuration file of these values.");
  module.def(
      "make_parameters", &make_parameters, "config"_a, "values"_a,
      "A preset or configuration file, or \"\" for the defaults, with some values replaced.");
  module.def("describe_parameters", &describe_parameters,
             "Every parameter, with its unit, its values and its meaning.");
  module.def("preset_names", &preset_names, "The names of the presets that are built in.");
}

}  // namespace diacut::python
