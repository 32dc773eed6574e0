#include <fmt/format.h>
#include <libheif/heif.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

using Context = std::unique_ptr<heif_context, decltype(&heif_context_free)>;
using Handle = std::unique_ptr<heif_image_handle, decltype(&heif_image_handle_release)>;
using HeifPicture = std::unique_ptr<heif_image, decltype(&heif_image_release)>;

void check(const heif_error& error) {
  if (error.code == heif_error_Ok) return;
  std::string message = error.message;  // Some end with a line's end.
  while (message.ends_with('\n')) message.pop_back();
  if (error.code == heif_error_Unsupported_feature ||
      error.code == heif_error_Unsupported_filetype) {
    throw InputError(fmt::format(
        "a kind of HEIF file that cannot be decoded ({}): save it as PNG or JPEG", message));
  }
  refuse_damaged("HEIF", message);
}

/// A box in a box ends before its parent's end, and the last box at the file's end: libheif takes a
/// file that was cut off after its index for a whole one until it decodes it.
void check_boxes(Bytes file) {
  constexpr std::size_t kHeader = 8;
  std::size_t at = 0;
  while (at < file.size()) {
    if (file.size() - at < kHeader) throw InputError("the HEIF file is cut off: copy it again");
    const std::uint64_t size = box_size(file.subspan(at));
    if (size == 0) return;  // To the end of the file.
    if (size == 1 && file.size() - at < 2 * kHeader) break;
    if (size < kHeader || size > file.size() - at) {
      refuse_damaged("HEIF", fmt::format("{} bytes, expected at least {}", file.size(), at + size));
    }
    at += static_cast<std::size_t>(size);
  }
}

/// A coded picture has a size of its own, for which libheif takes memory. It should be that of the
/// file's index, but for whole coding blocks and for tiles that are larger than the picture.
void limit_coded_size(heif_context* context, const heif_image_handle* handle) {
  constexpr int kMargin = 1024;
  const int longest =
      std::max(heif_image_handle_get_ispe_width(handle), heif_image_handle_get_ispe_height(handle));
  heif_context_set_maximum_image_size_limit(context, longest + kMargin);  // For either side.
}

/// The pictures of a file: the primary one first, then the others in the order of the file.
std::vector<heif_item_id> pictures_of(heif_context* context) {
  heif_item_id primary = 0;
  check(heif_context_get_primary_image_ID(context, &primary));
  const int count = heif_context_get_number_of_top_level_images(context);
  std::vector<heif_item_id> ids(static_cast<std::size_t>(std::max(count, 0)));
  heif_context_get_list_of_top_level_image_IDs(context, ids.data(), count);
  const auto first = std::find(ids.begin(), ids.end(), primary);
  if (first != ids.end()) ids.erase(first);
  ids.insert(ids.begin(), primary);
  return ids;
}

/// The picture's ICC profile. Colours that it names by other numbers of ITU-T H.273 than those of
/// sRGB and of broadcasts are named in the notes.
std::vector<std::uint8_t> profile_of(const heif_image_handle* handle,
                                     std::vector<std::string>& notes) {
  std::vector<std::uint8_t> profile(heif_image_handle_get_raw_color_profile_size(handle));
  if (!profile.empty()) {
    check(heif_image_handle_get_raw_color_profile(handle, profile.data()));
    return profile;
  }
  heif_color_profile_nclx* points = nullptr;
  if (heif_image_handle_get_nclx_color_profile(handle, &points).code != heif_error_Ok) return {};
  const int primaries = points->color_primaries;
  const int transfer = points->transfer_characteristics;
  heif_nclx_color_profile_free(points);
  constexpr std::array kLikeSrgb = {1, 2, 6, 13, 14, 15};
  if (primaries > 2 || std::find(kLikeSrgb.begin(), kLikeSrgb.end(), transfer) == kLikeSrgb.end()) {
    notes.push_back(
        fmt::format("Its colours (primaries {} and transfer {} of ITU-T H.273) were read as sRGB.",
                    primaries, transfer));
  }
  return {};
}

/// Copies the interleaved samples that libheif decoded.
cv::Mat samples_of(const heif_image* picture, int channels, int bits) {
  const int width = heif_image_get_width(picture, heif_channel_interleaved);
  const int height = heif_image_get_height(picture, heif_channel_interleaved);
  int stride = 0;
  const std::uint8_t* plane =
      heif_image_get_plane_readonly(picture, heif_channel_interleaved, &stride);
  if (plane == nullptr) throw InputError("the HEIF file is damaged: it holds no picture");
  // cv::Mat has no view of constant bytes; these are only read.
  const cv::Mat samples(height, width, CV_MAKETYPE(bits > 8 ? CV_16U : CV_8U, channels),
                        const_cast<std::uint8_t*>(plane), static_cast<std::size_t>(stride));
  return samples.clone();
}

}  // namespace

Decoded decode_heif(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  check_boxes(file);
  const Context context(heif_context_alloc(), &heif_context_free);
  check(
      heif_context_read_from_memory_without_copy(context.get(), file.data(), file.size(), nullptr));
  const std::vector<heif_item_id> pictures = pictures_of(context.get());
  Decoded decoded;
  decoded.pages = static_cast<int>(pictures.size());
  if (has_text(file, 8, "avis") || has_text(file, 8, "msf1") || has_text(file, 8, "hevc")) {
    note_animation(task.part.page, decoded);
  }
  const int chosen = choose_page(task.part.page, decoded.pages);
  heif_image_handle* opened = nullptr;
  check(heif_context_get_image_handle(context.get(), pictures[static_cast<std::size_t>(chosen - 1)],
                                      &opened));
  const Handle handle(opened, &heif_image_handle_release);
  check_size(heif_image_handle_get_width(opened), heif_image_handle_get_height(opened), limit);
  check_size(heif_image_handle_get_ispe_width(opened), heif_image_handle_get_ispe_height(opened),
             limit);
  limit_coded_size(context.get(), opened);
  decoded.has_alpha = heif_image_handle_has_alpha_channel(opened) != 0;
  decoded.premultiplied =
      decoded.has_alpha && heif_image_handle_is_premultiplied_alpha(opened) != 0;
  decoded.profile = profile_of(opened, decoded.notes);
  const int bits = heif_image_handle_get_luma_bits_per_pixel(opened);
  if (bits <= 0) throw InputError("the HEIF file is damaged: it has no number of bits");
  const heif_chroma deep =
      decoded.has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
  const heif_chroma plain =
      decoded.has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  static_assert(std::endian::native == std::endian::little);
  const std::unique_ptr<heif_decoding_options, decltype(&heif_decoding_options_free)> options(
      heif_decoding_options_alloc(), &heif_decoding_options_free);
  options->strict_decoding = 1;
  heif_image* result = nullptr;
  // libheif turns and crops the picture as the file says.
  check(heif_decode_image(opened, &result, heif_colorspace_RGB, bits > 8 ? deep : plain,
                          options.get()));
  const HeifPicture picture(result, &heif_image_release);
  check_size(heif_image_get_width(result, heif_channel_interleaved),
             heif_image_get_height(result, heif_channel_interleaved), limit);
  decoded.samples = samples_of(result, decoded.has_alpha ? 4 : 3, bits);
  decoded.type_range = std::pair{0.0, static_cast<double>((1 << bits) - 1)};
  return decoded;
}

}  // namespace diacut
