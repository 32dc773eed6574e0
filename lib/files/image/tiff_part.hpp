#pragma once

#include <string>
#include <vector>

#include "diacut/image_file.hpp"

namespace diacut {

/// Where a part of a TIFF file is stored, and what the file's description says of it.
struct TiffPart {
  std::vector<int> directories;  ///< That of each page, from 0.
  int sample = 0;                ///< The sample of a pixel that is read, from 1; 0: all.
  std::vector<std::string> notes;
  PictureFacts facts = {};

  int pages() const { return static_cast<int>(directories.size()); }
};

/// Pixels of a unit of length.
struct Resolution {
  double across = 0;  ///< 0: not known, as of the next.
  double down = 0;
  double micrometres = 0;  ///< Of the unit; 0: not known.
};

/// Finds the directories that a part's pages are in, in the order in which the description of a
/// file's first directory has its planes, which may be of several channels: OME-XML (OME-TIFF 6.2)
/// or ImageJ's lines. `samples`: of a pixel of the first directory; `name`: of the file, by which
/// OME-XML may distinguish it from others. Throws InputError where there is no such channel.
TiffPart find_tiff_part(const std::string& description, int directories, int samples,
                        bool are_colours, const ImagePart& part, const std::string& name = {});

/// Whether a description is OME-XML or ImageJ's lines.
bool is_stack(const std::string& description);

/// How many planes ImageJ's lines name; 1 for another description.
int imagej_planes(const std::string& description);

/// Adds the size of pixels to facts of find_tiff_part() that have none. `description`: as there,
/// whose unit counts if it is ImageJ's. `tags`: what the tags of the page say.
void add_resolution(const std::string& description, const Resolution& tags, PictureFacts& facts);

}  // namespace diacut
