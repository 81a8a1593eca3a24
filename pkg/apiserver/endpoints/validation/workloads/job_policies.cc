#include "kubexx/apiserver/endpoints/validation/workloads/job_policies.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxRules = 20;
constexpr std::size_t kMaxPatterns = 20;
constexpr std::size_t kMaxCodes = 255;
constexpr std::size_t kMaxIndexBytes = 64 << 10;

/// Checks that a text is given and is one of `values`.
void NeedChoice(const JsonTree& object, std::string_view member, std::string_view values,
                const FieldPath& path, FieldCauses& causes) {
  if (NeedText(object, member, path, causes)) {
    CheckChoice(object, member, values, path, causes);
  }
}

std::set<std::string_view> ContainersOf(const JsonTree& spec) {
  const JsonTree& pod = PartAt(PartAt(spec, "template"), "spec");
  std::set<std::string_view> names;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const JsonTree& container : ListAt(pod, list)) {
      names.insert(container.TextAt("name"));
    }
  }
  return names;
}

void CheckCodes(const JsonTree& codes, const FieldPath& path, FieldCauses& causes) {
  const std::span<const JsonTree> values = ListAt(codes, "values");
  const JsonTree* const list = codes.Find("values");
  const std::string text = list == nullptr || causes.full() ? "null" : list->ToJson();
  if (values.empty()) {
    causes.Invalid(path.Of("values"), text, "at least one value is required");
  } else if (values.size() > kMaxCodes) {
    causes.TooMany(path.Of("values"), values.size(), kMaxCodes);
  }
  const bool is_in = codes.TextAt("operator") == "In";
  std::set<std::int64_t> seen;
  ForEachOf(codes, "values", path, [&](const JsonTree& value, const FieldPath& here) {
    const std::int64_t code = value.AsInt().value_or(0);
    if (is_in && code == 0) {
      causes.Invalid(here.Text(), "0", "must not be 0 for the In operator");
    }
    if (!seen.insert(code).second) {
      causes.Duplicate(here.Text(), std::to_string(code));
    }
  });
  if (!std::ranges::is_sorted(values, {},
                              [](const JsonTree& one) { return one.AsInt().value_or(0); })) {
    causes.Invalid(path.Of("values"), text, "must be ordered");
  }
}

void CheckFailureConditions(const JsonTree& rule, const FieldPath& path, FieldCauses& causes) {
  if (const std::size_t count = ListAt(rule, "onPodConditions").size(); count > kMaxPatterns) {
    causes.TooMany(path.Of("onPodConditions"), count, kMaxPatterns);
  }
  ForEachOf(rule, "onPodConditions", path, [&](const JsonTree& pattern, const FieldPath& here) {
    CheckLabelKey(pattern.TextAt("type"), here.Of("type"), causes);
    if (!pattern.TextAt("status").empty()) {  // the default is True
      CheckChoice(pattern, "status", "False|True|Unknown", here, causes);
    }
  });
}

void CheckFailureRule(const JsonTree& spec, const std::set<std::string_view>& containers,
                      const JsonTree& rule, const FieldPath& path, FieldCauses& causes) {
  NeedChoice(rule, "action", "Count|FailIndex|FailJob|Ignore", path, causes);
  if (rule.TextAt("action") == "FailIndex" && !IntAt(spec, "backoffLimitPerIndex")) {
    causes.Invalid(path.Of("action"), QuotedJson("FailIndex"),
                   "requires the backoffLimitPerIndex to be set");
  }
  const JsonTree* const codes = GivenAt(rule, "onExitCodes");
  const bool conditions = !ListAt(rule, "onPodConditions").empty();
  if (codes != nullptr) {
    const FieldPath at = path.Member("onExitCodes");
    NeedChoice(*codes, "operator", "In|NotIn", at, causes);
    if (const JsonTree* const name = GivenAt(*codes, "containerName");
        name != nullptr && !containers.contains(codes->TextAt("containerName"))) {
      causes.Invalid(at.Of("containerName"), name->ToJson(),
                     "must be one of the container or initContainer names in the pod template");
    }
    CheckCodes(*codes, at, causes);
  }
  CheckFailureConditions(rule, path, causes);
  if ((codes != nullptr) == conditions) {
    causes.Invalid(path.Text(), conditions ? rule.ToJson() : QuotedJson(""),
                   "needs one of onExitCodes and onPodConditions");
  }
}

std::optional<std::int64_t> IndexOf(std::string_view text, std::int64_t completions) {
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error != std::errc() || end != text.data() + text.size() || index >= completions
             ? std::nullopt
             : std::optional(index);
}

/// Returns how many indexes "1,3-5" has, which must be ascending, or nothing when it is invalid.
std::optional<std::int64_t> CountOf(std::string_view text, std::int64_t completions) {
  std::int64_t count = 0;
  std::optional<std::int64_t> last;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = IndexOf(part.substr(0, dash), completions);
    const auto end =
        dash == std::string_view::npos ? first : IndexOf(part.substr(dash + 1), completions);
    const bool one = dash == std::string_view::npos;
    if (!first || !end || (last && *last >= *first) || (!one && *first >= *end) ||
        comma + 1 == text.size()) {
      return std::nullopt;
    }
    count += *end - *first + 1;
    last = end;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return count;
}

void CheckSuccessRule(const JsonTree& rule, std::int64_t completions, const FieldPath& path,
                      FieldCauses& causes) {
  const auto wanted = IntAt(rule, "succeededCount");
  const JsonTree* const indexes = GivenAt(rule, "succeededIndexes");
  if (!wanted && indexes == nullptr) {
    causes.Required(path.Text(),
                    "at least one of succeededCount or succeededIndexes must be specified");
  }
  std::int64_t named = 0;
  if (indexes != nullptr) {
    const std::string_view text = rule.TextAt("succeededIndexes");
    if (text.size() > kMaxIndexBytes) {
      causes.TooLong(path.Of("succeededIndexes"), kMaxIndexBytes);
    }
    const auto count = CountOf(text, completions);
    if (!count) {
      causes.Invalid(path.Of("succeededIndexes"), indexes->ToJson(),
                     "must be numbers below completions, and from-to, which grow");
    }
    named = count.value_or(0);
  }
  if (!wanted) {
    return;
  }
  const FieldPath at = path.Member("succeededCount");
  if (*wanted < 0) {
    causes.Invalid(at.Text(), std::to_string(*wanted), "must be greater than or equal to 0");
  }
  for (const auto& [most, what] : {std::pair(completions, "the number of specified completions"),
                                   std::pair(indexes == nullptr ? *wanted : named,
                                             "the number of indexes in succeededIndexes")}) {
    if (*wanted > most) {
      causes.Invalid(at.Text(), std::to_string(*wanted),
                     "must be less than or equal to " + std::to_string(most) + " (" + what + ")");
    }
  }
}

void CheckSuccess(const JsonTree& spec, const JsonTree& policy, const FieldPath& path,
                  FieldCauses& causes) {
  if (spec.TextAt("completionMode") != "Indexed") {
    causes.Invalid(path.Text(), policy.ToJson(), "requires indexed completion mode");
    return;
  }
  const auto completions = IntAt(spec, "completions");
  const std::size_t count = ListAt(policy, "rules").size();
  if (count == 0) {
    causes.Required(path.Of("rules"), "at least one rule has to be there");
  } else if (count > kMaxRules) {
    causes.TooMany(path.Of("rules"), count, kMaxRules);
  }
  if (!completions) {
    return;  // that fault has been reported already
  }
  ForEachOf(policy, "rules", path, [&](const JsonTree& rule, const FieldPath& here) {
    CheckSuccessRule(rule, *completions, here, causes);
  });
}

}  // namespace

void CheckJobPolicies(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const failure = GivenAt(spec, "podFailurePolicy");
  if (failure != nullptr) {
    const FieldPath at = path.Member("podFailurePolicy");
    if (const std::size_t count = ListAt(*failure, "rules").size(); count > kMaxRules) {
      causes.TooMany(at.Of("rules"), count, kMaxRules);
    }
    const auto containers = ContainersOf(spec);
    ForEachOf(*failure, "rules", at, [&](const JsonTree& rule, const FieldPath& here) {
      CheckFailureRule(spec, containers, rule, here, causes);
    });
  }
  IfGiven(spec, "successPolicy", path, [&](const JsonTree& policy, const FieldPath& here) {
    CheckSuccess(spec, policy, here, causes);
  });
  // A Job that looks at how its pods end must wait until they have ended.
  CheckChoice(spec, "podReplacementPolicy",
              failure == nullptr ? "Failed|TerminatingOrFailed" : "Failed", path, causes);
}

}  // namespace kubexx::apiserver
