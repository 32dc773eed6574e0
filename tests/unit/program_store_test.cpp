// Files of built programs: whole or not there, of one program each, and bounded together.
#include "opencl/program_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "temp_folder.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST_F(ProgramStoreTest, AFileOfAnotherProgramIsNone) {
  const ProgramStore store(folder_.path());
  store.keep("program", kBinary);
  const std::string other = testing::read_bytes(only_file().string());
  fs::remove(only_file());
  store.keep("progrbm", {1});
  write(only_file(), other);
  EXPECT_THAT(store.find("progrbm"), IsEmpty());
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
  const ProgramStore none;
  none.keep("program", kBinary);
  EXPECT_THAT(none.find("program"), IsEmpty());
  const ProgramStore impossible("/dev/null/programs");
  impossible.keep("program", kBinary);
  EXPECT_THAT(impossible.find("program"), IsEmpty());
}

}  // namespace
}  // namespace diacut
