#include "faults/tally.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::faults {
namespace {

using std::to_string;

std::string Seconds(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(time.count()) / 1000);
  return text.data();
}

std::string Row(const std::string& name, const std::string& value) {
  return "| " + name + " | " + value + " |\n";
}

std::string Verdict(const Tally& tally) {
  std::string text = "| what | measured | asked | met |\n|---|---|---|---|\n";
  const auto row = [&text](const std::string& what, std::uint64_t measured,
                           const std::string& asked, bool met) {
    text += "| " + what + " | " + to_string(measured) + " | " + asked + " | " +
            (met ? "yes" : "**no**") + " |\n";
  };
  row("faults", tally.faults_done(), "≥ " + to_string(tally.wanted),
      tally.faults_done() >= tally.wanted);
  row("final states missing", tally.missing, "0", tally.missing == 0);
  row("rollouts too many", tally.too_many, "0", tally.too_many == 0);
  row("other problems", tally.problems.size() - tally.missing - tally.too_many, "0",
      tally.problems.size() == tally.missing + tally.too_many);
  return text;
}

std::string Figures(const Tally& tally) {
  std::string text = "| what | |\n|---|---|\n";
  text += Row("time", to_string(tally.took.count() / 60) + " min " +
                          to_string(tally.took.count() % 60) + " s");
  text += Row("changes of data", to_string(tally.counts.changes));
  text += Row("rollouts by operators", to_string(tally.counts.rollouts));
  text += Row("of these, pods got no other data by", to_string(tally.counts.without_news));
  text += Row("of these, allowed by a doubt only", to_string(tally.counts.doubted));
  text += Row("rollouts undone by people", to_string(tally.counts.undone));
  text += Row("quiet periods checked", to_string(tally.recoveries.size()));
  if (!tally.recoveries.empty()) {
    std::vector<std::chrono::milliseconds> sorted = tally.recoveries;
    std::ranges::sort(sorted);
    text += Row("from the end of a storm until all pods had their data, median",
                Seconds(sorted[sorted.size() / 2]));
    text += Row("the same, longest", Seconds(sorted.back()));
  }
  text += Row("restarts of all operators with nothing to do", to_string(tally.restarts_in_peace));
  text += Row("operators that ended by themselves and were started again",
              to_string(tally.ended_by_themselves));
  return text;
}

}  // namespace

std::uint64_t Tally::faults_done() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, of_kind] : faults) {
    sum += of_kind.count;
  }
  return sum;
}

std::string ReportOf(const Tally& tally, const std::string& date, const std::string& machine) {
  std::string text = "# Real faults\n\nWritten by `hack/real-faults` on " + date + "; " + machine +
                     ". Seed " + to_string(tally.seed) +
                     ". A real kube-apiserver and etcd, and one to three processes of "
                     "`kubexx-reloader`, each behind a proxy.\n"
                     "[Simulation](../simulation.md#on-a-real-api-server) tells how the run goes "
                     "and who judges.\n\n";
  if (tally.broken_off) {
    text += "**This run was broken off.** What follows is what there was until then.\n\n";
  }
  text +=
      Verdict(tally) + "\n" + Figures(tally) +
      "\n## Faults\n\nA rollout counts for each fault that lasted when it was made, or had "
      "ended less than two seconds before.\n\n| fault | times | rollouts met |\n|---|---|---|\n";
  for (const auto& [kind, of_kind] : tally.faults) {
    text += "| " + std::string(ToString(kind)) + " | " + to_string(of_kind.count) + " | " +
            to_string(of_kind.rollouts) + " |\n";
  }
  text += "\n## What people did meanwhile\n\n| deed | times |\n|---|---|\n";
  for (const auto& [deed, count] : tally.deeds) {
    text += Row(std::string(ToString(deed)), to_string(count));
  }
  if (!tally.problems.empty()) {
    text += "\n## Problems\n\n";
    for (const std::string& problem : tally.problems) {
      text += "- " + problem + "\n";
    }
  }
  return text;
}

}  // namespace kubexx::faults
