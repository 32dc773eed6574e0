// The module diacut._core: the library's values and calls as Python has them. The Python files
// beside it make the interface of it that people use.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"
#include "diacut/parameters.hpp"
#include "diacut/version.hpp"
#include "released.hpp"

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

void check_process() {
  static std::atomic<pid_t> first{0};
  pid_t expected = 0;
  const pid_t own = getpid();
  if (first.compare_exchange_strong(expected, own) || expected == own) return;
  throw DeviceError(
      "this process was forked from one that had used OpenCL, which does not survive it: start "
      "processes with multiprocessing's \"spawn\" or \"forkserver\"");
}

namespace {

std::vector<DeviceInfo> devices() {
  check_process();
  const Released release;
  return list_devices();
}

}  // namespace

void bind_devices(nb::module_& module) {
  nb::class_<DeviceInfo>(module, "Device", "What an OpenCL device says of itself.")
      .def_prop_ro("index", &DeviceInfo::index, "What `device=` takes for it, as \"0:1\".")
      .def_ro("name", &DeviceInfo::name, "Its name.")
      .def_ro("platform", &DeviceInfo::platform, "Name of its platform.")
      .def_ro("vendor", &DeviceInfo::vendor, "Its vendor.")
      .def_ro("version", &DeviceInfo::version, "Its OpenCL version.")
      .def_ro("driver", &DeviceInfo::driver, "Version of its driver.")
      .def_prop_ro(
          "kind", [](const DeviceInfo& info) { return std::string(to_string(info.kind)); },
          "\"cpu\", \"gpu\", \"accelerator\" or \"other\".")
      .def_ro("compute_units", &DeviceInfo::compute_units, "Number of compute units.")
      .def_ro("global_memory", &DeviceInfo::global_memory, "Memory, bytes.")
      .def_ro("max_allocation", &DeviceInfo::max_allocation, "Largest single buffer, bytes.")
      .def("__repr__", [](const DeviceInfo& info) {
        return "<Device " + info.index() + " " + to_string(info.kind) + ": " + info.name + ">";
      });
  module.def(
      "offer_driver",
      [](const nb::bytes& library, const std::string& way_out) {
        offer_driver({library.c_str(), library.size()}, way_out);
      },
      "library"_a, "way_out"_a, "Names an OpenCL driver for where the system has no device.");
  module.def("list_devices", &devices,
             "The OpenCL devices of this machine.\n\n"
             "Raises DeviceError where there is no OpenCL platform.");
}

namespace {

LabelScores scores(const Plane<std::int32_t>& labels,
                   const std::vector<Plane<std::int32_t>>& truths) {
  std::vector<std::span<const std::int32_t>> spans;
  for (const Plane<std::int32_t>& truth : truths) spans.push_back(span_of(truth));
  const Released release;
  return evaluate_labels(span_of(labels), spans, static_cast<int>(labels.shape(1)),
                         static_cast<int>(labels.shape(0)));
}

}  // namespace

void bind_evaluation(nb::module_& module) {
  nb::class_<LabelScores>(module, "Scores", "The scores of one segmentation against people's.")
      .def_ro("precision", &LabelScores::precision,
              "Share of its boundary pixels that match a person's.")
      .def_ro("recall", &LabelScores::recall,
              "Share of the people's boundary pixels that it matches.")
      .def_ro("f", &LabelScores::f, "Harmonic mean of precision and recall.")
      .def_ro("covering", &LabelScores::covering, "How well its regions cover those of the people.")
      .def_ro("pri", &LabelScores::pri, "The probabilistic Rand index.")
      .def_ro("vi", &LabelScores::vi, "The variation of information, bits; 0 is best.")
      .def("__repr__", [](const LabelScores& s) {
        return nb::str(
                   "<Scores precision={:.3f} recall={:.3f} f={:.3f} covering={:.3f} "
                   "pri={:.3f} vi={:.3f}>")
            .format(s.precision, s.recall, s.f, s.covering, s.pri, s.vi);
      });
  module.def("evaluate_labels", &scores, "labels"_a, "truths"_a);
}

namespace {

/// Raises the exception of that name of the module diacut._errors. The module is found when an
/// error is raised, so that _core can be imported alone, as the writer of its stubs does.
nb::object exception(const char* name, const Error& error) {
  return nb::module_::import_("diacut._errors").attr(name)(text_of(error.what()));
}

void raise(const nb::object& error) { PyErr_SetObject(error.type().ptr(), error.ptr()); }

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const CancelledError& error) {
    raise(exception("CancelledError", error));
  } catch (const ConfigError& error) {
    raise(exception("ConfigError", error));
  } catch (const InputError& error) {
    raise(exception("InputError", error));
  } catch (const DeviceMemoryError& error) {
    raise(exception("DeviceMemoryError", error));
  } catch (const DeviceError& error) {
    const nb::object raised = exception("DeviceError", error);
    raised.attr("build_log") = error.build_log();
    raise(raised);
  } catch (const NumericalError& error) {
    raise(exception("NumericalError", error));
  } catch (const Error& error) {
    raise(exception("Error", error));
  }
}

}  // namespace

void register_errors() { nb::register_exception_translator(translate); }

}  // namespace diacut::python

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
  bind_engine(module);
  bind_evaluation(module);
  bind_graph(module);
  bind_sparse(module);
}
