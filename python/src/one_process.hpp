#pragma once

#include "diacut/errors.hpp"

namespace diacut::python {

/// Called before each use of OpenCL. Throws DeviceError in a process that was forked from one that
/// had used it: OpenCL's threads are missing there, and calls would wait for them for ever.
void check_process();

}  // namespace diacut::python
