#include <string_view>

#include "diacut/version.hpp"
#include "formats/calls.hpp"

extern "C" __attribute__((visibility("default"))) const diacut::FormatCalls* diacut_formats(
    const char* version) {
  static const diacut::FormatCalls calls;
  if (std::string_view(version) != diacut::kVersion) return nullptr;
  return &calls;
}
