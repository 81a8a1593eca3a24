#include "kubexx/kubernetes/internal/managed_fields.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"

namespace kubexx::kubernetes::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using codec::JsonTree;
using Part = std::optional<JsonTree>;

// A set without anything below the value itself.
bool IsLeaf(const JsonTree& fields) {
  return std::ranges::all_of(fields.members(),
                             [](const JsonTree::Member& member) { return member.key == "."; });
}

Result<Part> FromObject(const JsonTree& object, const JsonTree& fields) {
  const codec::MemberIndex steps(&fields);
  std::vector<JsonTree::Member> out;
  for (const JsonTree::Member& member : object.members()) {
    const JsonTree* const below = steps.Find("f:" + member.key);
    if (below == nullptr) {
      continue;
    }
    KX_ASSIGN_OR_RETURN(Part part, ExtractFields(member.value, *below));
    if (part) {
      out.push_back({.key = member.key, .value = std::move(*part)});
    }
  }
  return out.empty() ? Part() : Part(JsonTree::Object(std::move(out)));
}

// The element with the keys of a "k:" step: its keys and what the set names.
Result<Part> FromKeyed(const JsonTree& element, const JsonTree& keys, const JsonTree& below) {
  const bool same = std::ranges::all_of(keys.members(), [&element](const JsonTree::Member& key) {
    const JsonTree* const value = element.Find(key.key);
    return value != nullptr && *value == key.value;
  });
  if (!same) {
    return Part();
  }
  if (below.size() == 0) {
    return Part(element);
  }
  KX_ASSIGN_OR_RETURN(Part part, FromObject(element, below));
  JsonTree out = part ? std::move(*part) : JsonTree::Object();
  for (const JsonTree::Member& key : keys.members()) {
    out[key.key] = key.value;
  }
  return Part(std::move(out));
}

Result<Part> FromElement(const JsonTree& element, std::size_t index, const JsonTree::Member& step) {
  if (step.key == "i:" + std::to_string(index)) {
    return ExtractFields(element, step.value);
  }
  const bool keyed = step.key.starts_with("k:");
  if (!keyed && !step.key.starts_with("v:")) {
    return Part();
  }
  auto operand = JsonTree::Parse(std::string_view(step.key).substr(2));
  if (!operand) {
    return Fail(Malformed("metadata.managedFields", "\"" + step.key + "\" is not a path element"));
  }
  if (keyed) {
    return FromKeyed(element, *operand, step.value);
  }
  return element == *operand ? Part(element) : Part();
}

Result<Part> FromArray(const JsonTree& array, const JsonTree& fields) {
  JsonTree out = JsonTree::Array();
  std::size_t index = 0;
  for (const JsonTree& element : array.elements()) {
    for (const JsonTree::Member& step : fields.members()) {
      KX_ASSIGN_OR_RETURN(Part part, FromElement(element, index, step));
      if (part) {
        out.Append(std::move(*part));
        break;
      }
    }
    ++index;
  }
  return out.size() == 0 ? Part() : Part(std::move(out));
}

}  // namespace

Result<std::optional<JsonTree>> ExtractFields(const JsonTree& value, const JsonTree& fields) {
  if (!fields.IsObject()) {
    return Fail(Malformed("metadata.managedFields", "fieldsV1 is not a set of fields"));
  }
  if (fields.size() == 0) {
    return Part(value);
  }
  if (IsLeaf(fields)) {  // the list or map itself, none of what is in it
    return value.IsArray()    ? Part(JsonTree::Array())
           : value.IsObject() ? Part(JsonTree::Object())
                              : Part(value);
  }
  return value.IsArray() ? FromArray(value, fields) : FromObject(value, fields);
}

}  // namespace kubexx::kubernetes::internal
