#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace diacut {

/// A binary file built into the library: its file name without extension and its bytes (static
/// storage).
struct EmbeddedBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

/// The networks of configs/*.safetensors, as they were at build time.
const std::vector<EmbeddedBytes>& embedded_networks();

}  // namespace diacut
