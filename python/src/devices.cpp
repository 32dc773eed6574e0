#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>

#include "bindings.hpp"
#include "diacut/device.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

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

}  // namespace diacut::python
