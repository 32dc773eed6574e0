#include <libheif/heif.h>

#include "image/decoded.hpp"
#include "image/format.hpp"

namespace diacut {

Decoder* module_decoder(std::string_view id) { return image_format(id).decoder; }

void load_decoders() { heif_init(nullptr); }

}  // namespace diacut
