#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"

/// @file
/// Writes results to files, and reads hierarchies back.
///
/// Every write_ function writes to a temporary file in the target's folder and renames it when it
/// is complete, so that a failure leaves neither a half-written file nor a changed old file. A
/// target that is no regular file (a pipe, /dev/null) is written directly. A path of "-" is
/// standard output. The bytes of a file depend only on the arguments. Maps are width * height
/// values, row by row from the top left. The extension of a path, in upper or lower case, chooses
/// the format.
///
/// Errors of every function that takes a path: InputError for a file that cannot be written, or a
/// format that cannot hold the content; ConfigError, which lists the known extensions, for an
/// unknown one. Ignore SIGPIPE and SIGXFSZ, or these signals end the process when a reader closes
/// the pipe or a file reaches the limit of ulimit -f.
namespace diacut {

/// Writes labels: .png and "-" as a 16-bit grey PNG whose values are the labels or, if `indexed`,
/// an 8-bit palette PNG whose indices are the labels, 0 transparent; .tif and .tiff as a TIFF of
/// 32-bit signed integers, compressed by deflate; .npy as a NumPy array of such integers with the
/// shape (height, width). `facts`: what a TIFF keeps of the picture's file (see LabelStack). Throws
/// InputError also when the format cannot hold so many regions, ConfigError when `indexed` is asked
/// for another format than PNG.
void write_labels(const std::string& path, const Labels& labels, bool indexed = false,
                  const PictureFacts& facts = PictureFacts());

/// Writes the image with the boundaries between regions drawn on it, in colour and of the image's
/// size: an 8-bit PNG (.png, "-"), or a JPEG of quality 92 (.jpg, .jpeg). Pixels lean towards their
/// region's mean colour; pixels without data show a checkerboard. `labels`: its regions, of the
/// image's size. Throws InputError also when the sizes differ.
void write_overlay(const std::string& path, const Image& image, const Labels& labels);

/// Writes each region, and the pixels outside all regions, in its mean colour. Files, sizes, errors
/// and pixels without data are those of write_overlay().
void write_flat(const std::string& path, const Image& image, const Labels& labels);

/// The pixels of write_flat(): red, green and blue for each. Throws InputError when the sizes
/// differ.
std::vector<std::uint8_t> flat_picture(const Image& image, const Labels& labels);

/// Writes some regions on a transparent background: an 8-bit PNG with alpha (.png, "-") of the
/// image's size. Alpha falls from 1 to 0 over the two pixels at an edge; pixels outside take the
/// colour of the nearest pixel inside. `of`: the regions' labels. Throws as write_overlay().
void write_cutout(const std::string& path, const Image& image, const Labels& labels,
                  const std::vector<std::int32_t>& of);

/// The pixels of write_cutout(): red, green, blue and alpha for each, all 0 where alpha is 0.
/// Throws InputError when the sizes differ.
std::vector<std::uint8_t> cutout_picture(const Image& image, const Labels& labels,
                                         const std::vector<std::int32_t>& of);

/// The labels of the largest region that does not surround the others, and of the regions that it
/// encloses. A region surrounds the others if it touches three sides of the picture or more; if all
/// do, the largest of those that touch the fewest sides is taken. Empty if there is no region.
std::vector<std::int32_t> foreground(const Labels& labels);

/// A hierarchy as the bytes of a .tree file. `part`: the part of the image's file that it belongs
/// to. All numbers are little-endian, without gaps:
///
///      0  8 bytes  89 44 43 54 0D 0A 1A 0A
///      8  uint32   the version: 1 of the first page and all channels, else 2
///     12  uint32   width of the image; 16: height; 20: leaves; 24: merges
///     28  uint32   bytes of a label: 2 up to 65535 leaves, else 4
///     32  float64  the height of the automatic cut
///     40  uint16 or uint32 for each pixel, row by row: its leaf, 0 without data
///         then, for each merge, int32 first, int32 second, float32 height (see diacut::Merge)
///         in version 2, uint32 page, 0 for the first; uint32 bytes of a channel's name or number,
///         and these bytes (see diacut::ImagePart)
///         uint32   the CRC-32 (as in zlib) of all bytes before it
std::vector<std::uint8_t> encode_tree(const Hierarchy& hierarchy, const ImagePart& part = {});

/// Writes the bytes of encode_tree().
void write_tree(const std::string& path, const Hierarchy& hierarchy, const ImagePart& part = {});

/// Reads the hierarchy that write_tree() wrote, equal to the bit. `path`: "-" is standard input.
/// `part`: receives the part of the image's file; may be null.
/// Throws InputError naming the file when it is damaged, truncated, of another version, or no .tree
/// file.
Hierarchy read_tree(const std::string& path, ImagePart* part = nullptr);

/// As read_tree(), of the bytes of encode_tree(). `name`: their name in messages.
Hierarchy decode_tree(const std::vector<std::uint8_t>& bytes, const std::string& name,
                      ImagePart* part = nullptr);

/// Writes one map of probabilities for each label as .npy (float32, shape (labels, height, width)).
void write_probabilities(const std::string& path,
                         const std::vector<std::vector<float>>& probabilities, int width,
                         int height);

/// Writes a map of boundary strength, at least 0, such as contours or an ultrametric_map(): .png or
/// "-" (16-bit grey, 65535 times the strength, 65535 also for infinity) or .npy (float32, shape
/// (height, width)).
void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height);

/// Writes eigenvectors into a folder, all files or none. Creates the folder, and those above it, if
/// they are missing. The files hold y = z / sqrt_degree, the eigenvectors of (D - W) y = lambda D
/// y, where Eigenvectors holds z:
///  - eigenvector-02.png, ...: the second and each further eigenvector (the first is constant), as
///    16-bit grey: 1 is its least value, 65535 its greatest, 0 no data. The PNG text "eigenvalue"
///    holds the eigenvalue, the texts "least" and "greatest" the values of 1 and 65535;
///  - montage.png: all of these side by side, blue below zero, red above, each with its number and
///    eigenvalue; first the image, if given;
///  - eigenvectors.npy: all eigenvectors, the first included: float32, shape (count, height,
///    width), C order;
///  - eigenvalues.json: eigenvalues, residual norms, whether the solver converged.
///
/// `image`: the image for the montage, or null.
void write_eigenvectors(const std::string& directory, const Eigenvectors& eigenvectors,
                        const Image* image = nullptr);

/// A report of a run as JSON, indented by two spaces and ended by a newline: "schema" (the version
/// of this layout, which a change of meaning raises), "diacut" (the program's version), "input",
/// "image", "device", "parameters" (grouped as in a configuration), "stages" (milliseconds),
/// "memory" (bytes), "matvec", "eigen", "regions" (label, area in pixels, bounding box, centroid,
/// mean colour), and "notes". Numbers that are not finite are null; bytes that are no UTF-8 are
/// replaced. `page`: the image's page in its file; 0: the file holds one image.
std::string report_json(const Segmentation& segmentation, const Image& image,
                        const Parameters& parameters, const DeviceInfo& device,
                        const std::string& input_name, int page = 0);

/// Writes bytes to a file.
void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes);
/// Writes a text to a file.
void write_file(const std::string& path, const std::string& text);

/// Throws the InputError that writing a file would throw, if that can be known beforehand: the
/// folder is missing or not writable, or the path is a folder. Creates nothing.
void check_writable(const std::string& path);

/// Removes the temporary files of all threads' unfinished writes, which then fail. It is
/// async-signal-safe, for signal handlers and exit paths that do not unwind the stack.
void remove_temporary_files() noexcept;

}  // namespace diacut
