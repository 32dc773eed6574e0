#include "shard.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "command_line.hpp"
#include "diacut/errors.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

constexpr const char* kIndexInSlurm = "SLURM_ARRAY_TASK_ID";
constexpr const char* kIndexInAws = "AWS_BATCH_JOB_ARRAY_INDEX";
constexpr const char* kIndexInKubernetes = "JOB_COMPLETION_INDEX";
constexpr const char* kShards = "DIACUT_SHARDS";

/// The number in a variable that an engine sets for its jobs. Throws ConfigError where there is
/// none.
std::size_t number(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) {
    throw ConfigError(fmt::format("--shard auto: the environment variable {} is not set", name));
  }
  if (const auto found = number_in(*text)) return *found;
  throw ConfigError(
      fmt::format("--shard auto: the environment variable {} is '{}', not a number", name, *text));
}

/// The share at `place`, from 0. `index`, `size`: the variables that said so.
Shard checked(std::size_t place, std::size_t count, const char* index, const char* size) {
  if (place < count) return {place + 1, count};
  throw ConfigError(
      fmt::format("--shard auto: {} says that this is job {} of {}, counted from 0, by {}", index,
                  place, count, size));
}

/// Of a Slurm array, whose numbers may begin anywhere and have a step.
Shard slurm_shard(const Environment& environment) {
  const std::size_t first = number(environment, "SLURM_ARRAY_TASK_MIN");
  const std::size_t last = number(environment, "SLURM_ARRAY_TASK_MAX");
  const std::size_t count = number(environment, "SLURM_ARRAY_TASK_COUNT");
  const std::size_t id = number(environment, kIndexInSlurm);
  const char* step_name = "SLURM_ARRAY_TASK_STEP";
  const std::size_t step = environment(step_name) ? number(environment, step_name) : 1;
  if (step == 0 || id < first || last < first || (id - first) % step != 0 ||
      (last - first) / step + 1 != count) {
    throw ConfigError(
        "--shard auto: the numbers of this Slurm array have gaps, so the share is unknown; submit "
        "it as --array=1-N, or use --shard $SLURM_ARRAY_TASK_ID/N");
  }
  return checked((id - first) / step, count, kIndexInSlurm, "SLURM_ARRAY_TASK_COUNT");
}

Shard kubernetes_shard(const Environment& environment) {
  if (!environment(kShards)) {
    throw ConfigError(fmt::format(
        "--shard auto: Kubernetes tells a pod its index, but not how many there are: set the "
        "environment variable {} to the job's completions",
        kShards));
  }
  return checked(number(environment, kIndexInKubernetes), number(environment, kShards),
                 kIndexInKubernetes, kShards);
}

Shard aws_shard(const Environment& environment) {
  const char* size = "AWS_BATCH_JOB_ARRAY_SIZE";
  return checked(number(environment, kIndexInAws), number(environment, size), kIndexInAws, size);
}

Shard shard_of_job(const Environment& environment) {
  struct Engine {
    const char* variable;  ///< What it sets for the jobs of an array alone.
    Shard (*shard)(const Environment& environment);
  };
  constexpr std::array kEngines = {Engine{kIndexInSlurm, slurm_shard},
                                   Engine{kIndexInAws, aws_shard},
                                   Engine{kIndexInKubernetes, kubernetes_shard}};
  const Engine* found = nullptr;
  for (const Engine& engine : kEngines) {
    if (!environment(engine.variable)) continue;
    if (found != nullptr) {
      throw ConfigError(
          fmt::format("--shard auto: the environment variables {} and {} of two engines are both "
                      "set, so the share is unknown; unset the wrong one, or use --shard I/N",
                      found->variable, engine.variable));
    }
    found = &engine;
  }
  if (found != nullptr) return found->shard(environment);
  throw ConfigError(
      fmt::format("--shard auto: this is not a job of an array: none of the environment variables "
                  "{}, {} and {} is set; use --shard I/N",
                  kIndexInSlurm, kIndexInAws, kIndexInKubernetes));
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Shard parse_shard(std::string_view text, const char* program, const char* things,
                  const Environment& environment) {
  if (text.empty()) return {};
  if (text == "auto") return shard_of_job(environment);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = number_in(text.substr(0, slash));
    const auto count = number_in(text.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count) return {*index, *count};
  }
  fail_usage(program, fmt::format("--shard: '{}' is not a share of the {}; expected I/N with I "
                                  "from 1 to N, such as 3/16, or auto",
                                  text, things));
}

std::string place_of_shard(const std::string& place, const Shard& shard) {
  if (!shard.divides() || place.empty() || place == "-") return place;
  const std::filesystem::path path(place);
  const std::size_t digits = std::to_string(shard.count).size();
  const std::string name = fmt::format("{}-{:0{}}-of-{}{}", path.stem().string(), shard.index,
                                       digits, shard.count, path.extension().string());
  return (path.parent_path() / name).string();
}

}  // namespace diacut::app
