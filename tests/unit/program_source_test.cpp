// Several kernel files as one source text: what it takes from each, and that nothing of one reaches
// the next.
#include "opencl/program_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

constexpr char kCounter[] = "__global uint* restrict diacut_launches";
constexpr char kCount[] =
    " if (get_group_id(0) + get_group_id(1) + get_group_id(2) + get_local_id(0) + get_local_id(1) +"
    " get_local_id(2) == 0) atomic_inc(diacut_launches);";

std::string counted(std::string_view source) {
  return counted_source(source, LaunchCount::kByOneItem);
}

/// The text with PARAMETER and COUNT replaced by what kernels get.
std::string with_counts(std::string text) {
  for (const auto& [word, meaning] : {std::pair("PARAMETER", kCounter), {"COUNT", kCount}}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, std::string_view(word).size(), meaning);
    }
  }
  return text;
}

TEST(CountedSource, GivesEachKernelTheCounterAsItsLastParameter) {
  EXPECT_EQ(counted(""), "");
  EXPECT_EQ(counted("float f(float x) { return g(x); }\n"), "float f(float x) { return g(x); }\n");
  EXPECT_EQ(counted("__kernel void f(__global float* x) { x[0] = 1; }\n"
                    "kernel void g(int a,\n  int b)\n{\n  if (a) { return; }\n}\n"),
            with_counts("__kernel void f(__global float* x, PARAMETER) {COUNT x[0] = 1; }\n"
                        "kernel void g(int a,\n  int b, PARAMETER)\n{COUNT\n"
                        "  if (a) { return; }\n}\n"));
}

TEST(CountedSource, KnowsKernelsWithoutParameters) {
  EXPECT_EQ(counted("__kernel void f() {}"), with_counts("__kernel void f(PARAMETER) {COUNT}"));
  EXPECT_EQ(counted("__kernel void f( void ) {}"),
            with_counts("__kernel void f(PARAMETER) {COUNT}"));
  EXPECT_EQ(counted("__kernel void f(/* none */) {}"),
            with_counts("__kernel void f(PARAMETER) {COUNT}"));
}

TEST(CountedSource, TellsParametersFromAttributes) {
  EXPECT_EQ(counted("__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void f(\n"
                    "    MATRIX, int a) {\n}\n"),
            with_counts("__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void f(\n"
                        "    MATRIX, int a, PARAMETER) {COUNT\n}\n"));
  EXPECT_EQ(
      counted("__kernel void f(int a) __attribute__((vec_type_hint(float4))) {}"),
      with_counts(
          "__kernel void f(int a, PARAMETER) __attribute__((vec_type_hint(float4))) {COUNT}"));
  EXPECT_EQ(counted("__kernel GROUPS(64, (1)) void NAME(f, int)(MATRIX) {}"),
            with_counts("__kernel GROUPS(64, (1)) void NAME(f, int)(MATRIX, PARAMETER) {COUNT}"));
  EXPECT_EQ(counted("__kernel void f(int a);\n__kernel void f(int a) {}"),
            with_counts("__kernel void f(int a, PARAMETER);\n"
                        "__kernel void f(int a, PARAMETER) {COUNT}"));
}

TEST(CountedSource, PassesCommentsAndThePreprocessor) {
  const std::string nothing =
      "// __kernel void f(int a) {}\n/* __kernel void g() {} */\n"
      "#define K \\\n  __kernel void h() {}\nint my__kernel(int a) {}\n";
  EXPECT_EQ(counted(nothing), nothing);
  EXPECT_EQ(counted("__kernel void f(int a,  // a (first\n"
                    "#ifdef SCALED\n    int b,\n#endif\n"
                    "    int c /* ) { */ MORE) {\n}\n"),
            with_counts("__kernel void f(int a,  // a (first\n"
                        "#ifdef SCALED\n    int b,\n#endif\n"
                        "    int c /* ) { */ MORE, PARAMETER) {COUNT\n}\n"));
}

TEST(CountedSource, KnowsKernelsInBranches) {
  EXPECT_EQ(counted("#if A\n__kernel void f(int a) {\n#else\n__kernel void f(long a) {\n"
                    "#endif\n}\n"),
            with_counts("#if A\n__kernel void f(int a, PARAMETER) {COUNT\n#else\n"
                        "__kernel void f(long a, PARAMETER) {COUNT\n#endif\n}\n"));
  EXPECT_EQ(counted("#if A\n__kernel void f(int a)\n#else\n__kernel void g(int a)\n#endif\n{}\n"),
            with_counts("#if A\n__kernel void f(int a, PARAMETER)\n#else\n"
                        "__kernel void g(int a, PARAMETER)\n#endif\n{COUNT}\n"));
}

TEST(CountedSource, LeavesNamesAndLinesAsTheyAre) {
  const std::string source =
      "#define N 2\n__kernel __attribute__((reqd_work_group_size(N, 1, 1))) void k(\n"
      "    __global float* x) {\n  x[N] = 1;\n}\nstatic void helper(void) {}\n"
      "__kernel void other(void) {}\n";
  const std::string with_count = counted_source(source, LaunchCount::kByFirstRow);
  EXPECT_THAT(with_count,
              HasSubstr(", __global uint* restrict diacut_launches) { if (get_group_id"));
  EXPECT_THAT(with_count, HasSubstr(" diacut_launches[get_local_id(0)] += 1;"));
  EXPECT_EQ(std::count(with_count.begin(), with_count.end(), '\n'),
            std::count(source.begin(), source.end(), '\n'));
  EXPECT_THAT(defined_names(with_count), ElementsAre("helper", "k", "other"));
  const std::string joined = joined_source({{"a.cl", "", with_count}, {"b.cl", "", with_count}});
  EXPECT_THAT(joined, HasSubstr("#define k k_1\n"));
  EXPECT_THAT(joined, Not(HasSubstr("#define diacut_launches")));
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
