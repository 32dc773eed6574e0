// Uploads that do not wait for the device.
#include "opencl/uploads.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "support.hpp"

namespace diacut::testing {
namespace {

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
  std::vector<Uploaded> all;
  for (std::int32_t k = 0; k < 20; ++k) {
    all.push_back(Uploaded(context_, std::vector<std::int32_t>(10'000, k)));
  }
  for (std::int32_t k = 0; k < 20; ++k) {
    EXPECT_EQ(first_words(all[k], 10'000), std::vector<std::int32_t>(10'000, k));
  }
}

TEST_F(UploadsTest, KeepTheirWordsAsLongAsACopyLives) {
  std::optional<Uploaded> first(std::in_place, context_, std::vector<std::int32_t>{1, 2, 3});
  const Uploaded copy = *first;
  first.reset();
  const Uploaded second(context_, {4, 5, 6});
  context_.finish();
  EXPECT_EQ(first_words(copy, 3), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(first_words(second, 3), (std::vector<std::int32_t>{4, 5, 6}));
}

TEST_F(UploadsTest, FloatsKeepTheirBits) {
  const std::vector<float> values = {0.0F, -0.0F, 1.5F, -3e-42F};
  const Uploaded uploaded(context_, words_of(values));
  EXPECT_EQ(first_words(uploaded, 4), words_of(values));
  EXPECT_EQ(words_of(values)[2], 0x3FC00000);
}

}  // namespace
}  // namespace diacut::testing
