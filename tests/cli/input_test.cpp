#include <sys/stat.h>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliInput : public CliTest {};

TEST_F(CliInput, WhatIsNoWholePictureIsRefused) {
  for (const std::string name :
       {"missing.jpg", "cut.png", "cut.jpg", "cut.bmp", "cut.tif", "cut.webp"}) {
    SCOPED_TRACE(name);
    if (name != "missing.jpg") {
      write_picture(name, 64, 48);
      const std::string whole = read(name);
      write(name, whole.substr(0, whole.size() / 2));
    }
    const std::set<std::string> before = files();
    const Result result = segment(fmt::format(
        "{} -o labels.png --overlay overlay.png --eigenvectors vectors --json report.json", name));
    expect_error(result, 3, {name});
    EXPECT_LT(result.seconds, 20);
    EXPECT_EQ(files(), before);
  }
}

TEST_F(CliInput, PipeNamedAsAnImageOnTheCommandLineIsRead) {
  ASSERT_EQ(mkfifo(path("pipe.png").c_str(), 0600), 0);
  write_picture("a.png");
  const auto reading = start("pipe.png -o x.png");
  write("pipe.png", read("a.png"));
  expect_done(reading->wait());
  expect_done(segment("a.png -o y.png"));
  EXPECT_EQ(read("x.png"), read("y.png"));
}

TEST_F(CliInput, APageIsChosenByItsNumber) {
  // Two pages: one grey, and black beside white.
  write("two.pgm", "P2 4 1 9 5 5 5 5\nP2 4 1 9 0 0 9 9\n");
  const Result first = expect_done(segment("two.pgm -o first.png --boundary gradient"));
  EXPECT_THAT(first.err, HasSubstr("The file has 2 pages: the first was read"));
  const Result second = expect_done(segment("two.pgm -o x.png --page 2 --boundary gradient"));
  EXPECT_THAT(second.err, ::testing::Not(HasSubstr("pages")));
  const std::set<std::string> before = files();
  expect_error(segment("two.pgm -o y.png --page 3"), 3, {"two.pgm", "no page 3"});
  expect_error(segment("two.pgm -o y.png --channel 2"), 3, {"two.pgm", "no channel '2'"});
  EXPECT_EQ(files(), before);
}

TEST_F(CliInput, StandardInput) {
  write_picture("a.png");
  expect_done(segment("a.png -o file.png"));
  const Result result = expect_done(segment("- -o stdin.png", {.input = read("a.png")}));
  EXPECT_THAT(result.err, HasSubstr("standard input"));
  EXPECT_EQ(read("stdin.png"), read("file.png"));

  const std::set<std::string> before = files();
  expect_error(segment("- -o x.png", {.input = ""}), 3, {"standard input"});
  expect_error(segment("- -o x.png", {.input = "no picture"}), 3, {"standard input"});
  EXPECT_EQ(files(), before);
}

TEST_F(CliInput, FilesOfStrangersGiveTheSameLabels) {
  make_folder("in");
  write_picture("in/a.png");
  write_picture("in/b.jpg", 64, 48);
  write("in/c.png", "\x89PNG\r\n\x1a\n");
  const Result trusted = segment("in -o trusted");
  const Result result = segment("in -o out --untrusted");
  expect_error(trusted, 3, {"c.png"});
  expect_error(result, 3, {"c.png"});
  for (const char* name : {"/a.png", "/b.png"}) {
    EXPECT_EQ(read(std::string("out") + name), read(std::string("trusted") + name));
  }
}

TEST_F(CliInput, AWorkingFolderThatIsGoneIsNamed) {
  write_picture("a.png");
  make_folder("gone");
  const Result result =
      start_program("/bin/sh",
                    {"-c", "rmdir ../gone && exec \"$0\" ../a.png -o x.png", DIACUT_SEGMENT},
                    {.folder = path("gone")})
          ->wait();
  expect_error(result, 3, {"working folder does not exist"});
}

}  // namespace
}  // namespace diacut::testing
