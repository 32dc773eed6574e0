#include "cli_test.hpp"

#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <stdexcept>

#include "support.hpp"

namespace diacut::testing {

namespace fs = std::filesystem;

std::unique_ptr<Process> CliTest::start_program(const std::string& program,
                                                const std::vector<std::string>& arguments,
                                                Surroundings around) const {
  std::vector<std::string> command = {program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // The environment that the tests run in must not decide anything; a test's own setting wins.
  around.environment.insert({"DIACUT_DEVICE", test_device()});
  around.environment.insert({"NO_COLOR", std::nullopt});
  around.environment.insert({"TERM", "xterm"});
  if (around.folder.empty()) around.folder = folder_.path().string();
  return std::make_unique<Process>(command, around);
}

std::unique_ptr<Process> CliTest::start(const std::string& line, Surroundings around) const {
  return start_program(DIACUT_SEGMENT, words_of(line), std::move(around));
}

Result CliTest::segment(const std::string& line, Surroundings around) const {
  return start(line, std::move(around))->wait();
}

Result CliTest::evaluate(const std::string& line, Surroundings around) const {
  return start_program(DIACUT_EVALUATE, words_of(line), std::move(around))->wait();
}

Result CliTest::bench(const std::string& line, Surroundings around) const {
  return start_program(DIACUT_BENCH, words_of(line), std::move(around))->wait();
}

void CliTest::write(const std::string& name, const std::string& bytes) const {
  std::ofstream stream(path(name), std::ios::binary);
  stream << bytes;
  if (!stream.flush()) throw std::runtime_error("cannot write " + name);
}

std::string CliTest::read(const std::string& name) const { return read_bytes(path(name)); }

void CliTest::make_folder(const std::string& name) const { fs::create_directories(path(name)); }

bool CliTest::exists(const std::string& name) const { return fs::exists(path(name)); }

void CliTest::write_picture(const std::string& name, int width, int height) const {
  write_picture(name, two_halves(width, height));
}

void CliTest::write_picture(const std::string& name, const cv::Mat& pixels) const {
  if (!cv::imwrite(path(name), pixels)) throw std::runtime_error("cannot write " + name);
}

cv::Mat CliTest::read_picture(const std::string& name) const {
  cv::Mat picture = cv::imread(path(name), cv::IMREAD_UNCHANGED);
  EXPECT_FALSE(picture.empty()) << name;
  return picture;
}

std::set<std::string> CliTest::files() const {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (entry.is_symlink() || !entry.is_directory()) {
      // fs::relative() throws where a file is gone meanwhile, as a temporary one of a run may be.
      names.insert(entry.path().lexically_relative(folder_.path()).string());
    }
  }
  return names;
}

std::map<std::string, std::string> CliTest::contents(const std::string& place) const {
  std::map<std::string, std::string> found;
  for (const std::string& name : files()) {
    if (name == place || name.starts_with(place + "/")) {
      found[name.substr(place.size())] = read(name);
    }
  }
  return found;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> std::quoted(word, '\'');) words.push_back(word);
  return words;
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

cv::Mat two_halves(int width, int height) {
  cv::Mat pixels(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int texture = (7 * x + 5 * y) % 6;
      pixels.at<cv::Vec3b>(y, x) = 2 * x < width
                                       ? cv::Vec3b(cv::saturate_cast<uchar>(40 + texture), 60, 200)
                                       : cv::Vec3b(200, cv::saturate_cast<uchar>(90 + texture), 30);
    }
  }
  return pixels;
}

void expect_error(const Result& result, int exit_code, const std::vector<std::string>& parts,
                  const std::string& program) {
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.out, "");
  const std::string label = program + ": error: ";
  EXPECT_EQ(result.err.rfind(label, 0), 0u) << result.err;
  EXPECT_EQ(result.err.find(label, 1), std::string::npos) << "one message only: " << result.err;
  EXPECT_TRUE(!result.err.empty() && result.err.back() == '\n') << result.err;
  for (const std::string& part : parts) EXPECT_THAT(result.err, ::testing::HasSubstr(part));
}

Result expect_done(Result result) {
  EXPECT_EQ(result.exit_code, 0) << "signal " << result.signal << "\n" << result.err;
  return result;
}

void expect_labels(const cv::Mat& labels) {
  ASSERT_EQ(labels.type(), CV_16UC1);
  int highest = 0;
  for (int y = 0; y < labels.rows; ++y) {
    for (int x = 0; x < labels.cols; ++x) {
      const int label = labels.at<std::uint16_t>(y, x);
      ASSERT_GT(label, 0) << "at " << x << ", " << y;
      // Labels are numbered in the order in which a scan meets them.
      ASSERT_LE(label, highest + 1) << "at " << x << ", " << y;
      highest = std::max(highest, label);
    }
  }
}

}  // namespace diacut::testing
