#include "campaign.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <thread>

#include "shrink.h"

namespace kubexx::simulation {
namespace {

using apimachinery::Result;

/// In seconds, how often it is told how far the runs are.
constexpr double kBetweenNews = 60;

double HoursOf(const Settings& settings) {
  return settings.minutes > 0 ? static_cast<double>(settings.minutes) / 60
                              : static_cast<double>(settings.hours);
}

RunOptions OptionsOf(const Settings& settings, std::uint64_t seed) {
  return {
      .seed = seed, .hours = HoursOf(settings), .show = settings.show, .without = settings.without};
}

/// What a worker tells its parent of each run.
struct Report {
  std::uint64_t seed = 0;
  RunResult result{};
};

/// Threads of a run take turns, so each of its turns is cheaper where the last one was.
void StayOnOneProcessor(std::size_t job) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::size_t wanted = job % static_cast<std::size_t>(std::max(CPU_COUNT(&allowed), 1));
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

[[noreturn]] void Work(const Settings& settings, const std::vector<std::uint64_t>& seeds,
                       std::size_t job, int to_parent) {
  StayOnOneProcessor(job);
  for (std::size_t i = job; i < seeds.size(); i += static_cast<std::size_t>(settings.jobs)) {
    Report report{.seed = seeds[i]};
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

/// False: not all of it has come.
bool ReadReport(int from, Report& report) {
  auto* const bytes = reinterpret_cast<char*>(&report);
  for (std::size_t done = 0; done < sizeof report;) {
    const ssize_t count = ::read(from, bytes + done, sizeof report - done);
    if (count <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  return true;
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What runs tell, as it comes.
class Campaign {
 public:
  Campaign(const Settings& settings, std::vector<RunRecord> before)
      : settings_(settings), records_(std::move(before)) {}

  /// The seeds that have not been run of this revision. What a tree was that had changes without a
  /// name, nobody knows.
  std::vector<std::uint64_t> Pending() const {
    std::set<std::uint64_t> done;
    for (const RunRecord& record : records_) {
      if (record.revision == settings_.revision && !record.revision.ends_with("-dirty") &&
          record.hours == HoursOf(settings_)) {
        done.insert(record.seed);
      }
    }
    std::vector<std::uint64_t> seeds;
    for (std::int64_t i = 0; i < settings_.seeds; ++i) {
      const auto seed = static_cast<std::uint64_t>(settings_.seed + i);
      if (!done.contains(seed)) {
        seeds.push_back(seed);
      }
    }
    return seeds;
  }

  void Add(const Report& report);
  /// Says how far it is, if it has not done so for a while; so many runs are to be made in all.
  void TellProgress(std::size_t wanted);
  /// False: a file cannot be written.
  bool End();
  const Tally& tally() const { return tally_; }

 private:
  const Settings& settings_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<RunRecord> records_;  ///< also those of earlier campaigns
  Tally tally_{};
  double told_at_ = 0;
  bool has_lost_ = false;
};

void Campaign::Add(const Report& report) {
  RunRecord record{.revision = settings_.revision,
                   .seed = report.seed,
                   .hours = HoursOf(settings_),
                   .result = report.result};
  tally_.Add(report.result);
  if (!settings_.results.empty()) {
    std::ofstream file(settings_.results, std::ios::app);
    file << ToLine(record) << '\n';
    has_lost_ = has_lost_ || !file.flush();
  }
  if (record.failed()) {
    std::printf("seed %llu: %s\n  repeat: %s\n", static_cast<unsigned long long>(report.seed),
                report.result.problem.data(),
                CommandOf(report.seed, record.hours, settings_.without).c_str());
    std::fflush(stdout);
    if (settings_.shrink) {
      const RunOptions smaller =
          Shrink(OptionsOf(settings_, report.seed), static_cast<int>(settings_.seconds));
      std::printf("  smaller: %s\n", CommandOf(report.seed, record.hours, smaller.without).c_str());
    }
  } else if (settings_.seeds == 1) {
    std::printf("hash %016llx\n", static_cast<unsigned long long>(report.result.hash));
  }
  std::fflush(stdout);
  records_.push_back(std::move(record));
}

void Campaign::TellProgress(std::size_t wanted) {
  const double seconds = SecondsSince(begin_);
  if (seconds - told_at_ < kBetweenNews || tally_.runs == 0) {
    return;
  }
  told_at_ = seconds;
  const double left =
      seconds / static_cast<double>(tally_.runs) * static_cast<double>(wanted - tally_.runs);
  std::fprintf(stderr,
               "%llu of %zu runs, %.0f hours of operators, %.1f in a second of a processor; about "
               "%.0f minutes are left\n",
               static_cast<unsigned long long>(tally_.runs), wanted, tally_.all.operator_hours,
               tally_.all.operator_hours / std::max(tally_.all.processor_seconds, 1e-9),
               std::ceil(left / 60));
}

bool Campaign::End() {
  std::fputs(Summary(tally_, SecondsSince(begin_)).c_str(), stdout);
  if (has_lost_) {
    std::fprintf(stderr, "--results: cannot write %s\n", settings_.results.c_str());
  }
  if (!settings_.report.empty() && !records_.empty()) {
    std::ofstream page(settings_.report);
    page << PageOf(records_);
    if (!page.flush()) {
      std::fprintf(stderr, "--report: cannot write %s\n", settings_.report.c_str());
      return false;
    }
  }
  return !has_lost_;
}

}  // namespace

Result<std::vector<RunRecord>> OpenResults(const std::string& file) {
  std::vector<RunRecord> records;
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::size_t number = 1;
  for (std::size_t begin = 0;; ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      if (begin < text.size()) {
        std::error_code error;
        std::filesystem::resize_file(file, begin, error);
        if (error) {
          return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                                    file + " cannot be written: " + error.message());
        }
      }
      return records;
    }
    auto record = RecordFrom(text.substr(begin, end - begin));
    if (!record) {
      return apimachinery::Fail(
          record.error().WithContext(file + ", line " + std::to_string(number)));
    }
    records.push_back(std::move(*record));
    begin = end + 1;
  }
}

int RunCampaign(Settings settings) {
  auto before = settings.results.empty() ? std::vector<RunRecord>() : OpenResults(settings.results);
  if (!before) {
    std::fprintf(stderr, "--results: %s\n", before.error().message.c_str());
    return EXIT_FAILURE;
  }
  if (settings.jobs <= 0) {
    settings.jobs = std::max(std::thread::hardware_concurrency(), 1U);
  }
  Campaign campaign(settings, std::move(*before));
  const std::vector<std::uint64_t> seeds = campaign.Pending();
  settings.jobs = std::min(settings.jobs, std::ssize(seeds));
  int ends[2];
  if (::pipe(ends) != 0) {
    return EXIT_FAILURE;
  }
  std::fflush(stdout);  // or a worker would write it, too
  for (std::int64_t job = 0; job < settings.jobs; ++job) {
    if (::fork() == 0) {
      ::close(ends[0]);
      Work(settings, seeds, static_cast<std::size_t>(job), ends[1]);
    }
  }
  ::close(ends[1]);
  for (Report report; ReadReport(ends[0], report);) {
    campaign.Add(report);
    campaign.TellProgress(seeds.size());
  }
  while (::wait(nullptr) > 0) {
  }
  const bool written = campaign.End();
  const Tally& tally = campaign.tally();
  return written && tally.problems == 0 && (tally.runs > 0 || seeds.empty()) ? EXIT_SUCCESS
                                                                             : EXIT_FAILURE;
}

}  // namespace kubexx::simulation
