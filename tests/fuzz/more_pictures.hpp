#pragma once

#include <vector>

#include "target.hpp"

/// Pictures of kinds that testing::whole_files() does not have, which are accepted, and pictures
/// with one thing wrong, which are refused.
namespace diacut::fuzz {

std::vector<FileBytes> more_webps();
std::vector<SpoiltFile> spoilt_webps();
std::vector<FileBytes> more_jxls();
std::vector<SpoiltFile> spoilt_jxls();
std::vector<FileBytes> more_jpeg2000s();
std::vector<SpoiltFile> spoilt_jpeg2000s();
std::vector<FileBytes> more_raws();
std::vector<SpoiltFile> spoilt_raws();

}  // namespace diacut::fuzz
