#pragma once

namespace diacut {

/// Keeps the process's handlers of signals over calls of OpenCL, in which drivers install their
/// own. Not that of SIGFPE, by which PoCL lets kernels divide by zero.
class KeptSignals {
 public:
  KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;
  ~KeptSignals();
};

}  // namespace diacut
