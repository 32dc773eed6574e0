#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>

#include "sandbox/child.hpp"

namespace diacut {
namespace {

/// Computing, memory, files that are open, threads, and the end. None of them takes a path.
constexpr std::array kAllowed = {
    SCMP_SYS(brk),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(close),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(ftruncate),
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(getrandom),
    SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(lseek),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(nanosleep),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sysinfo),
    SCMP_SYS(write),
    SCMP_SYS(writev),
};

/// Refused without an end of the process, because libraries go on without them: opening files, as
/// they do to count processors; what a stream asks of a descriptor; limits; names of threads.
constexpr std::array kRefused = {
    SCMP_SYS(open),  SCMP_SYS(openat),
    SCMP_SYS(fstat), SCMP_SYS(newfstatat),
    SCMP_SYS(ioctl), SCMP_SYS(fcntl),
    SCMP_SYS(prctl), SCMP_SYS(prlimit64),
    SCMP_SYS(uname), SCMP_SYS(sched_setaffinity),
    SCMP_SYS(statx), SCMP_SYS(getrusage),
};

bool add_rules(scmp_filter_ctx filter) {
  bool added = true;
  const auto add = [&](int status) { added = added && status == 0; };
  for (const int call : kAllowed) add(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0));
  for (const int call : kRefused) add(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0));
  // The arguments of clone3 lie in memory, where no filter sees them: libraries then call clone.
  add(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  constexpr unsigned kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  add(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                       SCMP_A0(SCMP_CMP_MASKED_EQ, kThread, kThread)));
  // Memory that is executed stays what it was.
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    add(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                         SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)));
  }
  return added;
}

}  // namespace

bool enter_sandbox() {
  // No process may look into this one, and it leaves no image of its memory.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return false;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (filter == nullptr) return false;
  const bool loaded = add_rules(filter) && seccomp_load(filter) == 0;
  seccomp_release(filter);
  return loaded;
}

}  // namespace diacut
