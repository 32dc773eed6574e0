#pragma once

#include "diacut/image.hpp"
#include "image/decode.hpp"

namespace diacut {

/// decode(), in a sandbox if parameters.untrusted says so (sandbox/sandbox.hpp), with the same
/// result. `limit.accepts` is called in this process. Throws as decode() does, and InputError where
/// the sandbox ends the decoder.
Decoded decode_as_asked(Bytes file, const SizeLimit& limit, const DecodeTask& task,
                        const ImageParameters& parameters);

}  // namespace diacut
