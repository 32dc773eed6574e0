#include <cstdio>

#include "diacut/image_file.hpp"

/// The program that the Python package starts to decode images that are not trusted. It is no copy
/// of the interpreter: it has none of its threads, memory and secrets.
int main() {
  const int code = diacut::serve_sandbox();
  std::fputs(
      "diacut-decoder: the Python package diacut starts this program to decode images that are not "
      "trusted; it does nothing by itself\n",
      stderr);
  return code;
}
