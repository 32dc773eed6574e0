// Files of built programs: whole or not there, of one program each, and bounded together.
//
// Several kernel files as one source text: what it takes from each, and that nothing of one reaches
// the next.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "opencl/program_source.hpp"
#include "opencl/program_store.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

const ProgramStore::Binary kBinary = {7, 0, 255, 10, 13, 1};

class ProgramStoreTest : public ::testing::Test {
 protected:
  fs::path only_file() const { return folder_.path() / folder_.names().at(0); }
  void write(const fs::path& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  testing::TempFolder folder_;
};

TEST_F(ProgramStoreTest, GivesBackWhatWasKept) {
  const ProgramStore store(folder_.path() / "made" / "anew");
  EXPECT_THAT(store.find("program"), IsEmpty());
  store.keep("program", kBinary);
  EXPECT_EQ(store.find("program"), kBinary);
  EXPECT_THAT(store.find("another program"), IsEmpty());
  store.keep("program", {3});
  EXPECT_EQ(store.find("program"), ProgramStore::Binary{3});
}

TEST_F(ProgramStoreTest, DamagedFilesAreNone) {
  const ProgramStore store(folder_.path());
  store.keep("program", kBinary);
  const std::string whole = testing::read_bytes(only_file().string());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 4);
    write(only_file(), damaged);
    EXPECT_THAT(store.find("program"), IsEmpty()) << "byte " << k;
    write(only_file(), whole.substr(0, k));
    EXPECT_THAT(store.find("program"), IsEmpty()) << k << " bytes";
  }
  write(only_file(), whole + "x");
  EXPECT_THAT(store.find("program"), IsEmpty());
  store.keep("program", kBinary);
  EXPECT_EQ(store.find("program"), kBinary);
  EXPECT_THAT(folder_.names(), SizeIs(1));
}

TEST_F(ProgramStoreTest, TheOldestGoWhenThereIsTooMuch) {
  const ProgramStore::Binary large(1000, 1);
  const ProgramStore store(folder_.path(), 3500);
  write(folder_.path() / "note.txt", std::string(5000, 'x'));  // Somebody else's.
  for (const char* name : {"a", "b", "c"}) {
    store.keep(name, large);
    for (const auto& file : fs::directory_iterator(folder_.path())) {
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
    }
  }
  EXPECT_EQ(store.find("a"), large);  // From now on it is the newest.
  store.keep("d", large);
  EXPECT_THAT(store.find("b"), IsEmpty());
  for (const char* name : {"a", "c", "d"}) EXPECT_EQ(store.find(name), large) << name;
  store.keep("too large", ProgramStore::Binary(3500, 1));
  EXPECT_THAT(store.find("too large"), IsEmpty());
  EXPECT_THAT(folder_.names(), SizeIs(4));
}

TEST_F(ProgramStoreTest, WithoutAPlaceNothingIsKept) {
  const ProgramStore impossible("/dev/null/programs");
  impossible.keep("program", kBinary);
  EXPECT_THAT(impossible.find("program"), IsEmpty());
}

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

TEST(JoinedSource, GivesEachPartItsMacrosAndItsLines) {
  const std::string joined =
      joined_source({{"a/b.cl", "-DFLAG", "__kernel void k() {}\n"},
                     {"c.cl", " -DBANDS=B(1,2)B(3,4)", "__kernel void k() {}\n"}});
  EXPECT_THAT(joined, HasSubstr("#define FLAG 1\n"));
  EXPECT_THAT(joined, HasSubstr("#define BANDS B(1,2)B(3,4)\n"));
  EXPECT_THAT(joined, HasSubstr("#line 1 \"a/b.cl\"\n"));
  EXPECT_THAT(joined, HasSubstr("#undef k\n"));
}

TEST(ProgramSource, HasTheIncludedFilesInIt) {
  const KernelTable table = {{"a.cl", "#include \"b.clh\"\nint a;\n"}, {"b.clh", "int b;\n"}};
  EXPECT_EQ(program_source("", "a.cl", table), "int b;\n\nint a;\n");
  EXPECT_THROW(program_source("", "c.cl", table), DeviceError);
  EXPECT_THROW(program_source("/nowhere", "a.cl", table), ConfigError);
}

}  // namespace
}  // namespace diacut::testing
