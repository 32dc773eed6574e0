#include <fmt/format.h>
#include <lcms2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "core/parallel.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
using Profile = std::unique_ptr<void, CloseProfile>;

struct DeleteTransform {
  void operator()(void* transform) const { cmsDeleteTransform(transform); }
};
using Transform = std::unique_ptr<void, DeleteTransform>;

Profile open_profile(Bytes bytes) {
  return Profile(cmsOpenProfileFromMem(bytes.data(), static_cast<cmsUInt32Number>(bytes.size())));
}

/// From the profile to sRGB. Nothing if the profile cannot be used as an input's. Threads may share
/// the transform, because it keeps no cache.
Transform make_transform(const Profile& from, cmsUInt32Number from_type, cmsUInt32Number to_type) {
  const Profile srgb(cmsCreate_sRGBProfile());
  cmsUInt32Number flags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_COPY_ALPHA;
  // Of 16 bits lcms would make a coarse table, which is off by up to 3% of white in dark colours.
  if (T_BYTES(from_type) == 2) flags |= cmsFLAGS_NOOPTIMIZE;
  return Transform(cmsCreateTransform(from.get(), from_type, srgb.get(), to_type,
                                      INTENT_RELATIVE_COLORIMETRIC, flags));
}

/// One of cmsColorSpaceSignature, or any other number that a file holds.
std::uint32_t colour_space(const Profile& profile) {
  return static_cast<std::uint32_t>(cmsGetColorSpace(profile.get()));
}

std::string describe(std::uint32_t space) {
  static const std::map<std::uint32_t, const char*> names = {{cmsSigGrayData, "grey"},
                                                             {cmsSigRgbData, "RGB"},
                                                             {cmsSigCmykData, "CMYK"},
                                                             {cmsSigLabData, "Lab"}};
  const auto found = names.find(space);
  return found == names.end() ? "other colours" : found->second;
}

/// The values 0 to 1 in `count` steps.
std::vector<float> ramp(int count) {
  std::vector<float> values;
  for (int k = 0; k < count; ++k) {
    values.push_back(static_cast<float>(k) / static_cast<float>(count - 1));
  }
  return values;
}

/// Whether no colour changes by more than a step of 8 bits.
bool is_identity(const std::vector<float>& before, const std::vector<float>& after) {
  constexpr float kStep = 1.0F / 255;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!(std::abs(before[i] - after[i]) <= kStep)) return false;
  }
  return true;
}

/// What `count` colours of a type become in sRGB; empty if the profile cannot be used.
std::vector<float> in_srgb(const Profile& profile, cmsUInt32Number type,
                           const std::vector<float>& colours, std::size_t count) {
  const Transform transform = make_transform(profile, type, TYPE_RGB_FLT);
  if (!transform) return {};
  std::vector<float> rgb(count * 3);
  cmsDoTransform(transform.get(), colours.data(), rgb.data(), static_cast<cmsUInt32Number>(count));
  return rgb;
}

/// What the grey levels of `levels` become, from a profile of greys or of RGB; empty if the profile
/// cannot be used.
std::vector<float> convert_greys(const Profile& profile, const std::vector<float>& levels) {
  const bool is_grey = colour_space(profile) == cmsSigGrayData;
  std::vector<float> from;
  for (const float level : levels) from.insert(from.end(), is_grey ? 1 : 3, level);
  const std::vector<float> rgb =
      in_srgb(profile, is_grey ? TYPE_GRAY_FLT : TYPE_RGB_FLT, from, levels.size());
  std::vector<float> greys;
  for (std::size_t i = 1; i < rgb.size(); i += 3) greys.push_back(std::clamp(rgb[i], 0.0F, 1.0F));
  return greys;
}

/// Whether a profile of RGB is sRGB, by the colours of a coarse grid and by the greys.
bool is_srgb(const Profile& profile) {
  std::vector<float> before;
  constexpr int kSteps = 9;
  const std::vector<float> steps = ramp(kSteps);
  for (const float red : steps) {
    for (const float green : steps) {
      for (const float blue : steps) before.insert(before.end(), {red, green, blue});
    }
  }
  for (const float grey : ramp(256)) before.insert(before.end(), 3, grey);
  const std::vector<float> after = in_srgb(profile, TYPE_RGB_FLT, before, before.size() / 3);
  return !after.empty() && is_identity(before, after);
}

/// Whether samples in these colours are sRGB as they are.
bool changes_nothing(const Profile& profile, bool has_colours) {
  if (has_colours) return is_srgb(profile);
  const std::vector<float> greys = ramp(256);
  const std::vector<float> shown = convert_greys(profile, greys);
  return !shown.empty() && is_identity(greys, shown);
}

/// Alpha stays.
bool convert_greys(const Profile& profile, Decoded& decoded) {
  const int last = decoded.samples.depth() == CV_8U ? 255 : 65535;
  const std::vector<float> after = convert_greys(profile, ramp(last + 1));
  if (after.empty()) return false;
  cv::Mat stored;
  cv::extractChannel(decoded.samples, stored, 0);
  cv::Mat1i greys;
  stored.convertTo(greys, CV_32S);
  for (int& grey : greys) {
    // Where 0 is white, the light is what is left of the full value.
    const int level = decoded.zero_is_white ? last - grey : grey;
    const auto light = static_cast<int>(
        std::lround(after[static_cast<std::size_t>(level)] * static_cast<float>(last)));
    grey = decoded.zero_is_white ? last - light : light;
  }
  greys.convertTo(stored, stored.depth());
  cv::insertChannel(stored, decoded.samples, 0);
  return true;
}

bool convert_colours(const Profile& profile, Decoded& decoded) {
  const cmsUInt32Number type = COLORSPACE_SH(PT_RGB) | EXTRA_SH(decoded.has_alpha ? 1 : 0) |
                               CHANNELS_SH(3) | BYTES_SH(decoded.samples.depth() == CV_8U ? 1 : 2);
  const Transform transform = make_transform(profile, type, type);
  if (!transform) return false;
  cv::Mat& samples = decoded.samples;
  parallel_for(samples.rows, [&](int y) {
    cmsDoTransform(transform.get(), samples.ptr(y), samples.ptr(y),
                   static_cast<cmsUInt32Number>(samples.cols));
  });
  return true;
}

/// Stretches integers of 9 to 15 bits to the 16 bits that lcms counts in.
void fill_sixteen_bits(Decoded& decoded) {
  constexpr double kFull = 65535;
  if (decoded.samples.depth() != CV_16U || decoded.type_range->second == kFull) return;
  decoded.samples.convertTo(decoded.samples, -1, kFull / decoded.type_range->second);
  decoded.type_range->second = kFull;
}

/// Why the samples cannot be brought to sRGB; empty if they can.
std::string obstacle(const Decoded& decoded) {
  const int depth = decoded.samples.depth();
  if (depth != CV_8U && depth != CV_16U) {
    return "applies to values of 8 and 16 bits, and these are others";
  }
  return decoded.premultiplied ? "does not apply to colours that were multiplied by alpha" : "";
}

}  // namespace

void apply_profile(Decoded& decoded) {
  if (decoded.profile.empty()) return;
  const auto give_up = [&](const std::string& why) {
    decoded.notes.push_back(
        fmt::format("Its colour profile {}: its colours were read as sRGB.", why));
  };
  const Profile profile = open_profile(decoded.profile);
  if (!profile) return give_up("is damaged");
  const bool has_colours = decoded.samples.channels() - (decoded.has_alpha ? 1 : 0) == 3;
  const std::uint32_t space = colour_space(profile);
  if (space != cmsSigRgbData && (has_colours || space != cmsSigGrayData)) {
    return give_up(fmt::format("is one for {}, and these are {}", describe(space),
                               has_colours ? "RGB" : "grey"));
  }
  if (changes_nothing(profile, has_colours)) return;
  if (const std::string why = obstacle(decoded); !why.empty()) return give_up(why);
  fill_sixteen_bits(decoded);
  const bool done =
      has_colours ? convert_colours(profile, decoded) : convert_greys(profile, decoded);
  if (!done) give_up("is damaged");
}

std::optional<cv::Mat> rgb_of_cmyk(const cv::Mat& cmyk, bool is_inverted, Bytes profile_bytes) {
  const Profile profile = open_profile(profile_bytes);
  if (!profile || colour_space(profile) != cmsSigCmykData) return std::nullopt;
  const Transform transform =
      make_transform(profile, is_inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8, TYPE_RGB_8);
  if (!transform) return std::nullopt;
  cv::Mat rgb(cmyk.size(), CV_8UC3);
  parallel_for(cmyk.rows, [&](int y) {
    cmsDoTransform(transform.get(), cmyk.ptr(y), rgb.ptr(y),
                   static_cast<cmsUInt32Number>(cmyk.cols));
  });
  return rgb;
}

}  // namespace diacut
