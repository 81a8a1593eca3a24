#include "tally.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "kubexx/codec/json_tree.h"
#include "shrink.h"

namespace kubexx::simulation {
namespace {

using apimachinery::Result;
using codec::JsonTree;

struct Number {
  const char* name = "";
  std::uint64_t RunResult::* at = nullptr;
};
constexpr Number kNumbers[] = {{"points", &RunResult::points},
                               {"switches", &RunResult::switches},
                               {"requests", &RunResult::requests},
                               {"changes", &RunResult::changes},
                               {"later_pods", &RunResult::later_pods},
                               {"left_behind", &RunResult::left_behind},
                               {"rollouts", &RunResult::rollouts},
                               {"calm_rollouts", &RunResult::calm_rollouts},
                               {"storms", &RunResult::storms},
                               {"strict_storms", &RunResult::strict_storms},
                               {"quiet_periods", &RunResult::quiet_periods},
                               {"calm_checks", &RunResult::calm_checks}};

struct Amount {
  const char* name = "";
  double RunResult::* at = nullptr;
};
constexpr Amount kAmounts[] = {{"virtual_hours", &RunResult::virtual_hours},
                               {"operator_hours", &RunResult::operator_hours},
                               {"calm_operator_hours", &RunResult::calm_operator_hours},
                               {"processor_seconds", &RunResult::processor_seconds}};

template <std::size_t Size>
struct Counts {
  const char* name = "";
  std::array<std::uint64_t, Size> RunResult::* at = nullptr;
};
constexpr Counts<kFaults> kFaultCounts[] = {{"faults", &RunResult::faults},
                                            {"calm_faults", &RunResult::calm_faults},
                                            {"fault_rollouts", &RunResult::fault_rollouts}};
constexpr Counts<kMishaps> kMishapCounts[] = {{"mishaps", &RunResult::mishaps},
                                              {"mishap_rollouts", &RunResult::mishap_rollouts}};

template <std::size_t Size>
JsonTree ToTree(const std::array<std::uint64_t, Size>& counts) {
  JsonTree tree = JsonTree::Array();
  for (const std::uint64_t count : counts) {
    tree.Append(count);
  }
  return tree;
}

/// Counts of kinds that have been added since are 0.
template <std::size_t Size>
void Read(const JsonTree* tree, std::array<std::uint64_t, Size>& counts) {
  if (tree == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < std::min(Size, tree->elements().size()); ++i) {
    counts[i] = static_cast<std::uint64_t>(tree->elements()[i].AsInt().value_or(0));
  }
}

template <std::size_t Size>
void AddTo(std::array<std::uint64_t, Size>& sum, const std::array<std::uint64_t, Size>& more) {
  for (std::size_t i = 0; i < Size; ++i) {
    sum[i] += more[i];
  }
}

template <class... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  std::array<char, 512> text{};
  const int size = std::snprintf(text.data(), text.size(), format, arguments...);
  return {text.data(), static_cast<std::size_t>(std::clamp(size, 0, 511))};
}

unsigned long long Count(std::uint64_t number) { return number; }

}  // namespace

std::string ToLine(const RunRecord& record) {
  JsonTree tree = JsonTree::Object();
  tree["revision"] = record.revision;
  tree["seed"] = record.seed;
  tree["hours"] = record.hours;
  tree["problem"] = std::string(record.result.problem.data());
  tree["hash"] = Format("%016llx", Count(record.result.hash));
  for (const Number& number : kNumbers) {
    tree[number.name] = record.result.*number.at;
  }
  for (const Amount& amount : kAmounts) {
    tree[amount.name] = record.result.*amount.at;
  }
  for (const auto& counts : kFaultCounts) {
    tree[counts.name] = ToTree(record.result.*counts.at);
  }
  for (const auto& counts : kMishapCounts) {
    tree[counts.name] = ToTree(record.result.*counts.at);
  }
  return tree.ToJson();
}

Result<RunRecord> RecordFrom(const std::string& line) {
  KX_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(line));
  const JsonTree* const seed = tree.Find("seed");
  const JsonTree* const hours = tree.Find("hours");
  if (seed == nullptr || !seed->AsInt() || hours == nullptr || !hours->AsDouble()) {
    return apimachinery::Fail(apimachinery::Reason::kMalformed, "a run has no seed or no hours");
  }
  RunRecord record{.revision = std::string(tree.TextAt("revision")),
                   .seed = static_cast<std::uint64_t>(*seed->AsInt()),
                   .hours = *hours->AsDouble()};
  RunResult& result = record.result;
  const std::string problem(tree.TextAt("problem"));
  std::snprintf(result.problem.data(), result.problem.size(), "%s", problem.c_str());
  result.hash = std::strtoull(std::string(tree.TextAt("hash")).c_str(), nullptr, 16);
  for (const Number& number : kNumbers) {
    const JsonTree* const value = tree.Find(number.name);
    result.*number.at =
        value == nullptr ? 0 : static_cast<std::uint64_t>(value->AsInt().value_or(0));
  }
  for (const Amount& amount : kAmounts) {
    const JsonTree* const value = tree.Find(amount.name);
    result.*amount.at = value == nullptr ? 0 : value->AsDouble().value_or(0);
  }
  for (const auto& counts : kFaultCounts) {
    Read(tree.Find(counts.name), result.*counts.at);
  }
  for (const auto& counts : kMishapCounts) {
    Read(tree.Find(counts.name), result.*counts.at);
  }
  return record;
}

void Tally::Add(const RunResult& result) {
  ++runs;
  problems += result.problem[0] == '\0' ? 0 : 1;
  for (const Number& number : kNumbers) {
    all.*number.at += result.*number.at;
  }
  for (const Amount& amount : kAmounts) {
    all.*amount.at += result.*amount.at;
  }
  for (const auto& counts : kFaultCounts) {
    AddTo(all.*counts.at, result.*counts.at);
  }
  for (const auto& counts : kMishapCounts) {
    AddTo(all.*counts.at, result.*counts.at);
  }
}

std::string Summary(const Tally& tally, double seconds) {
  const RunResult& all = tally.all;
  std::string text = Format(
      "%llu seeds in %.1f s (%.2f a second), %llu with a problem\n", Count(tally.runs), seconds,
      static_cast<double>(tally.runs) / std::max(seconds, 1e-9), Count(tally.problems));
  text += Format(
      "%.1f hours of the cluster; %.1f of operators: %.1f with storms and what follows them, %.1f "
      "of calm\n",
      all.virtual_hours, all.operator_hours, all.operator_hours - all.calm_operator_hours,
      all.calm_operator_hours);
  text += Format("%.1f s of a processor, in each of which %.1f hours of operators passed\n",
                 all.processor_seconds, all.operator_hours / std::max(all.processor_seconds, 1e-9));
  text += Format(
      "%llu requests, %llu changes of data, %llu rollouts (%llu of them in calm times), %llu quiet "
      "periods checked, and %llu times in calm\n",
      Count(all.requests), Count(all.changes), Count(all.rollouts), Count(all.calm_rollouts),
      Count(all.quiet_periods), Count(all.calm_checks));
  text += Format(
      "%llu pods began with other data than those before them, %llu workloads were left with "
      "such\n",
      Count(all.later_pods), Count(all.left_behind));
  text += Format(
      "%llu storms, %llu of them strict; %llu points, %llu turns\nfaults:", Count(all.storms),
      Count(all.strict_storms), Count(all.points), Count(all.switches));
  for (std::size_t i = 1; i < kFaults; ++i) {
    text += Format(" %s %llu;", std::string(ToString(static_cast<Fault>(i))).c_str(),
                   Count(all.faults[i]));
  }
  for (std::size_t i = 0; i < kMishaps; ++i) {
    text += Format(" %s %llu%s", std::string(ToString(static_cast<Mishap>(i))).c_str(),
                   Count(all.mishaps[i]), i + 1 < kMishaps ? ";" : "\n");
  }
  return text;
}

std::string CommandOf(std::uint64_t seed, double hours, const Without& without) {
  const std::string names = ToString(without);
  const double whole = std::round(hours);
  const bool is_whole = std::abs(hours - whole) < 1e-6;
  return "hack/simulate --seed " + std::to_string(seed) +
         (is_whole ? Format(" --hours %.0f", whole) : Format(" --minutes %.0f", hours * 60)) +
         (names.empty() ? "" : " --without \"" + names + "\"") + " --show";
}

}  // namespace kubexx::simulation
