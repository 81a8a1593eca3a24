#include "kubexx/reloader/kinds/custom_template.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

bool IsAtHome(const CustomKind& kind) { return kind.pod_template == CustomKind().pod_template; }

/// Takes the value at `path` out of `tree`; `prefix` stands before the name of each member.
std::optional<JsonTree> TakeOut(JsonTree& tree, std::span<const std::string> path,
                                std::string_view prefix) {
  const std::string key = std::string(prefix) + path.front();
  JsonTree* member = tree.Find(key);
  if (member == nullptr) {
    return std::nullopt;
  }
  if (path.size() > 1) {
    auto taken = TakeOut(*member, path.subspan(1), prefix);
    // Nobody owns what is left of nothing; in an object it may have a meaning.
    if (taken && !prefix.empty() && member->IsObject() && member->size() == 0) {
      tree.Erase(key);
    }
    return taken;
  }
  JsonTree taken = std::move(*member);
  tree.Erase(key);
  return taken;
}

void TakeFieldsHome(const CustomKind& kind, JsonTree& fields) {
  auto own = TakeOut(fields, kind.pod_template, "f:");
  JsonTree* spec = fields.Find("f:spec");
  if (spec != nullptr) {
    spec->Erase("f:template");
  }
  if (own) {
    fields["f:spec"]["f:template"] = *std::move(own);
  }
}

}  // namespace

void TakeTemplateHome(const CustomKind& kind, JsonTree& object) {
  if (IsAtHome(kind)) {
    return;
  }
  auto own = TakeOut(object, kind.pod_template, "");
  if (JsonTree* spec = object.Find("spec")) {
    spec->Erase("template");
  }
  if (own) {
    object["spec"]["template"] = *std::move(own);
  }
  JsonTree* metadata = object.Find("metadata");
  JsonTree* entries = metadata == nullptr ? nullptr : metadata->Find("managedFields");
  if (entries == nullptr) {
    return;
  }
  for (JsonTree& entry : entries->elements()) {
    if (JsonTree* fields = entry.Find("fieldsV1")) {
      TakeFieldsHome(kind, *fields);
    }
  }
}

void SendTemplateAway(const CustomKind& kind, JsonTree& patch) {
  JsonTree* spec = patch.Find("spec");
  JsonTree* found = spec == nullptr ? nullptr : spec->Find("template");
  if (found == nullptr || IsAtHome(kind)) {
    return;
  }
  JsonTree own = std::move(*found);
  spec->Erase("template");
  JsonTree* at = &patch;
  for (const std::string& step : kind.pod_template) {
    at = &(*at)[step];
  }
  *at = std::move(own);
}

}  // namespace kubexx::reloader
