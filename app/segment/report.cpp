#include "report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) {
  // File names need not be UTF-8; JSON has to be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

JsonLines::JsonLines(const std::string& path) : path_(path) {
  if (path.empty()) return;
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ == -1) {
    throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
}

JsonLines::~JsonLines() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void JsonLines::add_report(const std::string& report) {
  if (descriptor_ != -1) add_line(one_line(Json::parse(report)));
}

void JsonLines::add_failure(const std::string& input, const Failure& failure) {
  if (descriptor_ == -1) return;
  add_line(one_line(Json{{"input", input},
                         {"error", failure.message},
                         {"exit_code", static_cast<int>(failure.code)}}));
}

void JsonLines::add_skipped(const std::string& input) {
  if (descriptor_ != -1) add_line(one_line(Json{{"input", input}, {"skipped", true}}));
}

void JsonLines::add_line(const std::string& line) {
  const std::string text = line + '\n';
  const off_t before = lseek(descriptor_, 0, SEEK_CUR);  // -1 for a pipe, which has no way back.
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      if (before != -1 && ftruncate(descriptor_, before) == 0) lseek(descriptor_, before, SEEK_SET);
      throw InputError(fmt::format("{}: cannot be written: {}",
                                   path_ == "-" ? "standard output" : path_,
                                   std::strerror(reason)));
    }
    done += static_cast<std::size_t>(written);
  }
}

std::string bytes_text(double bytes) {
  static constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string describe_run(const Segmentation& segmentation) {
  std::string text;
  std::size_t width = 0;
  for (const StageTime& time : segmentation.times) width = std::max(width, time.stage.size());
  for (const StageTime& time : segmentation.times) {
    text += fmt::format("  {:<{}}  {:>9.1f} ms", time.stage, width, time.wall_ms);
    if (time.device_ms > 0) text += fmt::format("  ({:.1f} ms on the device)", time.device_ms);
    text += '\n';
  }
  const EigenReport& eigen = segmentation.eigenvectors.report;
  double worst = 0;
  for (const double residual : eigen.residuals) worst = std::max(worst, residual);
  text += fmt::format(
      "  {} eigenvectors by {}, {} products in {} passes over the matrix ({}), {} restarts or "
      "iterations, largest residual {:.1e}\n",
      segmentation.eigenvectors.values.size(), eigen.solver, eigen.products, eigen.passes,
      segmentation.matvec, eigen.restarts, worst);
  text += fmt::format("  at most {} on the device, {} in main memory",
                      bytes_text(static_cast<double>(segmentation.device_peak_bytes)),
                      bytes_text(static_cast<double>(segmentation.host_peak_bytes)));
  if (segmentation.device_kept_bytes > 0) {
    text += fmt::format("; {} kept on the device for what comes next",
                        bytes_text(static_cast<double>(segmentation.device_kept_bytes)));
  }
  return text;
}

std::string device_table(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen) {
  std::vector<std::array<std::string, 8>> rows = {
      {"", "INDEX", "KIND", "UNITS", "MEMORY", "FP64", "IMAGES", "NAME (PLATFORM)"}};
  for (const DeviceInfo& device : devices) {
    rows.push_back({chosen != nullptr && chosen->index() == device.index() ? "*" : "",
                    device.index(), to_string(device.kind), std::to_string(device.compute_units),
                    bytes_text(static_cast<double>(device.global_memory)),
                    device.fp64 ? "yes" : "no", device.images ? "yes" : "no",
                    fmt::format("{} ({})", device.name, device.platform)});
  }
  std::array<std::size_t, 8> widths = {};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += line + row.back() + '\n';
  }
  if (chosen != nullptr) text += "* is the one that a run takes.\n";
  return text;
}

}  // namespace diacut::app
