// A page in Markdown about runs of the simulation.
#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "tally.h"

namespace kubexx::simulation {
namespace {

/// So many problems are listed at most.
constexpr std::size_t kMostListed = 50;

/// "1,234,567".
std::string Grouped(double number) {
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%.0f", number);
  std::string text = digits.data();
  for (std::size_t place = text.size(); place > 3; place -= 3) {
    text.insert(place - 3, 1, ',');
  }
  return text;
}

std::string Grouped(std::uint64_t number) { return Grouped(static_cast<double>(number)); }

std::string Precise(double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f", number);
  return text.data();
}

std::string Row(std::initializer_list<std::string> cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += " " + cell + " |";
  }
  return row + "\n";
}

/// What is said of all, of storms and of calm times.
std::string Parts(const char* what, double all, double calm) {
  return Row({what, Grouped(all - calm), Grouped(calm), Grouped(all)});
}

std::string Sums(const Tally& tally) {
  const RunResult& all = tally.all;
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  double faults = 0;
  double calm_faults = 0;
  for (std::size_t i = 1; i < kFaults; ++i) {
    faults += real(all.faults[i]);
    calm_faults += real(all.calm_faults[i]);
  }
  return "| what | storms and what follows them | calm times | together |\n|---|---|---|---|\n" +
         Parts("hours of operators", all.operator_hours, all.calm_operator_hours) +
         Parts("rollouts by operators", real(all.rollouts), real(all.calm_rollouts)) +
         Parts("faults of the network", faults, calm_faults) +
         Parts("times when all was checked", real(all.quiet_periods + all.calm_checks),
               real(all.calm_checks)) +
         "\n| what | |\n|---|---|\n" +
         Row({"runs, each with a seed of its own", Grouped(tally.runs)}) +
         Row({"runs with a problem", Grouped(tally.problems)}) +
         Row({"storms", Grouped(all.storms)}) +
         Row({"of them strict", Grouped(all.strict_storms)}) +
         Row({"hours of clusters", Grouped(all.virtual_hours)}) +
         Row({"requests", Grouped(all.requests)}) + Row({"changes of data", Grouped(all.changes)}) +
         Row({"places where a thread could be interrupted", Grouped(all.points)}) +
         Row({"turns of threads", Grouped(all.switches)}) +
         Row({"time of a processor, in seconds", Grouped(all.processor_seconds)}) +
         Row({"seeds per second of a processor",
              Precise(real(tally.runs) / std::max(all.processor_seconds, 1e-9))}) +
         Row({"hours of operators per second of a processor",
              Precise(all.operator_hours / std::max(all.processor_seconds, 1e-9))});
}

std::string Faults(const RunResult& all) {
  std::string text =
      "| fault of a request | in storms | in calm times | rollouts met |\n|---|---|---|---|\n";
  for (std::size_t i = 1; i < kFaults; ++i) {
    text += Row({std::string(ToString(static_cast<Fault>(i))),
                 Grouped(all.faults[i] - all.calm_faults[i]), Grouped(all.calm_faults[i]),
                 Grouped(all.fault_rollouts[i])});
  }
  text += "\n| mishap of a process, in storms only | times | rollouts met |\n|---|---|---|\n";
  for (std::size_t i = 0; i < kMishaps; ++i) {
    text += Row({std::string(ToString(static_cast<Mishap>(i))), Grouped(all.mishaps[i]),
                 Grouped(all.mishap_rollouts[i])});
  }
  return text;
}

/// By what was run.
std::string Kinds(const std::vector<RunRecord>& records) {
  std::map<std::pair<std::string, double>, Tally> kinds;
  std::map<std::pair<std::string, double>, std::pair<std::uint64_t, std::uint64_t>> seeds;
  for (const RunRecord& record : records) {
    const std::pair key{record.revision, record.hours};
    kinds[key].Add(record.result);
    auto& [first, last] = seeds.try_emplace(key, record.seed, record.seed).first->second;
    first = std::min(first, record.seed);
    last = std::max(last, record.seed);
  }
  std::string text =
      "| revision | virtual hours of a run | seeds | runs | hours of operators | with a problem "
      "|\n|---|---|---|---|---|---|\n";
  for (const auto& [key, tally] : kinds) {
    const auto& [first, last] = seeds[key];
    text += Row({key.first.empty() ? "unknown" : key.first, Precise(key.second),
                 std::to_string(first) + " to " + std::to_string(last), Grouped(tally.runs),
                 Grouped(tally.all.operator_hours), Grouped(tally.problems)});
  }
  return text;
}

std::string Problems(const std::vector<RunRecord>& records) {
  std::string text;
  std::size_t listed = 0;
  for (const RunRecord& record : records) {
    if (record.failed() && ++listed <= kMostListed) {
      text += "- Revision " + record.revision + ", seed " + std::to_string(record.seed) + ": `" +
              record.result.problem.data() + "`\n\n        " +
              CommandOf(record.seed, record.hours, {}) + "\n\n";
    }
  }
  if (listed > kMostListed) {
    text += "- and " + std::to_string(listed - kMostListed) + " more\n";
  }
  return text.empty() ? "There were none.\n" : text;
}

}  // namespace

std::string PageOf(const std::vector<RunRecord>& records) {
  Tally tally;
  for (const RunRecord& record : records) {
    tally.Add(record.result);
  }
  return "# Simulated hours\n\n"
         "`hack/simulate --report FILE` writes this page. [Simulation](../simulation.md) tells "
         "what "
         "runs, what goes wrong and what is checked,\nand [how the hours are made "
         "up](../simulation.md#a-million-hours): most of them are calm, as most hours of a real "
         "cluster are.\nSo each figure is told for storms and for calm times.\n\n" +
         Sums(tally) + "\n## What was run\n\n" + Kinds(records) +
         "\n## Faults\n\nA rollout has met each fault that lasted when it was made, or had ended "
         "less than two seconds before.\n\n" +
         Faults(tally.all) + "\n## Problems\n\n" + Problems(records);
}

}  // namespace kubexx::simulation
