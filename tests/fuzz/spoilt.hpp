#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target.hpp"

/// Files for the readers that are whole in all but one thing, so that each way in which a file is
/// refused is a place from which a fuzzer starts.
namespace diacut::fuzz {

std::vector<SpoiltFile> spoilt_configurations();
std::vector<SpoiltFile> spoilt_weights();
std::vector<SpoiltFile> spoilt_profiles();
std::vector<SpoiltFile> spoilt_matrices();
std::vector<SpoiltFile> spoilt_geojson();
std::vector<SpoiltFile> spoilt_coco();
std::vector<SpoiltFile> spoilt_cvat();

std::vector<SpoiltFile> spoilt_npy();
std::vector<SpoiltFile> spoilt_trees();
std::vector<SpoiltFile> spoilt_networks();
std::vector<SpoiltFile> spoilt_mats();
/// MATLAB files with numbers of each type, and elements of each kind, written byte by byte.
std::vector<FileBytes> mats_of_all_types();

/// Pictures of a format, by its id, of kinds that testing::whole_files() does not have, which are
/// accepted; and spoilt ones.
std::vector<FileBytes> more_pictures(std::string_view format);
std::vector<SpoiltFile> spoilt_pictures(std::string_view format);

/// One change of a text, and part of the message of what refuses the text then.
struct Change {
  const char* from;
  const char* to;
  const char* told = "";
};
/// Files of a text with each of the changes alone.
std::vector<SpoiltFile> changed(const std::string& text, const std::vector<Change>& changes,
                                FileBytes (*file_of)(const std::string& text) = bytes_of);

/// A text with its first `from` replaced. Throws std::logic_error where there is none.
std::string replaced_once(std::string text, const std::string& from, const std::string& to);

/// A file of `configs`.
FileBytes shipped(const std::string& name);

}  // namespace diacut::fuzz
