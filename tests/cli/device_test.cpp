#include <fmt/format.h>

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

TEST_F(CliDevice, TheMainMemoryThatAPhotographTakesIsAnnounced) {
#ifdef DIACUT_SANITIZED
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  for (const char* name : {"one/a.jpg", "all/a.jpg", "all/b.jpg", "all/c.jpg"}) {
    fs::create_directories(fs::path(path(name)).parent_path());
    fs::copy_file(DIACUT_SOURCE_DIR "/images/cat.jpg", path(name));
  }
  for (const char* const photos : {"one", "all"}) {
    // The first run compiles the kernels, for which nothing is announced.
    expect_done(segment(fmt::format("{} -o first", photos)));
    expect_done(segment(fmt::format("{} -o second --json result.jsonl", photos)));
    const nlohmann::json result = json_lines(read("result.jsonl")).back();
    if (result.at("device").at("kind") != "cpu") GTEST_SKIP() << "its memory is not the host's";
    const nlohmann::json& memory = result.at("memory");
    const double taken =
        memory.at("host_peak_bytes").get<double>() - memory.at("host_before_bytes").get<double>();
    const double announced = memory.at("host_announced_bytes").get<double>();
    EXPECT_LE(taken, announced) << photos;
    EXPECT_LE(announced, 1.5 * taken) << photos;
  }
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
