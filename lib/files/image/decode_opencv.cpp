#include <fmt/format.h>

#include <limits>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

namespace logging = cv::utils::logging;

/// Keeps OpenCV's log quiet while it exists.
class QuietOpenCv {
 public:
  QuietOpenCv() : level_(logging::setLogLevel(logging::LOG_LEVEL_SILENT)) {}
  ~QuietOpenCv() { logging::setLogLevel(level_); }
  QuietOpenCv(const QuietOpenCv&) = delete;
  QuietOpenCv& operator=(const QuietOpenCv&) = delete;

 private:
  logging::LogLevel level_;
};

}  // namespace

cv::Mat decode_with_opencv(Bytes file, std::int64_t width, std::int64_t height) {
  if (file.size() > std::numeric_limits<int>::max()) {
    throw InputError(
        fmt::format("a file of {} bytes, too many for its format: save it as PNG", file.size()));
  }
  cv::Mat samples;
  try {
    const QuietOpenCv quiet;
    // cv::Mat has no view of constant bytes; these are only read.
    const cv::Mat bytes(1, static_cast<int>(file.size()), CV_8UC1,
                        const_cast<std::uint8_t*>(file.data()));
    samples = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& error) {
    throw InputError(fmt::format("it cannot be decoded ({}): save it again as PNG", error.err));
  }
  if (samples.cols != width || samples.rows != height) {
    throw InputError("the file is damaged (its data cannot be decoded): copy or save it again");
  }
  if (samples.channels() == 3) cv::cvtColor(samples, samples, cv::COLOR_BGR2RGB);
  if (samples.channels() == 4) cv::cvtColor(samples, samples, cv::COLOR_BGRA2RGBA);
  return samples;
}

}  // namespace diacut
