// That the yardsticks touch what they say: a control that skips memory would flatter no kernel, but
// shame all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "matchers.hpp"
#include "right.hpp"
#include "spmv/measure/measure.hpp"

namespace diacut::testing {
namespace {

class TinyControl : public GuardedTest {};

TEST_F(TinyControl, WritesEveryElementAndNothingElse) {
  for (const int floats : {1, 2, 4, 8, 16}) {
    Control control(context_, floats);
    const std::size_t count = 3 * control.granularity();
    Buffer<float> memory = trial_.empty(count);
    control.write(memory, count);
    EXPECT_THAT(memory.download(), Each(Not(::testing::IsNan())));
  }
}

TEST_F(TinyControl, ReadsEveryElement) {
  for (const int floats : {1, 4, 16}) {
    Control control(context_, floats);
    const std::size_t count = control.granularity();
    const auto width = static_cast<std::size_t>(floats);
    for (const std::size_t at : {std::size_t{0}, count / 2 + 1, count - 1}) {
      // All zeros but for one element: the sum of its item is the one that it writes down.
      std::vector<float> values(count, 0.0f);
      values[at] = -1.0f;
      Buffer<float> out = trial_.uploaded<float>({5.0f});
      control.read(trial_.uploaded(values), out, count);
      EXPECT_EQ(out.download()[0], -1.0f)
          << "element " << at << " of " << count << ", width " << width;
    }
  }
}

using ControlTest = TinyControl;

TEST_F(ControlTest, CopiesThatMuchAndNoMore) {
  for (const int floats : {1, 2, 4, 8, 16}) {
    Control control(context_, floats);
    for (const std::size_t elements : {1, 2, 255, 256, 257}) {
      const std::size_t count = elements * static_cast<std::size_t>(floats);
      std::vector<float> data(count + 16);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) + 1.0f;
      const Buffer<float> in = trial_.uploaded(data);
      Buffer<float> out = trial_.empty(data.size());
      out.fill(-1.0f);
      control.copy(in, out, count);
      std::fill(data.begin() + static_cast<std::ptrdiff_t>(count), data.end(), -1.0f);
      EXPECT_EQ(out.download(), data) << floats << " floats, " << count;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
