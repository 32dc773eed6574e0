#include "diacut/page.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "drawn_image.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "output/format.hpp"
#include "output/markup.hpp"
#include "page/page_part.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Four upright leaves, the last of them without a partner behind a column without data.
Hierarchy striped_tree(int width, int height) {
  Hierarchy tree;
  const auto leaf = [&](int x, int) { return std::array{1, 2, 3, 0, 4}[5 * x / width]; };
  tree.leaves = {width, height, 4, by_pixel(width, height, leaf)};
  tree.merges = {{2, 3, 0.125F}, {1, 5, 0.5F}};
  tree.threshold = 0.25;
  return tree;
}

Bytes from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> have & 0xFF));
  }
  return bytes;
}

/// The text of the element with this id.
std::string element(const std::string& page, const std::string& id) {
  const std::size_t at = page.find(" id=\"" + id + "\">");
  if (at == std::string::npos) return "";
  const std::size_t begin = page.find('>', at) + 1;
  return page.substr(begin, page.find('<', begin) - begin);
}

Bytes packed_bytes(const std::string& page, const std::string& id) {
  const Bytes packed = from_base64(element(page, id));
  Bytes bytes(std::size_t{1} << 27);
  uLongf size = bytes.size();
  EXPECT_EQ(uncompress(bytes.data(), &size, packed.data(), packed.size()), Z_OK);
  bytes.resize(size);
  return bytes;
}

/// The hierarchy of a page, read as its script reads it.
Hierarchy tree_of(const std::string& page) {
  Bytes bytes = packed_bytes(page, "tree");
  const auto number = [&](std::size_t at) {
    return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
  };
  const auto row = static_cast<std::size_t>(number(12) * number(28));
  for (std::size_t i = 40 + row; i < 40 + row * static_cast<std::size_t>(number(16)); ++i) {
    bytes[i] ^= bytes[i - row];
  }
  return decode_tree(bytes, "the page");
}

/// Of striped_tree(20, 6): leaves 2 and 3 merged.
const Labels& three_regions() {
  static const Labels labels = cut(striped_tree(20, 6), 0.25);
  return labels;
}

std::string page_of(const Image& image, const Hierarchy& tree, const PageParameters& parameters,
                    const Eigenvectors* eigenvectors = nullptr) {
  std::vector<std::string> notes;
  std::string page = encode_page(image, tree, eigenvectors, parameters, notes);
  EXPECT_THAT(notes, IsEmpty());
  return page;
}

/// A page of a grey picture of that name with three regions.
std::string plain_page(const std::string& name = "a.png", const RegionParameters& region = {},
                       const Eigenvectors* eigenvectors = nullptr) {
  return page_of(grey_image(20, 6), striped_tree(20, 6), {name, region, &three_regions()},
                 eigenvectors);
}

nlohmann::json about(const std::string& page) {
  return nlohmann::json::parse(element(page, "about"));
}

TEST(Page, HoldsTheTreeAndTheColoursOfItsLeaves) {
  const Hierarchy tree = striped_tree(20, 6);
  const Image image = patches_image(20, 6, 3, 1);
  const std::string page = page_of(image, tree, {"photo.jpg", {}, &three_regions()});
  EXPECT_EQ(page_of(image, tree, {"photo.jpg", {}, &three_regions()}), page);
  EXPECT_EQ(encode_tree(tree_of(page)), encode_tree(tree));
  const Bytes colours = packed_bytes(page, "colours");
  ASSERT_EQ(colours.size(), 6u * 5);
  for (std::size_t leaf = 1; leaf <= 4; ++leaf) {
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      int area = 0;
      for (std::size_t i = 0; i < tree.leaves.values.size(); ++i) {
        if (tree.leaves.values[i] != static_cast<std::int32_t>(leaf)) continue;
        sum += image.pixels[3 * i + c];
        ++area;
      }
      const std::size_t at = 2 * (3 * leaf + c);
      EXPECT_NEAR(colours[at] + 256 * colours[at + 1], 65535 * sum / area, 0.5 + 1e-6);
    }
  }
}

TEST(Page, StartsWithTheCutThatWasAskedFor) {
  RegionParameters region;
  region.regions = 7;
  region.min_size = *parse_least_size("0.5%");
  const nlohmann::json told = about(plain_page("a.b.jpg", region));
  EXPECT_EQ(told["stem"], "a.b");
  EXPECT_EQ(told["start"]["mode"], "regions");
  EXPECT_EQ(told["start"]["regions"], 7);
  EXPECT_EQ(told["start"]["size"], "0.5%");
  EXPECT_THAT(told["eigenvectors"], IsEmpty());
}

RegionParameters objects_region() {
  RegionParameters region;
  region.method = RegionMethod::kObjects;
  region.inside = 0.75;
  return region;
}

std::vector<double> inside_of(const std::string& page) {
  const Bytes bytes = packed_bytes(page, "inside");
  std::vector<double> sums(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(sums.data(), bytes.data(), bytes.size());
  return sums;
}

TEST(Page, HoldsTheInsideOfObjects) {
  const Hierarchy tree = striped_tree(20, 6);
  std::vector<float> inside;
  for (const std::int32_t leaf : tree.leaves.values) inside.push_back(leaf == 2 ? 0.5F : 0.125F);
  const std::string page =
      page_of(grey_image(20, 6), tree, {"a.png", objects_region(), &tree.leaves, inside});
  EXPECT_THAT(inside_of(page),
              ElementsAre(3 * 0x1p24, 3 * 0x1p24, 12 * 0x1p24, 3 * 0x1p24, 3 * 0x1p24));
  const nlohmann::json start = about(page)["start"];
  EXPECT_EQ(start["objects"], true);
  EXPECT_EQ(start["inside"], 0.75);
  const std::string without = page_of(grey_image(20, 6), tree, {"a.png", {}, &tree.leaves});
  EXPECT_THAT(inside_of(without), IsEmpty());
  EXPECT_EQ(about(without)["start"]["objects"], false);
}

TEST(Page, ObjectsNeedAnInsideMapOfTheImagesSize) {
  std::vector<std::string> notes;
  const std::vector<float> few(10, 0.5F);
  for (const std::span<const float> inside : {std::span<const float>(), std::span(few)}) {
    EXPECT_THROW(encode_page(grey_image(20, 6), striped_tree(20, 6), nullptr,
                             {"a", objects_region(), &three_regions(), inside}, notes),
                 InputError);
  }
}

TEST(Page, NamesDoNoHarm) {
  const std::string name = "</script><b>\"'{{style}}.png";
  const std::string page = plain_page(name);
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;b&gt;&quot;&#39;{{style}}.png"));
  EXPECT_EQ(about(page)["title"], name);
  const std::regex tag("</?script\\b");
  const auto tags = std::distance(std::sregex_iterator(page.begin(), page.end(), tag), {});
  EXPECT_EQ(tags, 2 * 5);
  // Names need not be UTF-8.
  EXPECT_THAT(plain_page("caf\xE9.png"), HasSubstr("<title>caf\xEF\xBF\xBD.png"));
}

TEST(Page, LoadsNothingFromElsewhere) {
  const std::string page = plain_page();
  EXPECT_THAT(page, HasSubstr("default-src 'none'; img-src data: blob:"));
  const std::regex address(R"re((?:https?:|['"(])//[^'" ]*)re");
  std::set<std::string> found;
  for (std::sregex_iterator at(page.begin(), page.end(), address), end; at != end; ++at) {
    found.insert(at->str());
  }
  // The name of SVG's language, which nothing is loaded from.
  EXPECT_THAT(found, ElementsAre("http://www.w3.org/2000/svg"));
  const std::regex source(R"re((?:src|href)="([^"]{0,30}))re");
  for (std::sregex_iterator at(page.begin(), page.end(), source), end; at != end; ++at) {
    EXPECT_THAT(at->str(1), StartsWith("data:image/jpeg;base64,"));
  }
}

TEST(Page, ShowsEigenvectorsButTheConstantOne) {
  Eigenvectors eigenvectors;
  eigenvectors.width = 10;
  eigenvectors.height = 3;
  eigenvectors.values = {0, 0.25, 0.5};
  for (int k = 0; k < 3; ++k) {
    eigenvectors.vectors.push_back(noise_image(10, 3, 1, 4).pixels);
  }
  eigenvectors.sqrt_degree.assign(30, 1.0F);
  const nlohmann::json shown = about(plain_page("a.png", {}, &eigenvectors))["eigenvectors"];
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[1]["number"], 3);
  EXPECT_EQ(shown[1]["value"], 0.5);
}

TEST(Page, HoldsOneRegionAndMoreLeavesThan16BitsNumber) {
  Hierarchy one;
  one.leaves = {3, 2, 1, {1, 1, 1, 1, 1, 1}};
  for (const Hierarchy& tree : {one, tree_of_pixels(300, 220)}) {
    const Image grey = grey_image(tree.leaves.width, tree.leaves.height);
    const std::string page = page_of(grey, tree, {"a.png", {}, &tree.leaves});
    EXPECT_EQ(encode_tree(tree_of(page)), encode_tree(tree));
  }
}

TEST(Page, LargePicturesAreReducedAndSaySo) {
  constexpr int kWidth = 20'000;
  Hierarchy tree;
  // The second leaf is one column, which lies between the middles of the page's pixels.
  const auto leaf = [](int x, int) { return x < 10'002 ? 1 : x == 10'002 ? 2 : 3; };
  tree.leaves = {kWidth, 2, 3, by_pixel(kWidth, 2, leaf)};
  tree.merges = {{2, 3, 0.125F}, {1, 4, 0.5F}};
  std::vector<std::string> notes;
  std::vector<float> inside(2 * kWidth, 0.5F);
  inside[10'003] = 1;  // Between the middles of the page's pixels.
  const std::string page =
      encode_page(grey_image(kWidth, 2), tree, nullptr, {"a.png", {}, &tree.leaves, inside}, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("reduced from 20000 x 2 to 16384 x 1 pixels"));
  EXPECT_THAT(page, HasSubstr("<p class=\"note\">" + notes[0]));
  const Hierarchy shown = tree_of(page);
  EXPECT_EQ(shown.leaves.width, kMostPageSide);
  EXPECT_EQ(shown.leaves.height, 1);
  EXPECT_EQ(shown.leaves.count, 2);
  expect_same(shown.merges, {{1, 2, 0.5F}});
  const std::vector<double> sums = inside_of(page);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums[0] + sums[1] + sums[2], kMostPageSide * 0x1p23);
}

TEST(Page, HasAtMostSoManyPixels) {
  constexpr int kSide = 4100;
  Hierarchy tree;
  tree.leaves = {kSide, kSide, 1, std::vector<std::int32_t>(std::size_t{kSide} * kSide, 1)};
  std::vector<std::string> notes;
  const std::string page =
      encode_page(grey_image(kSide, kSide), tree, nullptr, {"a.png", {}, &tree.leaves}, notes);
  EXPECT_EQ(notes.size(), 1u);
  const Hierarchy shown = tree_of(page);
  const std::int64_t pixels = std::int64_t{shown.leaves.width} * shown.leaves.height;
  EXPECT_LE(pixels, kMostPagePixels);
  EXPECT_GT(pixels, kMostPagePixels * 99 / 100);
}

TEST(Page, SizesMustAgree) {
  std::vector<std::string> notes;
  EXPECT_THROW(encode_page(grey_image(20, 7), striped_tree(20, 6), nullptr,
                           {"a", {}, &three_regions()}, notes),
               InputError);
  EXPECT_THROW(check_page_name("a.png"), ConfigError);
  EXPECT_NO_THROW(check_page_name("a.HTML"));
}

TEST(PageIndex, LinksPagesThatAreThere) {
  TempFolder folder;
  std::vector<std::string> notes;
  write_page(folder / "a #1.html", grey_image(20, 6), striped_tree(20, 6), nullptr,
             {"a #1.jpg", {}, &three_regions()}, notes);
  write_file(folder / "other.html", std::string("<p>another page</p>"));
  const std::vector<std::string> pages = {folder / "none.html", folder / "other.html",
                                          folder / "a #1.html"};
  EXPECT_EQ(write_page_index(folder / "index.html", "<photos>", pages), 1u);
  const std::string index = read_bytes(folder / "index.html");
  EXPECT_THAT(index, HasSubstr("href=\"./a%20%231.html\""));
  EXPECT_THAT(index, HasSubstr("<h1>&lt;photos&gt;</h1>"));
  EXPECT_THAT(index, HasSubstr("20 x 6 pixels, regions at first: 3"));
  EXPECT_THAT(index, Not(HasSubstr("other")));
  EXPECT_EQ(write_page_index(folder / "empty.html", "none", {folder / "none.html"}), 0u);
  EXPECT_THAT(folder.names(), ElementsAre("a #1.html", "index.html", "other.html"));
}

TEST(PageIndex, OutlinesRegionsOnThumbnails) {
  const std::string page = plain_page();
  const std::string start = "data:image/jpeg;base64,";
  const std::size_t from = page.find(start) + start.size();
  const Bytes bytes = from_base64(page.substr(from, page.find("&quot;", from) - from));
  const cv::Mat3b thumbnail = cv::imdecode(bytes, cv::IMREAD_COLOR);
  ASSERT_EQ(thumbnail.size(), cv::Size(20, 6));
  // JPEG blurs colours: outlines are yellow, and much less blue than the grey picture.
  const auto blueness = [&](int x) { return thumbnail(3, x)[0] - thumbnail(3, x)[2]; };
  EXPECT_LT(blueness(3), -40) << "between the first region and the second";
  EXPECT_GT(blueness(0), -40) << "within the first region";
}

TEST(PageText, IsReadBack) {
  EXPECT_EQ(html_unescaped(html_escaped("<&amp;\"'>")), "<&amp;\"'>");
  const Bytes bytes = {0, 255, 16, 7, 9};
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(from_base64(base64(part)), part);
    EXPECT_EQ(base64(part).size() % 4, 0u);
  }
}

}  // namespace
}  // namespace diacut::testing
