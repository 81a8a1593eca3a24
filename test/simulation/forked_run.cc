#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "kubexx/base/mutex_pauses.h"
#include "world.h"

namespace kubexx::simulation {
namespace {

/// Threads take turns, so they need no memory each; and what is given back is wanted again soon.
void KeepMemory() {
  constexpr int kPlenty = 64 << 20;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, kPlenty);
  ::mallopt(M_MMAP_THRESHOLD, kPlenty);
  ::mallopt(M_TOP_PAD, 4 << 20);
}

/// In the child: does not return.
[[noreturn]] void RunHere(const RunOptions& options, RunResult& result) {
  World* world = nullptr;
  const auto tell = [&world, &result, &options](const std::string& problem) {
    if (result.problem[0] == '\0') {
      std::snprintf(result.problem.data(), result.problem.size(), "%s", problem.c_str());
    }
    if (world != nullptr && !problem.empty() && options.tell) {
      std::fputs(world->Story().c_str(), stdout);
    }
    std::fflush(stdout);
    std::_Exit(0);
  };
  oracle::Random random(options.seed);
  static constexpr std::uint64_t kPreemption[] = {0, 4, 16, 64, 256, 1024};
  Scheduler scheduler({.seed = options.seed,
                       .preempt_every = kPreemption[random.Below(std::size(kPreemption))],
                       .on_stuck = tell});
  scheduler.Run([&] {
    world = new World(scheduler, options, result);  // Threads that are left may use it.
    world->Run();
  });
  tell(result.problem.data());
  std::abort();
}

/// Has this process end by a signal when it has worked for so long. The machine may have other
/// work, so real time says little; it counts only for a process that does not work at all.
void LimitTime(int seconds) {
  constexpr unsigned kIdle = 20;
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  ::alarm(static_cast<unsigned>(seconds) * kIdle);
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

RunResult RunForked(const RunOptions& options, int seconds) {
  void* const shared =
      ::mmap(nullptr, sizeof(RunResult), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::abort();
  }
  auto* const result = new (shared) RunResult();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    LimitTime(seconds);
    KeepMemory();
    base::OmitMutexPauses();  // the holder of a lock has no turn while another has
    RunHere(options, *result);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (result->problem[0] == '\0' && (child < 0 || !result->finished)) {
    std::snprintf(
        result->problem.data(), result->problem.size(), "%s",
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)
            ? "the run takes too long"
            : ("the process has crashed, status " + std::to_string(status)).c_str());
  }
  result->processor_seconds = SecondsOf(used.ru_utime) + SecondsOf(used.ru_stime);
  const RunResult copy = *result;
  ::munmap(shared, sizeof(RunResult));
  return copy;
}

}  // namespace kubexx::simulation
