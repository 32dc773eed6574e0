#include "object_line.hpp"

#include <fmt/format.h>

#include <utility>

#include "diacut/errors.hpp"
#include "text.hpp"

namespace diacut::app {
namespace {

constexpr const char* kObjectLineGroup = "Objects before a background";

std::optional<double> parse_share(const std::string& text) { return number_in<double>(text, 0, 1); }

std::optional<LeastSize> parse_area(const std::string& text) {
  const std::optional<LeastSize> size = parse_least_size(text);
  return size && size->unit != LeastSize::Unit::kAutomatic ? size : std::nullopt;
}

/// The two ends of LOW:HIGH, of which either may be empty, by `parse`.
template <class Parse>
auto parse_range(const char* option, const std::string& text, const char* numbers,
                 const Parse& parse) {
  using End = decltype(parse(text));
  std::pair<End, End> ends;
  const std::size_t colon = text.find(':');
  bool good = colon != std::string::npos && text.size() > 1;
  if (good) {
    const std::string low = text.substr(0, colon);
    const std::string high = text.substr(colon + 1);
    ends = {parse(low), parse(high)};
    good = (low.empty() || ends.first) && (high.empty() || ends.second);
  }
  if (good) return ends;
  throw ConfigError(
      fmt::format("{} is '{}', expected LOW:HIGH, LOW: or :HIGH, with {}", option, text, numbers));
}

[[noreturn]] void refuse_order(const char* option, const std::string& text) {
  throw ConfigError(fmt::format("{} is '{}': LOW is above HIGH", option, text));
}

void set_area(ObjectConditions& conditions, const std::string& text) {
  const auto [low, high] =
      parse_range("--area", text, "numbers of pixels, or shares such as 0.2%", parse_area);
  if (low && high && low->unit == high->unit && low->value > high->value) {
    refuse_order("--area", text);
  }
  conditions.least_area = low;
  conditions.greatest_area = high;
}

Interval interval(const char* option, const std::string& text) {
  const auto [low, high] = parse_range(option, text, "numbers from 0 to 1", parse_share);
  Interval range;
  if (low) range.low = *low;
  if (high) range.high = *high;
  if (range.low > range.high) refuse_order(option, text);
  return range;
}

double difference(const char* option, const std::string& text) {
  return number_of<double>(option, text, 0, 1, "a number from 0 to 1");
}

}  // namespace

void ObjectLine::declare(CommandLine& line) {
  line.flag("--objects", objects_, kObjectLineGroup,
            "Keep only objects, each one region of the tree; the rest is 0");
  line.option(
      "--area", area_, "LOW:HIGH", kObjectLineGroup,
      "Objects of this area: pixels, or shares of the picture such as 0.2%; 60: means at least 60");
  line.option("--solidity", solidity_, "LOW:HIGH", kObjectLineGroup,
              "Objects whose area is this share of their convex hull's (default 0.9:)");
  line.option("--contrast", contrast_, "LOW:HIGH", kObjectLineGroup,
              "Objects whose boundary is stronger by this than any removed inside (default 0.08:)");
  line.option("--brighter", brighter_, "D", kObjectLineGroup,
              "Objects brighter by at least D, 0 to 1, than what they merge with; needs --image");
  line.option("--darker", darker_, "D", kObjectLineGroup,
              "Objects darker by at least D, 0 to 1, than what they merge with; needs --image");
  line.option("--score", score_, "NAME", kObjectLineGroup,
              "How objects are scored: contrast, or nuclei, learned from cell nuclei, which needs "
              "--image (default contrast)",
              {.words = {"contrast", "nuclei"}});
  line.need("--objects",
            {"--area", "--solidity", "--contrast", "--brighter", "--darker", "--score"});
  line.exclude("--brighter", {"--darker"});
}

std::optional<ObjectConditions> ObjectLine::conditions() const {
  if (!objects_) return std::nullopt;
  if (score_ && *score_ != "contrast" && *score_ != "nuclei") {
    throw ConfigError(fmt::format("--score is '{}', expected contrast or nuclei", *score_));
  }
  ObjectConditions conditions = score_ == "nuclei" ? nuclei_conditions() : ObjectConditions();
  if (area_) set_area(conditions, *area_);
  if (solidity_) conditions.solidity = interval("--solidity", *solidity_);
  if (contrast_) conditions.contrast = interval("--contrast", *contrast_);
  if (brighter_) conditions.brightness.low = difference("--brighter", *brighter_);
  if (darker_) conditions.brightness.high = -difference("--darker", *darker_);
  return conditions;
}

}  // namespace diacut::app
