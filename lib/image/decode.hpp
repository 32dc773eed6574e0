#pragma once

#include <string>

#include "diacut/image.hpp"
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

/// decode(), in a sandbox if parameters.untrusted says so (sandbox/sandbox.hpp), with the same
/// result. `limit.accepts` is called in this process. Throws as decode() does, and InputError where
/// the sandbox ends the decoder.
Decoded decode_as_asked(Bytes file, const SizeLimit& limit, const DecodeTask& task,
                        const ImageParameters& parameters);

/// Reads an image whose values are numbers and no colours, as read_image() does, but without the
/// file's colour profile.
Image read_numbers(const std::string& path, const ImageParameters& parameters);

}  // namespace diacut
