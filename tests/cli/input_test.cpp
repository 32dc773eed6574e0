#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliInput : public CliTest {};

TEST_F(CliInput, PipeNamedAsAnImageOnTheCommandLineIsRead) {
  ASSERT_EQ(mkfifo(path("pipe.png").c_str(), 0600), 0);
  write_picture("a.png");
  const auto reading = start("pipe.png -o x.png");
  write("pipe.png", read("a.png"));
  expect_done(reading->wait());
  expect_done(segment("a.png -o y.png"));
  EXPECT_EQ(read("x.png"), read("y.png"));
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

TEST_F(CliInput, OutputToAFolderWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  write_picture("a.png");
  make_folder("shut");
  fs::permissions(path("shut"), fs::perms::owner_read | fs::perms::owner_exec);
  expect_error(segment("a.png -o shut/x.png", kNoDevice), 3, {"shut"});
  fs::permissions(path("shut"), fs::perms::owner_all);
}

}  // namespace
}  // namespace diacut::testing
