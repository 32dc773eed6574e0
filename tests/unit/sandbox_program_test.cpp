#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <thread>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "process.hpp"
#include "whole_files.hpp"

/// Images that are decoded by a program, in processes that have threads.
namespace diacut {
namespace {

using ::testing::HasSubstr;

/// Names the program while it exists.
class Program {
 public:
  explicit Program(const std::string& path) { use_sandbox_program(path); }
  ~Program() { use_sandbox_program(""); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
};

ImageParameters sandbox_program_untrusted() {
  ImageParameters parameters;
  parameters.untrusted = true;
  return parameters;
}

/// What is said of a whole picture.
std::string refusal() {
  try {
    decode_image(testing::whole_files().at("8.png"), "a", sandbox_program_untrusted());
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(SandboxProgram, DecodesWhileOtherThreadsTakeMemory) {
  const Program program(DIACUT_DECODER);
  // A copy of the process would wait for the lock of a thread that it does not have.
  std::atomic<bool> done = false;
  std::thread busy([&] {
    while (!done) std::free(std::malloc(std::size_t{1} << 20));
  });
  std::map<std::string, testing::FileBytes> files = testing::whole_files();
  files.merge(testing::whole_camera_files());
  for (const auto& [name, file] : files) {
    SCOPED_TRACE(name);
    const Image trusted = decode_image(file, name);
    const Image image = decode_image(file, name, sandbox_program_untrusted());
    EXPECT_EQ(image.pixels, trusted.pixels);
    EXPECT_EQ(image.valid, trusted.valid);
    EXPECT_EQ(image.notes, trusted.notes);
  }
  done = true;
  busy.join();
}

TEST(SandboxProgram, HoldsTheLimits) {
  const Program program(DIACUT_DECODER);
  ImageParameters parameters = sandbox_program_untrusted();
  parameters.decoding_memory = 16;
  const testing::FileBytes large = testing::encode(".png", cv::Mat::zeros(4000, 4000, CV_8UC3));
  try {
    decode_image(large, "a", parameters);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decoding_memory"));
  }
}

TEST(SandboxProgram, IsNamedWhereItCannotBeStarted) {
  const Program missing("/nowhere/diacut-decoder");
  EXPECT_THAT(refusal(), ::testing::AllOf(HasSubstr("/nowhere/diacut-decoder"),
                                          HasSubstr("install diacut again")));
  const Program folder("/tmp");
  EXPECT_THAT(refusal(), HasSubstr("'/tmp' cannot be started"));
}

TEST(SandboxProgram, ThatIsAnotherIsToldOf) {
  const Program other("/bin/true");
  EXPECT_THAT(refusal(), HasSubstr("server has ended"));
}

TEST(SandboxProgram, IsOfEachProcess) {
  const Program program(DIACUT_DECODER);
  EXPECT_EQ(refusal(), "");
  const pid_t copy = ::fork();
  if (copy == 0) ::_exit(refusal().empty() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(refusal(), "") << "the copy must not end the server of this process";
}

TEST(SandboxProgram, DoesNothingByHand) {
  testing::Process process({DIACUT_DECODER}, {});
  const testing::Result result = process.wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("does nothing by itself"));
}

}  // namespace
}  // namespace diacut
