#include "output/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

TEST(AtomicFile, AppearsWithItsContentOnCommitOnly) {
  const TempFolder folder;
  {
    AtomicFile file(folder / "a.bin");
    file.write("abc", 3);
    file.write("def", 3);
    EXPECT_FALSE(fs::exists(folder / "a.bin"));
    EXPECT_THAT(folder.names(), SizeIs(1));
    file.commit();
  }
  EXPECT_THAT(folder.names(), ElementsAre("a.bin"));
  EXPECT_EQ(read_bytes(folder / "a.bin"), "abcdef");
}

TEST(AtomicFile, KeepsAnOldFileUntilCommitAndItsPermissionsAfter) {
  const TempFolder folder;
  const std::string path = folder / "a.bin";
  write_file(path, std::string("old"));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  { AtomicFile(path).write("new", 3); }
  EXPECT_EQ(read_bytes(path), "old");
  write_file(path, std::string("new"));
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(folder.names(), ElementsAre("a.bin"));
}

TEST(AtomicFile, TwoOfOneNameDoNotMix) {
  const TempFolder folder;
  AtomicFile first(folder / "a.bin");
  AtomicFile second(folder / "a.bin");
  first.write("first", 5);
  second.write("second", 6);
  second.commit();
  EXPECT_EQ(read_bytes(folder / "a.bin"), "second");
  first.commit();
  EXPECT_EQ(read_bytes(folder / "a.bin"), "first");
  EXPECT_THAT(folder.names(), ElementsAre("a.bin"));
}

TEST(AtomicFile, MovesWithItsFile) {
  const TempFolder folder;
  AtomicFile first(folder / "a.bin");
  first.write("abc", 3);
  AtomicFile second(std::move(first));
  second.commit();
  EXPECT_EQ(read_bytes(folder / "a.bin"), "abc");
}

TEST(AtomicFile, WritesThroughALink) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "real");
  write_file(folder / "real/a.bin", std::string("old"));
  fs::create_symlink("real/a.bin", folder / "link.bin");
  write_file(folder / "link.bin", std::string("new"));
  EXPECT_TRUE(fs::is_symlink(folder / "link.bin"));
  EXPECT_EQ(read_bytes(folder / "real/a.bin"), "new");
}

TEST(AtomicFile, TakesTheLongestNameThereIs) {
  const TempFolder folder;
  const std::string name(255, 'n');
  write_file(folder / name, std::string("abc"));
  EXPECT_THAT(folder.names(), ElementsAre(name));
  expect_refused([&] { write_file(folder / (name + "n"), std::string("abc")); },
                 "the name is too long");
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

TEST(AtomicFile, PassesOverAFileThatAKilledProcessLeft) {
  const TempFolder folder;
  { AtomicFile(folder / "a.bin").write("abc", 3); }
  // A file with the name that the next temporary file would get lies there already.
  const std::string probe = [&] {
    const AtomicFile file(folder / "a.bin");
    return folder.names().front();
  }();
  const std::size_t dash = probe.rfind('-');
  const int used = std::stoi(probe.substr(dash + 1));
  const std::string next = folder / (probe.substr(0, dash + 1) + std::to_string(used + 1) + ".tmp");
  ASSERT_NE(::close(::open(next.c_str(), O_CREAT | O_WRONLY, 0600)), -1);
  write_file(folder / "a.bin", std::string("abc"));
  EXPECT_EQ(read_bytes(folder / "a.bin"), "abc");
  EXPECT_EQ(read_bytes(next), "");
}

TEST(AtomicFile, RemovesWhatKilledProcessesLeft) {
  const TempFolder folder;
  EXPECT_EXIT(
      {
        AtomicFile file(folder / "a.bin");
        file.write("abc", 3);
        ::raise(SIGKILL);
      },
      ::testing::KilledBySignal(SIGKILL), "");
  ASSERT_THAT(folder.names(), SizeIs(1));
  const std::string left = folder.names().front();
  const std::string process = left.substr(0, left.rfind('-') + 1);
  // Those of a process that runs, or that holds its lock; and files of other names.
  const std::string own = ".diacut-" + std::to_string(::getpid()) + "-77.tmp";
  const std::string locked = process + "78.tmp";
  const std::vector<std::string> kept = {own, locked, process + "78.tmp.png", ".diacut-0-1.tmp",
                                         ".diacut-x-1.tmp"};
  for (const std::string& name : kept) std::ofstream(folder / name) << "x";
  const int holder = ::open((folder / locked).c_str(), O_RDONLY);
  ASSERT_EQ(::flock(holder, LOCK_EX | LOCK_NB), 0);
  fs::create_symlink("a.bin", folder / (process + "79.tmp"));
  write_file(folder / "a.bin", std::string("abc"));
  ::close(holder);
  EXPECT_THAT(folder.names(), ::testing::Not(::testing::Contains(left)));
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_EQ(read_bytes(folder / "a.bin"), "abc");
}

TEST(AtomicFile, WritesToWhatIsNoRegularFileDirectly) {
  write_file("/dev/null", std::string("abc"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(pipe, std::string("abc"));
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 3);
  EXPECT_STREQ(got, "abc");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THAT(folder.names(), ElementsAre("pipe"));
}

TEST(AtomicFile, ErrorsNameThePathTheReasonAndTheRemedy) {
  const TempFolder folder;
  write_file(folder / "file", std::string("x"));
  for (const auto& write : std::vector<std::function<void(const std::string&)>>{
           [](const std::string& path) { write_file(path, std::string("abc")); },
           [](const std::string& path) { check_writable(path); }}) {
    const std::string missing = folder / "no/such/a.png";
    EXPECT_THAT(message_of<InputError>([&] { write(missing); }),
                AllOf(HasSubstr(missing), HasSubstr((folder / "no/such") + " does not exist"),
                      HasSubstr("create it")));
    EXPECT_THAT(message_of<InputError>([&] { write(folder / "file/a.png"); }),
                AllOf(HasSubstr(folder / "file/a.png"), HasSubstr("is a file, not a folder")));
    EXPECT_THAT(message_of<InputError>([&] { write(folder.path().string()); }),
                HasSubstr("it is a folder"));
    expect_refused([&] { write(folder / "new/"); }, "it is a folder");
    expect_refused([&] { write(""); }, "is empty");
  }
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(AtomicFile, AFolderWithoutPermissionIsAnError) {
  const TempFolder folder;
  const fs::path closed = folder.path() / "closed";
  fs::create_directory(closed);
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                              fs::perms::others_exec);
  const std::string path = closed / "a.png";
  for (const auto& write : std::vector<std::function<void()>>{
           [&] { write_file(path, std::string("abc")); }, [&] { check_writable(path); }}) {
    EXPECT_EXIT(
        {
          // The superuser may write anywhere.
          if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
          std::cerr << message_of<InputError>(write);
          ::_exit(0);
        },
        ::testing::ExitedWithCode(0), "no permission to write in " + closed.string());
  }
  EXPECT_TRUE(fs::is_empty(closed));
}

TEST(AtomicFile, ASystemFolderThatTakesNoFilesIsAnError) {
  EXPECT_THAT(message_of<InputError>([] { write_file("/proc/a.png", std::string("abc")); }),
              AllOf(HasSubstr("/proc/a.png"), HasSubstr("choose another folder")));
}

TEST(MakeFolder, MakesThoseAboveAndAcceptsWhatIsThere) {
  const TempFolder folder;
  make_folder(folder / "a/b");
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
  EXPECT_NO_THROW(make_folder(folder / "a/b"));
  fs::create_directory_symlink("a", folder / "link");
  EXPECT_NO_THROW(make_folder(folder / "link"));
  write_file(folder / "file", std::string("x"));
  for (const std::string& path : {folder / "file", folder / "file/b", std::string("/proc/a")}) {
    EXPECT_THAT(message_of<InputError>([&] { make_folder(path); }),
                AllOf(HasSubstr(path), HasSubstr("choose another place")));
  }
}

TEST(CheckWritable, CreatesNothingAndAcceptsWhatCanBeWritten) {
  const TempFolder folder;
  write_file(folder / "old", std::string("x"));
  EXPECT_NO_THROW(check_writable(folder / "new"));
  EXPECT_NO_THROW(check_writable(folder / "old"));
  EXPECT_NO_THROW(check_writable("/dev/null"));
  EXPECT_NO_THROW(check_writable("no-folder-in-the-name"));
  EXPECT_NO_THROW(check_writable("-"));
  EXPECT_THAT(folder.names(), ElementsAre("old"));
}

TEST(RemoveTemporaryFiles, RemovesThoseUnderWayAndNoOthers) {
  const TempFolder folder;
  write_file(folder / "done", std::string("x"));
  AtomicFile a(folder / "a"), b(folder / "b");
  a.write("abc", 3);
  EXPECT_THAT(folder.names(), SizeIs(3));
  remove_temporary_files();
  EXPECT_THAT(folder.names(), ElementsAre("done"));
  EXPECT_THAT(message_of<InputError>([&] { a.commit(); }), HasSubstr("meanwhile"));
  EXPECT_THAT(folder.names(), ElementsAre("done"));
  // Files that are begun later are not removed.
  write_file(folder / "later", std::string("x"));
  EXPECT_THAT(folder.names(), ElementsAre("done", "later"));
}

}  // namespace
}  // namespace diacut::testing
