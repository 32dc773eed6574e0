#include <fmt/format.h>
#include <openjpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

/// A file in memory as OpenJPEG reads it, with the first error that it meets.
struct Jpeg2000Source {
  Bytes file;
  std::size_t at = 0;
  std::string message;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T size, void* self) {
    auto* source = static_cast<Jpeg2000Source*>(self);
    const std::size_t count = std::min<std::size_t>(size, source->file.size() - source->at);
    if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
    std::memcpy(to, source->file.data() + source->at, count);
    source->at += count;
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    auto* source = static_cast<Jpeg2000Source*>(self);
    if (to < 0 || static_cast<std::uint64_t>(to) > source->file.size()) return OPJ_FALSE;
    source->at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T size, void* self) {
    const auto at = static_cast<OPJ_OFF_T>(static_cast<Jpeg2000Source*>(self)->at);
    return size >= 0 && seek(at + size, self) == OPJ_TRUE ? size : -1;
  }
  static void keep_message(const char* message, void* self) {
    auto* source = static_cast<Jpeg2000Source*>(self);
    if (!source->message.empty()) return;
    source->message = message;
    while (!source->message.empty() && source->message.back() <= ' ') source->message.pop_back();
  }
};

[[noreturn]] void refuse(const Jpeg2000Source& source) {
  refuse_damaged("JPEG 2000", source.message.empty() ? "its data end early" : source.message);
}

using Stream = std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)>;
using Codec = std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)>;
using Jpeg2000Picture = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

Stream open_stream(Jpeg2000Source& source) {
  Stream stream(opj_stream_default_create(OPJ_TRUE), &opj_stream_destroy);
  opj_stream_set_read_function(stream.get(), &Jpeg2000Source::read);
  opj_stream_set_skip_function(stream.get(), &Jpeg2000Source::skip);
  opj_stream_set_seek_function(stream.get(), &Jpeg2000Source::seek);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.file.size());
  return stream;
}

Codec make_codec(Jpeg2000Source& source) {
  const bool is_bare = has_text(source.file, 0, "\xff\x4f\xff\x51");
  Codec codec(opj_create_decompress(is_bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2), &opj_destroy_codec);
  opj_set_error_handler(codec.get(), &Jpeg2000Source::keep_message, &source);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) throw std::bad_alloc();
  opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE);
  opj_codec_set_threads(codec.get(), std::max(opj_get_num_cpus(), 1));
  return codec;
}

/// Before the samples are decoded: their number and kind. OpenJPEG takes four bytes for each.
void check_header(const opj_image_t& picture, const SizeLimit& limit) {
  check_size(std::int64_t{picture.x1} - picture.x0, std::int64_t{picture.y1} - picture.y0, limit);
  constexpr unsigned kMostComponents = 4;
  if (picture.numcomps < 1 || picture.numcomps > kMostComponents) {
    throw InputError(fmt::format(
        "the JPEG 2000 file has {} components, expected 1 to {}: save it as grey or colour",
        picture.numcomps, kMostComponents));
  }
  constexpr unsigned kMostBits = 16;
  for (unsigned k = 0; k < picture.numcomps; ++k) {
    const opj_image_comp_t& component = picture.comps[k];
    if (component.prec > kMostBits || component.prec != picture.comps[0].prec ||
        component.dx == 0 || component.dy == 0) {
      throw InputError(fmt::format(
          "a kind of JPEG 2000 file that is not supported (component {} of {} bits, the first of "
          "{}; up to {} are read, all of one kind): save it as PNG",
          k + 1, component.prec, picture.comps[0].prec, kMostBits));
    }
  }
  if (picture.color_space == OPJ_CLRSPC_CMYK || picture.color_space == OPJ_CLRSPC_EYCC) {
    throw InputError("a JPEG 2000 file of CMYK or e-YCC colours is not supported: save it as RGB");
  }
}

/// Components that hold fewer samples than the picture, as many colours do, are repeated.
void copy_component(const opj_image_t& picture, unsigned index, int channel, cv::Mat& samples) {
  const opj_image_comp_t& component = picture.comps[index];
  const int shift = component.sgnd != 0 ? 1 << (component.prec - 1) : 0;
  const int most = (1 << component.prec) - 1;
  const int channels = samples.channels();
  parallel_for(samples.rows, [&](int y) {
    const auto at_y = std::min<std::int64_t>(y / component.dy, std::int64_t{component.h} - 1);
    const OPJ_INT32* row = component.data + at_y * component.w;
    for (int x = 0; x < samples.cols; ++x) {
      const auto at_x = std::min<std::int64_t>(x / component.dx, std::int64_t{component.w} - 1);
      const int value = std::clamp(row[at_x] + shift, 0, most);
      if (samples.depth() == CV_8U) {
        samples.ptr<std::uint8_t>(y)[x * channels + channel] = static_cast<std::uint8_t>(value);
      } else {
        samples.ptr<std::uint16_t>(y)[x * channels + channel] = static_cast<std::uint16_t>(value);
      }
    }
  });
}

/// Luma and two chromas of full range (sYCC of IEC 61966-2-1, Annex F) to red, green and blue.
void convert_sycc(cv::Mat& samples, int bits) {
  const double middle = 1 << (bits - 1);
  const double most = (1 << bits) - 1;
  parallel_for(samples.rows, [&](int y) {
    cv::Mat row = samples.row(y);
    cv::Mat values;
    row.convertTo(values, CV_64F);
    double* pixel = values.ptr<double>();
    for (int x = 0; x < samples.cols; ++x, pixel += samples.channels()) {
      const double luma = pixel[0] + 0.5;
      const double blue = pixel[1] - middle;
      const double red = pixel[2] - middle;
      pixel[0] = std::floor(std::clamp(luma + 1.402 * red, 0.0, most));
      pixel[1] = std::floor(std::clamp(luma - 0.344136 * blue - 0.714136 * red, 0.0, most));
      pixel[2] = std::floor(std::clamp(luma + 1.772 * blue, 0.0, most));
    }
    values.convertTo(row, samples.depth());
  });
}

/// Precondition: check_header() has passed.
Decoded decoded_from(const opj_image_t& picture) {
  Decoded decoded;
  const int bits = static_cast<int>(picture.comps[0].prec);
  const int channels = static_cast<int>(picture.numcomps);
  decoded.has_alpha = channels % 2 == 0;
  decoded.type_range = std::pair{0.0, static_cast<double>((1 << bits) - 1)};
  decoded.samples.create(static_cast<int>(picture.y1 - picture.y0),
                         static_cast<int>(picture.x1 - picture.x0),
                         CV_MAKETYPE(bits > 8 ? CV_16U : CV_8U, channels));
  for (int k = 0; k < channels; ++k) {
    copy_component(picture, static_cast<unsigned>(k), k, decoded.samples);
  }
  // Files without a container do not say what their colours are; only luma and chroma are stored
  // with fewer samples than the picture has.
  const bool is_reduced = channels >= 3 && picture.comps[0].dx == 1 && picture.comps[1].dx > 1;
  if (is_reduced || (channels >= 3 && picture.color_space == OPJ_CLRSPC_SYCC)) {
    convert_sycc(decoded.samples, bits);
  }
  if (picture.icc_profile_len > 0 && picture.icc_profile_buf != nullptr) {
    decoded.profile.assign(picture.icc_profile_buf,
                           picture.icc_profile_buf + picture.icc_profile_len);
  }
  return decoded;
}

}  // namespace

Decoded decode_jpeg2000(Bytes file, const SizeLimit& limit, const DecodeTask& /*task*/) {
  Jpeg2000Source source{file, 0, {}};
  const Stream stream = open_stream(source);
  const Codec codec = make_codec(source);
  opj_image_t* opened = nullptr;
  const bool has_header = opj_read_header(stream.get(), codec.get(), &opened) != OPJ_FALSE;
  const Jpeg2000Picture picture(opened, &opj_image_destroy);
  if (!has_header || opened == nullptr) refuse(source);
  check_header(*opened, limit);
  if (opj_decode(codec.get(), stream.get(), opened) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE) {
    refuse(source);
  }
  for (unsigned k = 0; k < opened->numcomps; ++k) {
    if (opened->comps[k].data == nullptr || opened->comps[k].w == 0 || opened->comps[k].h == 0) {
      refuse(source);
    }
  }
  // A palette, which has become colours, may have changed what the header said.
  check_header(*opened, limit);
  return decoded_from(*opened);
}

}  // namespace diacut
