// Runs simulations, several at a time, each in a process of its own, and sums up what they met.
#include <cstdio>
#include <cstdlib>

#include "campaign.h"
#include "kubexx/flags/flags.h"
#include "shrink.h"

int main(int argc, char** argv) {
  kubexx::simulation::Settings settings;
  kubexx::flags::FlagSet flags("simulate", "Runs the whole system on virtual time, with faults.");
  flags.AddInt("seed", "the first seed", &settings.seed);
  flags.AddInt("seeds", "how many", &settings.seeds);
  flags.AddInt("hours", "virtual hours of each run; most of more than twelve are calm",
               &settings.hours);
  flags.AddInt("minutes", "virtual minutes of each run, instead of hours", &settings.minutes);
  flags.AddInt("jobs", "runs at the same time; 0: as many as there are processors", &settings.jobs);
  flags.AddInt("seconds", "of a processor's time that a run may take", &settings.seconds);
  flags.AddBool("show", "write what happens", &settings.show);
  flags.AddBool("keep-going", "after a problem, too", &settings.keep_going);
  flags.AddString("without", "what is left out, by names with commas between them",
                  &settings.without_names);
  flags.AddBool("shrink", "after a problem, find out what can be left out", &settings.shrink);
  flags.AddString("results",
                  "a file to which each run's result is added; what it has of this revision is not "
                  "run again",
                  &settings.results);
  flags.AddString("report", "where to write a page about these runs and those in the results",
                  &settings.report);
  flags.AddString("revision", "of the source, for the results", &settings.revision);
  if (const auto exit_code = flags.ParseOrExitCode(argc, argv)) {
    return *exit_code;
  }
  const auto without = kubexx::simulation::ParseWithout(settings.without_names);
  if (!without) {
    std::fprintf(stderr, "--without: %s\n", without.error().message.c_str());
    return EXIT_FAILURE;
  }
  if (!settings.results.empty() && !settings.without_names.empty()) {
    std::fprintf(stderr, "--results: runs of which something is left out are not counted\n");
    return EXIT_FAILURE;
  }
  settings.without = *without;
  return kubexx::simulation::RunCampaign(settings);
}
