#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace diacut {

/// A text file built into the library: its path in the folder that it comes from, with
/// `/` between folders ("matrix/block.clh"), and its whole text. Both have static storage.
struct EmbeddedText {
  std::string_view name;
  std::string_view text;
};

/// The files of kernels/, and the configurations, device profiles, merging
/// weights and scores of objects of configs/, as they were at build time.
const std::vector<EmbeddedText>& embedded_kernels();
const std::vector<EmbeddedText>& embedded_configs();
const std::vector<EmbeddedText>& embedded_profiles();
const std::vector<EmbeddedText>& embedded_merging();
const std::vector<EmbeddedText>& embedded_objects();

/// A binary file built into the library: its file name without extension and its bytes (static
/// storage).
struct EmbeddedBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

/// The networks of configs/*.safetensors, as they were at build time.
const std::vector<EmbeddedBytes>& embedded_networks();

}  // namespace diacut
