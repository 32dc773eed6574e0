#include "program.hpp"

#include <fmt/format.h>

#include "diacut/output.hpp"
#include "diacut/version.hpp"

namespace diacut::app {

bool begin(const CommonOptions& options, Console& console) {
  if (options.answer) {
    write_file("-", *options.answer);
    return false;
  }
  console.set_verbosity(options.verbosity);
  return true;
}

std::string version_text(const std::string& name) {
  return fmt::format("{} (diacut) {}\n", name, kVersion);
}

}  // namespace diacut::app
