#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "diacut/errors.hpp"
#include "image_files.hpp"

namespace diacut {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TemporaryFolder;

std::string refusal(const std::string& path) {
  try {
    read_image(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReadImage, IsDecodeImageOfTheFile) {
  const TemporaryFolder folder;
  // More than the first piece that is read.
  const FileBytes file = testing::encode(".png", testing::random_samples(700, 900, CV_8UC3));
  ASSERT_GT(file.size(), std::size_t{1} << 20);
  const Image image = read_image(folder.write("a.png", file));
  EXPECT_EQ(image.pixels, decode_image(file, "a.png").pixels);
  // The name says nothing of the format.
  EXPECT_EQ(read_image(folder.write("a.jpg", file)).pixels, image.pixels);
}

TEST(ReadImage, FilesThatAreNone) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path("missing.png")),
              AllOf(StartsWith(folder.path("missing.png")), HasSubstr("No such file")));
  EXPECT_THAT(refusal(folder.path("")), HasSubstr("a folder, expected an image file"));
  EXPECT_THAT(refusal(folder.write("empty.png", {})),
              AllOf(StartsWith(folder.path("empty.png")), HasSubstr("empty")));
  EXPECT_THAT(
      refusal(folder.write("text.png", {'h', 'e', 'l', 'l', 'o', '\n'})),
      AllOf(StartsWith(folder.path("text.png")), HasSubstr("a text file"), HasSubstr("PNG")));
  EXPECT_THAT(refusal(""), HasSubstr("No such file"));
}

TEST(ReadImage, FilesThatCannotBeRead) {
  // Opens for everyone, root too, and fails to read at address 0.
  EXPECT_THAT(refusal("/proc/self/mem"), HasSubstr("/proc/self/mem: cannot be read: "));
}

TEST(ReadImage, EndlessFilesAreToldFromTheirStart) {
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("/dev/zero: not an image"));
}

/// Puts a file in place of standard input while it exists.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : saved_(dup(STDIN_FILENO)) {
    const int file = open(path.c_str(), O_RDONLY);
    EXPECT_GE(file, 0);
    dup2(file, STDIN_FILENO);
    close(file);
    clearerr(stdin);
  }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
    clearerr(stdin);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int saved_;
};

TEST(ReadImage, StandardInputToItsEnd) {
  const TemporaryFolder folder;
  const FileBytes file = testing::encode(".png", testing::random_samples(300, 200, CV_16UC3));
  Image image;
  {
    const StandardInput input(folder.write("a.png", file));
    image = read_image("-");
  }
  EXPECT_EQ(image.pixels, decode_image(file, "a.png").pixels);
  const StandardInput input(folder.write("empty", {}));
  EXPECT_EQ(refusal("-"), "standard input: empty, expected an image");
}

}  // namespace
}  // namespace diacut
