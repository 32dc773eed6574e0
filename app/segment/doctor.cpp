#include "diacut/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "device_line.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "kernel_cache.hpp"
#include "output/program_json.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "subcommand.hpp"

namespace diacut::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStandardOutput = "-";

constexpr const char* kDoctorExamples = R"(Examples:
  segment doctor
      compares each device with known answers, and prints a page
  segment doctor --device gpu --json report.json
      the first GPU, with all findings as JSON

The exit code is 4 if a device gives a wrong answer.
A file that is itself called doctor is segmented as ./doctor.
)";

std::string advice_for(const Json& device) {
  return fmt::format(
      "do not use device {} until it is repaired; use another one (--device, see --list-devices). "
      "Empty the folder of the driver's kernels, update the driver, test the device's memory, then "
      "run segment doctor again",
      device.at("index").get<std::string>());
}

Json check_json(const CheckResult& check) {
  Json json = {{"name", check.name}, {"passed", check.passed}};
  if (!check.passed) json["finding"] = check.finding;
  json["error"] = check.error;
  json["milliseconds"] = check.milliseconds;
  json["kernels"] = check.kernels;
  return json;
}

/// Main memory in bytes by its name in /proc/meminfo; 0 where the system does not report it.
std::uint64_t main_memory(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::uint64_t kibibytes = 0;
  while (file >> word) {
    if (word == name + ":" && file >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

std::string bytes_of(const Json& value) { return bytes_text(value.get<double>()); }

void add_line(std::string& page, std::string_view label, std::string_view text) {
  page += fmt::format("  {:<9} {}\n", label, text);
}

std::string joined(const Json& names) {
  return fmt::format("{}", fmt::join(names.get<std::vector<std::string>>(), ", "));
}

void add_device(std::string& page, const Json& device) {
  page += fmt::format("\nDevice {}: {}\n", device.at("index").get<std::string>(),
                      device.at("name").get<std::string>());
  add_line(
      page, "driver",
      fmt::format("{}, {}, version {}", device.at("platform").get<std::string>(),
                  device.at("version").get<std::string>(), device.at("driver").get<std::string>()));
  add_line(page, "memory",
           fmt::format("{}, at most {} in one piece", bytes_of(device.at("global_memory_bytes")),
                       bytes_of(device.at("max_allocation_bytes"))));
  const Json& checks = device.at("checks");
  if (!checks.empty()) {
    double worst = 0;
    double milliseconds = 0;
    for (const Json& check : checks) {
      worst = std::max(worst, check.at("error").get<double>());
      milliseconds += check.at("milliseconds").get<double>();
    }
    add_line(page, "answers",
             fmt::format("{} of {} right; largest error {:.2f} of what is allowed ({:.1f} s)",
                         checks.size() - device.at("wrong").size(), checks.size(), worst,
                         milliseconds / 1000));
    add_line(page, "kernels",
             fmt::format("{} checked; {} are for other kinds of devices",
                         device.at("kernels_checked").get<std::size_t>(),
                         device.at("kernels_not_run").size()));
  }
  for (const Json& wrong : device.at("wrong")) {
    add_line(page, "WRONG", wrong.get<std::string>());
  }
  if (!device.at("suspects").empty()) add_line(page, "", "suspect: " + joined(device["suspects"]));
  if (device.contains("failure")) add_line(page, "FAILED", device["failure"].get<std::string>());
  if (!device.at("sound").get<bool>()) {
    add_line(page, "to do", device.at("advice").get<std::string>());
  }
  add_line(page, "verdict", device.at("sound").get<bool>() ? "sound" : "NOT SOUND");
}

/// What a report says of an examined device. `device` is an object of device_json().
Json examination_json(Json device, const DeviceExamination& examination) {
  Json json = std::move(device);
  json["sound"] = examination.sound();
  if (!examination.failure.empty()) json["failure"] = examination.failure;
  Json wrong = Json::array();
  for (const CheckResult& check : examination.checks) {
    if (!check.passed) wrong.push_back(fmt::format("{}: {}", check.name, check.finding));
  }
  json["wrong"] = std::move(wrong);
  json["suspects"] = examination.suspects();
  if (!examination.sound()) json["advice"] = advice_for(json);
  json["kernels_checked"] = examination.kernels_checked();
  json["kernels_not_run"] = examination.not_run;
  json["milliseconds"] = examination.milliseconds;
  Json checks = Json::array();
  for (const CheckResult& check : examination.checks) checks.push_back(check_json(check));
  json["checks"] = std::move(checks);
  return json;
}

/// What a report says of a device whose driver ended the process that examined it. `during` is the
/// check that was under way.
Json crash_json(const Json& device, const std::string& how, const std::string& during) {
  DeviceExamination crashed;
  crashed.failure = fmt::format("the driver ended the program ({}) during the check '{}'", how,
                                during.empty() ? "opening the device" : during);
  Json json = examination_json(device, crashed);
  json.erase("milliseconds");
  return json;
}

/// The whole report: `devices` are objects of examination_json(). It says "sound", and what to do
/// if it is not.
Json doctor_json(const std::vector<Json>& devices) {
  bool sound = true;
  for (const Json& device : devices) sound = sound && device.at("sound").get<bool>();
  return {{"program", {{"name", "diacut"}, {"version", kVersion}}},
          {"sound", sound},
          {"devices", devices},
          {"main_memory",
           {{"bytes", main_memory("MemTotal")}, {"available_bytes", main_memory("MemAvailable")}}}};
}

/// The report as a page for a person.
std::string doctor_page(const Json& report) {
  std::string page =
      fmt::format("diacut {}\n", report.at("program").at("version").get<std::string>());
  for (const Json& device : report.at("devices")) add_device(page, device);
  page += "\nThis computer\n";
  const Json& memory = report.at("main_memory");
  add_line(page, "memory",
           fmt::format("{}, {} available", bytes_of(memory.at("bytes")),
                       bytes_of(memory.at("available_bytes"))));
  page += report.at("sound").get<bool>() ? "\nAll is sound.\n" : "\nNot all is sound: see above.\n";
  return page;
}

/// Takes a line, without a line feed at its end.
using TakeLine = std::function<void(const std::string&)>;

/// How a child process ended.
struct ChildEnd {
  int exit_code = -1;  ///< -1 if a signal ended it.
  int signal = 0;
};

[[noreturn]] void be_child(const std::function<void(const TakeLine& send)>& work, int descriptor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It fails where nobody reads any more.
  const TakeLine send = [&](const std::string& line) { write_all(descriptor, line + '\n'); };
  ExitCode code = ExitCode::kDone;
  try {
    work(send);
  } catch (...) {
    const Failure failure = current_failure();
    code = failure.code;
    send(failure.message);
  }
  // Without what the end of the process would do to things of the parent, as temporary folders.
  _exit(static_cast<int>(code));
}

/// Gives whole lines of `text` away and leaves the rest.
void give_lines(std::string& text, const TakeLine& take) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
}

ChildEnd wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

/// Runs `work` in a child process, so that a driver that crashes or ends the process takes nothing
/// along. What `work` sends is given to `take` in this process, line by line. If `cancel` is
/// set, the child is asked to end. What `work` throws ends the child with current_failure()'s exit
/// code, after a last line with the message, as throw_failure() takes it. Precondition:
/// this process has one thread and has not used OpenCL. Throws InputError where no process can be
/// made.
ChildEnd run_in_child(const std::function<void(const TakeLine& send)>& work, const TakeLine& take,
                      const CancelToken& cancel) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) {
    throw InputError(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    throw InputError(fmt::format("cannot start a child process: {}", std::strerror(reason)));
  }
  if (child == 0) {
    close(ends[0]);
    be_child(work, ends[1]);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part = {};
  for (;;) {
    const ssize_t count = read(ends[0], part.data(), part.size());
    if (cancel.cancelled()) kill(child, SIGTERM);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
    give_lines(text, take);
  }
  close(ends[0]);
  if (!text.empty()) take(text);
  return wait_for(child);
}

/// Throws the error that ended a child with a message.
[[noreturn]] void throw_failure(int exit_code, const std::string& message) {
  switch (static_cast<ExitCode>(exit_code)) {
    case ExitCode::kInterrupted:
      throw CancelledError(message);
    case ExitCode::kUsage:
      throw ConfigError(message);
    case ExitCode::kInputOutput:
      throw InputError(message);
    case ExitCode::kDevice:
      throw DeviceError(message);
    default:
      throw Error(message);
  }
}

/// "signal 11 (Segmentation fault)", "exit code 1".
std::string end_text(const ChildEnd& end) {
  return end.signal != 0 ? fmt::format("signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("exit code {}", end.exit_code);
}

/// Objects of device_json(), made in a child process. `name`: of one device, or empty. Throws what
/// choose_device() and list_devices() throw.
std::vector<Json> devices_named(const std::string& name, const CancelToken& cancel) {
  std::vector<std::string> lines;
  const ChildEnd end = run_in_child(
      [&](const TakeLine& send) {
        const std::vector<DeviceInfo> found =
            name.empty() ? list_devices() : std::vector<DeviceInfo>{choose_device(name)};
        for (const DeviceInfo& device : found) send(device_json(device));
      },
      [&](const std::string& line) { lines.push_back(line); }, cancel);
  if (end.exit_code > 0) {
    throw_failure(end.exit_code, fmt::format("{}", fmt::join(lines, "\n")));
  }
  if (end.signal != 0) {
    throw DeviceError(
        fmt::format("an OpenCL driver ended the program ({}) when it was asked for its devices: "
                    "remove or update it (/etc/OpenCL/vendors)",
                    end_text(end)));
  }
  std::vector<Json> devices;
  for (const std::string& line : lines) devices.push_back(Json::parse(line));
  return devices;
}

/// An object of examination_json() for one of devices_named(), made in a child process of its own.
Json examined(const Json& device, const std::string& kernel_dir, Console& console,
              const CancelToken& cancel) {
  const std::string index = device.at("index");
  std::string during;
  std::optional<Json> result;
  std::vector<std::string> rest;
  Progress progress(console, 1, false);
  progress.begin("device " + index);
  // A check that begins is a line with its name, the result a line of JSON.
  const ChildEnd end = run_in_child(
      [&](const TakeLine& send) {
        const Watch watch{
            [&](std::string_view check, double share) { send(fmt::format("{} {}", share, check)); },
            &cancel};
        const DeviceExamination found = examine_device(index, kernel_dir, watch);
        send(examination_json(Json::parse(device_json(found.device)), found).dump());
      },
      [&](const std::string& line) {
        rest.push_back(line);
        if (line.starts_with('{')) {
          result = Json::parse(line);
        } else if (const std::size_t space = line.find(' '); space != std::string::npos) {
          during = line.substr(space + 1);
          progress.stage(during, std::strtod(line.c_str(), nullptr));
        }
      },
      cancel);
  progress.end();
  cancel.throw_if_cancelled();
  if (result) return *result;
  const bool refused = end.exit_code == static_cast<int>(ExitCode::kUsage);
  if (refused) throw_failure(end.exit_code, rest.empty() ? "" : rest.back());
  Json crashed = crash_json(device, end_text(end), during);
  if (end.exit_code == static_cast<int>(ExitCode::kDevice)) crashed["failure"] = rest.back();
  return crashed;
}

class DoctorCommand : public Command {
 public:
  DoctorCommand()
      : Command("segment doctor", "Compares the results of OpenCL devices with known answers.",
                "segment doctor [OPTION]...", kDoctorExamples) {
    line_.option("--json", json_, "FILE|-", "Output",
                 "Write all findings as JSON; - for standard output, without the page",
                 {.files = true, .extensions = {".json"}});
    line_.option("--device", options_.device, "SPEC", kDeviceGroup,
                 "gpu, cpu, an index such as 0:1, or part of a name (default: all devices)",
                 {.devices = true});
    line_.option("--kernel-dir", options_.kernel_dir, "DIR", kDeviceGroup,
                 "Read the kernels from this folder instead of the built-in ones");
    line_.message_flags("Only errors", "Also each check and its time", false);
  }

 private:
  void resolve() override {
    if (!json_.empty() && json_ != kStandardOutput) check_writable(json_);
  }

  ExitCode run(Console& console, const CancelToken& cancel) override {
    const KernelCache kernels(console);
    std::vector<Json> found;
    for (const Json& device : devices_named(options_.device, cancel)) {
      found.push_back(examined(device, options_.kernel_dir, console, cancel));
      for (const Json& check : found.back().at("checks")) {
        console.detail(fmt::format("{:8.1f} ms  {}{}", check.at("milliseconds").get<double>(),
                                   check.at("name").get<std::string>(),
                                   check.at("passed").get<bool>() ? "" : ": WRONG"));
      }
    }
    const Json report = doctor_json(found);
    if (!json_.empty()) write_file(json_, report.dump(2) + "\n");
    if (json_ != kStandardOutput && console.verbosity() != Verbosity::kQuiet) {
      write_file(kStandardOutput, doctor_page(report));
    }
    if (report.at("sound").get<bool>()) return ExitCode::kDone;
    console.error("problems were found: see the page of segment doctor");
    return ExitCode::kDevice;
  }

  DeviceOptions options_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_doctor(const std::string& /*name*/) {
  return std::make_unique<DoctorCommand>();
}

}  // namespace diacut::app
