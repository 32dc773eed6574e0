#include "diacut/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

#include "diacut/errors.hpp"
#include "diacut/objects.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "image/resize.hpp"
#include "output/format.hpp"
#include "output/markup.hpp"
#include "output/picture.hpp"
#include "page/page_part.hpp"

namespace diacut {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kScripts = {"tree.js", "cuts.js",     "figures.js", "polygons.js",
                                 "png.js",  "pictures.js", "view.js",    "model.js",
                                 "app.js",  "controls.js", "main.js"};
constexpr int kVectorSide = 480;         ///< Longest side of an eigenvector's picture, pixels.
constexpr int kThumbnailSide = 240;      ///< Longest side of an index's picture, pixels.
constexpr std::size_t kTreeHeader = 40;  ///< Bytes of a .tree file before its leaves.

PictureSize page_size(const PictureSize& full) {
  const double pixels = static_cast<double>(full.width) * full.height;
  const double scale =
      std::min({1.0, std::sqrt(static_cast<double>(kMostPagePixels) / pixels),
                static_cast<double>(kMostPageSide) / std::max(full.width, full.height)});
  if (scale == 1.0) return full;
  const auto side = [&](int length) { return std::max(1, static_cast<int>(length * scale)); };
  return {side(full.width), side(full.height)};
}

/// For each row or column of a reduced picture the one of the full picture that its middle lies in.
std::vector<std::int64_t> middles(int count, int full) {
  std::vector<std::int64_t> places;
  for (std::int64_t at = 0; at < count; ++at) places.push_back((2 * at + 1) * full / (2 * count));
  return places;
}

/// The values of a reduced picture: each pixel has that of the full picture's pixel in which its
/// middle lies.
template <class Value>
std::vector<Value> at_middles(std::span<const Value> values, const PictureSize& full,
                              const PictureSize& size) {
  std::vector<Value> result;
  if (values.empty()) return result;
  result.reserve(static_cast<std::size_t>(size.width) * size.height);
  const std::vector<std::int64_t> columns = middles(size.width, full.width);
  for (const std::int64_t row : middles(size.height, full.height)) {
    for (const std::int64_t column : columns) result.push_back(values[row * full.width + column]);
  }
  return result;
}

/// The hierarchy of a reduced picture. Leaves without a pixel leave the tree, and so do merges with
/// them. A leaf may be in several pieces.
Hierarchy sampled(const Hierarchy& full, const PictureSize& size) {
  const Labels& old = full.leaves;
  const auto leaf_count = static_cast<std::size_t>(old.count);
  std::vector<std::int32_t> made(leaf_count + 1 + full.merges.size(), 0);  // By old node.
  Hierarchy result;
  result.threshold = full.threshold;
  result.leaves = {
      size.width, size.height, 0,
      at_middles(std::span<const std::int32_t>(old.values), {old.width, old.height}, size)};
  for (std::int32_t& leaf : result.leaves.values) {
    if (leaf != 0 && made[leaf] == 0) made[leaf] = static_cast<std::int32_t>(++result.leaves.count);
    leaf = made[leaf];
  }
  auto next = static_cast<std::int32_t>(result.leaves.count);
  for (std::size_t k = 0; k < full.merges.size(); ++k) {
    const auto [first, second] =
        std::minmax(made[full.merges[k].first], made[full.merges[k].second]);
    if (first != 0) result.merges.push_back({first, second, full.merges[k].height});
    made[leaf_count + 1 + k] = first != 0 ? ++next : second;
  }
  return result;
}

/// The bytes of the .tree file with each row of leaves XORed with the row above it: leaves are
/// mostly higher than wide runs of one number, so that most bytes become 0.
std::vector<std::uint8_t> page_tree(const Hierarchy& hierarchy) {
  std::vector<std::uint8_t> bytes = encode_tree(hierarchy);
  const std::size_t row =
      static_cast<std::size_t>(hierarchy.leaves.width) * (hierarchy.leaves.count <= 0xFFFF ? 2 : 4);
  for (std::size_t i = kTreeHeader + row * hierarchy.leaves.height; i-- > kTreeHeader + row;) {
    bytes[i] ^= bytes[i - row];
  }
  return bytes;
}

template <class Number>
std::vector<std::uint8_t> bytes_of(const std::vector<Number>& numbers) {
  static_assert(std::endian::native == std::endian::little);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(numbers.data());
  return {bytes, bytes + numbers.size() * sizeof(Number)};
}

/// Mean red, green and blue of each leaf, 0 to 65535, two bytes each, the lower one first. Leaf 0
/// is black.
std::vector<std::uint8_t> leaf_colours(const Image& image, const Labels& leaves) {
  std::vector<double> sums(3 * (static_cast<std::size_t>(leaves.count) + 1), 0.0);
  std::vector<double> area(static_cast<std::size_t>(leaves.count) + 1, 0.0);
  for (std::size_t i = 0; i < leaves.values.size(); ++i) {
    const auto leaf = static_cast<std::size_t>(leaves.values[i]);
    if (leaf == 0) continue;
    area[leaf] += 1;
    const float* values = &image.pixels[i * image.channels];
    for (std::size_t c = 0; c < 3; ++c) sums[3 * leaf + c] += values[image.channels == 3 ? c : 0];
  }
  std::vector<std::uint16_t> levels;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    levels.push_back(
        static_cast<std::uint16_t>(std::lround(65535 * sums[k] / std::max(1.0, area[k / 3]))));
  }
  return bytes_of(levels);
}

/// The bytes of inside_sums() of the leaves, as doubles; none without an inside map.
std::vector<std::uint8_t> leaf_insides(const Labels& leaves, std::span<const float> inside) {
  return inside.empty() ? std::vector<std::uint8_t>() : bytes_of(inside_sums(leaves, inside));
}

std::string data_uri(const cv::Mat3b& rgb) {
  return "data:image/jpeg;base64," + base64(encode_rgb(rgb, PictureFormat::kJpeg));
}

cv::Mat3b at_most(const cv::Mat3b& picture, int side) {
  const double scale = static_cast<double>(side) / std::max(picture.rows, picture.cols);
  if (scale >= 1) return picture;
  const auto length = [&](int old) {
    return std::max(1, static_cast<int>(std::lround(old * scale)));
  };
  cv::Mat3b smaller;
  cv::resize(picture, smaller, {length(picture.cols), length(picture.rows)}, 0, 0, cv::INTER_AREA);
  return smaller;
}

/// The picture for an index of pages, with the outlines of the regions at first.
cv::Mat3b thumbnail_of(const cv::Mat3b& picture, const Labels& labels) {
  cv::Mat3b small = at_most(picture, kThumbnailSide).clone();
  const PictureSize size{small.cols, small.rows};
  const Labels sampled{size.width, size.height, labels.count,
                       at_middles(std::span<const std::int32_t>(labels.values),
                                  {labels.width, labels.height}, size)};
  small.setTo(kOutline, boundary_mask(sampled));
  return small;
}

Json vectors_json(const Eigenvectors* eigenvectors) {
  Json list = Json::array();
  if (eigenvectors == nullptr) return list;
  for (std::size_t k = 1; k < eigenvectors->vectors.size(); ++k) {
    const cv::Mat3b picture =
        vector_picture(generalized(*eigenvectors, k), eigenvectors->sqrt_degree,
                       eigenvectors->width, eigenvectors->height);
    list.push_back({{"number", k + 1},
                    {"value", eigenvectors->values[k]},
                    {"picture", data_uri(at_most(picture, kVectorSide))}});
  }
  return list;
}

/// JSON for a script element, which a "<" could end.
std::string script_json(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return text;
}

Json about_json(const Hierarchy& hierarchy, const Eigenvectors* eigenvectors,
                const PageParameters& parameters) {
  const RegionParameters& region = parameters.region;
  return {{"title", parameters.title},
          {"stem", std::filesystem::path(parameters.title).stem().string()},
          {"start",
           {{"mode", region.regions > 0 ? "regions" : "threshold"},
            {"regions", std::max(1, region.regions)},
            {"threshold", region.threshold.value_or(hierarchy.threshold)},
            {"size", to_string(region.min_size)},
            {"objects", region.method == RegionMethod::kObjects},
            {"inside", region.inside}}},
          {"eigenvectors", vectors_json(eigenvectors)}};
}

/// A page whose image and hierarchy have the size that they are shown in. `note`: what the page
/// says of itself, or empty.
std::string page_of(const Image& image, const Hierarchy& hierarchy,
                    const Eigenvectors* eigenvectors, const PageParameters& parameters,
                    const PictureSize& full, const std::string& note) {
  const cv::Mat3b picture = to_rgb(image);
  const Json summary = {{"title", parameters.title},
                        {"width", full.width},
                        {"height", full.height},
                        {"regions", parameters.labels->count},
                        {"objects", parameters.region.method == RegionMethod::kObjects},
                        {"thumbnail", data_uri(thumbnail_of(picture, *parameters.labels))}};
  const std::string notes = note.empty() ? "" : "<p class=\"note\">" + html_escaped(note) + "</p>";
  std::string scripts;
  for (const char* script : kScripts) scripts += page_part(script);
  using fmt::arg;
  return fmt::format(
      fmt::runtime(page_part("page.html")), arg("title", html_escaped(parameters.title)),
      arg("summary", html_escaped(summary.dump(-1, ' ', false, Json::error_handler_t::replace))),
      arg("version", kVersion), arg("notes", notes), arg("style", page_part("page.css")),
      arg("picture", data_uri(picture)),
      arg("about", script_json(about_json(hierarchy, eigenvectors, parameters))),
      arg("tree", base64(deflated(page_tree(hierarchy)))),
      arg("colours", base64(deflated(leaf_colours(image, hierarchy.leaves)))),
      arg("inside", base64(deflated(leaf_insides(hierarchy.leaves, parameters.inside)))),
      arg("script", scripts));
}

}  // namespace

std::string_view page_part(std::string_view name) {
  const std::vector<EmbeddedText>& parts = embedded_pages();
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const EmbeddedText& part) { return part.name == name; });
  if (found == parts.end()) throw std::logic_error(fmt::format("no part of a page: {}", name));
  return found->text;
}

std::string encode_page(const Image& image, const Hierarchy& hierarchy,
                        const Eigenvectors* eigenvectors, const PageParameters& parameters,
                        std::vector<std::string>& notes) {
  const PictureSize full{image.width, image.height};
  check_one_size("image", image.width, image.height, "hierarchy", hierarchy.leaves.width,
                 hierarchy.leaves.height);
  const std::size_t insides = parameters.inside.size();
  const bool objects = parameters.region.method == RegionMethod::kObjects;
  if (insides != image.pixel_count() && (insides > 0 || objects)) {
    throw InputError(fmt::format("the inside map holds {} values, expected {} x {}", insides,
                                 image.width, image.height));
  }
  const PictureSize size = page_size(full);
  if (size == full) return page_of(image, hierarchy, eigenvectors, parameters, full, "");
  const std::string note = fmt::format(
      "The page shows the picture and its regions reduced from {} x {} to {} x {} pixels, because "
      "browsers draw no larger picture; a .tree file (--tree) holds the regions in full.",
      full.width, full.height, size.width, size.height);
  notes.push_back(note);
  const std::vector<float> inside = at_middles(parameters.inside, full, size);
  PageParameters smaller = parameters;
  smaller.inside = inside;
  return page_of(reduced(image, size), sampled(hierarchy, size), eigenvectors, smaller, full, note);
}

void write_page(const std::string& path, const Image& image, const Hierarchy& hierarchy,
                const Eigenvectors* eigenvectors, const PageParameters& parameters,
                std::vector<std::string>& notes) {
  check_page_name(path);
  write_file(path, encode_for(path, [&] {
               return encode_page(image, hierarchy, eigenvectors, parameters, notes);
             }));
}

void check_page_name(const std::string& path) {
  if (path != "-") check_extension(path, "pages", ".html, .htm");
}

}  // namespace diacut
