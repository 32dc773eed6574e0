#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"

/// Results as files, and trees from them again. Every write_ function writes to a temporary file in
/// the target's folder and renames it when it is complete, so a failure leaves neither a
/// half-written file nor a changed old one; a target that is no regular file (a pipe, /dev/null) is
/// written directly. A path of "-" is standard output. Encodings depend on nothing but their
/// arguments. Errors: InputError for a file that cannot be written or a format that cannot hold the
/// content, ConfigError for an extension that is not known. A process that has not ignored SIGPIPE
/// and SIGXFSZ is ended by them when a reader goes away or the limit of ulimit -f is met.
namespace diacut {

/// The most regions that a 16-bit and that an indexed PNG hold.
inline constexpr std::int64_t kMaxGreyRegions = 65'535;
inline constexpr std::int64_t kMaxIndexedRegions = 255;

enum class LabelFormat {
  kGreyPng,     ///< 16-bit grey, the label as it is: .png
  kIndexedPng,  ///< 8-bit palette, the label is the index; 0 is transparent: .png
  kTiff,        ///< 32-bit signed integers: .tif, .tiff
  kNpy,         ///< 32-bit signed integers, shape (height, width): .npy
};

/// The format that a path's extension (in any case) means; "-" means PNG. Throws ConfigError
/// listing the known ones, also when `indexed` is asked of a format other than PNG.
LabelFormat label_format(const std::string& path, bool indexed = false);

/// Throws InputError naming the formats that hold labels.count when `format` does not.
std::vector<std::uint8_t> encode_labels(const Labels& labels, LabelFormat format);
void write_labels(const std::string& path, const Labels& labels, bool indexed = false);

enum class PictureFormat { kPng, kJpeg };

/// .png, .jpg or .jpeg (in any case); "-" means PNG. Throws ConfigError listing these.
PictureFormat picture_format(const std::string& path);

/// The image with the boundaries between regions drawn on it, as large as the image, in colour.
/// Each region leans towards its mean colour; pixels without data show a checkerboard. `image` and
/// `labels` have the same size.
std::vector<std::uint8_t> encode_overlay(const Image& image, const Labels& labels,
                                         PictureFormat format);
void write_overlay(const std::string& path, const Image& image, const Labels& labels);

/// A hierarchy as a .tree file, version 1. All numbers are little-endian, one after the other:
///
///      0  8 bytes  89 44 43 54 0D 0A 1A 0A
///      8  uint32   1, the version: it changes with the layout
///     12  uint32   width of the image; 16: height; 20: leaves; 24: merges
///     28  uint32   bytes of a label: 2 up to 65535 leaves, else 4
///     32  float64  the automatic threshold
///     40  uint16 or uint32 for each pixel, row by row: its leaf, 0 without data
///         then, for each merge, int32 first, int32 second, float32 height (see diacut::Merge)
///         uint32   the CRC-32 (as in zlib) of all bytes before it
///
/// Precondition: check(hierarchy) holds.
std::vector<std::uint8_t> encode_tree(const Hierarchy& hierarchy);
void write_tree(const std::string& path, const Hierarchy& hierarchy);

/// The same again, to the bit; "-" is standard input. Everything is checked, so that a damaged or
/// truncated file, one of another version, or another kind of file is an InputError that names it.
Hierarchy read_tree(const std::string& path);
Hierarchy decode_tree(const std::vector<std::uint8_t>& bytes, const std::string& name);

enum class UltrametricFormat {
  kPng,  ///< 16-bit grey: 65535 times the height, 65535 also where regions never merge: .png
  kNpy,  ///< float32, (2 height + 1, 2 width + 1), as ultrametric_map() gives it: .npy
};

/// The format that a path's extension (in any case) means; "-" means PNG. Throws ConfigError
/// listing the known ones.
UltrametricFormat ultrametric_format(const std::string& path);

/// The ultrametric contour map, a view of the hierarchy for other programs.
std::vector<std::uint8_t> encode_ultrametric(const Hierarchy& hierarchy, UltrametricFormat format);
void write_ultrametric(const std::string& path, const Hierarchy& hierarchy);

/// A map of boundary strength in [0, 1], width * height values: .png (16-bit grey, 65535 times the
/// strength) or .npy (float32, (height, width)), as ultrametric_format() tells them apart.
void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height);

/// Makes the folder (and those above it) if needed and writes into it, all files or none:
///  - eigenvector-02.png, ...  y of the second and each further eigenvector (the first is
///    constant), 16-bit grey: 1 is its least value, 65535 its greatest, 0 no data. The PNG text
///    "eigenvalue" holds the eigenvalue, "least" and "greatest" what 1 and 65535 stand for;
///  - montage.png              all of these side by side to look at, blue below zero, red above,
///    under each its number and eigenvalue; first the image, if given;
///  - eigenvectors.npy         y of all, the first included: float32, (count, height, width), C
///    order, 0 where there is no data;
///  - eigenvalues.json         eigenvalues, residuals, whether the solver converged.
/// y = z / sqrt_degree is the eigenvector of (D - W) y = lambda D y; Eigenvectors holds z.
void write_eigenvectors(const std::string& directory, const Eigenvectors& eigenvectors,
                        const Image* image = nullptr);

/// A run as JSON, two-space indented and ended by a newline: "schema" (the version of this layout,
/// which a change of meaning raises), "diacut" (the program's version), "input", "image", "device",
/// "parameters" (grouped as in a configuration), "stages" (milliseconds), "memory" (bytes),
/// "matvec", "eigen", "regions" (label, area in
/// pixels, bounding box, centroid, mean colour), and "notes". Numbers that are not finite are null;
/// text that is no UTF-8 has its bad bytes replaced.
std::string report_json(const Segmentation& segmentation, const Image& image,
                        const Parameters& parameters, const DeviceInfo& device,
                        const std::string& input_name);

/// Devices as a JSON array of what report_json() tells of one, and whether it is `chosen` (may be
/// null).
std::string devices_json(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen);

void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes);
void write_file(const std::string& path, const std::string& text);

/// Throws the InputError that writing to `path` would, as far as that can be known beforehand: its
/// folder is missing or not writable, or it is a folder itself. Creates nothing.
void check_writable(const std::string& path);

/// Makes a folder and those above it; one that exists is fine. Throws InputError.
void make_folder(const std::string& path);

/// Removes the temporary files of writes under way, in every thread. For a signal handler or exit
/// path that will not unwind the stack (it is async-signal-safe); those writes then fail.
void remove_temporary_files() noexcept;

}  // namespace diacut
