#include "exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>

#include "diacut/errors.hpp"
#include "interrupt.hpp"
#include "text.hpp"

namespace diacut::app {

ExitCode worse(ExitCode a, ExitCode b) {
  constexpr std::array kFromBest = {
      ExitCode::kDone,   ExitCode::kNotConverged, ExitCode::kUsage,      ExitCode::kInputOutput,
      ExitCode::kDevice, ExitCode::kInternal,     ExitCode::kInterrupted};
  const auto rank = [&](ExitCode code) {
    return std::find(kFromBest.begin(), kFromBest.end(), code) - kFromBest.begin();
  };
  return rank(a) < rank(b) ? b : a;
}

namespace {

Failure failure_of_any() {
  try {
    throw;
  } catch (const CancelledError& error) {
    return {ExitCode::kInterrupted,
            time_is_up() ? "the time limit (--time-limit) has been reached" : error.what()};
  } catch (const ConfigError& error) {
    return {ExitCode::kUsage, error.what()};
  } catch (const InputError& error) {
    return {ExitCode::kInputOutput, error.what()};
  } catch (const DeviceError& error) {
    return {ExitCode::kDevice, error.what()};
  } catch (const Error& error) {
    return {ExitCode::kInternal, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::kInternal, "not enough memory"};
  } catch (const std::filesystem::filesystem_error& error) {
    std::error_code gone;
    const bool here = !std::filesystem::current_path(gone).empty();
    return {ExitCode::kInputOutput,
            !here ? "the working folder does not exist any more: change to another one (cd)"
                  : error.what()};
  } catch (const std::exception& error) {
    return {ExitCode::kInternal, fmt::format("an unexpected error: {}", error.what())};
  } catch (...) {
    return {ExitCode::kInternal, "an unexpected error of unknown type"};
  }
}

}  // namespace

Failure current_failure(const std::string& input) {
  Failure failure = failure_of_any();
  if (failure.message.find(input) == std::string::npos) {
    failure.message = fmt::format("{}: {}", quoted_input_name(input), failure.message);
  }
  return failure;
}

std::optional<Failure> attempt(const std::string& input, const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (...) {
    return current_failure(input);
  }
}

}  // namespace diacut::app
