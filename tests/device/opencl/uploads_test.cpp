// Uploads that do not wait for the device.
#include "opencl/uploads.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "support.hpp"

namespace diacut {
namespace {

using testing::test_device;

class UploadsTest : public ::testing::Test {
 protected:
  Context context_{test_device()};

  static std::vector<std::int32_t> first_words(const Uploaded& uploaded, std::size_t count) {
    std::vector<std::int32_t> words(count);
    uploaded.words().download(std::span(words));
    return words;
  }
};

TEST_F(UploadsTest, ArriveThoughTheHostsWordsAreGone) {
  Uploads uploads(context_);
  std::vector<Uploaded> all;
  for (std::int32_t k = 0; k < 20; ++k) {
    all.push_back(uploads.put(std::vector<std::int32_t>(10'000, k)));
  }
  for (std::int32_t k = 0; k < 20; ++k) {
    EXPECT_EQ(first_words(all[static_cast<std::size_t>(k)], 10'000),
              std::vector<std::int32_t>(10'000, k));
  }
}

TEST_F(UploadsTest, KeepTheirWordsAsLongAsACopyLives) {
  Uploads uploads(context_);
  std::optional<Uploaded> first = uploads.put({1, 2, 3});
  const Uploaded copy = *first;
  first.reset();
  const Uploaded second = uploads.put({4, 5, 6});
  context_.finish();
  EXPECT_EQ(first_words(copy, 3), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(first_words(second, 3), (std::vector<std::int32_t>{4, 5, 6}));
}

TEST_F(UploadsTest, MemoryIsUsedAgain) {
  Uploads uploads(context_);
  const std::uint64_t before = context_.memory_in_use();
  for (std::size_t size : {100U, 7U, 100U, 50U}) {
    const Uploaded uploaded = uploads.put(std::vector<std::int32_t>(size, 9));
    EXPECT_EQ(first_words(uploaded, size), std::vector<std::int32_t>(size, 9));
    EXPECT_EQ(context_.memory_in_use(), before + 100 * sizeof(std::int32_t));
  }
  // What is too small grows instead of staying beside what is larger.
  const Uploaded larger = uploads.put(std::vector<std::int32_t>(101, 8));
  EXPECT_EQ(first_words(larger, 101), std::vector<std::int32_t>(101, 8));
  EXPECT_EQ(context_.memory_in_use(), before + 101 * sizeof(std::int32_t));
}

TEST_F(UploadsTest, FloatsKeepTheirBits) {
  Uploads uploads(context_);
  const std::vector<float> values = {0.0F, -0.0F, 1.5F, -3e-42F};
  const Uploaded uploaded = uploads.put(words_of(values));
  EXPECT_EQ(first_words(uploaded, 4), words_of(values));
  EXPECT_EQ(words_of(values)[2], 0x3FC00000);
}

}  // namespace
}  // namespace diacut
