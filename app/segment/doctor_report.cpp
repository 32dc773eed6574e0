#include "doctor_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "diacut/version.hpp"
#include "report.hpp"

namespace diacut::app {

namespace {

/// A device that reaches less than this share of what it reached before is told of.
constexpr double kSlow = 0.5;

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

Json speed_json(const DeviceSpeed& speed) {
  Json json = {{"copy_gigabytes_per_second", speed.copy_gigabytes},
               {"product", speed.product},
               {"product_gigabytes_per_second", speed.product_gigabytes},
               {"product_gflops", speed.product_gflops},
               {"product_share_of_copy", speed.product_gigabytes / speed.copy_gigabytes}};
  if (!speed.profile.empty()) {
    json["profile"] = {{"source", speed.profile},
                       {"copy_gigabytes_per_second", speed.profile_copy_gigabytes},
                       {"product_gflops", speed.profile_product_gflops}};
  }
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

void add_speed(std::string& page, const Json& speed) {
  std::string copy =
      fmt::format("copy {:.1f} GB/s", speed.at("copy_gigabytes_per_second").get<double>());
  std::string product =
      fmt::format("product '{}' {:.1f} GFLOP/s, {:.1f} GB/s, {:.0f} % of the copy",
                  speed.at("product").get<std::string>(), speed.at("product_gflops").get<double>(),
                  speed.at("product_gigabytes_per_second").get<double>(),
                  100 * speed.at("product_share_of_copy").get<double>());
  if (!speed.contains("profile")) {
    add_line(page, "speed", copy);
    add_line(page, "", product);
    return;
  }
  const Json& profile = speed.at("profile");
  const auto compared = [&](std::string text, double found, double before) {
    if (before <= 0) return text;
    text += fmt::format(" (profile: {:.1f})", before);
    if (found < kSlow * before) {
      text += ": slow; other programs may be using the device, or its clock is throttled";
    }
    return text;
  };
  add_line(page, "speed",
           compared(std::move(copy), speed.at("copy_gigabytes_per_second"),
                    profile.at("copy_gigabytes_per_second")));
  add_line(page, "",
           compared(std::move(product), speed.at("product_gflops"), profile.at("product_gflops")));
  add_line(page, "", fmt::format("profile {}", profile.at("source").get<std::string>()));
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
  if (device.contains("speed")) add_speed(page, device.at("speed"));
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

}  // namespace

Json device_json(const DeviceInfo& device) {
  return {{"index", device.index()},
          {"name", device.name},
          {"platform", device.platform},
          {"vendor", device.vendor},
          {"version", device.version},
          {"driver", device.driver},
          {"kind", to_string(device.kind)},
          {"compute_units", device.compute_units},
          {"global_memory_bytes", device.global_memory},
          {"max_allocation_bytes", device.max_allocation}};
}

Json examination_json(const DeviceExamination& examination) {
  Json json = device_json(examination.device);
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
  if (examination.speed) json["speed"] = speed_json(*examination.speed);
  json["milliseconds"] = examination.milliseconds;
  Json checks = Json::array();
  for (const CheckResult& check : examination.checks) checks.push_back(check_json(check));
  json["checks"] = std::move(checks);
  return json;
}

Json crash_json(const Json& device, const std::string& how, const std::string& during) {
  Json json = device;
  json["sound"] = false;
  json["failure"] = fmt::format("the driver ended the program ({}) during the check '{}'", how,
                                during.empty() ? "opening the device" : during);
  json["wrong"] = Json::array();
  json["suspects"] = Json::array();
  json["advice"] = advice_for(device);
  json["kernels_checked"] = 0;
  json["kernels_not_run"] = Json::array();
  json["checks"] = Json::array();
  return json;
}

Json doctor_json(const std::vector<Json>& devices) {
  bool sound = true;
  for (const Json& device : devices) sound = sound && device.at("sound").get<bool>();
  Json libraries = Json::object();
  for (const LibraryVersion& library : library_versions()) {
    libraries[library.name] = library.version;
  }
  return {{"program", {{"name", "diacut"}, {"version", kVersion}}},
          {"sound", sound},
          {"devices", devices},
          {"main_memory",
           {{"bytes", main_memory("MemTotal")}, {"available_bytes", main_memory("MemAvailable")}}},
          {"libraries", libraries}};
}

std::string doctor_page(const Json& report) {
  std::string page =
      fmt::format("diacut {}\n", report.at("program").at("version").get<std::string>());
  for (const Json& device : report.at("devices")) add_device(page, device);
  page += "\nThis computer\n";
  const Json& memory = report.at("main_memory");
  add_line(page, "memory",
           fmt::format("{}, {} available", bytes_of(memory.at("bytes")),
                       bytes_of(memory.at("available_bytes"))));
  std::string libraries;
  for (const auto& [name, version] : report.at("libraries").items()) {
    libraries +=
        fmt::format("{}{} {}", libraries.empty() ? "" : ", ", name, version.get<std::string>());
  }
  add_line(page, "libraries", libraries);
  page += report.at("sound").get<bool>() ? "\nAll is sound.\n" : "\nNot all is sound: see above.\n";
  return page;
}

}  // namespace diacut::app
