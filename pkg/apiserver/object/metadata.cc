#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree Rest(const JsonTree& object) {
  JsonTree rest = object;
  rest.Erase("metadata");
  rest.Erase("status");
  return rest;
}

}  // namespace

std::string StringAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  const std::string* const text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? std::string() : *text;
}

std::vector<std::string> StringsAt(const JsonTree& object, std::string_view member) {
  std::vector<std::string> strings;
  if (const JsonTree* const list = object.Find(member)) {
    for (const JsonTree& element : list->elements()) {
      if (const std::string* const text = element.AsString()) {
        strings.push_back(*text);
      }
    }
  }
  return strings;
}

std::span<const JsonTree> ElementsAt(const JsonTree& object,
                                     std::initializer_list<std::string_view> path) {
  const JsonTree* const list = object.At(path);
  return list == nullptr ? std::span<const JsonTree>() : list->elements();
}

std::string MetaString(const JsonTree& object, std::string_view field) {
  return StringAt(object, {"metadata", field});
}

std::int64_t Generation(const JsonTree& object) {
  const JsonTree* const found = object.At({"metadata", "generation"});
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

apimachinery::ObjectKey KeyOf(const JsonTree& object) {
  return {.namespace_ = MetaString(object, "namespace"), .name = MetaString(object, "name")};
}

apimachinery::LabelMap LabelMapOf(const JsonTree* object) {
  apimachinery::LabelMap map;
  if (object != nullptr) {
    for (const JsonTree::Member& member : object->members()) {
      if (const std::string* const value = member.value.AsString()) {
        map.emplace(member.key, *value);
      }
    }
  }
  return map;
}

apimachinery::LabelMap MetaMap(const JsonTree& object, std::string_view field) {
  return LabelMapOf(object.At({"metadata", field}));
}

void SetMeta(JsonTree& object, std::string_view field, std::string_view value) {
  if (value.empty()) {
    object["metadata"].Erase(field);
  } else {
    object["metadata"][field] = JsonTree(value);
  }
}

std::vector<std::string> FinalizersOf(const JsonTree& object) {
  const JsonTree* const metadata = object.Find("metadata");
  return metadata == nullptr ? std::vector<std::string>() : StringsAt(*metadata, "finalizers");
}

void SetFinalizers(JsonTree& object, const std::vector<std::string>& names) {
  if (names.empty()) {
    object["metadata"].Erase("finalizers");
    return;
  }
  JsonTree list = JsonTree::Array();
  for (const std::string& name : names) {
    list.Append(name);
  }
  object["metadata"]["finalizers"] = std::move(list);
}

bool HasFinalizers(const JsonTree& object) {
  const JsonTree* const found = object.At({"metadata", "finalizers"});
  return found != nullptr && found->IsArray() && found->size() > 0;
}

bool IsDeleting(const JsonTree& object) { return !MetaString(object, "deletionTimestamp").empty(); }

bool SameSpec(const JsonTree& a, const JsonTree& b) { return Rest(a) == Rest(b); }

}  // namespace kubexx::apiserver
