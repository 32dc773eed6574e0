#include "diacut/errors.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"

namespace diacut::python {

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
