#pragma once

#include <fmt/format.h>

#include <new>
#include <opencv2/core.hpp>
#include <string>

#include "diacut/errors.hpp"

namespace diacut {

/// What `work` returns. Its errors become InputErrors that name the scene that it reads.
template <class Work>
auto naming(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: there is not enough memory to read it", name));
  } catch (const cv::Exception& error) {
    // OpenCV throws this when memory is short.
    throw InputError(fmt::format("{}: cannot be read ({})", name, error.err));
  }
}

}  // namespace diacut
