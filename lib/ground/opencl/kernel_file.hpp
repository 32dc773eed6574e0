#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

/// Work-items of a group along the first dimension in KernelFile::launch_rows().
inline constexpr std::size_t kRowGroup = 64;

/// The kernels of one file, built with one set of options and launched by their names. The
/// constructor asks for the program: it is built together with those of all objects that are made
/// before the first launch.
class KernelFile {
 public:
  /// Parameters as Context::program() takes them. The context must outlive the object.
  KernelFile(Context& context, const std::string& file, const std::string& options,
             const KernelTable& built_in = embedded_kernels())
      : context_(&context), program_(&context.program(file, options, built_in)) {}

  /// Enqueues, as Context::launch() does, with these arguments in order; int becomes int there,
  /// unsigned uint, int64_t long, size_t ulong.
  template <class... Arguments>
  void launch(const char* name, const cl::NDRange& global, const cl::NDRange& local,
              const Arguments&... arguments) const {
    cl::Kernel& kernel = context_->kernel(*program_, name);
    with_device_errors("setting a kernel's arguments", [&] {
      cl_uint index = 0;
      (set_argument(kernel, index, arguments), ...);
    });
    context_->launch(kernel, global, local);
  }
  /// Enqueues work-items (x, y) for x < columns, rounded up to kRowGroup, and y < rows.
  template <class... Arguments>
  void launch_rows(const char* name, std::size_t columns, std::size_t rows,
                   const Arguments&... arguments) const {
    launch(name, cl::NDRange(round_up(columns, kRowGroup), rows), cl::NDRange(kRowGroup, 1),
           arguments...);
  }

 private:
  Context* context_;
  Context::Program* program_;
};

}  // namespace diacut
