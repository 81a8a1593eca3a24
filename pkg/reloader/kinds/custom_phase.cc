#include "kubexx/reloader/kinds/custom_phase.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using reloadpolicy::Phase;

const JsonTree* FieldAt(const JsonTree& object, const FieldPath& path) {
  const std::vector<std::string_view> steps(path.begin(), path.end());
  const JsonTree* found = object.At(std::span(steps));
  return found == nullptr || found->IsNull() ? nullptr : found;
}

/// Whether controllers leave the value out.
bool IsNothing(const JsonTree& value) { return value.AsDouble() == 0.0 || value.AsBool() == false; }

/// A number, which some kinds write as a text; std::nullopt for anything else.
std::optional<std::int64_t> ObservedIn(const JsonTree* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string* text = value->AsString();
  if (text == nullptr) {
    return value->AsInt();
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// Whether `observed` is there and is behind the object's generation.
bool IsBehind(const JsonTree* observed, const JsonTree& object) {
  const auto seen = ObservedIn(observed);
  return seen && *seen < ObservedIn(object.At({"metadata", "generation"})).value_or(0);
}

/// Whether the entry of the managed fields has this part of the object, a path of names.
bool HasFields(const JsonTree& entry, const FieldPath& path) {
  const JsonTree* fields = entry.Find("fieldsV1");
  for (const std::string& step : path) {
    fields = fields == nullptr ? nullptr : fields->Find("f:" + step);
  }
  return fields != nullptr;
}

/// Whether the status was written last before the pod template was, as far as the managed fields
/// tell. Their times are whole seconds, so what was written in the same one counts as later.
bool IsStatusOld(const CustomKind& kind, const JsonTree& object) {
  std::string status;
  std::string pods;
  if (const JsonTree* entries = object.At({"metadata", "managedFields"})) {
    for (const JsonTree& entry : entries->elements()) {
      const std::string time(entry.TextAt("time"));  // RFC 3339 in UTC, which sorts as text
      if (HasFields(entry, {"status"})) {
        status = std::max(status, time);
      }
      if (HasFields(entry, kind.pod_template)) {
        pods = std::max(pods, time);
      }
    }
  }
  return !status.empty() && status < pods;
}

bool IsSameValue(const JsonTree* a, const JsonTree* b) {
  if (a == nullptr || b == nullptr) {
    return a == b || IsNothing(a == nullptr ? *b : *a);
  }
  return *a == *b;
}

bool HasValue(const JsonTree* field, const std::string& value) {
  if (field == nullptr) {
    return value == "0" || value == "false";
  }
  const std::string* text = field->AsString();
  return text == nullptr ? field->ToJson() == value : *text == value;
}

bool HasCondition(const StatusRule& rule, const JsonTree& object) {
  const JsonTree* conditions = object.At({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [&](const JsonTree& condition) {
           return condition.TextAt("type") == rule.condition &&
                  condition.TextAt("status") == rule.status &&
                  (rule.reason.empty() || condition.TextAt("reason") == rule.reason) &&
                  !IsBehind(condition.Find("observedGeneration"), object);
         });
}

}  // namespace

bool Holds(const StatusRule& rule, const JsonTree& object) {
  if (!rule.condition.empty()) {
    return HasCondition(rule, object);
  }
  const JsonTree* field = FieldAt(object, rule.field);
  return rule.same_as.empty() ? HasValue(field, rule.value)
                              : IsSameValue(field, FieldAt(object, rule.same_as));
}

Phase PhaseOfCustom(const CustomKind& kind, const JsonTree& object) {
  const JsonTree* observed = object.At({"status", "observedGeneration"});
  if (IsBehind(observed, object)) {
    return Phase::kUnseen;
  }
  const bool has_rules = !kind.done.empty() || !kind.failed.empty();
  if (has_rules && !ObservedIn(observed) &&
      (object.Find("status") == nullptr || IsStatusOld(kind, object))) {
    return Phase::kUnseen;
  }
  const auto holds = [&](const StatusRule& rule) { return Holds(rule, object); };
  if (std::ranges::any_of(kind.failed, holds)) {
    return Phase::kFailed;
  }
  return std::ranges::all_of(kind.done, holds) ? Phase::kComplete : Phase::kUpdating;
}

}  // namespace kubexx::reloader
