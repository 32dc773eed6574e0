#pragma once

#include <string>
#include <vector>

#include "diacut/image_file.hpp"

namespace diacut {

/// Where a part of a TIFF file is stored.
struct TiffPart {
  std::vector<int> directories;  ///< That of each page, from 0.
  int sample = 0;                ///< The sample of a pixel that is read, from 1; 0: all.
  std::vector<std::string> notes;

  int pages() const { return static_cast<int>(directories.size()); }
};

/// Finds the directories that a part's pages are in. The description of a file's first directory
/// may say that directories are channels: OME-XML (OME-TIFF 6.2) or ImageJ's lines do. `samples`:
/// of a pixel of the first directory. Throws InputError where there is no such channel.
TiffPart find_tiff_part(const std::string& description, int directories, int samples,
                        const ImagePart& part);

/// How many planes ImageJ's lines tell of; 1 for another description.
int imagej_planes(const std::string& description);

/// What the description of a file's first directory tells of its channels, pages and pixels, as
/// lines of DecodeTask::kFacts. `samples`: 0 where a pixel's are colours. `across`, `down`: pixels
/// of a unit by the file's tags, 0 where they are not there; `micrometres`: of that unit, 0 for
/// none.
std::vector<std::string> stack_facts(const std::string& description, int directories, int samples,
                                     double across, double down, double micrometres);

}  // namespace diacut
