#pragma once

#include "image/decoded.hpp"

namespace diacut {

/// What a file is decoded for.
struct DecodeTask {
  enum Purpose : std::int32_t {
    kPicture,  ///< Its part, upright, in the colours of sRGB.
    kNumbers,  ///< Its part, upright, as it is stored.
    kRaster,   ///< A PNG or TIFF as it is stored; of a palette the indices.
    kPages,    ///< Only Decoded::pages.
    kFacts,    ///< Only Decoded::notes: the lines of tiff_facts(); of other formats none.
  };
  Purpose purpose = kPicture;
  ImagePart part;
};

/// Decodes a file of any format, as decoded.hpp tells of each.
Decoded decode(Bytes file, const SizeLimit& limit, const DecodeTask& task);

}  // namespace diacut
