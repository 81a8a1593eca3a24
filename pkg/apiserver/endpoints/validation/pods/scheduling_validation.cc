#include "kubexx/apiserver/endpoints/validation/pods/scheduling_validation.h"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::int64_t kMaxWeight = 100;

std::string_view TextOfElement(const JsonTree& element) {
  const std::string* const text = element.AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Checks an expression in a selector of node labels.
void CheckNodeExpression(const JsonTree& expression, bool required, const FieldPath& path,
                         FieldCauses& causes) {
  const std::string_view op = expression.TextAt("operator");
  const std::span<const JsonTree> values = ListAt(expression, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      causes.Required(path.Of("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      causes.Forbidden(path.Of("values"),
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      causes.Required(path.Of("values"),
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    causes.Invalid(path.Of("operator"), QuotedJson(op), "not a valid selector operator");
  }
  CheckLabelKey(expression.TextAt("key"), path.Of("key"), causes);
  if (required) {
    ForEachOf(expression, "values", path, [&](const JsonTree& value, const FieldPath& here) {
      CheckLabelValue(TextOfElement(value), here.Text(), causes);
    });
  }
}

/// Checks an expression of a node's field. It has one value, and only the name is a field.
void CheckNodeField(const JsonTree& expression, const FieldPath& path, FieldCauses& causes) {
  const std::string_view op = expression.TextAt("operator");
  if (op != "In" && op != "NotIn") {
    causes.Invalid(path.Of("operator"), QuotedJson(op), "not a valid selector operator");
  } else if (ListAt(expression, "values").size() != 1) {
    causes.Required(path.Of("values"), "must be only one value for a field of a node");
  }
  if (const std::string_view key = expression.TextAt("key"); key != "metadata.name") {
    causes.Invalid(path.Of("key"), QuotedJson(key), "not a valid field selector key");
    return;
  }
  ForEachOf(expression, "values", path, [&](const JsonTree& value, const FieldPath& here) {
    CheckDnsSubdomain(TextOfElement(value), here.Text(), causes);
  });
}

void CheckNodeTerm(const JsonTree& term, bool required, const FieldPath& path,
                   FieldCauses& causes) {
  ForEachOf(term, "matchExpressions", path, [&](const JsonTree& one, const FieldPath& here) {
    CheckNodeExpression(one, required, here, causes);
  });
  ForEachOf(term, "matchFields", path,
            [&](const JsonTree& one, const FieldPath& here) { CheckNodeField(one, here, causes); });
}

void CheckWeight(const JsonTree& term, const FieldPath& path, FieldCauses& causes) {
  if (const std::int64_t weight = IntAt(term, "weight").value_or(0);
      weight < 1 || weight > kMaxWeight) {
    causes.Invalid(path.Of("weight"), std::to_string(weight), "must be in the range 1-100");
  }
}

void CheckAffinityToNodes(const JsonTree& affinity, const FieldPath& path, FieldCauses& causes) {
  IfGiven(affinity, kRequired, path, [&](const JsonTree& selector, const FieldPath& here) {
    CheckNodeTerms(selector, here, causes);
  });
  ForEachOf(affinity, kPreferred, path, [&](const JsonTree& term, const FieldPath& here) {
    CheckWeight(term, here, causes);
    IfGiven(term, "preference", here, [&](const JsonTree& preference, const FieldPath& at) {
      CheckNodeTerm(preference, /*required=*/false, at, causes);
    });
  });
}

/// Checks label keys whose values are taken from the pod itself.
void CheckLabelKeys(const JsonTree& object, std::string_view member, const JsonTree* selector,
                    const FieldPath& path, FieldCauses& causes) {
  if (ListAt(object, member).empty()) {
    return;
  }
  if (selector == nullptr) {
    causes.Forbidden(path.Of(member), "must not be specified when labelSelector is not set");
    return;
  }
  ForEachOf(object, member, path, [&](const JsonTree& key, const FieldPath& here) {
    CheckLabelKey(TextOfElement(key), here.Text(), causes);
  });
}

void CheckPodTerm(const JsonTree& term, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const selector = GivenAt(term, "labelSelector");
  for (const std::string_view member : {"labelSelector", "namespaceSelector"}) {
    if (const JsonTree* const given = GivenAt(term, member)) {
      CheckLabelSelector(given, path.Of(member), causes);
    }
  }
  for (const JsonTree& name : ListAt(term, "namespaces")) {
    CheckDnsLabel(TextOfElement(name), path.Of("namespace"), causes);
  }
  CheckLabelKeys(term, "matchLabelKeys", selector, path, causes);
  CheckLabelKeys(term, "mismatchLabelKeys", selector, path, causes);
  std::set<std::string_view> mismatched;
  for (const JsonTree& key : ListAt(term, "mismatchLabelKeys")) {
    mismatched.insert(TextOfElement(key));
  }
  ForEachOf(term, "matchLabelKeys", path, [&](const JsonTree& key, const FieldPath& here) {
    if (mismatched.contains(TextOfElement(key))) {
      causes.Invalid(here.Text(), key.ToJson(),
                     "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  });
  const std::string_view topology = term.TextAt("topologyKey");
  if (topology.empty()) {
    causes.Required(path.Of("topologyKey"), "can not be empty");
  }
  CheckLabelKey(topology, path.Of("topologyKey"), causes);
}

void CheckPodAffinity(const JsonTree& affinity, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(affinity, kRequired, path,
            [&](const JsonTree& term, const FieldPath& here) { CheckPodTerm(term, here, causes); });
  ForEachOf(affinity, kPreferred, path, [&](const JsonTree& term, const FieldPath& here) {
    CheckWeight(term, here, causes);
    CheckPodTerm(PartAt(term, "podAffinityTerm"), here.Member("podAffinityTerm"), causes);
  });
}

void CheckToleration(const JsonTree& toleration, const FieldPath& path, FieldCauses& causes) {
  const std::string_view key = toleration.TextAt("key");
  const std::string_view op = toleration.TextAt("operator");
  const std::string_view value = toleration.TextAt("value");
  const std::string_view effect = toleration.TextAt("effect");
  if (!key.empty()) {
    CheckLabelKey(key, path.Of("key"), causes);
  } else if (op != "Exists") {
    causes.Invalid(path.Of("operator"), QuotedJson(op),
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
  }
  if (IntAt(toleration, "tolerationSeconds") && effect != "NoExecute") {
    causes.Invalid(path.Of("effect"), QuotedJson(effect),
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (op == "Equal" || op.empty()) {
    if (!LabelValueProblems(value).empty()) {
      causes.Invalid(path.Of("operator"), QuotedJson(value), LabelValueProblems(value).front());
    }
  } else if (op == "Exists") {
    if (!value.empty()) {
      causes.Invalid(path.Of("operator"), QuotedJson(value),
                     "value must be empty when `operator` is 'Exists'");
    }
  } else if (op == "Lt" || op == "Gt") {
    AddNotSupported(op, "Equal|Exists|Lt|Gt", path.Of("operator"), causes);
  } else {
    AddNotSupported(op, "Equal|Exists", path.Of("operator"), causes);
  }
  if (!effect.empty()) {
    CheckChoice(toleration, "effect", "NoSchedule|PreferNoSchedule|NoExecute", path, causes);
  }
}

void CheckSpread(const JsonTree& constraint, const FieldPath& path, FieldCauses& causes) {
  const auto positive = [&](std::string_view member, std::int64_t number) {
    if (number <= 0) {
      causes.Invalid(path.Of(member), std::to_string(number), "must be greater than 0");
    }
  };
  const std::string_view action = constraint.TextAt("whenUnsatisfiable");
  positive("maxSkew", IntAt(constraint, "maxSkew").value_or(0));
  if (constraint.TextAt("topologyKey").empty()) {
    causes.Required(path.Of("topologyKey"), "can not be empty");
  }
  if (!IsAmong(action, "DoNotSchedule|ScheduleAnyway")) {
    AddNotSupported(action, "DoNotSchedule|ScheduleAnyway", path.Of("whenUnsatisfiable"), causes);
  }
  if (const auto domains = IntAt(constraint, "minDomains")) {
    positive("minDomains", *domains);
    if (action != "DoNotSchedule") {
      causes.Invalid(
          path.Of("minDomains"), std::to_string(*domains),
          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + std::string(action));
    }
  }
  CheckChoice(constraint, "nodeAffinityPolicy", "Honor|Ignore", path, causes);
  CheckChoice(constraint, "nodeTaintsPolicy", "Honor|Ignore", path, causes);
  const JsonTree* const selector = GivenAt(constraint, "labelSelector");
  CheckLabelKeys(constraint, "matchLabelKeys", selector, path, causes);
  if (selector != nullptr) {
    CheckLabelSelector(selector, path.Of("labelSelector"), causes);
  }
}

}  // namespace

void CheckNodeTerms(const JsonTree& selector, const FieldPath& path, FieldCauses& causes) {
  if (ListAt(selector, "nodeSelectorTerms").empty()) {
    causes.Required(path.Of("nodeSelectorTerms"), "must have at least one node selector term");
  }
  ForEachOf(selector, "nodeSelectorTerms", path, [&](const JsonTree& term, const FieldPath& here) {
    CheckNodeTerm(term, /*required=*/true, here, causes);
  });
}

void CheckTolerations(const JsonTree& object, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(object, "tolerations", path, [&](const JsonTree& toleration, const FieldPath& here) {
    CheckToleration(toleration, here, causes);
  });
}

void CheckScheduling(const JsonTree& pod_spec, const FieldPath& path, FieldCauses& causes) {
  CheckTolerations(pod_spec, path, causes);
  IfGiven(pod_spec, "affinity", path, [&](const JsonTree& affinity, const FieldPath& at) {
    IfGiven(affinity, "nodeAffinity", at, [&](const JsonTree& nodes, const FieldPath& here) {
      CheckAffinityToNodes(nodes, here, causes);
    });
    for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
      IfGiven(affinity, kind, at, [&](const JsonTree& pods, const FieldPath& here) {
        CheckPodAffinity(pods, here, causes);
      });
    }
  });
  // Of two equal elements, the first one is reported.
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> left;
  const auto key_of = [](const JsonTree& one) {
    return std::pair(one.TextAt("topologyKey"), one.TextAt("whenUnsatisfiable"));
  };
  for (const JsonTree& one : ListAt(pod_spec, "topologySpreadConstraints")) {
    ++left[key_of(one)];
  }
  ForEachOf(pod_spec, "topologySpreadConstraints", path,
            [&](const JsonTree& constraint, const FieldPath& here) {
              CheckSpread(constraint, here, causes);
              if (--left[key_of(constraint)] > 0) {
                causes.Duplicate(here.Of("{topologyKey, whenUnsatisfiable}"),
                                 QuotedJson(constraint.TextAt("topologyKey")));
              }
            });
}

}  // namespace kubexx::apiserver
