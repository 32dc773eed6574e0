#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace diacut::app {

/// One of several shares of the work of a run: every count-th piece.
struct Shard {
  std::size_t index = 1;  ///< From 1 to count.
  std::size_t count = 1;

  /// Whether the work is divided at all.
  bool divides() const { return count > 1; }
  /// Whether the piece of work at `place`, from 0, is in the share.
  bool has(std::size_t place) const { return place % count == index - 1; }
};

/// Looks an environment variable up.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The variables of this process.
std::optional<std::string> environment_variable(const char* name);

/// Reads a share. `text`: "I/N" with I from 1 to N; "auto": that of this job in an array of jobs,
/// from the variables of Slurm, of AWS Batch, or of an indexed job of Kubernetes; empty:
/// everything. `program` and `things` are what messages name, as "segment" and "images". Throws
/// ConfigError for other texts, and for "auto" where there is no such array.
Shard parse_shard(std::string_view text, const char* program, const char* things,
                  const Environment& environment = environment_variable);

/// "out/report.jsonl" as "out/report-03-of-16.jsonl": a place of this share alone. Places that are
/// empty or "-", and those of a run that is not divided, stay as they are.
std::string place_of_shard(const std::string& place, const Shard& shard);

}  // namespace diacut::app
