// Where drivers keep kernels, and what of that is damaged.
#include "driver_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "doctor_report.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// PoCL's folder is one of the test's while it lives.
class DriverCacheTest : public ::testing::Test {
 protected:
  DriverCacheTest() {
    if (const char* set = std::getenv("POCL_CACHE_DIR"); set != nullptr) before_ = set;
    setenv("POCL_CACHE_DIR", path("kernels").c_str(), 1);
  }
  ~DriverCacheTest() override {
    if (before_.empty()) {
      unsetenv("POCL_CACHE_DIR");
    } else {
      setenv("POCL_CACHE_DIR", before_.c_str(), 1);
    }
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  static DriverCache pocl() { return driver_caches().front(); }

 private:
  testing::TempFolder folder_;
  std::string before_;
};

std::string own_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(DriverCacheTest, AFolderThatDoesNotExistMayBeMade) {
  const DriverCache cache = pocl();
  EXPECT_EQ(cache.driver, "PoCL");
  EXPECT_EQ(cache.folder, path("kernels"));
  EXPECT_FALSE(cache.exists);
  EXPECT_TRUE(cache.usable);
}

TEST_F(DriverCacheTest, DamagedFilesAreNamed) {
  const std::string whole = own_program();  // Any program has the form of a library.
  write("kernels/AA/whole.so", whole);
  write("kernels/AA/cut.so", whole.substr(0, whole.size() - 1));
  write("kernels/AA/empty.so", "");
  write("kernels/AA/text.so", std::string(200, 'x'));
  write("kernels/AA/program.bc", "BC\xC0\xDE and so on");
  write("kernels/BB/program.bc", "no bitcode");
  write("kernels/BB/last_accessed", "");
  const DriverCache cache = pocl();
  EXPECT_TRUE(cache.exists);
  EXPECT_EQ(cache.files, 7U);
  EXPECT_GT(cache.bytes, whole.size());
  EXPECT_THAT(cache.damaged,
              UnorderedElementsAre(path("kernels/AA/cut.so"), path("kernels/AA/empty.so"),
                                   path("kernels/AA/text.so"), path("kernels/BB/program.bc")));
  const Json report = doctor_json({}, {cache});
  EXPECT_EQ(report.at("sound"), false);
  EXPECT_THAT(doctor_page(report), HasSubstr(path("kernels/AA/cut.so")));
  EXPECT_THAT(doctor_page(report), HasSubstr("Not all is sound"));
}

TEST_F(DriverCacheTest, AFolderThatCannotBeWrittenIsToldOf) {
  setenv("POCL_CACHE_DIR", "/dev/null/kernels", 1);
  const DriverCache cache = pocl();
  EXPECT_FALSE(cache.usable);
  EXPECT_THAT(cache.damaged, IsEmpty());
  const Json report = doctor_json({}, {cache});
  EXPECT_EQ(report.at("sound"), true);
  EXPECT_THAT(doctor_page(report), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace diacut::app
