#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "png_reader.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

/// A hierarchy of three leaves and a hole. The second leaf touches no other.
Hierarchy small_tree() {
  Hierarchy tree;
  tree.leaves = {3, 2, 3, {1, 0, 2, 3, 0, 2}};
  tree.merges = {{1, 3, 0.625F}};
  tree.threshold = 0.3;
  return tree;
}

std::string error_of(const std::vector<std::uint8_t>& bytes) {
  return message_of<InputError>([&] { decode_tree(bytes, "some.tree"); });
}

TEST(TreeFile, IsWrittenAsDocumented) {
  const std::vector<std::vector<std::uint8_t>> fields = {
      {0x89, 'D', 'C', 'T', '\r', '\n', 0x1A, '\n'},
      {1, 0, 0, 0},                                      // Version.
      {3, 0, 0, 0, 2, 0, 0, 0},                          // Width and height,
      {3, 0, 0, 0, 1, 0, 0, 0},                          // leaves and merges.
      {2, 0, 0, 0},                                      // Bytes of a label.
      {0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0xD3, 0x3F},  // 0.3
      {1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 2, 0},              // The leaves.
      {1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0x20, 0x3F}};       // 1 and 3 at 0.625.
  std::vector<std::uint8_t> expected;
  for (const auto& field : fields) expected.insert(expected.end(), field.begin(), field.end());
  std::vector<std::uint8_t> bytes = encode_tree(small_tree());
  ASSERT_EQ(bytes.size(), expected.size() + 4);
  // The value that Python's zlib.crc32() gives.
  EXPECT_THAT(std::vector(bytes.end() - 4, bytes.end()), ElementsAre(0x20, 0x31, 0xB6, 0xC5));
  bytes.resize(expected.size());
  EXPECT_EQ(bytes, expected);
}

TEST(TreeFile, ComesBackToTheBit) {
  TempFolder folder;
  Hierarchy empty;
  empty.leaves = {2, 1, 0, {0, 0}};
  for (const Hierarchy& tree :
       {small_tree(), empty, tree_of_pixels(1, 1), tree_of_pixels(300, 220)}) {
    check(tree);
    write_tree(folder / "a.tree", tree);
    expect_same(read_tree(folder / "a.tree"), tree);
  }
  EXPECT_THAT(folder.names(), ElementsAre("a.tree"));
  // 65536 leaves are one too many for labels of 16 bits.
  const std::size_t size = read_bytes(folder / "a.tree").size();
  EXPECT_EQ(size, 40u + 66'000u * 4u + 65'999u * 12u + 4u);
}

TEST(TreeFile, RemembersThePartOfTheImage) {
  const Hierarchy tree = small_tree();
  EXPECT_EQ(encode_tree(tree, {1, ""}), encode_tree(tree));
  const std::vector<std::uint8_t> bytes = encode_tree(tree, {3, "GFP"});
  ImagePart part;
  expect_same(decode_tree(bytes, "a.tree", &part), tree);
  EXPECT_EQ(part.page, 3);
  EXPECT_EQ(part.channel, "GFP");
  for (std::size_t size = 40; size < bytes.size(); ++size) {
    EXPECT_THAT(error_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}),
                HasSubstr("truncated"));
  }
}

TEST(TreeFile, EveryByteIsGuarded) {
  const std::vector<std::uint8_t> good = encode_tree(small_tree());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::vector<std::uint8_t> bytes = good;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ flip);
      EXPECT_THAT(error_of(bytes), HasSubstr("some.tree")) << "byte " << at;
    }
  }
}

TEST(TreeFile, FilesThatCannotBeReadAreNamed) {
  TempFolder folder;
  const auto error = [](const std::string& path) {
    return message_of<InputError>([&] { read_tree(path); });
  };
  EXPECT_THAT(error(folder / "none.tree"), HasSubstr("none.tree"));
  EXPECT_THAT(error(folder.path().string()), HasSubstr("a folder"));
  EXPECT_THAT(error("/dev/zero"), HasSubstr("/dev/zero: not a hierarchy"));
}

std::vector<std::uint8_t> ultrametric_file(const std::string& name) {
  const TempFolder folder;
  write_contours(folder / name, ultrametric_map(small_tree()), 7, 5);
  const std::string bytes = read_bytes(folder / name);
  return {bytes.begin(), bytes.end()};
}

TEST(UltrametricFile, PngInSixteenBits) {
  const ReadPng png = read_png(ultrametric_file("a.PNG"));
  EXPECT_EQ(png.width, 7);
  EXPECT_EQ(png.height, 5);
  EXPECT_EQ(png.bits, 16);
  EXPECT_EQ(png.values[2 * 7 + 1], std::lround(0.625 * 65535));
  EXPECT_EQ(png.values[1 * 7 + 2], 65535);  // Never.
  EXPECT_EQ(png.values[1 * 7 + 1], 0);
}

TEST(UltrametricFile, NpyAsItIs) {
  const std::vector<std::uint8_t> bytes = ultrametric_file("a.npy");
  const std::vector<float> map = ultrametric_map(small_tree());
  ASSERT_EQ(bytes.size(), 128 + map.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(&bytes[128], map.data(), map.size() * sizeof(float)), 0);
  EXPECT_THAT(std::string(bytes.begin(), bytes.begin() + 128), HasSubstr("(5, 7)"));
}

TEST(UltrametricFile, OtherExtensionsAreRefused) {
  for (const char* name : {"x.jpg", "x"}) EXPECT_THROW(ultrametric_file(name), ConfigError);
}

}  // namespace
}  // namespace diacut::testing
