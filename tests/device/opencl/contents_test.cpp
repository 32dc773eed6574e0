// Fills and copies of buffers: any place and size, and nothing beside.
#include "opencl/contents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "opencl/copy_elements.hpp"
#include "support.hpp"

namespace diacut {
namespace {

class TinyContents : public ::testing::Test {
 protected:
  /// Sizes and places about the 16 bytes that the kernels write at once.
  static constexpr std::size_t kBytes = 200;

  static std::vector<std::uint8_t> numbered(std::size_t bytes) {
    std::vector<std::uint8_t> numbers(bytes);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  Buffer<std::uint8_t> uploaded(const std::vector<std::uint8_t>& bytes) {
    auto buffer = context_.allocate<std::uint8_t>(bytes.size(), "bytes");
    buffer.upload(bytes);
    return buffer;
  }
  void expect_fills(std::size_t pattern_bytes, std::size_t offset, std::size_t bytes) {
    const std::array<std::uint8_t, 16> pattern = {201, 202, 203, 204, 205, 206, 207, 208,
                                                  209, 210, 211, 212, 213, 214, 215, 216};
    std::vector<std::uint8_t> expected = numbered(kBytes);
    const auto buffer = uploaded(expected);
    for (std::size_t k = 0; k < bytes; ++k) expected[offset + k] = pattern[k % pattern_bytes];
    context_.contents().fill(buffer.cl(), offset, bytes, pattern.data(), pattern_bytes);
    EXPECT_EQ(buffer.download(), expected) << pattern_bytes << ' ' << offset << ' ' << bytes;
  }

  Context context_{testing::test_device()};
};

TEST_F(TinyContents, FillsAnyPart) {
  for (const std::size_t pattern : {1, 2, 4, 8, 16}) {
    for (const std::size_t offset : {0, 1, 2, 3, 5, 12, 16}) {
      for (const std::size_t count : {0, 1, 2, 3, 7}) {
        if (offset * pattern + count * pattern > kBytes) continue;
        expect_fills(pattern, offset * pattern, count * pattern);
      }
    }
  }
  for (std::size_t bytes = 0; bytes < 50; ++bytes) expect_fills(1, 11, bytes);
}

TEST_F(TinyContents, CopiesAnyPart) {
  const std::vector<std::uint8_t> numbers = numbered(kBytes);
  const auto from = uploaded(numbers);
  for (const std::size_t from_offset : {0, 3, 4, 16}) {
    for (const std::size_t to_offset : {0, 4, 7}) {
      for (const std::size_t bytes : {0, 1, 4, 31, 64}) {
        std::vector<std::uint8_t> expected(kBytes, 255);
        const auto to = uploaded(expected);
        std::copy_n(numbers.begin() + static_cast<long>(from_offset), bytes,
                    expected.begin() + static_cast<long>(to_offset));
        context_.contents().copy(from.cl(), from_offset, to.cl(), to_offset, bytes);
        EXPECT_EQ(to.download(), expected) << from_offset << ' ' << to_offset << ' ' << bytes;
      }
    }
  }
}

// As many work-items as there are of them, and some that have more to do than others.
TEST(Contents, FillsAndCopiesMuch) {
  Context context(testing::test_device());
  for (const std::size_t count : {std::size_t{100'003}, std::size_t{20'000'001}}) {
    auto from = context.allocate<float>(count + 2, "numbers");
    auto to = context.allocate<float>(count + 2, "more numbers");
    from.fill(1.5F);
    to.fill(-2);
    copy_elements(from, 2, to, 1, count);
    const std::vector<float> found = to.download();
    EXPECT_EQ(found.front(), -2);
    EXPECT_EQ(found.back(), -2);
    EXPECT_EQ(std::count(found.begin(), found.end(), 1.5F), static_cast<long>(count));
    auto bytes = context.allocate<std::uint8_t>(count, "bytes");
    auto more = context.allocate<std::uint8_t>(count, "more bytes");
    bytes.fill(7);
    more.fill(0);
    copy_elements(bytes, 0, more, 0, count);
    EXPECT_EQ(more.download(), std::vector<std::uint8_t>(count, 7));
  }
}

TEST(Contents, AreCountedAsLaunches) {
  Context context(testing::test_device());
  context.record_launches();
  auto from = context.allocate<float>(8, "numbers");
  auto to = context.allocate<float>(8, "more numbers");
  from.fill(3);
  copy_elements(from, 0, to, 0, 8);
  EXPECT_EQ(to.download(), std::vector<float>(8, 3));
  EXPECT_EQ(context.launched(), (std::set<std::string>{"opencl/contents.cl:copy_words",
                                                       "opencl/contents.cl:fill_contents"}));
}

}  // namespace
}  // namespace diacut
