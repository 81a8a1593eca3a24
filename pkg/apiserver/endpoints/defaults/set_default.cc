#include "kubexx/apiserver/endpoints/defaults/set_default.h"

#include <span>
#include <utility>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

bool IsNullOrEmptyText(const JsonTree& value) {
  return value.IsNull() || (value.AsString() != nullptr && value.AsString()->empty());
}

}  // namespace

void SetDefault(JsonTree& object, std::string_view member, JsonTree value) {
  JsonTree& slot = object[member];
  if (IsNullOrEmptyText(slot)) {
    slot = std::move(value);
  }
}

void SetMissing(JsonTree& object, std::string_view member, std::string_view json) {
  JsonTree& slot = object[member];
  if (IsNullOrEmptyText(slot) || (slot.IsArray() && slot.size() == 0)) {
    slot = JsonTree::Parse(json).value_or(JsonTree());
  }
}

void SetMissingBelow(JsonTree& object, std::initializer_list<std::string_view> path,
                     std::string_view member, std::string_view json) {
  if (JsonTree* const found = object.At(std::span(path.begin(), path.size()));
      found != nullptr && found->IsObject()) {
    SetMissing(*found, member, json);
  }
}

}  // namespace kubexx::apiserver
