#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"
#include "opencl/device_sums.hpp"

namespace diacut {

template <class T>
const cl::Buffer& kernel_argument(const Buffer<T>& buffer) {
  return buffer.cl();
}
inline const cl::Memory& kernel_argument(const cl::Memory& memory) { return memory; }
inline const cl::Buffer& kernel_argument(const DeviceSums& sums) { return sums.cl(); }
inline const cl::LocalSpaceArg& kernel_argument(const cl::LocalSpaceArg& memory) { return memory; }
inline cl_int kernel_argument(int value) { return value; }
inline cl_uint kernel_argument(unsigned value) { return value; }
inline cl_long kernel_argument(std::int64_t value) { return value; }
inline cl_ulong kernel_argument(std::size_t value) { return value; }
inline cl_float kernel_argument(float value) { return value; }
inline cl_float4 kernel_argument(const cl_float4& value) { return value; }
inline cl_uint4 kernel_argument(const cl_uint4& value) { return value; }

/// Sets argument number `index` and counts on. A type that stands for several arguments has an
/// overload of its own.
template <class T>
void set_argument(cl::Kernel& kernel, cl_uint& index, const T& argument) {
  kernel.setArg(index++, kernel_argument(argument));
}

/// Sets arguments of a kernel in order, from number `index` on; int becomes int there, unsigned
/// uint, int64_t long, size_t ulong.
template <class... Arguments>
void set_arguments_from(cl::Kernel& kernel, cl_uint index, const Arguments&... arguments) {
  with_device_errors("setting a kernel's arguments",
                     [&] { (set_argument(kernel, index, arguments), ...); });
}
/// All of them.
template <class... Arguments>
void set_arguments(cl::Kernel& kernel, const Arguments&... arguments) {
  set_arguments_from(kernel, 0, arguments...);
}

/// Work-items of a group along the first dimension in launch_rows().
inline constexpr std::size_t kRowGroup = 64;

/// Launches work-items (x, y) for x < columns, rounded up to kRowGroup, and y < rows.
inline void launch_rows(Context& context, const cl::Kernel& kernel, std::size_t columns,
                        std::size_t rows) {
  context.launch(kernel, cl::NDRange(round_up(columns, kRowGroup), rows),
                 cl::NDRange(kRowGroup, 1));
}

}  // namespace diacut
