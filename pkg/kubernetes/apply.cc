#include "kubexx/kubernetes/apply.h"

#include <algorithm>
#include <optional>

#include "kubexx/codec/envelope.h"
#include "kubexx/kubernetes/internal/managed_fields.h"

namespace kubexx::kubernetes::internal {
namespace {

using apimachinery::Result;
using codec::JsonTree;

std::string_view TextOf(const JsonTree* value) {
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// The set of fields that the manager has applied; null when there is none.
const JsonTree* AppliedFields(const JsonTree& object, std::string_view manager,
                              std::string_view subresource) {
  const JsonTree* const all = object.At({"metadata", "managedFields"});
  if (all == nullptr) {
    return nullptr;
  }
  const auto entry = std::ranges::find_if(all->elements(), [&](const JsonTree& candidate) {
    return TextOf(candidate.Find("manager")) == manager &&
           TextOf(candidate.Find("operation")) == "Apply" &&
           TextOf(candidate.Find("subresource")) == subresource;
  });
  return entry == all->elements().end() ? nullptr : entry->Find("fieldsV1");
}

}  // namespace

JsonTree ApplyIdentity(const codec::TypeSchema& schema, std::string_view name,
                       std::string_view namespace_) {
  JsonTree tree = JsonTree::Object();
  tree["apiVersion"] = codec::ApiVersionOf(schema);
  tree["kind"] = schema.kind;
  tree["metadata"]["name"] = name;
  if (!namespace_.empty()) {
    tree["metadata"]["namespace"] = namespace_;
  }
  return tree;
}

std::string_view MetadataText(const JsonTree& tree, std::string_view field) {
  return TextOf(tree.At({"metadata", field}));
}

Result<JsonTree> ExtractApplied(const codec::TypeSchema& schema, std::string_view json,
                                std::string_view manager, std::string_view subresource) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  JsonTree out =
      ApplyIdentity(schema, MetadataText(object, "name"), MetadataText(object, "namespace"));
  const JsonTree* const fields = AppliedFields(object, manager, subresource);
  if (fields == nullptr) {
    return out;
  }
  KX_ASSIGN_OR_RETURN(std::optional<JsonTree> owned, ExtractFields(object, *fields));
  if (!owned) {
    return out;
  }
  for (JsonTree::Member& member : owned->members()) {
    if (member.key == "metadata") {
      for (JsonTree::Member& field : member.value.members()) {
        out["metadata"][field.key] = std::move(field.value);
      }
    } else {
      out[member.key] = std::move(member.value);
    }
  }
  return out;
}

}  // namespace kubexx::kubernetes::internal
