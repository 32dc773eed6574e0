#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "target.hpp"

/// What libFuzzer calls. The environment's DIACUT_FUZZ_TARGET names the target;
/// with DIACUT_FUZZ_SEEDS=FOLDER the program writes the target's inputs there and ends; the name
/// "list" lists all targets with the sources of each.
namespace {

using diacut::fuzz::Target;

const Target* chosen = nullptr;

void list_targets() {
  for (const Target& each : diacut::fuzz::targets()) {
    std::printf("%s", each.name.c_str());
    for (const std::string& source : each.sources) std::printf(" %s", source.c_str());
    std::printf("\n");
  }
}

void write_seeds(const Target& target, const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& seed : target.inputs()) {
    std::ofstream(folder / ("seed_" + std::to_string(count++)), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* name = std::getenv("DIACUT_FUZZ_TARGET");
  if (name == nullptr || std::string(name) == "list") {
    list_targets();
    std::exit(name == nullptr ? 2 : 0);
  }
  chosen = &diacut::fuzz::target(name);
  if (const char* folder = std::getenv("DIACUT_FUZZ_SEEDS")) {
    write_seeds(*chosen, folder);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  diacut::fuzz::read(*chosen, {data, data + size});
  return 0;
}
