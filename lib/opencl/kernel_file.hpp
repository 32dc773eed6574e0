#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

/// The kernels of one file, built with one set of options and launched by their names. The
/// constructor asks for the program: it is built together with those of all objects that are made
/// before the first launch.
class KernelFile {
 public:
  /// `file` and `options` as Context::kernel() takes them.
  KernelFile(Context& context, std::string file, std::string options)
      : context_(&context), file_(std::move(file)), options_(std::move(options)) {
    context.kernel(file_, {}, options_);
  }

  /// Enqueues, as Context::launch() does, with arguments as set_arguments() takes them.
  template <class... Arguments>
  void launch(const char* name, const cl::NDRange& global, const cl::NDRange& local,
              const Arguments&... arguments) const {
    const Kernel kernel = context_->kernel(file_, name, options_);
    set_arguments(kernel, arguments...);
    context_->launch(kernel, global, local);
  }
  /// Enqueues as diacut::launch_rows() does.
  template <class... Arguments>
  void launch_rows(const char* name, std::size_t columns, std::size_t rows,
                   const Arguments&... arguments) const {
    launch(name, cl::NDRange(round_up(columns, kRowGroup), rows), cl::NDRange(kRowGroup, 1),
           arguments...);
  }

 private:
  Context* context_;
  std::string file_;
  std::string options_;
};

}  // namespace diacut
