// MATLAB files of a few bytes that announce what would take all memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "evaluate/mat_file.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using File = std::vector<std::uint8_t>;

constexpr std::uint64_t kMost = std::uint64_t{1} << 28;

void add_word(File& file, std::uint32_t value) {
  for (int k = 0; k < 4; ++k) file.push_back(static_cast<std::uint8_t>(value >> 8 * k));
}

void add(File& file, const File& more) { file.insert(file.end(), more.begin(), more.end()); }

File words(const std::vector<std::uint32_t>& values) {
  File file;
  for (const std::uint32_t value : values) add_word(file, value);
  return file;
}

/// An element of a file of version 5: its type, its length, and its data.
File element(std::uint32_t type, const File& data) {
  File file = words({type, static_cast<std::uint32_t>(data.size())});
  add(file, data);
  file.resize((file.size() + 7) / 8 * 8);
  return file;
}

/// A matrix of this class that says it has these sizes.
File matrix(std::uint32_t kind, const std::vector<std::uint32_t>& sizes, const File& content) {
  File body = element(6, words({kind, 0}));
  add(body, element(5, words(sizes)));
  add(body, element(1, {'u', 'c', 'm', '2'}));
  add(body, content);
  return element(14, body);
}

File compressed(const File& data) {
  uLongf size = compressBound(data.size());
  File packed(size);
  compress2(packed.data(), &size, data.data(), data.size(), 9);
  packed.resize(size);
  File file = words({15, static_cast<std::uint32_t>(size)});
  add(file, packed);
  return file;
}

File version_5(const File& variables) {
  const std::string head = std::string(124, ' ') + std::string("\0\1IM", 4);
  File file;
  for (const char letter : head) file.push_back(static_cast<std::uint8_t>(letter));
  for (const std::uint8_t byte : variables) file.push_back(byte);
  return file;
}

constexpr std::uint32_t kCell = 1;
constexpr std::uint32_t kStructure = 2;
constexpr std::uint32_t kDouble = 6;
constexpr std::uint32_t kBytes = 2;  ///< The type of an element.

TEST(MatSizes, WhatHasNoRoomInTheFileIsRefused) {
  const std::vector<std::pair<const char*, File>> variables = {
      {"cells", matrix(kCell, {1, 100'000'000}, {})},
      {"more cells than 64 bits count", matrix(kCell, {4'000'000'000U, 4'000'000'000U, 99}, {})},
      {"numbers", matrix(kDouble, {15'000, 16'000}, element(kBytes, File(40)))},
      {"fields", matrix(kStructure, {1, 50'000'000},
                        [] {
                          File names = element(5, words({8}));
                          add(names, element(1, File(16, 'a')));
                          return names;
                        }())},
      {"numbers in a cell",
       matrix(kCell, {1, 1}, matrix(kDouble, {15'000, 16'000}, element(kBytes, File(40))))},
  };
  for (const auto& [name, variable] : variables) {
    for (const File& file : {version_5(variable), version_5(compressed(variable))}) {
      ASSERT_LT(file.size(), 400u);
      EXPECT_THAT([&] { read_mat_variables(file, kMost); },
                  ThrowsMessage<InputError>(HasSubstr("for which the file has no room")))
          << name;
    }
  }
}

TEST(MatSizes, ElementsOfOtherTypesThanTheFormatHasAreRefused) {
  for (const char* name : {"odd_field_names", "odd_name_type"}) {
    const std::string text =
        testing::read_bytes(fmt::format("{}/tests/fuzz/found/mat/{}.mat", DIACUT_SOURCE_DIR, name));
    EXPECT_THAT([&] { read_mat_variables(File(text.begin(), text.end()), kMost); },
                ThrowsMessage<InputError>(HasSubstr("damaged")))
        << name;
  }
}

TEST(MatSizes, MoreThanTheLimitIsRefusedThoughItIsThere) {
  const File large = matrix(kDouble, {1000, 50}, element(kBytes, File(50'000)));
  for (const File& file : {version_5(large), version_5(compressed(large))}) {
    EXPECT_NO_THROW(read_mat_variables(file, 50'000));
    EXPECT_THROW(read_mat_variables(file, 49'999), InputError);
  }
}

TEST(MatSizes, CellsInCellsWithoutEndAreRefused) {
  File inner = matrix(kDouble, {1, 1}, element(kBytes, {1}));
  for (int level = 0; level < 100; ++level) inner = matrix(kCell, {1, 1}, inner);
  EXPECT_THROW(read_mat_variables(version_5(inner), kMost), InputError);
}

TEST(MatSizes, OtherVersionsAreRefused) {
  File four = words({0, 2, 3, 0, 5});
  add(four, {'u', 'c', 'm', '2', 0});
  four.resize(four.size() + 48);
  for (const File& file : {four, File{0x89, 'H', 'D', 'F'}}) {
    EXPECT_THAT([&] { read_mat_variables(file, kMost); },
                ThrowsMessage<InputError>(HasSubstr("expected version 5")));
  }
}

}  // namespace
}  // namespace diacut
