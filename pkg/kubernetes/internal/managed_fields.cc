#include "kubexx/kubernetes/internal/managed_fields.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/codec/member_index.h"
#include "kubexx/kubernetes/internal/list_steps.h"

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
  if (below.size() == 0) {
    return Part(element);
  }
  KX_ASSIGN_OR_RETURN(Part part, FromObject(element, below));
  JsonTree named = part ? std::move(*part) : JsonTree::Object();
  const codec::MemberIndex present(&named);
  std::vector<JsonTree::Member> missing;
  for (const JsonTree::Member& key : keys.members()) {
    if (present.Find(key.key) == nullptr) {
      missing.push_back(key);
    }
  }
  if (missing.empty()) {
    return Part(std::move(named));
  }
  std::vector<JsonTree::Member> out(std::make_move_iterator(named.members().begin()),
                                    std::make_move_iterator(named.members().end()));
  std::ranges::move(missing, std::back_inserter(out));
  return Part(JsonTree::Object(std::move(out)));
}

Result<Part> FromElement(const JsonTree& element, const ListSteps::Found& step) {
  if (step.keys != nullptr) {
    return FromKeyed(element, *step.keys, *step.below);
  }
  return step.below == nullptr ? Part(element) : ExtractFields(element, *step.below);
}

Result<Part> FromArray(const JsonTree& array, const JsonTree& fields) {
  KX_ASSIGN_OR_RETURN(const ListSteps steps, ListSteps::Of(fields));
  std::vector<JsonTree> out;
  std::size_t index = 0;
  for (const JsonTree& element : array.elements()) {
    for (const ListSteps::Found& step : steps.Find(element, index)) {
      KX_ASSIGN_OR_RETURN(Part part, FromElement(element, step));
      if (part) {
        out.push_back(std::move(*part));
        break;
      }
    }
    ++index;
  }
  return out.empty() ? Part() : Part(JsonTree::Array(std::move(out)));
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
