#include "whole_files.hpp"

#include <png.h>
#include <tiffio.h>

#include <opencv2/imgcodecs.hpp>

#include "camera_files.hpp"

namespace diacut::testing {
namespace {

/// A smooth picture with some noise, so that every compression has something to do.
cv::Mat picture(int width, int height, int type) {
  cv::Mat samples = random_samples(width, height, type).reshape(1);
  const double largest = samples.depth() == CV_8U ? 255 : samples.depth() == CV_16U ? 65535 : 1;
  samples.convertTo(samples, samples.type(), 0.2);
  cv::Mat1d values(samples);
  for (int y = 0; y < values.rows; ++y) {
    for (int x = 0; x < values.cols; ++x) {
      values(y, x) += largest * 0.7 * (x + y) / (values.cols + values.rows);
    }
  }
  values.convertTo(samples, samples.type());
  return samples.reshape(CV_MAT_CN(type));
}

FileBytes tiff_file(const cv::Mat& samples, int compression, int tile = 0) {
  TiffPage page = tiff_page(samples);
  page.compression = compression;
  page.rows_per_strip = compression == COMPRESSION_JPEG ? 8 : 5;
  page.tile = tile;
  return write_tiff({page});
}

FileBytes palette_png() {
  PngFile palette{
      .width = 41, .height = 7, .colour_type = PNG_COLOR_TYPE_PALETTE, .is_interlaced = true};
  for (int k = 0; k < 3 * 256; ++k) palette.palette.push_back(static_cast<std::uint8_t>(k));
  for (int y = 0; y < 7; ++y) {
    const cv::Mat row = random_samples(41, 1, CV_8UC1, 3);
    palette.rows.emplace_back(row.data, row.data + 41);
  }
  return write_png(palette);
}

FileBytes masks_bmp() {
  return write_bmp({.width = 9,
                    .height = -7,
                    .bits = 32,
                    .compression = 3,
                    .header = 108,
                    .masks = {0xff0000, 0xff00, 0xff, 0xff000000},
                    .pixels = FileBytes(9 * 7 * 4, 200)});
}

FileBytes palette_tiff() {
  TiffPage mapped = tiff_page(random_samples(41, 7, CV_8UC1));
  mapped.photometric = PHOTOMETRIC_PALETTE;
  mapped.compression = COMPRESSION_LZW;
  for (int k = 0; k < 3 * 256; ++k) mapped.palette.push_back(static_cast<std::uint16_t>(k * 99));
  return write_tiff({mapped});
}

FileBytes fax_tiff() {
  TiffPage bits{.width = 48,
                .height = 32,
                .bits = 1,
                .photometric = PHOTOMETRIC_MINISWHITE,
                .compression = COMPRESSION_CCITTFAX4,
                .rows_per_strip = 32};
  for (int k = 0; k < 6 * 32; ++k) bits.samples.push_back(k % 7 < 3 ? 0xf0 : 0x18);
  return write_tiff({bits});
}

}  // namespace

std::map<std::string, FileBytes> whole_files() {
  const cv::Mat colour = picture(41, 29, CV_8UC3);
  const cv::Mat deep = picture(41, 29, CV_16UC3);
  std::map<std::string, FileBytes> files;
  files["grey.jpg"] = encode(".jpg", picture(41, 29, CV_8UC1));
  files["colour.jpg"] = encode(".jpg", colour);
  files["progressive.jpg"] = encode(".jpg", colour, {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  files["restart.jpg"] = encode(".jpg", colour, {cv::IMWRITE_JPEG_RST_INTERVAL, 2});
  files["turned.jpg"] = jpeg_with_exif(files["colour.jpg"], exif_block(6));
  files["cmyk.jpg"] = stored_file("cmyk_noise.jpg");
  files["8.png"] = encode(".png", colour);
  files["16.png"] = encode(".png", deep);
  files["alpha.png"] = encode(".png", picture(41, 29, CV_8UC4));
  files["palette.png"] = palette_png();
  files["grey.bmp"] = encode(".bmp", picture(41, 29, CV_8UC1));
  files["colour.bmp"] = encode(".bmp", colour);
  files["masks.bmp"] = masks_bmp();
  files["lossy.webp"] = encode(".webp", colour, {cv::IMWRITE_WEBP_QUALITY, 80});
  files["lossless.webp"] = encode(".webp", colour, {cv::IMWRITE_WEBP_QUALITY, 101});
  files["turned.webp"] = webp_with(files["lossless.webp"], 41, 29, {.exif = exif_block(6)});
  files["raw.tif"] = tiff_file(deep, COMPRESSION_NONE);
  files["lzw.tif"] = tiff_file(deep, COMPRESSION_LZW);
  files["deflate.tif"] = tiff_file(picture(41, 29, CV_32FC1), COMPRESSION_ADOBE_DEFLATE, 16);
  files["packbits.tif"] = tiff_file(colour, COMPRESSION_PACKBITS);
  files["jpeg.tif"] = tiff_file(colour, COMPRESSION_JPEG);
  files["palette.tif"] = palette_tiff();
  files["fax.tif"] = fax_tiff();
  return files;
}

std::map<std::string, FileBytes> whole_camera_files() {
  const cv::Mat colour = random_samples(41, 29, CV_8UC3);
  const cv::Mat deep = random_samples(41, 29, CV_16UC3);
  std::map<std::string, FileBytes> files;
  files["a.heic"] = write_heif({.profile = adobe_rgb_profile(), .pictures = {colour}});
  files["a.avif"] = write_heif({.is_avif = true, .pictures = {colour}});
  files["a.jxl"] = write_jxl({.frames = {colour}});
  files["lossy.jxl"] = write_jxl({.is_lossy = true, .frames = {deep}});
  files["a.jp2"] = write_jpeg2000({.samples = colour});
  files["a.j2k"] = write_jpeg2000({.samples = deep, .is_bare = true});
  files["a.gif"] = stored_file("interlaced.gif");
  files["a.dng"] = write_dng(random_samples(64, 48, CV_16UC3));
  const std::string header = "P6 41 29 255\n";
  files["a.ppm"].assign(header.begin(), header.end());
  files["a.ppm"].insert(files["a.ppm"].end(), colour.data, colour.data + 41 * 29 * 3);
  files["12.tif"] = write_tiff({{.width = 41,
                                 .height = 29,
                                 .bits = 12,
                                 .rows_per_strip = 29,
                                 .samples = FileBytes(62 * 29, 0x5a)}});
  return files;
}

}  // namespace diacut::testing
