#include "kubexx/reloader/kinds/custom_phase.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "kubexx/base/hex.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/reloadpolicy/rollout_record.h"

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

/// Whether the entry of the managed fields is about the status and nothing else.
bool IsOfStatusAlone(const JsonTree& entry) {
  const JsonTree* fields = entry.Find("fieldsV1");
  return fields != nullptr && fields->size() == 1 && fields->Find("f:status") != nullptr;
}

/// Whether there is nothing in the status: an API server gives some objects an empty one.
bool IsUnwritten(const JsonTree& object) {
  const JsonTree* status = object.Find("status");
  return status == nullptr || status->IsNull() || (status->IsObject() && status->size() == 0);
}

bool HasRules(const CustomKind& kind) { return !kind.done.empty() || !kind.failed.empty(); }

/// Whether a rollout of the operator goes on, by what it has recorded on the object, and the status
/// has the mark that was recorded with it.
bool IsAsBefore(const CustomKind& kind, const JsonTree& object) {
  const JsonTree* metadata = object.Find("metadata");
  const JsonTree* annotations = object.At({"metadata", "annotations"});
  if (annotations == nullptr) {
    return false;
  }
  const std::string key(reloadpolicy::kRolloutStateAnnotation);
  const auto record = reloadpolicy::RecordOf({{key, std::string(annotations->TextAt(key))}},
                                             metadata->TextAt("uid"));
  return record && reloadpolicy::IsOpen(*record) &&
         StatusMark(kind, object) == annotations->TextAt(kStatusBeforeAnnotation);
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

/// The condition that the rule is about, if it is as the rule says and not of an earlier
/// generation.
const JsonTree* ConditionOf(const StatusRule& rule, const JsonTree& object) {
  const JsonTree* conditions = object.At({"status", "conditions"});
  if (conditions == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find_if(conditions->elements(), [&](const JsonTree& condition) {
    return condition.TextAt("type") == rule.condition &&
           condition.TextAt("status") == rule.status &&
           (rule.reason.empty() || condition.TextAt("reason") == rule.reason) &&
           !IsBehind(condition.Find("observedGeneration"), object);
  });
  return found == conditions->elements().end() ? nullptr : &*found;
}

/// Whether the rule holds and says so of the present generation.
bool HoldsForSure(const StatusRule& rule, const JsonTree& object) {
  const JsonTree* condition = rule.condition.empty() ? nullptr : ConditionOf(rule, object);
  return condition != nullptr && ObservedIn(condition->Find("observedGeneration"));
}

}  // namespace

bool Holds(const StatusRule& rule, const JsonTree& object) {
  if (!rule.condition.empty()) {
    return ConditionOf(rule, object) != nullptr;
  }
  const JsonTree* field = FieldAt(object, rule.field);
  return rule.same_as.empty() ? HasValue(field, rule.value)
                              : IsSameValue(field, FieldAt(object, rule.same_as));
}

std::optional<std::string> StatusMark(const CustomKind& kind, const JsonTree& object) {
  if (!HasRules(kind) || ObservedIn(object.At({"status", "observedGeneration"}))) {
    return std::nullopt;
  }
  const JsonTree* status = object.Find("status");
  std::string text = status == nullptr ? "" : status->ToJson();
  if (const JsonTree* entries = object.At({"metadata", "managedFields"})) {
    for (const JsonTree& entry : entries->elements()) {
      if (IsOfStatusAlone(entry)) {
        text +=
            "\n" + std::string(entry.TextAt("manager")) + "@" + std::string(entry.TextAt("time"));
      }
    }
  }
  constexpr std::size_t kTold = 16;
  return base::ToHex(crypto::Sha256(text)).substr(0, kTold);
}

CustomPhase PhaseOfCustom(const CustomKind& kind, const JsonTree& object) {
  const JsonTree* observed = object.At({"status", "observedGeneration"});
  const bool tells = ObservedIn(observed).has_value();
  if (IsBehind(observed, object) || (HasRules(kind) && !tells && IsUnwritten(object))) {
    return {Phase::kUnseen};
  }
  const auto holds = [&](const StatusRule& rule) { return Holds(rule, object); };
  const auto holds_for_sure = [&](const StatusRule& rule) { return HoldsForSure(rule, object); };
  Phase phase = std::ranges::all_of(kind.done, holds) ? Phase::kComplete : Phase::kUpdating;
  bool is_sure = !kind.done.empty() && std::ranges::all_of(kind.done, holds_for_sure);
  if (std::ranges::any_of(kind.failed, holds)) {
    phase = Phase::kFailed;
    is_sure = std::ranges::any_of(kind.failed, holds_for_sure);
  }
  return tells || is_sure || !IsAsBefore(kind, object) ? CustomPhase{phase}
                                                       : CustomPhase{Phase::kUnseen, phase};
}

}  // namespace kubexx::reloader
