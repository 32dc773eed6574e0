#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <random>

#include "target.hpp"
#include "temp_folder.hpp"

/// What a fuzzer looks for, without a fuzzer: whole files, files with one thing wrong, the files
/// that once were findings, and some random changes of them.
namespace diacut::fuzz {

/// For messages of GoogleTest.
static void PrintTo(const Target& target, std::ostream* stream) { *stream << target.name; }

namespace {

class Replay : public ::testing::TestWithParam<Target> {};

TEST_P(Replay, WholeFilesAreAccepted) {
  const std::vector<FileBytes> seeds = GetParam().seeds();
  ASSERT_FALSE(seeds.empty());
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    EXPECT_EQ(read(GetParam(), seeds[k]), "") << "seed " << k;
  }
}

TEST_P(Replay, SourcesOfTheReaderAreThere) {
  for (const std::string& source : GetParam().sources) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(DIACUT_SOURCE_DIR) / source))
        << source;
  }
}

TEST_P(Replay, FilesWithOneThingWrongAreRefused) {
  if (GetParam().spoilt == nullptr) return;
  const std::vector<SpoiltFile> spoilt = GetParam().spoilt();
  for (std::size_t k = 0; k < spoilt.size(); ++k) {
    const std::string message = read(GetParam(), spoilt[k].bytes);
    EXPECT_NE(message, "") << "spoilt file " << k;
    EXPECT_NE(message.find(spoilt[k].told), std::string::npos)
        << "spoilt file " << k << ": '" << message << "', expected " << spoilt[k].told;
  }
}

TEST_P(Replay, FilesThatAreCutOffEndWell) {
  constexpr std::size_t kMostCuts = 700;
  for (const FileBytes& seed : GetParam().seeds()) {
    const std::size_t step = 1 + seed.size() / kMostCuts;
    for (std::size_t size = 0; size < seed.size(); size += step) {
      std::string refusal;
      EXPECT_NO_THROW(refusal = read(GetParam(), {seed.data(), seed.data() + size}));
      EXPECT_TRUE(!refusal.empty() || !GetParam().needs_every_byte)
          << size << " of " << seed.size() << " bytes";
    }
  }
}

TEST_P(Replay, FindingsAndInputsOfFuzzersEndWell) {
  for (const char* folder : {"found", "corpus"}) {
    const std::filesystem::path place =
        std::filesystem::path(DIACUT_SOURCE_DIR "/tests/fuzz") / folder / GetParam().name;
    if (!std::filesystem::exists(place)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      SCOPED_TRACE(entry.path().string());
      EXPECT_NO_THROW(read(GetParam(), bytes_of(testing::read_bytes(entry.path().string()))));
    }
  }
}

TEST_P(Replay, RandomChangesEndWell) {
  constexpr std::size_t kChanged = 600;
  std::mt19937_64 generator(18);
  const std::vector<FileBytes> seeds = GetParam().inputs();
  for (std::size_t k = 0; k < kChanged; ++k) {
    const FileBytes& seed = seeds[k % seeds.size()];
    if (seed.empty()) continue;
    const FileBytes changed =
        testing::with_changed_bytes(seed, std::min<std::size_t>(seed.size(), 200), generator);
    EXPECT_NO_THROW(read(GetParam(), changed)) << "change " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Replay, ::testing::ValuesIn(targets()),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace diacut::fuzz
