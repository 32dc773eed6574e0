#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_text.hpp"

namespace diacut {

/// The kernel files that were built into a library, each named by its path in kernels/.
using KernelTable = std::vector<EmbeddedText>;

/// The text of a kernel file from the folder `dir`, or, if that is empty, from `built_in`, with
/// the files that it includes in place of its lines `#include "name.clh"`. Throws ConfigError where
/// the folder has no such file, DeviceError where the table has none.
std::string program_source(const std::string& dir, const std::string& file,
                           const KernelTable& built_in);

/// A kernel file that is to be compiled with macros of its own.
struct ProgramPart {
  std::string file;     ///< For the compiler's messages.
  std::string options;  ///< "-DNAME" and "-DNAME=VALUE", separated by spaces, and nothing else.
  std::string source;
};

/// One source text for several kernel files. A part's macros end with it, and so does a setting of
/// FP_CONTRACT; its functions, types and constants get names of their own: a kernel `name` of part
/// k is called part_name(name, k).
std::string joined_source(const std::vector<ProgramPart>& parts);
std::string part_name(std::string_view name, std::size_t part);

/// The functions, types and constants that a source text defines at file scope, each at the start
/// of a line.
std::vector<std::string> defined_names(std::string_view source);

}  // namespace diacut
