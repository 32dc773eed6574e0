#include "diacut/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child.hpp"
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
constexpr const char* kOutput = "Output";
constexpr const char* kDevice = "Device";
constexpr const char* kMessages = "Messages and help";

constexpr const char* kDoctorExamples = R"(Examples:
  segment doctor
      compares each device with known answers, and prints a page
  segment doctor --device gpu --json report.json
      the first GPU, with all findings as JSON

The exit code is 4 if a device gives a wrong answer.
A file that is itself called doctor is segmented as ./doctor.
)";

struct DoctorOptions {
  std::string device;
  std::string kernel_dir;
  std::string json;
};

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

/// Main memory in bytes by its name in /proc/meminfo; 0 where the system does not tell.
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

/// What a report tells of an examined device. `device` is an object of device_json().
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

/// What a report tells of a device whose driver ended the process that examined it. `during` is the
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
std::string told(const ChildEnd& end) {
  return end.signal != 0 ? fmt::format("signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("exit code {}", end.exit_code);
}

/// The examination of devices, each in a child process of its own.
class Ward {
 public:
  Ward(const DoctorOptions& options, Console& console, const CancelToken& cancel)
      : options_(options), console_(console), cancel_(cancel) {}

  /// Objects of device_json(). Throws what choose_device() and list_devices() throw.
  std::vector<Json> devices() {
    std::vector<std::string> lines;
    const ChildEnd end = run_in_child(
        [&](const TakeLine& send) {
          const std::vector<DeviceInfo> found =
              options_.device.empty() ? list_devices()
                                      : std::vector<DeviceInfo>{choose_device(options_.device)};
          for (const DeviceInfo& device : found) send(device_json(device));
        },
        [&](const std::string& line) { lines.push_back(line); }, cancel_);
    if (end.exit_code > 0) {
      throw_failure(end.exit_code, fmt::format("{}", fmt::join(lines, "\n")));
    }
    if (end.signal != 0) {
      throw DeviceError(
          fmt::format("an OpenCL driver ended the program ({}) when it was asked for its devices: "
                      "remove or update it (/etc/OpenCL/vendors)",
                      told(end)));
    }
    std::vector<Json> devices;
    for (const std::string& line : lines) devices.push_back(Json::parse(line));
    return devices;
  }

  /// An object of examination_json() for one of devices().
  Json examined(const Json& device) {
    const std::string index = device.at("index");
    std::string during;
    std::optional<Json> result;
    std::vector<std::string> rest;
    Progress progress(console_, 1, false);
    progress.begin("device " + index);
    // A check that begins is a line with its name, the result a line of JSON.
    const ChildEnd end = run_in_child(
        [&](const TakeLine& send) {
          const Watch watch{[&](std::string_view check, double share) {
                              send(fmt::format("{} {}", share, check));
                            },
                            &cancel_};
          const DeviceExamination found = examine_device(index, options_.kernel_dir, watch);
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
        cancel_);
    progress.end();
    cancel_.throw_if_cancelled();
    if (result) return *result;
    const bool refused = end.exit_code == static_cast<int>(ExitCode::kUsage);
    if (refused) throw_failure(end.exit_code, rest.empty() ? "" : rest.back());
    Json crashed = crash_json(device, told(end), during);
    if (end.exit_code == static_cast<int>(ExitCode::kDevice)) crashed["failure"] = rest.back();
    return crashed;
  }

 private:
  const DoctorOptions& options_;
  Console& console_;
  const CancelToken& cancel_;
};

class DoctorCommand : public Subcommand {
 public:
  DoctorCommand()
      : Subcommand("segment doctor", "Compares the results of OpenCL devices with known answers.",
                   "segment doctor [OPTION]...", kDoctorExamples) {
    line_.option("--json", options_.json, "FILE|-", kOutput,
                 "Write all findings as JSON; - for standard output, without the page",
                 {.files = true, .extensions = {".json"}});
    line_.option("--device", options_.device, "SPEC", kDevice,
                 "gpu, cpu, an index such as 0:1, or part of a name (default: all devices)",
                 {.devices = true});
    line_.option("--kernel-dir", options_.kernel_dir, "DIR", kDevice,
                 "Read the kernels from this folder instead of the built-in ones");
    line_.message_flags(kMessages, "Only errors", "Also each check and its time", false);
  }

 private:
  void settle() override {
    if (!options_.json.empty() && options_.json != kStandardOutput) check_writable(options_.json);
  }

  ExitCode run(Console& console, const CancelToken& cancel) override {
    const KernelCache kernels(console);
    Ward ward(options_, console, cancel);
    std::vector<Json> examined;
    for (const Json& device : ward.devices()) {
      examined.push_back(ward.examined(device));
      for (const Json& check : examined.back().at("checks")) {
        console.detail(fmt::format("{:8.1f} ms  {}{}", check.at("milliseconds").get<double>(),
                                   check.at("name").get<std::string>(),
                                   check.at("passed").get<bool>() ? "" : ": WRONG"));
      }
    }
    const Json report = doctor_json(examined);
    if (!options_.json.empty()) write_file(options_.json, report.dump(2) + "\n");
    if (options_.json != kStandardOutput && common_.verbosity != Verbosity::kQuiet) {
      write_file(kStandardOutput, doctor_page(report));
    }
    if (report.at("sound").get<bool>()) return ExitCode::kDone;
    console.error("problems were found: see the page of segment doctor");
    return ExitCode::kDevice;
  }

  DoctorOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> make_doctor(const std::string& /*name*/) {
  return std::make_unique<DoctorCommand>();
}

}  // namespace diacut::app
