#include "kubexx/apiserver/endpoints/simple_fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kubexx/base/function_ref.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// A field with few values. In paths "[]" is every element.
struct ChosenField {
  std::string_view of;  ///< a resource
  std::string_view path;
  std::string_view values;  ///< with "|" between them
};

constexpr ChosenField kChosen[] = {
    {"services", "spec.type", "ClusterIP|NodePort|LoadBalancer|ExternalName"},
    {"services", "spec.sessionAffinity", "ClientIP|None"},
    {"services", "spec.internalTrafficPolicy", "Cluster|Local"},
    {"services", "spec.ports[].protocol", "TCP|UDP|SCTP"},
    {"poddisruptionbudgets.policy", "spec.unhealthyPodEvictionPolicy",
     "AlwaysAllow|IfHealthyBudget"},
};

/// A number with limits.
struct LimitedField {
  std::string_view of;
  std::string_view path;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

constexpr LimitedField kLimited[] = {
    {"services", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 1, 86400},
};

/// Calls `check` with every value at `pattern` that there is, and with its path.
void ForEachAt(const JsonTree& object, const std::string& path, std::string_view pattern,
               base::FunctionRef<void(const JsonTree& value, const std::string& field)> check) {
  if (pattern.empty()) {
    check(object, path);
    return;
  }
  const std::size_t end = std::min(pattern.find_first_of(".["), pattern.size());
  const JsonTree* const found = object.Find(pattern.substr(0, end));
  if (found == nullptr || found->IsNull()) {
    return;
  }
  const std::string here = (path.empty() ? "" : path + ".").append(pattern.substr(0, end));
  const bool is_list = pattern.substr(end).starts_with("[]");
  std::string_view rest = pattern.substr(end + (is_list ? 2 : 0));
  rest.remove_prefix(rest.starts_with('.') ? 1 : 0);
  if (!is_list) {
    ForEachAt(*found, here, rest, check);
    return;
  }
  for (std::size_t i = 0; i < found->elements().size(); ++i) {
    ForEachAt(found->elements()[i], here + "[" + std::to_string(i) + "]", rest, check);
  }
}

bool IsChoice(std::string_view value, std::string_view values) {
  while (!values.empty()) {
    const std::size_t end = std::min(values.find('|'), values.size());
    if (values.substr(0, end) == value) {
      return true;
    }
    values.remove_prefix(std::min(end + 1, values.size()));
  }
  return false;
}

/// As JSON, without brackets.
std::string ChoicesOf(std::string_view values) {
  std::string list = "\"";
  for (const char c : values) {
    list += c == '|' ? std::string("\", \"") : std::string(1, c);
  }
  return list + "\"";
}

void CheckLimits(const JsonTree& value, const std::string& field, const LimitedField& limits,
                 FieldCauses& causes) {
  const auto number = value.AsInt();
  if (!number || (*number >= limits.least && *number <= limits.most)) {
    return;
  }
  const bool below = *number < limits.least;
  causes.Invalid(field, value.ToJson(),
                 std::string("must be ") + (below ? "at least " : "at most ") +
                     std::to_string(below ? limits.least : limits.most));
}

void CheckRows(std::string_view of, const JsonTree& object, const std::string& path,
               FieldCauses& causes) {
  for (const ChosenField& one : kChosen) {
    if (one.of == of) {
      ForEachAt(object, path, one.path, [&](const JsonTree& value, const std::string& field) {
        const std::string* const text = value.AsString();
        if (text != nullptr && !text->empty() && !IsChoice(*text, one.values)) {
          causes.NotSupported(field, value.ToJson(), ChoicesOf(one.values));
        }
      });
    }
  }
  for (const LimitedField& one : kLimited) {
    if (one.of == of) {
      ForEachAt(object, path, one.path, [&](const JsonTree& value, const std::string& field) {
        CheckLimits(value, field, one, causes);
      });
    }
  }
}

}  // namespace

void CheckSimpleFields(std::string_view resource, const JsonTree& object, FieldCauses& causes) {
  CheckRows(resource, object, "", causes);
}

}  // namespace kubexx::apiserver
