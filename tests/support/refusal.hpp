#pragma once

#include <string>

#include "diacut/errors.hpp"

namespace diacut::testing {

/// What is said where `work` refuses what it reads; "accepted" where it does not.
template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace diacut::testing
