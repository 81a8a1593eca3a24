#include "kubexx/apiserver/object/selection.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Whether the type has this field, too, as have cluster-scoped types without fields of their own
/// to select by.
bool HasNamespaceField(const ResourceType& type) {
  return type.namespaced || (!type.custom && type.selectable.empty());
}

bool IsCustomField(const ResourceType& type, std::string_view field) {
  return type.custom && std::ranges::any_of(type.custom->selectable,
                                            [field](const schema::SelectableField& selectable) {
                                              return selectable.label == field;
                                            });
}

bool IsSelectable(const ResourceType& type, std::string_view field) {
  return IsCustomField(type, field) || field == "metadata.name" ||
         (field == "metadata.namespace" && HasNamespaceField(type)) ||
         std::ranges::find(type.selectable, field) != type.selectable.end();
}

/// Returns the value at a dotted path as a selector compares it: a missing boolean is false and a
/// missing number is 0.
std::string ValueAt(const JsonTree& object, std::string_view path) {
  const JsonTree* at = &object;
  std::string_view rest = path;
  while (at != nullptr && !rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    at = at->Find(rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (path == "source" && at != nullptr) {  // the source of an Event is its component
    return StringAt(*at, {"component"});
  }
  if (at != nullptr && at->AsString() != nullptr) {
    return *at->AsString();
  }
  if (path.ends_with("replicas") || path.ends_with("successful")) {
    return at == nullptr ? "0" : at->ToJson();
  }
  if (path.ends_with("hostNetwork") || path.ends_with("unschedulable")) {
    return at == nullptr ? "false" : at->ToJson();
  }
  return {};
}

/// Returns the value of a field of a custom resource, or "" when it is missing.
std::string CustomValueAt(const JsonTree& object, const std::vector<std::string>& members) {
  const std::vector<std::string_view> path(members.begin(), members.end());
  const JsonTree* const found = object.At(std::span<const std::string_view>(path));
  if (found == nullptr || found->IsNull()) {
    return {};
  }
  return found->AsString() != nullptr ? *found->AsString() : found->ToJson();
}

}  // namespace

Attributes AttributesOf(const ResourceType& type, const JsonTree& object) {
  Attributes attributes;
  attributes.labels = MetaMap(object, "labels");
  for (const std::string_view field : type.selectable) {
    if (std::string value = ValueAt(object, field); !value.empty()) {
      attributes.fields.emplace(field, std::move(value));
    }
  }
  if (type.custom) {
    for (const schema::SelectableField& field : type.custom->selectable) {
      if (std::string value = CustomValueAt(object, field.members); !value.empty()) {
        attributes.fields.emplace(field.label, std::move(value));
      }
    }
  }
  return attributes;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text, const ResourceType& type) {
  KX_ASSIGN_OR_RETURN(FieldSelector selector, ParseAny(text));
  for (const apimachinery::FieldRequirement& term : selector.terms_) {
    if (!IsSelectable(type, term.field)) {
      return Fail(Reason::kBadRequest, "Unable to find \"" + type.ApiVersion() +
                                           ", Resource=" + type.plural +
                                           "\" that match field selector \"" + std::string(text) +
                                           "\": field label not supported: " + term.field);
    }
  }
  return selector;
}

Result<FieldSelector> FieldSelector::ParseAny(std::string_view text) {
  KX_ASSIGN_OR_RETURN(const apimachinery::FieldSelector parsed,
                      apimachinery::FieldSelector::Parse(text));
  FieldSelector selector;
  selector.terms_ = parsed.requirements();
  return selector;
}

bool FieldSelector::Matches(const apimachinery::ObjectKey& key,
                            const Attributes& attributes) const {
  return std::ranges::all_of(terms_, [&](const apimachinery::FieldRequirement& term) {
    std::string_view value;
    if (term.field == "metadata.name") {
      value = key.name;
    } else if (term.field == "metadata.namespace") {
      value = key.namespace_;
    } else if (const auto found = attributes.fields.find(term.field);
               found != attributes.fields.end()) {
      value = found->second;
    }
    return term.Admits(value);
  });
}

std::string FieldSelector::Exactly(std::string_view field) const {
  const auto found =
      std::ranges::find_if(terms_, [field](const apimachinery::FieldRequirement& term) {
        return term.equal && term.field == field;
      });
  return found == terms_.end() ? std::string() : found->value;
}

bool Selection::Matches(const apimachinery::ObjectKey& key, const Attributes& attributes) const {
  return (namespace_.empty() || key.namespace_ == namespace_) && fields.Matches(key, attributes) &&
         (labels.empty() || labels.Matches(attributes.labels));
}

Result<void> Selection::CheckSize() const {
  std::size_t values = 0;
  for (const apimachinery::LabelRequirement& one : labels.requirements()) {
    values += one.values.size();
  }
  const std::size_t requirements = labels.requirements().size() + fields.size();
  if (requirements > kMaxRequirements) {
    return Fail(Reason::kBadRequest,
                "the selectors have " + std::to_string(requirements) + " requirements, at most " +
                    std::to_string(kMaxRequirements) + " are possible",
                400);
  }
  if (values > kMaxValues) {
    return Fail(Reason::kBadRequest,
                "the label selector has " + std::to_string(values) + " values, at most " +
                    std::to_string(kMaxValues) +
                    " are possible: select more, and leave out what is not wanted",
                400);
  }
  return {};
}

}  // namespace kubexx::apiserver
