#include "kubexx/kubernetes/sparse.h"

#include <algorithm>
#include <cstdlib>

#include "kubexx/codec/sparse_json.h"

namespace kubexx::kubernetes::internal {
namespace {

using codec::FieldSchema;
using codec::JsonTree;

// The value of one field as a tree.
JsonTree TreeOf(const FieldSchema& field, const void* value) {
  std::string json;
  codec::EncodeSparseJson(field, value, json);
  auto tree = JsonTree::Parse(json);
  // Deeper than a tree may be: nothing that the API server would take either.
  return tree ? std::move(*tree) : JsonTree();
}

// Whether a field holds a container in another one: a list that may be absent, or what may be
// absent or null.
bool HoldsContainer(const FieldSchema& field) {
  return field.kind == codec::Kind::kMessage && field.message->json_form == codec::JsonForm::kValue;
}

// The innermost optional field: what may be absent or null has two.
const FieldSchema& OptionalIn(const FieldSchema& field) {
  const FieldSchema* innermost = &field;
  while (HoldsContainer(*innermost) &&
         innermost->message->fields.front().cardinality == codec::Cardinality::kOptional) {
    innermost = &innermost->message->fields.front();
  }
  return *innermost;
}

JsonTree ElementTree(const FieldSchema& field, const void* element) {
  const FieldSchema& optional = OptionalIn(field);
  FieldSchema plain = HoldsContainer(optional) ? optional.message->fields.front() : optional;
  plain.cardinality = codec::Cardinality::kPlain;
  return TreeOf(plain, element);
}

}  // namespace

JsonTree& Resolve(JsonTree& root, const SparsePath& path) {
  JsonTree* node = &root;
  for (const auto& step : path) {
    if (const auto* name = std::get_if<std::string_view>(&step)) {
      node = &(*node)[*name];
      continue;
    }
    const std::size_t index = std::get<std::size_t>(step);
    while (!node->IsArray() || node->size() <= index) {
      node->Append(JsonTree::Object());
    }
    node = &node->elements()[index];
  }
  return *node;
}

void SetField(JsonTree& object, const FieldSchema& field, const void* value) {
  JsonTree tree = TreeOf(OptionalIn(field), value);
  if ((field.flags & codec::kInline) == 0) {
    object[field.name] = std::move(tree);
    return;
  }
  for (JsonTree::Member& member : tree.members()) {
    object[member.key] = std::move(member.value);
  }
}

void AppendElement(JsonTree& object, const FieldSchema& field, const void* element) {
  object[field.name].Append(ElementTree(field, element));
}

void PutEntry(JsonTree& object, const FieldSchema& field, std::string_view key,
              const void* element) {
  object[field.name][key] = ElementTree(field, element);
}

}  // namespace kubexx::kubernetes::internal
