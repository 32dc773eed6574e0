#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliDevice : public CliTest {
 protected:
  CliDevice() { write_picture("a.png"); }

  nlohmann::json devices(const Surroundings& around = {}) const {
    const Result result = expect_done(segment("--list-devices --json -", around));
    return nlohmann::json::parse(result.out);
  }
};

TEST_F(CliDevice, ListIsATableOrJson) {
  const nlohmann::json list = devices();
  ASSERT_GE(list.size(), 1u);
  const Result table = expect_done(segment("--list-devices"));
  EXPECT_THAT(table.err, IsEmpty());
  int chosen = 0;
  for (const nlohmann::json& device : list) {
    EXPECT_THAT(table.out, HasSubstr(device.at("index").get<std::string>()));
    EXPECT_THAT(table.out, HasSubstr(device.at("name").get<std::string>()));
    chosen += device.at("chosen").get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
}

TEST_F(CliDevice, NoPlatform) {
  const std::set<std::string> before = files();
  expect_error(segment("a.png -o x.png", kNoDevice), 4, {"pocl-opencl-icd"});
  expect_error(segment("--list-devices", kNoDevice), 4, {"pocl-opencl-icd"});
  EXPECT_EQ(files(), before);
}

/// What a user has whose home cannot be written: /dev/null is a folder for nobody, not even for
/// root.
Surroundings without_home(const std::string& temporary) {
  return {.environment = {{"HOME", "/dev/null"},
                          {"XDG_CACHE_HOME", std::nullopt},
                          {"POCL_CACHE_DIR", std::nullopt},
                          {"TMPDIR", temporary}}};
}

TEST_F(CliDevice, WithoutAWritableHomeKernelsAreStoredInATemporaryFolder) {
  make_folder("tmp");
  const std::set<std::string> before = files();
  const Result list = expect_done(segment("--list-devices", without_home(path("tmp"))));
  EXPECT_THAT(list.err, IsEmpty());
  const Result result = expect_done(segment("a.png -o x.png --verbose", without_home(path("tmp"))));
  EXPECT_THAT(result.err, HasSubstr("cannot store its kernels in '/dev/null/.cache/pocl/kcache'"));
  EXPECT_THAT(result.err, HasSubstr(path("tmp/diacut-kernels-")));
  std::set<std::string> after = before;
  after.insert("x.png");
  EXPECT_EQ(files(), after);
  expect_done(bench("control --megabytes 1 --repeats 1 --widths 1", without_home(path("tmp"))));
  EXPECT_EQ(files(), after);
}

TEST_F(CliDevice, AFolderForKernelsThatTheUserNamesIsKept) {
  make_folder("kernels");
  make_folder("tmp");
  Surroundings around = without_home(path("tmp"));
  around.environment["POCL_CACHE_DIR"] = path("kernels");
  const Result result = expect_done(segment("a.png -o x.png --verbose", around));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("diacut-kernels-")));
}

TEST_F(CliDevice, AFolderForKernelsThatCannotBeWrittenIsNamed) {
  write("a_file", "");
  for (const std::string& folder : {path("a_file"), path("a_file/kernels")}) {
    Surroundings around = without_home("");
    around.environment["POCL_CACHE_DIR"] = folder;
    const Result result = segment("a.png -o x.png", around);
    expect_error(result, 4, {"PoCL", "'" + folder + "'", "POCL_CACHE_DIR"});
    EXPECT_THAT(result.err, ::testing::Not(HasSubstr("does not build")));
  }
}

TEST_F(CliDevice, AFullDiskOfTheKernelsIsNamed) {
  make_folder("kernels");
  const Result result =
      start_program("/usr/bin/unshare",
                    {"--mount", "sh", "-c",
                     "mount -t tmpfs -o size=100k tmpfs kernels && exec \"$0\" a.png -o x.png",
                     DIACUT_SEGMENT},
                    {.environment = {{"POCL_CACHE_DIR", path("kernels")}}})
          ->wait();
  if (result.err.find("mount:") != std::string::npos ||
      result.err.find("unshare:") != std::string::npos) {
    GTEST_SKIP() << "cannot mount: " << result.err;
  }
  EXPECT_THAT(result.err, HasSubstr("the disk of '" + path("kernels") + "' is full"));
}

TEST_F(CliDevice, AHomeThatCanBeWrittenIsLeftToTheDriver) {
  make_folder("home");
  make_folder("tmp");
  Surroundings around = without_home(path("tmp"));
  around.environment["HOME"] = path("home");
  const Result result = expect_done(segment("a.png -o x.png --verbose", around));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("diacut-kernels-")));
}

TEST_F(CliDevice, NameThatMatchesNothing) {
  const std::string name = devices().at(0).at("name");
  const std::set<std::string> before = files();
  expect_error(segment("a.png -o x.png --device 'no such device'"), 2,
               {"--device", "no such device", name});
  expect_error(segment("a.png -o x.png --device 99:0"), 2, {"99:0", name});
  expect_error(segment("a.png -o x.png", {.environment = {{"DIACUT_DEVICE", "wrong one"}}}), 2,
               {"DIACUT_DEVICE", "wrong one", name});
  EXPECT_EQ(files(), before);
}

TEST_F(CliDevice, NameThatMatchesTwo) {
  // PoCL shows its two ways of using the CPU as two devices.
  const Surroundings two = {.environment = {{"POCL_DEVICES", "basic pthread"}}};
  const nlohmann::json list = devices(two);
  if (list.size() < 2) GTEST_SKIP() << "needs PoCL";
  const std::string platform = list.at(0).at("platform");
  if (list.at(1).at("platform") != platform) GTEST_SKIP() << "needs PoCL first";
  expect_error(segment(fmt::format("a.png -o x.png --device '{}'", platform), two), 2,
               {"--device", "2 devices", list.at(0).at("name"), list.at(1).at("name")});
  EXPECT_FALSE(exists("x.png"));
  expect_done(segment("a.png -o x.png --device 0:1", two));
  EXPECT_TRUE(exists("x.png"));
}

TEST_F(CliDevice, ATaskOfAJobTakesItsOwnOfSeveral) {
  const Surroundings two = {.environment = {{"POCL_DEVICES", "basic pthread"}}};
  const nlohmann::json list = devices(two);
  if (list.size() != 2 || list.at(0).at("kind") != list.at(1).at("kind")) {
    GTEST_SKIP() << "needs PoCL alone";
  }
  const auto chosen = [&](const std::string& spec, const std::optional<std::string>& task) {
    Surroundings around = two;
    around.environment["SLURM_LOCALID"] = task;
    const std::string table =
        segment(fmt::format("--list-devices --device '{}'", spec), around).out;
    const std::size_t mark = table.find("\n*  ");
    return mark == std::string::npos ? table : table.substr(mark + 4, 3);
  };
  EXPECT_EQ(chosen("auto", std::nullopt), "0:0");
  EXPECT_EQ(chosen("auto", "0"), "0:0");
  EXPECT_EQ(chosen("auto", "1"), "0:1");
  EXPECT_EQ(chosen("auto", "2"), "0:0");
  EXPECT_EQ(chosen("cpu", "1"), "0:0");
  EXPECT_EQ(chosen("cpu:0", std::nullopt), "0:0");
  EXPECT_EQ(chosen("CPU:1", "0"), "0:1");
  for (const char* wrong :
       {"cpu:2", "gpu:0", "cpu:", "cpu:-1", "cpu:1x", "cpu:99999999999999999999"}) {
    expect_error(segment(fmt::format("a.png -o x.png --device '{}'", wrong), two), 2,
                 {wrong, "matches no device", "0:1"});
  }
}

TEST_F(CliDevice, AWrongEnvironmentDoesNotHideTheList) {
  const Result result =
      expect_done(segment("--list-devices", {.environment = {{"DIACUT_DEVICE", "wrong one"}}}));
  EXPECT_THAT(result.out, HasSubstr("0:0"));
  EXPECT_THAT(result.err, HasSubstr("DIACUT_DEVICE"));
  expect_error(segment("--list-devices --device 'wrong one'"), 2, {"--device"});
}

TEST_F(CliDevice, KernelFolder) {
  expect_done(segment("a.png -o built-in.png"));
  fs::copy(DIACUT_SOURCE_DIR "/kernels", path("kernels"), fs::copy_options::recursive);
  expect_done(segment("a.png -o folder.png --kernel-dir kernels"));
  EXPECT_EQ(read("folder.png"), read("built-in.png"));

  for (const fs::directory_entry& file : fs::recursive_directory_iterator(path("kernels"))) {
    if (file.is_directory()) continue;
    write(fs::relative(file.path(), path("")), "#error spoilt on purpose\n");
  }
  // PoCL's compiler itself writes "1 error generated." to standard error before diacut writes: for
  // the kernels that are built together, then for the one that diacut names.
  Result spoilt = segment("a.png -o x.png --kernel-dir kernels");
  spoilt.err = std::regex_replace(spoilt.err, std::regex("^([0-9]+ errors? generated\\.\n){0,2}"),
                                  "", std::regex_constants::format_first_only);
  expect_error(spoilt, 4, {"spoilt on purpose", ".cl"});
  expect_error(segment("a.png -o x.png --kernel-dir nowhere"), 2, {"--kernel-dir", "nowhere"});
  EXPECT_FALSE(exists("x.png"));
}

TEST_F(CliDevice, TheProductAndTheSolverAreChosen) {
  write_picture("large.png", 96, 64);
  const Result multilevel =
      expect_done(segment("large.png -o large-labels.png --spectral full --verbose"));
  EXPECT_THAT(multilevel.err, HasSubstr("by the multilevel solver"));
  EXPECT_THAT(multilevel.err, HasSubstr("kernel block:"));
  expect_done(segment("a.png -o auto.png --spectral full --regions 2"));
  for (const char* kernel : {"naive", "image", "unrolled"}) {
    SCOPED_TRACE(kernel);
    const Result result = expect_done(segment(fmt::format(
        "a.png -o x.png --spectral full --regions 2 --solver lanczos --matvec {} --verbose",
        kernel)));
    EXPECT_THAT(result.err, HasSubstr(kernel));
    EXPECT_EQ(read("x.png"), read("auto.png"));
  }
  const Result compressed = expect_done(segment(
      "a.png -o x.png --spectral full --regions 2 --solver lanczos --matvec symmetric --verbose"));
  EXPECT_THAT(compressed.err, HasSubstr("symmetric"));
  EXPECT_EQ(read("x.png"), read("auto.png"));
  for (const std::string kernel : {"symmetric", "naive"}) {
    EXPECT_THAT(
        segment(fmt::format(
                    "a.png -o x.png --spectral full --regions 2 --solver multilevel --matvec {}",
                    kernel))
            .err,
        HasSubstr("--matvec " + kernel + " is for --solver lanczos"));
  }
  expect_done(segment("a.png -o x.png --spectral full --regions 2 --solver spectra"));
  EXPECT_EQ(read("x.png"), read("auto.png"));
}

TEST_F(CliDevice, AnImageThatDoesNotFitIsRefusedBeforeItIsDecoded) {
  const Result idle = segment("--list-devices");
  ASSERT_GT(idle.peak_bytes, 0u);
  constexpr int kLongSide = 10'000;
  constexpr int kShortSide = 7'000;
  write_picture("large.png", cv::Mat(kShortSide, kLongSide, CV_8UC3, cv::Scalar(40, 90, 200)));
  const Result refused = segment("large.png -o x.png --detail native --memory 1G");
  expect_error(refused, 4,
               {"large.png", "10000x7000", "not enough device memory", "1024 MiB", "--detail 640"});
  EXPECT_FALSE(exists("x.png"));
  // Decoded, it would hold 210 MB, and 840 MB more as floats.
  constexpr std::uint64_t kMargin = 100'000'000;
  EXPECT_LT(refused.peak_bytes, idle.peak_bytes + kMargin);
}

TEST_F(CliDevice, AFileLargerThanMemoryIsRefusedWithoutBeingRead) {
  // The pixels of a header alone, most of which take no space on the disk.
  constexpr std::uintmax_t kBytes = std::uintmax_t{8} << 40;
  write("small.ppm", "P6 400 300 255 ");
  std::error_code error;
  std::filesystem::resize_file(path("small.ppm"), kBytes, error);
  if (error) GTEST_SKIP() << "no file of 8 terabytes: " << error.message();
  const Result idle = segment("--list-devices");
  const Result refused = segment("small.ppm -o x.png");
  expect_error(refused, 3,
               {"small.ppm", "not enough main memory", "400x300", "the bytes of its file"});
  EXPECT_FALSE(exists("x.png"));
  constexpr std::uint64_t kMargin = 50'000'000;
  EXPECT_LT(refused.peak_bytes, idle.peak_bytes + kMargin);
}

TEST_F(CliDevice, MemoryIsALimit) {
  expect_done(segment("a.png -o x.png --boundary gradient --memory 1G"));
  expect_error(segment("a.png -o y.png --boundary gradient --memory 100K"), 4,
               {"not enough device memory", "smaller"});
  EXPECT_FALSE(exists("y.png"));
}

TEST_F(CliDevice, DamagedKernelsThatTheDriverKeptAreBuiltAnewOrTold) {
  Surroundings around;
  around.environment["POCL_CACHE_DIR"] = path("kernels");
  const std::string line = "a.png -o x.png --boundary gradient";
  const auto kept = [&] {
    std::vector<fs::path> programs;
    for (const auto& entry : fs::recursive_directory_iterator(path("kernels"))) {
      const fs::path extension = entry.path().extension();
      if (extension == ".bc" || extension == ".so") programs.push_back(entry.path());
    }
    return programs;
  };
  make_folder("kernels");
  expect_done(segment(line, around));
  if (kept().empty()) GTEST_SKIP() << "the test device is none of PoCL's";
  fs::copy(path("kernels"), path("whole"), fs::copy_options::recursive);
  for (const char* extension : {".bc", ".so"}) {
    for (const bool empty : {true, false}) {
      fs::remove_all(path("kernels"));
      fs::copy(path("whole"), path("kernels"), fs::copy_options::recursive);
      for (const fs::path& each : kept()) {
        if (each.extension() == extension)
          fs::resize_file(each, empty ? 0 : fs::file_size(each) / 2);
      }
      const Result result = segment(line, around);
      EXPECT_EQ(result.signal, 0) << result.err;
      if (result.exit_code != 0) {
        EXPECT_THAT(result.err, HasSubstr("POCL_CACHE_DIR")) << extension << empty;
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
