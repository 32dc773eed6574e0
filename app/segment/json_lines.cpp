#include "json_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) {
  // JSON is UTF-8, which file names need not be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The image of a job as reports call it.
Json named(const Job& job) {
  Json line = {{"input", job.input}};
  if (job.pages > 1) line["page"] = job.part.page;
  return line;
}

/// What tells the image of a line from others.
std::string image_of(const Json& line) {
  const auto part = [&line](const char* key) {
    const auto found = line.find(key);
    return found == line.end() ? std::string() : one_line(*found);
  };
  return part("input") + part("page");
}

}  // namespace

JsonLines::JsonLines(const std::string& path, bool goes_on) : path_(path) {
  if (path.empty()) return;
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const int mode = goes_on ? O_APPEND : O_TRUNC;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
  if (descriptor_ == -1) {
    throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  if (goes_on) read_earlier();
}

void JsonLines::read_earlier() {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path_, unknown)) return;  // A pipe is not for reading.
  std::ifstream file(path_, std::ios::binary);
  // Else a failed allocation would count as the end, and the lines behind it would be cut off.
  file.exceptions(std::ios::badbit);
  off_t whole = 0;  // Bytes of the lines that are not cut off.
  for (std::string line; std::getline(file, line) && !file.eof();) {
    whole += static_cast<off_t>(line.size()) + 1;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) earlier_.insert(image_of(json));
  }
  if (ftruncate(descriptor_, whole) != 0 || lseek(descriptor_, 0, SEEK_END) == -1) {
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
}

JsonLines::~JsonLines() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void JsonLines::add_report(const std::string& report) {
  if (descriptor_ != -1) add_line(one_line(Json::parse(report)));
}

void JsonLines::add_failure(const Job& job, const Failure& failure) {
  if (descriptor_ == -1) return;
  Json line = named(job);
  line["error"] = failure.message;
  line["exit_code"] = static_cast<int>(failure.code);
  add_line(one_line(line));
}

void JsonLines::add_skipped(const Job& job) {
  if (descriptor_ == -1) return;
  Json line = named(job);
  if (!earlier_.empty() && earlier_.count(image_of(line)) != 0) return;
  line["skipped"] = true;
  add_line(one_line(line));
}

void JsonLines::add_line(const std::string& line) {
  const std::string text = line + '\n';
  // -1 for a pipe, from which an incomplete line cannot be taken back.
  const off_t before = lseek(descriptor_, 0, SEEK_CUR);
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

}  // namespace diacut::app
