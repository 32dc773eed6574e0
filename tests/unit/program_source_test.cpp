// Several kernel files as one source text: what it takes from each, and that nothing of one reaches
// the next.
#include "opencl/program_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DefinedNames, AreThoseOfFunctionsTypesAndConstants) {
  EXPECT_THAT(defined_names("// void no(int a) {}\n"
                            "#define macro(a) \\\n  void neither(a) {}\n"
                            "static inline float f(float x) { return g(x); }\n"
                            "__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void k(\n"
                            "    MATRIX, __global float* out) {\n"
                            "  if (h(1)) { out[0] = f(2); }\n"
                            "}\n"
                            "/* typedef int not_this; */\n"
                            "typedef JOIN(float, WIDTH) floatw;\n"
                            "typedef union {\n  floatw all;\n  float lane[WIDTH];\n} lanesw;\n"
                            "typedef struct __attribute__((aligned(8))) { float high; } pair;\n"
                            "__constant int table[] = {1, 2, 3};\n"
                            "__constant float one = 1.0f;\n"),
              ElementsAre("f", "floatw", "k", "lanesw", "one", "pair", "table"));
  EXPECT_THAT(defined_names(""), IsEmpty());
}

TEST(JoinedSource, GivesEachPartItsMacrosAndItsNames) {
  const std::string joined =
      joined_source({{"a/b.cl", "-DWIDTH=4 -DFLAG", "#define LOCAL 1\n__kernel void k() {}\n"},
                     {"c.cl", " -DBANDS=B(1,2)B(3,4)", "__kernel void k() {}\n"}});
  EXPECT_THAT(joined, HasSubstr("#define WIDTH 4\n"));
  EXPECT_THAT(joined, HasSubstr("#define FLAG 1\n"));
  EXPECT_THAT(joined, HasSubstr("#define k k_0\n"));
  EXPECT_THAT(joined, HasSubstr("#line 1 \"a/b.cl\"\n"));
  const std::size_t second = joined.find("#define BANDS B(1,2)B(3,4)\n");
  ASSERT_NE(second, std::string::npos);
  for (const char* name : {"WIDTH", "FLAG", "LOCAL", "k"}) {
    EXPECT_LT(joined.find(std::string("#undef ") + name + "\n"), second) << name;
  }
  EXPECT_THAT(joined.substr(second), HasSubstr("#define k k_1\n"));
  EXPECT_EQ(part_name("k", 1), "k_1");
}

TEST(ProgramSource, HasTheIncludedFilesInIt) {
  const KernelTable table = {{"a.cl", "#include \"b.clh\"\nint a;\n"}, {"b.clh", "int b;\n"}};
  EXPECT_EQ(program_source("", "a.cl", table), "int b;\n\nint a;\n");
  EXPECT_THROW(program_source("", "c.cl", table), DeviceError);
  EXPECT_THROW(program_source("/nowhere", "a.cl", table), ConfigError);
}

TEST(SplitText, SeparatorsEndParts) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(split_text("", '\n'), IsEmpty());
  EXPECT_THAT(split_text("a", '\n'), ElementsAre("a"));
  EXPECT_THAT(split_text("a\n", '\n'), ElementsAre("a"));
  EXPECT_THAT(split_text("a\n\nb", '\n'), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_text("\n", '\n'), ElementsAre(""));
}

}  // namespace
}  // namespace diacut
