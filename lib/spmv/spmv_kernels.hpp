#pragma once

#include "opencl/context.hpp"

namespace diacut {

/// The files of kernels/spmv as they were at build time, each named by its path in kernels/. The
/// launchers of this library give this table to Context::kernel().
const KernelTable& embedded_spmv_kernels();

}  // namespace diacut
