#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "spmv/measure/measure.hpp"
#include "support.hpp"

namespace diacut {
namespace {

TEST(Copy, CopiesThatMuchAndNoMore) {
  Context context(testing::test_device());
  for (const int floats : {1, 2, 4, 8, 16}) {
    Copy copy(context, floats);
    for (const std::size_t elements : {1, 2, 255, 256, 257}) {
      const std::size_t count = elements * static_cast<std::size_t>(floats);
      std::vector<float> data(count + 16);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) + 1.0f;
      Buffer<float> in = context.allocate<float>(data.size(), "values");
      in.upload(data);
      Buffer<float> out = context.allocate<float>(data.size(), "their copy");
      out.fill(-1.0f);
      copy(in, out, count);
      std::fill(data.begin() + static_cast<std::ptrdiff_t>(count), data.end(), -1.0f);
      EXPECT_EQ(out.download(), data) << floats << " floats, " << count;
    }
  }
}

}  // namespace
}  // namespace diacut
