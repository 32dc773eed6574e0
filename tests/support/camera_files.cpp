#include "camera_files.hpp"

#include <jxl/encode.h>
#include <lcms2.h>
#include <libheif/heif.h>
#include <tiffio.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "map_files.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("the test cannot make a file: ") + what);
}

void require_ok(const heif_error& error) { require(error.code == heif_error_Ok, error.message); }

using HeifPicture = std::unique_ptr<heif_image, decltype(&heif_image_release)>;

HeifPicture heif_picture(const cv::Mat& samples, int bits) {
  const bool has_alpha = samples.channels() == 4;
  const heif_chroma chroma =
      bits == 8
          ? (has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB)
          : (has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE);
  heif_image* made = nullptr;
  require_ok(heif_image_create(samples.cols, samples.rows, heif_colorspace_RGB, chroma, &made));
  HeifPicture picture(made, &heif_image_release);
  require_ok(
      heif_image_add_plane(made, heif_channel_interleaved, samples.cols, samples.rows, bits));
  int stride = 0;
  std::uint8_t* plane = heif_image_get_plane(made, heif_channel_interleaved, &stride);
  samples.copyTo(cv::Mat(samples.size(), samples.type(), plane, static_cast<std::size_t>(stride)));
  return picture;
}

}  // namespace

FileBytes write_heif(const HeifFile& file) {
  const std::unique_ptr<heif_context, decltype(&heif_context_free)> context(heif_context_alloc(),
                                                                            &heif_context_free);
  heif_encoder* found = nullptr;
  require_ok(heif_context_get_encoder_for_format(
      context.get(), file.is_avif ? heif_compression_AV1 : heif_compression_HEVC, &found));
  const std::unique_ptr<heif_encoder, decltype(&heif_encoder_release)> encoder(
      found, &heif_encoder_release);
  require_ok(heif_encoder_set_lossless(found, 1));
  // libaom ends the program where libheif hands it chroma of full size.
  require_ok(heif_encoder_set_parameter_string(found, "chroma", file.is_avif ? "420" : "444"));
  const std::unique_ptr<heif_encoding_options, decltype(&heif_encoding_options_free)> options(
      heif_encoding_options_alloc(), &heif_encoding_options_free);
  const std::unique_ptr<heif_color_profile_nclx, decltype(&heif_nclx_color_profile_free)> points(
      heif_nclx_color_profile_alloc(), &heif_nclx_color_profile_free);
  points->matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_601_6;
  points->full_range_flag = 1;
  options->output_nclx_profile = points.get();
  options->image_orientation = static_cast<heif_orientation>(file.orientation);
  options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
  options->macOS_compatibility_workaround_no_nclx_profile = 0;
  for (const cv::Mat& samples : file.pictures) {
    const HeifPicture picture = heif_picture(samples, file.bits);
    if (!file.profile.empty()) {
      require_ok(heif_image_set_raw_color_profile(picture.get(), "prof", file.profile.data(),
                                                  file.profile.size()));
    }
    require_ok(
        heif_context_encode_image(context.get(), picture.get(), found, options.get(), nullptr));
  }
  FileBytes bytes;
  heif_writer writer{};
  writer.writer_api_version = 1;
  writer.write = [](heif_context*, const void* data, std::size_t size, void* to) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    static_cast<FileBytes*>(to)->assign(first, first + size);
    return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
  };
  require_ok(heif_context_write(context.get(), &writer, &bytes));
  // libheif writes that primaries and transfer are not specified, whatever it is told.
  const std::string box = "colrnclx";
  const auto at = std::search(bytes.begin(), bytes.end(), box.begin(), box.end());
  require(at != bytes.end(), "HEIF");
  at[9] = static_cast<std::uint8_t>(file.primaries);
  at[11] = static_cast<std::uint8_t>(file.transfer);
  return bytes;
}

FileBytes write_jxl(const JxlFile& file) {
  const std::unique_ptr<JxlEncoder, decltype(&JxlEncoderDestroy)> encoder(JxlEncoderCreate(nullptr),
                                                                          &JxlEncoderDestroy);
  const auto check = [](JxlEncoderStatus status) { require(status == JXL_ENC_SUCCESS, "JPEG XL"); };
  const cv::Mat& first = file.frames.front();
  const auto channels = static_cast<std::uint32_t>(first.channels());
  const bool has_alpha = channels % 2 == 0;
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = static_cast<std::uint32_t>(first.cols);
  info.ysize = static_cast<std::uint32_t>(first.rows);
  info.bits_per_sample = static_cast<std::uint32_t>(8 * first.elemSize1());
  info.exponent_bits_per_sample = first.depth() == CV_32F ? 8 : 0;
  info.num_color_channels = channels - (has_alpha ? 1 : 0);
  info.num_extra_channels = (has_alpha ? 1U : 0U) + static_cast<std::uint32_t>(file.depth_channels);
  info.alpha_bits = has_alpha ? info.bits_per_sample : 0;
  info.alpha_premultiplied = file.is_premultiplied ? JXL_TRUE : JXL_FALSE;
  info.uses_original_profile = file.is_lossy ? JXL_FALSE : JXL_TRUE;
  info.orientation = static_cast<JxlOrientation>(file.orientation);
  if (file.frames.size() > 1) {
    info.have_animation = JXL_TRUE;
    info.animation.tps_numerator = 10;
    info.animation.tps_denominator = 1;
  }
  check(JxlEncoderSetBasicInfo(encoder.get(), &info));
  for (std::uint32_t k = has_alpha ? 1 : 0; k < info.num_extra_channels; ++k) {
    JxlExtraChannelInfo channel;
    JxlEncoderInitExtraChannelInfo(JXL_CHANNEL_DEPTH, &channel);
    channel.bits_per_sample = info.bits_per_sample;
    channel.exponent_bits_per_sample = info.exponent_bits_per_sample;
    check(JxlEncoderSetExtraChannelInfo(encoder.get(), k, &channel));
  }
  if (file.profile.empty()) {
    JxlColorEncoding srgb{};
    JxlColorEncodingSetToSRGB(&srgb, channels < 3 ? JXL_TRUE : JXL_FALSE);
    check(JxlEncoderSetColorEncoding(encoder.get(), &srgb));
  } else {
    check(JxlEncoderSetICCProfile(encoder.get(), file.profile.data(), file.profile.size()));
  }
  JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder.get(), nullptr);
  check(JxlEncoderSetFrameLossless(settings, file.is_lossy ? JXL_FALSE : JXL_TRUE));
  const JxlPixelFormat format = {channels,
                                 first.depth() == CV_8U    ? JXL_TYPE_UINT8
                                 : first.depth() == CV_16U ? JXL_TYPE_UINT16
                                                           : JXL_TYPE_FLOAT,
                                 JXL_NATIVE_ENDIAN, 0};
  for (const cv::Mat& frame : file.frames) {
    if (file.frames.size() > 1) {
      JxlFrameHeader header;
      JxlEncoderInitFrameHeader(&header);
      header.duration = 1;
      check(JxlEncoderSetFrameHeader(settings, &header));
    }
    check(JxlEncoderAddImageFrame(settings, &format, frame.data, frame.total() * frame.elemSize()));
    for (std::uint32_t k = has_alpha ? 1 : 0; k < info.num_extra_channels; ++k) {
      check(JxlEncoderSetExtraChannelBuffer(settings, &format, frame.data,
                                            frame.total() * frame.elemSize1(), k));
    }
  }
  JxlEncoderCloseInput(encoder.get());
  FileBytes bytes(1 << 20);
  std::uint8_t* next = bytes.data();
  std::size_t left = bytes.size();
  check(JxlEncoderProcessOutput(encoder.get(), &next, &left));
  bytes.resize(bytes.size() - left);
  return bytes;
}

namespace {

void put_size(FileBytes& bytes, std::size_t at, std::size_t size) {
  for (std::size_t k = 0; k < 4; ++k) {
    bytes[at + k] = static_cast<std::uint8_t>(size >> (24 - 8 * k));
  }
}

/// Puts a profile in the place of the number of the colour space, which OpenJPEG writes alone (ISO
/// 15444-1, annex I.5.3.3).
FileBytes with_profile(FileBytes bytes, const FileBytes& profile) {
  const auto box = [&](const std::string& type) {
    const auto at = std::search(bytes.begin(), bytes.end(), type.begin(), type.end());
    require(at != bytes.end(), "JPEG 2000");
    return static_cast<std::size_t>(at - bytes.begin()) - 4;
  };
  constexpr std::size_t kOldSize = 15;
  const std::size_t header = box("jp2h");
  const std::size_t colours = box("colr");
  FileBytes made = {0, 0, 0, 0, 'c', 'o', 'l', 'r', 2, 0, 0};
  made.insert(made.end(), profile.begin(), profile.end());
  put_size(made, 0, made.size());
  const std::size_t header_size = bytes[header + 2] * 256U + bytes[header + 3];
  put_size(bytes, header, header_size - kOldSize + made.size());
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(colours);
  bytes.insert(bytes.erase(at, at + kOldSize), made.begin(), made.end());
  return bytes;
}

}  // namespace

FileBytes write_jpeg2000(const Jpeg2000File& file) {
  const std::map<int, std::string> types = {
      {CV_8U, "Byte"}, {CV_16U, "UInt16"}, {CV_16S, "Int16"}, {CV_32S, "UInt32"}};
  const int channels = file.samples.channels();
  SceneFile scene{.width = file.samples.cols,
                  .height = file.samples.rows,
                  .driver = "JP2OpenJPEG",
                  .type = types.at(file.samples.depth()),
                  .bands = channels,
                  .epsg = 0,
                  .transform = {},
                  .is_colour = channels > 2,
                  .options = {"QUALITY=100", "REVERSIBLE=YES"}};
  if (file.bits != 0) scene.options.push_back("NBITS=" + std::to_string(file.bits));
  if (file.is_bare) scene.options.emplace_back("CODEC=J2K");
  cv::Mat numbers;
  file.samples.convertTo(numbers, CV_64F);
  scene.value = [&](int band, int x, int y) {
    return numbers.ptr<double>(y)[x * channels + band - 1];
  };
  const TempFolder folder;
  write_scene(folder / "a.jp2", scene);
  const std::string text = read_bytes(folder / "a.jp2");
  const FileBytes bytes(text.begin(), text.end());
  return file.profile.empty() ? bytes : with_profile(bytes, file.profile);
}

FileBytes write_dng(const cv::Mat& light, int orientation) {
  return write_tiff({dng_page(light, orientation)});
}

TiffPage dng_page(const cv::Mat& light, int orientation) {
  TiffPage page{.width = light.cols,
                .height = light.rows,
                .bits = 16,
                .photometric = 32803,  // A colour filter array.
                .orientation = orientation,
                .rows_per_strip = light.rows};
  for (int y = 0; y < light.rows; ++y) {
    for (int x = 0; x < light.cols; ++x) {
      const std::uint16_t value = light.at<cv::Vec3w>(y, x)[y % 2 + x % 2];
      page.samples.push_back(static_cast<std::uint8_t>(value & 255));
      page.samples.push_back(static_cast<std::uint8_t>(value >> 8));
    }
  }
  page.set_tags = [](TIFF* tiff) {
    const std::uint8_t version[] = {1, 4, 0, 0};
    const std::uint16_t pattern_size[] = {2, 2};
    const std::uint8_t pattern[] = {0, 1, 1, 2};
    // From XYZ to the sensor's colours: the inverse of sRGB's matrix (IEC 61966-2-1).
    const float matrix[] = {3.2406F, -1.5372F, -0.4986F, -0.9689F, 1.8758F,
                            0.0415F, 0.0557F,  -0.2040F, 1.0570F};
    const float neutral[] = {1, 1, 1};
    constexpr int kDaylight = 21;
    TIFFSetField(tiff, TIFFTAG_MAKE, "diacut");
    TIFFSetField(tiff, TIFFTAG_MODEL, "test");
    TIFFSetField(tiff, TIFFTAG_DNGVERSION, version);
    TIFFSetField(tiff, TIFFTAG_UNIQUECAMERAMODEL, "diacut test");
    TIFFSetField(tiff, TIFFTAG_CFAREPEATPATTERNDIM, pattern_size);
    TIFFSetField(tiff, TIFFTAG_CFAPATTERN, 4, pattern);
    TIFFSetField(tiff, TIFFTAG_COLORMATRIX1, 9, matrix);
    TIFFSetField(tiff, TIFFTAG_ASSHOTNEUTRAL, 3, neutral);
    TIFFSetField(tiff, TIFFTAG_CALIBRATIONILLUMINANT1, kDaylight);
  };
  return page;
}

namespace {

FileBytes saved(cmsHPROFILE profile) {
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(profile, nullptr, &size);
  FileBytes bytes(size);
  cmsSaveProfileToMem(profile, bytes.data(), &size);
  cmsCloseProfile(profile);
  return bytes;
}

constexpr cmsCIExyY kDaylight = {0.3127, 0.3290, 1};

}  // namespace

FileBytes rgb_profile(const std::vector<double>& primaries, double gamma) {
  const cmsCIExyYTRIPLE colours = {{primaries[0], primaries[1], 1},
                                   {primaries[2], primaries[3], 1},
                                   {primaries[4], primaries[5], 1}};
  cmsToneCurve* curve = cmsBuildGamma(nullptr, gamma);
  cmsToneCurve* curves[] = {curve, curve, curve};
  cmsHPROFILE profile = cmsCreateRGBProfile(&kDaylight, &colours, curves);
  cmsFreeToneCurve(curve);
  return saved(profile);
}

FileBytes adobe_rgb_profile() {
  return rgb_profile({0.64, 0.33, 0.21, 0.71, 0.15, 0.06}, 563.0 / 256);
}

FileBytes srgb_profile() { return saved(cmsCreate_sRGBProfile()); }

FileBytes grey_profile(double gamma) {
  cmsToneCurve* curve = cmsBuildGamma(nullptr, gamma);
  cmsHPROFILE profile = cmsCreateGrayProfile(&kDaylight, curve);
  cmsFreeToneCurve(curve);
  return saved(profile);
}

}  // namespace diacut::testing
