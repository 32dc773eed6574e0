#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"

namespace diacut {

/// What messages call a path that is written to: "standard output" for "-".
std::string display_name(const std::string& path);

/// What `encode` returns. An InputError that it throws gets `path` in front of its message.
template <typename Encode>
auto encode_for(const std::string& path, const Encode& encode) {
  try {
    return encode();
  } catch (const InputError& error) {
    throw InputError(display_name(path) + ": " + error.what());
  }
}

/// Throws InputError, "the WHAT has ..., its OTHER ...", where two sizes differ.
void check_one_size(const char* what, int width, int height, const char* other, int other_width,
                    int other_height);

/// Throws ConfigError unless the extension of a path is one of these, as ".png, .npy". `what`: what
/// is to be written, as "labels".
void check_extension(const std::string& path, const char* what, const char* known);

/// Whether the extension of a path is that of a TIFF.
bool names_tiff(const std::string& path);

/// The formats of write_labels().
enum class LabelFormat { kGreyPng, kIndexedPng, kTiff, kNpy };
/// Throws ConfigError as write_labels() does.
LabelFormat label_format(const std::string& path, bool indexed = false);
/// Labels as the bytes of a file. `facts`: as write_labels() takes them. Throws InputError naming
/// the formats that hold so many regions when `format` does not.
std::vector<std::uint8_t> encode_labels(const Labels& labels, LabelFormat format,
                                        const PictureFacts& facts = {});

/// The formats of write_overlay().
enum class PictureFormat { kPng, kJpeg };
/// Throws ConfigError as write_overlay() does.
PictureFormat picture_format(const std::string& path);

/// The formats of write_region_graph().
enum class GraphFormat { kGraphml, kCsv };
/// Throws ConfigError as write_region_graph() does.
GraphFormat graph_format(const std::string& path);

/// Throws ConfigError unless the extension is one of write_map_strength().
void check_strength_name(const std::string& path);

}  // namespace diacut
