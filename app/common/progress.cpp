#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text.hpp"

namespace diacut::app {

namespace {

constexpr std::chrono::milliseconds kBetweenRefreshes{100};
constexpr std::size_t kWidestBar = 30;

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", 1000 * std::max(seconds, 0.0));
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  const long long hours = whole / 3600;
  const long long minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02} h", hours, minutes, whole % 60);
  return fmt::format("{}:{:02} min", minutes, whole % 60);
}

Progress::Progress(Console& console, std::size_t total, bool bar)
    : console_(console), total_(total), bar_(bar) {}

void Progress::begin(const std::string& input) {
  input_ = input_name(input);
  stage("reading", 0);
}

void Progress::worked() {
  ++worked_;
  last_ = Clock::now();
}

void Progress::stage(std::string_view name, double share) {
  if (!console_.transient()) return;
  stage_ = name;
  share_ = std::clamp(share, 0.0, 1.0);
  refresh();
}

void Progress::refresh() {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < kBetweenRefreshes) return;
  shown_ = now;
  console_.show(bar_ ? bar_line(now) : image_line(now));
}

std::string Progress::image_line(Clock::time_point now) const {
  return fmt::format("{}: {} {:.0f}%  {}", input_, stage_, 100 * share_,
                     duration_text(seconds(now - start_)));
}

std::string Progress::bar_line(Clock::time_point now) const {
  const std::size_t finished = worked_ + skipped_;
  std::string numbers = fmt::format(" {}/{}", finished, total_);
  if (worked_ > 0) {
    const double rate = static_cast<double>(worked_) / seconds(last_ - start_);
    const double left = static_cast<double>(total_ - finished) / rate - seconds(now - last_);
    numbers += fmt::format("  {:.2f} images/s  {} left", rate, duration_text(left));
  }
  // The bar takes up to a third of the line, the numbers and the stage the rest.
  const std::size_t size = std::min(console_.width() / 3, kWidestBar);
  const std::size_t filled = total_ == 0 ? size : size * finished / total_;
  return fmt::format("[{:=<{}}{: <{}}]{}  {}: {}", "", filled, "", size - filled, numbers, input_,
                     stage_);
}

}  // namespace diacut::app
