// Runs simulations, several at a time, each in a process of its own, and sums up what they met.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/flags/flags.h"
#include "shrink.h"
#include "world.h"

namespace kubexx::simulation {
namespace {

struct Settings {
  std::int64_t seed = 1;
  std::int64_t seeds = 1;
  std::int64_t hours = 1;
  std::int64_t minutes = 0;  ///< instead of hours
  std::int64_t jobs = 0;
  std::int64_t seconds = 120;  ///< of a processor's time, for each run
  bool show = false;
  bool keep_going = false;
  bool shrink = false;
  std::string without_names{};
  Without without{};
};

RunOptions OptionsOf(const Settings& settings, std::int64_t seed) {
  return {.seed = static_cast<std::uint64_t>(seed),
          .hours = settings.minutes > 0 ? static_cast<double>(settings.minutes) / 60
                                        : static_cast<double>(settings.hours),
          .show = settings.show,
          .without = settings.without};
}

std::string CommandOf(const Settings& settings, std::int64_t seed, const Without& without) {
  const std::string names = ToString(without);
  return "hack/simulate --seed " + std::to_string(seed) +
         (settings.minutes > 0 ? " --minutes " + std::to_string(settings.minutes)
                               : " --hours " + std::to_string(settings.hours)) +
         (names.empty() ? "" : " --without \"" + names + "\"") + " --show";
}

/// What a worker tells its parent of each run.
struct Report {
  std::int64_t seed = 0;
  RunResult result{};
};

/// Threads of a run take turns, so each of its turns is cheaper where the last one was.
void StayOnOneProcessor(std::int64_t job) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::int64_t wanted = job % std::max(CPU_COUNT(&allowed), 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ::sched_setaffinity(0, sizeof one, &one);
      return;
    }
  }
}

[[noreturn]] void Work(const Settings& settings, std::int64_t job, int to_parent) {
  StayOnOneProcessor(job);
  for (std::int64_t i = job; i < settings.seeds; i += settings.jobs) {
    Report report{.seed = settings.seed + i};
    report.result = RunForked(OptionsOf(settings, report.seed), static_cast<int>(settings.seconds));
    if (::write(to_parent, &report, sizeof report) != sizeof report) {
      break;
    }
    if (report.result.problem[0] != '\0' && !settings.keep_going) {
      break;
    }
  }
  std::_Exit(0);
}

/// All runs together.
struct Sum {
  int runs = 0;
  int problems = 0;
  RunResult all{};

  void Add(const RunResult& result) {
    ++runs;
    all.points += result.points;
    all.switches += result.switches;
    all.virtual_hours += result.virtual_hours;
    all.operator_hours += result.operator_hours;
    all.rollouts += result.rollouts;
    all.changes += result.changes;
    all.requests += result.requests;
    all.quiet_periods += result.quiet_periods;
    all.storms += result.storms;
    all.strict_storms += result.strict_storms;
    for (std::size_t i = 0; i < kFaults; ++i) {
      all.faults[i] += result.faults[i];
    }
    for (std::size_t i = 0; i < kMishaps; ++i) {
      all.mishaps[i] += result.mishaps[i];
    }
  }
};

unsigned long long Count(std::uint64_t number) { return number; }

void Print(const Sum& sum, double seconds) {
  const RunResult& all = sum.all;
  std::printf("%d seeds in %.1f s (%.2f a second), %d with a problem\n", sum.runs, seconds,
              sum.runs / seconds, sum.problems);
  std::printf("%.1f hours of the cluster, %.1f of operators (%.0f an hour of real time)\n",
              all.virtual_hours, all.operator_hours, all.operator_hours / seconds * 3600);
  std::printf("%llu requests, %llu changes of data, %llu rollouts, %llu quiet periods checked\n",
              Count(all.requests), Count(all.changes), Count(all.rollouts),
              Count(all.quiet_periods));
  std::printf("%llu storms, %llu of them strict; %llu points, %llu turns\n", Count(all.storms),
              Count(all.strict_storms), Count(all.points), Count(all.switches));
  std::printf("faults:");
  for (std::size_t i = 1; i < kFaults; ++i) {
    std::printf(" %s %llu;", std::string(ToString(static_cast<Fault>(i))).c_str(),
                Count(all.faults[i]));
  }
  for (std::size_t i = 0; i < kMishaps; ++i) {
    std::printf(" %s %llu%s", std::string(ToString(static_cast<Mishap>(i))).c_str(),
                Count(all.mishaps[i]), i + 1 < kMishaps ? ";" : "\n");
  }
}

int Run(Settings settings) {
  const auto begin = std::chrono::steady_clock::now();
  if (settings.jobs <= 0) {
    settings.jobs = std::max(std::thread::hardware_concurrency(), 1U);
  }
  settings.jobs = std::min(settings.jobs, settings.seeds);
  int ends[2];
  if (::pipe(ends) != 0) {
    return EXIT_FAILURE;
  }
  for (std::int64_t job = 0; job < settings.jobs; ++job) {
    if (::fork() == 0) {
      ::close(ends[0]);
      Work(settings, job, ends[1]);
    }
  }
  ::close(ends[1]);
  Sum sum;
  Report report;
  while (::read(ends[0], &report, sizeof report) == sizeof report) {
    sum.Add(report.result);
    if (report.result.problem[0] != '\0') {
      ++sum.problems;
      std::printf("seed %lld: %s\n  repeat: %s\n", static_cast<long long>(report.seed),
                  report.result.problem.data(),
                  CommandOf(settings, report.seed, settings.without).c_str());
      std::fflush(stdout);
      if (settings.shrink) {
        const RunOptions smaller =
            Shrink(OptionsOf(settings, report.seed), static_cast<int>(settings.seconds));
        std::printf("  smaller: %s\n", CommandOf(settings, report.seed, smaller.without).c_str());
      }
    } else if (settings.seeds == 1) {
      std::printf("hash %016llx\n", Count(report.result.hash));
    }
    std::fflush(stdout);
  }
  while (::wait(nullptr) > 0) {
  }
  Print(sum, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return sum.problems == 0 && sum.runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace kubexx::simulation

int main(int argc, char** argv) {
  kubexx::simulation::Settings settings;
  kubexx::flags::FlagSet flags("simulate", "Runs the whole system on virtual time, with faults.");
  flags.AddInt("seed", "the first seed", &settings.seed);
  flags.AddInt("seeds", "how many", &settings.seeds);
  flags.AddInt("hours", "virtual hours of each run", &settings.hours);
  flags.AddInt("minutes", "virtual minutes of each run, instead of hours", &settings.minutes);
  flags.AddInt("jobs", "runs at the same time; 0: as many as there are processors", &settings.jobs);
  flags.AddInt("seconds", "of a processor's time that a run may take", &settings.seconds);
  flags.AddBool("show", "write what happens", &settings.show);
  flags.AddBool("keep-going", "after a problem, too", &settings.keep_going);
  flags.AddString("without", "what is left out, by names with commas between them",
                  &settings.without_names);
  flags.AddBool("shrink", "after a problem, find out what can be left out", &settings.shrink);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  const auto without = kubexx::simulation::ParseWithout(settings.without_names);
  if (!without) {
    std::fprintf(stderr, "--without: %s\n", without.error().message.c_str());
    return EXIT_FAILURE;
  }
  settings.without = *without;
  return kubexx::simulation::Run(settings);
}
