#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {

/// A test that runs the programs in a folder of its own, which is removed afterwards.
class CliTest : public ::testing::Test {
 protected:
  /// Most pictures have this size: an OpenCL driver compiles the kernels anew for each width.
  static constexpr int kWidth = 16;
  static constexpr int kHeight = 12;

  /// `name` in the test's folder.
  std::string path(const std::string& name) const { return folder_ / name; }

  // A program with the arguments that a line has, as words_of() parts them, in the test's folder
  // and on the test device. start() does not wait for it.
  Result segment(const std::string& line, Surroundings around = {}) const;
  Result evaluate(const std::string& line, Surroundings around = {}) const;
  Result bench(const std::string& line, Surroundings around = {}) const;
  std::unique_ptr<Process> start(const std::string& line, Surroundings around = {}) const;
  std::unique_ptr<Process> start_program(const std::string& program,
                                         const std::vector<std::string>& arguments,
                                         Surroundings around = {}) const;

  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;
  void make_folder(const std::string& name) const;
  bool exists(const std::string& name) const;

  /// A picture file of two flat halves with a little texture; the format is the extension's.
  void write_picture(const std::string& name, int width = kWidth, int height = kHeight) const;
  void write_picture(const std::string& name, const cv::Mat& pixels) const;
  cv::Mat read_picture(const std::string& name) const;

  /// Every file in the test's folder and below, relative to it; hidden ones too.
  std::set<std::string> files() const;
  /// The bytes of a file, by an empty name, or of all files in a folder, by their names from it.
  std::map<std::string, std::string> contents(const std::string& place) const;

 private:
  TempFolder folder_;
};

/// The words of a line as a shell parts them: at spaces, and 'of a text' in quotes as one.
std::vector<std::string> words_of(const std::string& line);

/// An environment without OpenCL drivers, in which opening a device fails.
inline const Surroundings kNoDevice = {.environment = {{"OCL_ICD_VENDORS", "/nonexistent"}}};

/// The values of JSON Lines.
std::vector<nlohmann::json> json_lines(const std::string& text);

/// A picture of two flat halves with a little texture, in 8 bits: blue, green, red.
cv::Mat two_halves(int width, int height);

/// The result has this exit code, and standard error is one message that holds all of `parts`;
/// nothing is on standard output.
void expect_error(const Result& result, int exit_code, const std::vector<std::string>& parts,
                  const std::string& program = "segment");

/// Expects exit code 0, and returns the result.
Result expect_done(Result result);

/// Labels 1..N without gaps, everywhere.
void expect_labels(const cv::Mat& labels);

}  // namespace diacut::testing
