#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

/// The kernels of one file, built with one set of options and launched by their names. The
/// constructor asks for the program: it is built together with those of all objects that are made
/// before the first launch.
class KernelFile {
 public:
  /// Parameters as Context::kernel() takes them. The context must outlive the object.
  KernelFile(Context& context, std::string file, std::string options,
             const KernelTable& built_in = embedded_kernels())
      : context_(&context),
        file_(std::move(file)),
        options_(std::move(options)),
        built_in_(&built_in) {
    context.kernel(file_, {}, options_, built_in);
  }

  /// Enqueues, as Context::launch() does, with arguments as set_arguments() takes them.
  template <class... Arguments>
  void launch(const char* name, const cl::NDRange& global, const cl::NDRange& local,
              const Arguments&... arguments) const {
    auto found = kernels_.find(std::string_view(name));
    if (found == kernels_.end()) {
      found = kernels_.emplace(name, context_->kernel(file_, name, options_, *built_in_)).first;
    }
    set_arguments(found->second, arguments...);
    context_->launch(found->second, global, local);
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
  const KernelTable* built_in_;
  /// Those that were launched. Finding one by a name takes no memory.
  mutable std::map<std::string, Kernel, std::less<>> kernels_;
};

}  // namespace diacut
