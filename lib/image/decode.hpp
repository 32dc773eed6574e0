#pragma once

#include <string>

#include "diacut/image.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// Decodes a file of any format, as decoded.hpp tells of each.
Decoded decode(Bytes file, const SizeLimit& limit, const DecodeTask& task);

/// decode(), in a sandbox if parameters.untrusted says so (sandbox/sandbox.hpp), with the same
/// result. `limit.accepts` is called in this process. Throws as decode() does, and InputError where
/// the sandbox ends the decoder.
Decoded decode_as_asked(Bytes file, const SizeLimit& limit, const DecodeTask& task,
                        const ImageParameters& parameters);

/// decode_as_asked() of a file's bytes, without the pixels that the mask beside it leaves out:
/// `path`.msk, as GDAL writes it for the first page. `path`: of the file; empty: there is none.
Decoded decode_file(const std::string& path, Bytes file, const SizeLimit& limit,
                    const DecodeTask& task, const ImageParameters& parameters);

}  // namespace diacut
