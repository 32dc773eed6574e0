#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <vector>

#include "process.hpp"

namespace diacut::testing {

/// A test that runs the programs in a folder of its own, which is removed afterwards.
class CliTest : public ::testing::Test {
 protected:
  /// Most pictures have this size: an OpenCL driver compiles the kernels anew for each width.
  static constexpr int kWidth = 16;
  static constexpr int kHeight = 12;

  CliTest();
  ~CliTest() override;

  /// `name` in the test's folder.
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Runs `segment` with these arguments, in the test's folder, on the test device.
  Result segment(const std::vector<std::string>& arguments, Surroundings around = {}) const;
  /// Starts `segment` as segment() does and does not wait for it.
  std::unique_ptr<Process> start(const std::vector<std::string>& arguments,
                                 Surroundings around = {}) const;

  /// Runs `diacut-evaluate` with these arguments, in the test's folder.
  Result evaluate(const std::vector<std::string>& arguments, Surroundings around = {}) const;

  /// Runs `diacut-bench` with these arguments, in the test's folder.
  Result bench(const std::vector<std::string>& arguments, Surroundings around = {}) const;
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

 private:
  std::filesystem::path folder_;
};

/// A picture of two flat halves with a little texture, in 8 bits: blue, green, red.
cv::Mat two_halves(int width, int height);

/// The result has this exit code, and standard error is one message that holds all of `parts`;
/// nothing is on standard output.
void expect_error(const Result& result, int exit_code, const std::vector<std::string>& parts,
                  const std::string& program = "segment");

/// Exit code 0, or the outputs in the failure's message.
void expect_done(const Result& result);

/// Labels 1..N without gaps, 0 only where `without_data`.
void expect_labels(const cv::Mat& labels, const cv::Mat& without_data = {});

}  // namespace diacut::testing
