#pragma once

#include <stdexcept>
#include <string>

/// Every error diacut throws derives from diacut::Error. A message names the file or option, what
/// was found, what was expected, and what to do. Not converging is no error: it is reported in
/// diacut::EigenReport.
namespace diacut {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read, decoded, or written; an image with nothing to segment.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A parameter, option or configuration file that makes no sense.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// No device, a device too small, a failed OpenCL call, or a kernel that does not build (then
/// build_log() is the compiler's).
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message, std::string build_log = {})
      : Error(message), build_log_(std::move(build_log)) {}
  const std::string& build_log() const { return build_log_; }

 private:
  std::string build_log_;
};

/// Arithmetic that went wrong: a NaN where none may be.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// The caller asked to stop (see diacut::CancelToken).
class CancelledError : public Error {
 public:
  using Error::Error;
};

}  // namespace diacut
