#include "fault_bed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "npz_writer.hpp"
#include "support.hpp"

namespace diacut::testing {

namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 96;
constexpr int kHeight = 64;
constexpr char kReport[] = "faults.txt";

void write(const std::string& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream << bytes;
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

/// A part of a photograph of images/.
cv::Mat part_of(const std::string& photograph, int x, int y) {
  const cv::Mat whole = cv::imread(DIACUT_SOURCE_DIR "/images/" + photograph);
  if (whole.empty()) throw std::runtime_error("cannot read " + photograph);
  return whole(cv::Rect(x, y, kWidth, kHeight)).clone();
}

/// Colours and places as the features of each pixel.
std::string features_of(const cv::Mat& picture) {
  std::vector<float> values;
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      for (int c = 0; c < 3; ++c) {
        values.push_back(static_cast<float>(picture.at<cv::Vec3b>(y, x)[c]) / 255);
      }
      values.push_back(static_cast<float>(x) / 255);
      values.push_back(static_cast<float>(y) / 255);
    }
  }
  return npy_of("<f4", fmt::format("({}, {}, 5)", picture.rows, picture.cols), bytes_of(values));
}

/// How many messages of errors there are.
long errors_in(const std::string& text) {
  const std::regex error("(^|\n)(segment: )?error: ");
  return std::distance(std::sregex_iterator(text.begin(), text.end(), error),
                       std::sregex_iterator());
}

/// Whether every line of a table is one of another table: that of several images has no rows of
/// those that failed.
bool has_rows_of(const std::string& table, const std::string& whole) {
  std::istringstream lines("\n" + table);
  for (std::string line; std::getline(lines, line);) {
    if (whole.find(line + "\n") == std::string::npos) return false;
  }
  return table.ends_with("\n");
}

/// What is wrong with the files of a run, which are to be those of the reference, or those before
/// the run; empty: nothing.
std::string wrong_files(const Files& files, const Files& reference, const Files& before,
                        bool others_may_stay, bool rows_may_miss) {
  for (const auto& [name, bytes] : files) {
    const auto expected = reference.find(name);
    if (expected == reference.end()) {
      if (others_may_stay) continue;
      return "the file " + name + " stays";
    }
    if (rows_may_miss && name.ends_with(".csv") && has_rows_of(bytes, expected->second)) continue;
    const auto old = before.find(name);
    if (bytes != expected->second && (old == before.end() || bytes != old->second)) {
      return "other bytes in " + name;
    }
  }
  for (const auto& [name, bytes] : before) {
    if (files.count(name) == 0) return "the file " + name + " that was there is gone";
  }
  return {};
}

/// What is wrong with a run; empty: nothing.
std::string wrong_with(const Setting& setting, const PlannedFault& fault, const Result& result,
                       const Files& files, const Files& reference) {
  if (result.timed_out) return "it does not end";
  const bool killed = fault.kills && result.signal == SIGKILL;
  if (result.signal != 0 && !killed) return "signal " + std::to_string(result.signal);
  const bool failed = killed || result.exit_code != 0;
  if (std::string wrong =
          wrong_files(files, reference, failed ? setting.before : Files{},
                      killed || (failed && setting.goes_on), failed && setting.several);
      !wrong.empty() || killed) {
    return wrong;
  }
  if (!failed) return files.size() == reference.size() ? "" : "files are missing";
  if (fault.exit_codes.count(result.exit_code) == 0) {
    return "exit code " + std::to_string(result.exit_code);
  }
  const long errors = errors_in(result.err);
  if (errors < 1 || (errors > 1 && !setting.several)) {
    return std::to_string(errors) + " messages";
  }
  if (files != setting.before && !setting.several && !setting.goes_on && !fault.some_files) {
    return "files in spite of an error";
  }
  return {};
}

/// A row of the table.
struct Row {
  int injected = 0;
  int failed = 0;
  int same = 0;
  int wrong = 0;
};

std::map<std::string, Row>& table() {
  static std::map<std::string, Row> rows;
  return rows;
}

class PrintTable : public ::testing::Environment {
 public:
  void TearDown() override {
    if (table().empty()) return;
    std::cout << fmt::format("\n{:<52} {:>8} {:>14} {:>10} {:>6}\n", "faults", "injected",
                             "failed cleanly", "same bytes", "wrong");
    Row all;
    const auto print = [](const std::string& name, const Row& row) {
      std::cout << fmt::format("{:<52} {:>8} {:>14} {:>10} {:>6}\n", name, row.injected, row.failed,
                               row.same, row.wrong);
    };
    for (const auto& [name, row] : table()) {
      print(name, row);
      all.injected += row.injected;
      all.failed += row.failed;
      all.same += row.same;
      all.wrong += row.wrong;
    }
    print("all", all);
  }
};

const auto* const kPrintTable = ::testing::AddGlobalTestEnvironment(new PrintTable);

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Setting& setting) {
  return stream << setting.name;
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"learned", {"in/a.png", "-o", "out/labels.png"}},
      {"eigenvectors",
       {"in/a.png", "--boundary", "gradient", "--eigenvectors", "out/vectors", "-o",
        "out/labels.png"}},
      {"seeds",
       {"in/a.png", "--seeds", "in/seeds.png", "--boundary", "gradient", "-o", "out/labels.png"}},
      {"features", {"in/a.png", "--features", "in/features.npy", "-o", "out/labels.npy"}},
      {"folder", {"in/photos", "-o", "out", "--overlay", "out/overlays"}, true},
      {"recut", {"recut", "in/a.tree", "--regions", "3", "-o", "out/labels.png"}, false, false},
      // What a GPU would do: transfers through mapped memory, images together.
      {"gpu",
       {"in/photos", "--boundary", "gradient", "--spectral", "full", "-o", "out"},
       true,
       true,
       {{"DIACUT_FAULT_GPU", "1"}}},
  };
  return all;
}

const Setting& setting_named(const std::string& name) {
  return *std::find_if(settings().begin(), settings().end(),
                       [&](const Setting& each) { return each.name == name; });
}

FaultBed& FaultBed::shared() {
  static FaultBed bed;
  return bed;
}

FaultBed::FaultBed() {
  const cv::Mat a = part_of("astronaut.jpg", 180, 60);
  fs::create_directory(inputs_.path() / "photos");
  cv::imwrite(inputs_ / "a.png", a);
  cv::imwrite(inputs_ / "photos/a.png", a);
  cv::imwrite(inputs_ / "photos/b.png", part_of("cat.jpg", 200, 100));
  cv::imwrite(inputs_ / "photos/c.png", part_of("coffee.jpg", 250, 150));
  cv::Mat seeds = cv::Mat::zeros(kHeight, kWidth, CV_8U);
  cv::rectangle(seeds, {40, 20, 8, 8}, 1, cv::FILLED);
  cv::rectangle(seeds, {0, 0, kWidth, 3}, 2, cv::FILLED);
  cv::imwrite(inputs_ / "seeds.png", seeds);
  write(inputs_ / "features.npy", features_of(a));
  fs::create_directory(inputs_.path() / "three");
  for (const char* name : {"a.png", "b.png", "c.png"}) {
    const cv::Mat photo = cv::imread(inputs_ / (std::string("photos/") + name));
    cv::imwrite(inputs_ / (std::string("three/") + name), photo(cv::Rect(8, 8, 48, 40)));
  }
  const Setting tree{"tree", {"in/a.png", "--tree", "out/a.tree"}};
  write(inputs_ / "a.tree", reference(tree).at("a.tree"));
}

std::string FaultBed::new_folder() { return runs_ / std::to_string(++folders_); }

Files FaultBed::files_in(const std::string& folder) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    files[fs::relative(entry.path(), folder).string()] = read_bytes(entry.path().string());
  }
  return files;
}

std::unique_ptr<Process> FaultBed::start(const Setting& setting, const std::string& folder,
                                         const PlannedFault& fault) const {
  if (!fs::exists(folder + "/out")) {
    fs::create_directories(folder + "/out");
    for (const auto& [name, bytes] : setting.before) write(folder + "/out/" + name, bytes);
  }
  Surroundings around;
  around.folder = folder;
  around.limit_seconds = fault.limit_seconds;
  around.environment = {{"DIACUT_DEVICE", test_device()}, {"NO_COLOR", "1"}, {"TERM", "dumb"}};
  around.environment.insert(setting.environment.begin(), setting.environment.end());
  around.environment.insert(fault.environment.begin(), fault.environment.end());
  if (setting.environment.count("DIACUT_FAULT_GPU") != 0) {
    around.environment["DIACUT_DEVICE"] = "gpu";
    around.environment["LD_PRELOAD"] = DIACUT_OPENCL_SHIM;
  }
  if (!fault.shim.empty()) {
    std::optional<std::string>& preload = around.environment["LD_PRELOAD"];
    preload = preload && *preload != fault.shim ? *preload + ":" + fault.shim : fault.shim;
    around.environment["DIACUT_FAULT_REPORT"] = folder + "/" + kReport;
    around.environment["DIACUT_FAULT_FOLDERS"] = inputs_.path().string() + ":" + folder + "/out";
    around.environment[fault.variable] = fault.plan;
  }
  std::vector<std::string> command = {DIACUT_SEGMENT};
  for (const std::string& word : setting.arguments) {
    command.push_back(word.rfind("in/", 0) == 0 ? inputs_ / word.substr(3) : word);
  }
  return std::make_unique<Process>(command, around);
}

const Files& FaultBed::reference(const Setting& setting) {
  const auto known = references_.find(setting.name);
  if (known != references_.end()) return known->second;
  const std::string folder = new_folder();
  PlannedFault patient;
  patient.limit_seconds = 600;  // All kernels may have to be compiled.
  const Result result = start(setting, folder, patient)->wait();
  EXPECT_EQ(result.exit_code, 0) << setting.name << ": " << result.err;
  return references_[setting.name] = files_in(folder + "/out");
}

std::map<std::string, long> FaultBed::calls(const Setting& setting, const PlannedFault& shim) {
  reference(setting);
  const std::string folder = new_folder();
  const Result result = start(setting, folder, shim)->wait();
  EXPECT_EQ(result.exit_code, 0) << setting.name << ": " << result.err;
  EXPECT_EQ(wrong_files(files_in(folder + "/out"), reference(setting), {}, false, false), "")
      << setting.name;
  std::map<std::string, long> calls;
  std::istringstream report(read_bytes(folder + "/" + kReport));
  std::string word;
  std::string kind;
  for (long count = 0; report >> word >> kind >> count;) calls[kind] = count;
  EXPECT_FALSE(calls.empty()) << shim.shim;
  return calls;
}

Judged FaultBed::run_one(const Setting& setting, const PlannedFault& fault) {
  const std::string folder = new_folder();
  Judged judged;
  judged.fault = fault;
  judged.result = start(setting, folder, fault)->wait();
  const Files files = files_in(folder + "/out");
  judged.why = wrong_with(setting, fault, judged.result, files, references_.at(setting.name));
  const std::string report =
      fs::exists(folder + "/" + kReport) ? read_bytes(folder + "/" + kReport) : std::string();
  const bool reached =
      report.rfind("fault ", 0) == 0 || report.find("\nfault ") != std::string::npos;
  if (judged.why.empty() && reached && (fault.kills || setting.goes_on)) {
    judged.why = wrong_after_another_run(setting, folder);
  }
  if (!judged.why.empty()) {
    judged.outcome = Outcome::kWrong;
  } else if (!reached) {
    judged.outcome = Outcome::kNotReached;
  } else {
    judged.outcome =
        judged.result.exit_code == 0 || fault.kills ? Outcome::kSameBytes : Outcome::kFailedCleanly;
  }
  fs::remove_all(folder);
  return judged;
}

std::string FaultBed::wrong_after_another_run(const Setting& setting,
                                              const std::string& folder) const {
  const Result result = start(setting, folder)->wait();
  if (result.exit_code != 0) return "another run: " + result.err;
  const Files files = files_in(folder + "/out");
  const Files& reference = references_.at(setting.name);
  std::string wrong = wrong_files(files, reference, {}, false, false);
  if (wrong.empty() && files.size() != reference.size()) wrong = "files are missing";
  return wrong.empty() ? wrong : "another run: " + wrong;
}

std::vector<Judged> FaultBed::run(const Setting& setting, const std::vector<PlannedFault>& faults) {
  reference(setting);
  std::vector<Judged> judged(faults.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t k = next++; k < faults.size(); k = next++) {
      judged[k] = run_one(setting, faults[k]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) {
    threads.emplace_back(work);
  }
  for (std::thread& each : threads) each.join();
  return judged;
}

bool all_faults() { return std::getenv("DIACUT_FAULTS") != nullptr; }

std::vector<long> spread(long last, long count, long most) {
  std::vector<long> numbers;
  if (all_faults()) {
    const std::string wanted = std::getenv("DIACUT_FAULTS");
    count = wanted == "all" ? most : std::min(most, std::stol(wanted));
  }
  count = std::min(count, last);
  for (long k = 0; k < count; ++k) numbers.push_back(1 + (2 * k + 1) * last / (2 * count));
  if (!numbers.empty()) numbers.back() = std::min(numbers.back(), last);
  if (count == last) {
    for (long k = 0; k < last; ++k) numbers[static_cast<std::size_t>(k)] = k + 1;
  }
  return numbers;
}

void add_to_table(const std::string& row, const std::vector<Judged>& judged) {
  Row& sums = table()[row];
  for (const Judged& each : judged) {
    if (each.outcome == Outcome::kNotReached) continue;
    ++sums.injected;
    sums.failed += each.outcome == Outcome::kFailedCleanly ? 1 : 0;
    sums.same += each.outcome == Outcome::kSameBytes ? 1 : 0;
    sums.wrong += each.outcome == Outcome::kWrong ? 1 : 0;
  }
}

void expect_none_wrong(const std::string& row, const Setting& setting,
                       const std::vector<Judged>& judged) {
  add_to_table(row, judged);
  for (const Judged& each : judged) {
    EXPECT_NE(each.outcome, Outcome::kWrong)
        << setting.name << ", " << each.fault.plan << ": " << each.why << " after "
        << each.result.seconds << " s\n"
        << each.result.err;
  }
}

}  // namespace diacut::testing
