#pragma once

#include <stdexcept>
#include <string>
#include <utility>

/// @file
/// Every error that diacut throws derives from diacut::Error. A message names the file or option,
/// what was found, what was expected, and what to do. Eigenvectors that miss their tolerance are no
/// error: diacut::EigenReport reports them.
namespace diacut {

/// The base of every error that diacut throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read, decoded or written, or an image with nothing to segment.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A parameter, option or configuration file that makes no sense.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A device that is missing, too small or failing, or whose driver cannot build a kernel.
class DeviceError : public Error {
 public:
  /// `message`: what went wrong and what to do. `build_log`: as build_log() returns it.
  explicit DeviceError(const std::string& message, std::string build_log = {})
      : Error(message), build_log_(std::move(build_log)) {}

  /// What the kernel compiler printed; empty unless a kernel did not build.
  const std::string& build_log() const { return build_log_; }

 private:
  std::string build_log_;
};

/// Memory of a device that is too small for what is asked of it, or that its driver does not give.
class DeviceMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Arithmetic that went wrong: a NaN where none may be.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// The caller asked for the work to stop (see diacut::CancelToken).
class CancelledError : public Error {
 public:
  using Error::Error;
};

}  // namespace diacut
