#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "output/npy.hpp"

namespace diacut {
namespace {

std::string text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

/// As numpy.save writes it: magic, version 1.0, length 118 (little-endian), the dictionary, blanks
/// up to 128 bytes in all, newline.
std::string numpy_header(const std::string& dictionary) {
  std::string header = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary;
  header.resize(127, ' ');
  return header + "\n";
}

TEST(Npy, HeaderIsNumpysToTheByte) {
  EXPECT_EQ(text(npy_header<float>({16, 321, 481})),
            numpy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (16, 321, 481), }"));
  EXPECT_EQ(text(npy_header<std::int32_t>({1, 1})),
            numpy_header("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }"));
  EXPECT_EQ(text(npy_header<double>({3})),
            numpy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_EQ(text(npy_header<std::uint8_t>({})),
            numpy_header("{'descr': '|u1', 'fortran_order': False, 'shape': (), }"));
}

TEST(Npy, ElementsStartAlignedWhateverTheShape) {
  for (std::size_t size = 1; size < 1'000'000'000'000; size *= 10) {
    const std::vector<std::uint8_t> header = npy_header<std::uint16_t>({size, size, size});
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_EQ(header[8] + 256u * header[9] + 10u, header.size());
  }
}

TEST(Npy, ElementsFollowTheHeaderInTheirBytes) {
  const std::vector<std::int32_t> elements = {0, 1, -1, 70'000, INT32_MAX, INT32_MIN};
  const std::string bytes = text(encode_npy<std::int32_t>(elements, {2, 3}));
  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(0, 128), text(npy_header<std::int32_t>({2, 3})));
  EXPECT_EQ(bytes.substr(128), std::string("\x00\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff"
                                           "\x70\x11\x01\x00\xff\xff\xff\x7f\x00\x00\x00\x80",
                                           24));
}

TEST(Npy, NoElementsIsAHeaderAlone) {
  EXPECT_EQ(encode_npy<float>({}, {0, 4}), npy_header<float>({0, 4}));
}

}  // namespace
}  // namespace diacut
