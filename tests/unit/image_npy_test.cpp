// The header of .npy files: what is read, and that whatever is not such a header is refused
// without taking memory for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "diacut/edges.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "diacut/seeds.hpp"
#include "image/npy.hpp"
#include "image_files.hpp"
#include "output/npy.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using FileBytes = std::vector<std::uint8_t>;

FileBytes npy(const std::string& text, int major = 1) {
  FileBytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(major), 0};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(text.size() >> (8 * i)));
  }
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

std::string failure_of(const FileBytes& bytes) {
  try {
    parse_npy_header(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NpyHeader, ReadsWhatNumPyWrites) {
  const NpyHeader own = parse_npy_header(npy_header<float>({3, 4, 5}));
  EXPECT_EQ(own.type, "<f4");
  EXPECT_EQ(own.kind(), "f4");
  EXPECT_EQ(own.byte_order(), '<');
  EXPECT_FALSE(own.fortran_order);
  EXPECT_THAT(own.shape, ElementsAre(3, 4, 5));
  EXPECT_EQ(own.size, npy_header<float>({3, 4, 5}).size());

  const NpyHeader other =
      parse_npy_header(npy("{\"shape\": (7L ,), 'fortran_order':True,'descr':'>i2'} \n", 2));
  EXPECT_TRUE(other.fortran_order);
  EXPECT_EQ(other.type, ">i2");
  EXPECT_THAT(other.shape, ElementsAre(7));
  EXPECT_TRUE(
      parse_npy_header(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}")).shape.empty());
}

TEST(NpyHeader, RefusesWhatIsNoHeader) {
  EXPECT_THAT(failure_of({0x93, 'N', 'U', 'M', 'P', 'Y', 1}), HasSubstr("cut off"));
  FileBytes shorter = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}");
  shorter.pop_back();
  EXPECT_THAT(failure_of(shorter), HasSubstr("cut off"));
  EXPECT_THAT(failure_of(npy("    ")), HasSubstr("'{'"));
  EXPECT_THAT(failure_of(npy("{'descr': '<f4', 'shape': (1,)}")), HasSubstr("fortran_order"));
  EXPECT_THAT(failure_of(npy("{'fortran_order': False, 'shape': (1,)}")), HasSubstr("descr"));
  EXPECT_THAT(failure_of(npy("{'descr': '<f4', 'fortran_order': False}")), HasSubstr("shape"));
  EXPECT_THAT(failure_of(npy("{'descr': '<f4', 'descr': '<f4'}")), HasSubstr("twice"));
  EXPECT_THAT(failure_of(npy("{'descr': '<f4")), HasSubstr("without an end"));
  EXPECT_THAT(failure_of(npy("{'descr': 'f'}")), HasSubstr("type"));
  EXPECT_THAT(failure_of(npy("{'shape': (-1,)}")), HasSubstr("no number"));
  EXPECT_THAT(failure_of(npy("{'shape': (99999999999999999999,)}")), HasSubstr("no number"));
  EXPECT_THAT(failure_of(npy("{'fortran_order': 1}")), HasSubstr("True nor False"));
  EXPECT_THAT(failure_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x")),
              HasSubstr("goes on"));
  std::string dimensions;
  for (int i = 0; i < 40; ++i) dimensions += "1,";
  EXPECT_THAT(failure_of(npy("{'shape': (" + dimensions + ")}")), HasSubstr("dimensions"));
  FileBytes long_header = npy(std::string(70'000, ' '), 2);
  EXPECT_THAT(failure_of(long_header), HasSubstr("70000 bytes"));
}

// A header of one long word made a parser by regular expressions overflow its stack.
TEST(NpyHeader, RefusesALongTypeInEveryReader) {
  const FileBytes bytes = npy("{'descr': '<" + std::string(60'000, 'f') + "', }", 2);
  EXPECT_THAT(failure_of(bytes), HasSubstr("which is none"));
  testing::TemporaryFolder folder;
  const std::string path = folder.write("long.npy", bytes);
  EXPECT_THROW(read_edges(path), InputError);
  EXPECT_THROW(read_seeds(path), InputError);
  EXPECT_THROW(read_features(path), InputError);
}

TEST(NpyHeader, RefusesMoreElementsThanTheFileHolds) {
  NpyHeader header{"<f4", false, {2, 3}, 0};
  EXPECT_EQ(npy_elements(header, 4, 24), 6u);
  EXPECT_THROW(npy_elements(header, 4, 23), InputError);
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{
           {kHuge}, {kHuge, kHuge}, {1ULL << 40, 1ULL << 40, 1ULL << 40}, {3, kHuge}}) {
    header.shape = shape;
    EXPECT_THROW(npy_elements(header, 4, 1'000'000), InputError);
  }
}

// Bytes that differ from a header in a few places are a header or an InputError, nothing else.
TEST(NpyHeader, NeverCrashesOnDamagedHeaders) {
  std::mt19937 random(77);
  const FileBytes whole = npy_header<float>({12, 7, 3});
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    FileBytes damaged = whole;
    for (unsigned k = 0; k <= random() % 4; ++k) {
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    }
    damaged.resize(damaged.size() - (random() % 3 == 0 ? random() % damaged.size() : 0));
    refused += failure_of(damaged).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 5'000);
}

}  // namespace
}  // namespace diacut
