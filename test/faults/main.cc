// Real faults to a real cluster: kube-apiserver, etcd and kubexx-reloader are killed, stopped, cut
// off and refused while people edit, undo, pause and release. See hack/real-faults.
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "faults/run.h"
#include "faults/tally.h"
#include "kubexx/base/clock.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"

namespace kubexx::faults {
namespace {

constexpr int kBrokenOff = 130;

struct Settings {
  std::int64_t seed = 1;
  std::int64_t faults = 10000;
  std::int64_t storm = 300;
  std::int64_t minutes = 0;
  bool keep_going = false;
  std::string report{};
  std::string folder = ".";
  std::string reloader{};
  std::string cluster{};
  std::string cluster_name = "faults";
  std::string cluster_folder{};
};

std::string Today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(base::Clock::Real().Wall());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string Machine() {
  utsname name{};
  ::uname(&name);
  const long gib = ::sysconf(_SC_PHYS_PAGES) / 1024 * ::sysconf(_SC_PAGESIZE) / 1024 / 1024;
  return std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " cores, " + std::to_string(gib) +
         " GiB of memory, " + name.sysname + " " + name.machine;
}

RunOptions OptionsOf(const Settings& settings) {
  RunOptions options;
  options.seed = static_cast<std::uint64_t>(settings.seed);
  options.faults = static_cast<std::size_t>(settings.faults);
  options.faults_of_storm = static_cast<std::size_t>(settings.storm);
  if (settings.minutes > 0) {
    options.pace = std::chrono::milliseconds(settings.minutes * 60'000 / settings.faults);
  }
  options.keep_going = settings.keep_going;
  options.operator_program = settings.reloader;
  options.folder = settings.folder;
  options.cluster = {.script = settings.cluster,
                     .name = settings.cluster_name,
                     .folder = settings.cluster_folder,
                     .log = settings.folder + "/cluster.log"};
  return options;
}

int Main(const Settings& settings) {
  const controller::StopSignals signals;
  logging::Init({.level = logging::Level::kWarning});
  std::printf("a cluster comes up; what happens is in %s/story.log\n", settings.folder.c_str());
  std::fflush(stdout);
  Run run(OptionsOf(settings), signals.token());
  const auto ran = run.Go();
  const Tally tally = run.Summary();
  const std::string report = ReportOf(tally, Today(), Machine());
  if (!settings.report.empty()) {
    std::ofstream(settings.report, std::ios::trunc) << report;
  }
  std::printf("\n%s", report.c_str());
  if (tally.broken_off) {
    return kBrokenOff;
  }
  if (!ran) {
    std::fprintf(stderr, "real-faults: %s\n", ran.error().ToString().c_str());
    return EXIT_FAILURE;
  }
  return tally.problems.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace kubexx::faults

int main(int argc, char** argv) {
  kubexx::faults::Settings settings;
  kubexx::flags::FlagSet flags("real-faults", "Real faults to a real cluster and its operators.");
  flags.AddInt("seed", "gives the script", &settings.seed);
  flags.AddInt("faults", "how many", &settings.faults);
  flags.AddInt("storm", "after so many all works again, and is checked", &settings.storm);
  flags.AddInt("minutes", "that the faults take, without the checks; 0: 0.36 s each",
               &settings.minutes);
  flags.AddBool("keep-going", "after a problem, too", &settings.keep_going);
  flags.AddString("report", "a page to write at the end", &settings.report);
  flags.AddNonEmptyString("folder", "for logs", &settings.folder);
  flags.AddNonEmptyString("reloader", "the operator's program", &settings.reloader);
  flags.AddNonEmptyString("cluster", "the script hack/cluster", &settings.cluster);
  flags.AddNonEmptyString("cluster-name", "of the cluster that is made", &settings.cluster_name);
  flags.AddNonEmptyString("cluster-folder", "where the script keeps it", &settings.cluster_folder);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  if (settings.faults < 1 || settings.storm < 1 || settings.minutes < 0) {
    std::fprintf(stderr, "real-faults: --faults and --storm are at least 1\n");
    return EXIT_FAILURE;
  }
  return kubexx::faults::Main(settings);
}
