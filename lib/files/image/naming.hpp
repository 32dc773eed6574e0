#pragma once

#include <fmt/format.h>

#include <new>
#include <opencv2/core.hpp>
#include <string>

#include "diacut/errors.hpp"

namespace diacut {

/// What `work` returns. What it throws becomes an InputError that begins with the name of what it
/// reads; a DeviceError stays one.
template <class Work>
auto naming(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(fmt::format("{}: {}", name, error.what()));
  } catch (const DeviceError& error) {
    throw DeviceError(fmt::format("{}: {}", name, error.what()), error.build_log());
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: there is not enough memory to read it", name));
  } catch (const cv::Exception& error) {
    // OpenCV throws this when memory is short.
    throw InputError(fmt::format("{}: cannot be decoded ({})", name, error.err));
  }
}

}  // namespace diacut
