#include "kubexx/dynamic/unstructured.h"

#include <span>

namespace kubexx::dynamic {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

namespace {

JsonTree TreeOf(const std::map<std::string, std::string>& entries) {
  std::vector<JsonTree::Member> members;
  for (const auto& [key, value] : entries) {
    members.push_back({.key = key, .value = value});
  }
  return JsonTree::Object(std::move(members));
}

}  // namespace

Unstructured::Unstructured(const apimachinery::GroupVersionKind& kind, std::string_view name,
                           std::string_view namespace_)
    : Unstructured() {
  tree_["apiVersion"] = kind.ApiVersion();
  tree_["kind"] = kind.kind;
  tree_["metadata"]["name"] = name;
  if (!namespace_.empty()) {
    tree_["metadata"]["namespace"] = namespace_;
  }
}

Result<Unstructured> Unstructured::Parse(std::string_view json) {
  KX_ASSIGN_OR_RETURN(JsonTree tree, JsonTree::Parse(json));
  return FromTree(std::move(tree));
}

Result<Unstructured> Unstructured::FromTree(JsonTree tree) {
  if (!tree.IsObject()) {
    return Fail(Malformed("", "expected a JSON object"));
  }
  return Unstructured(std::move(tree));
}

apimachinery::GroupVersionKind Unstructured::GetKind() const {
  return apimachinery::GroupVersionKind::FromApiVersionKind(ApiVersion(), Kind());
}

Result<api::meta::v1::ObjectMeta> Unstructured::Metadata() const {
  const JsonTree* const metadata = tree_.Find("metadata");
  if (metadata == nullptr) {
    return api::meta::v1::ObjectMeta();
  }
  auto decoded = codec::DecodeJson<api::meta::v1::ObjectMeta>(metadata->ToJson());
  if (!decoded) {
    return Fail(decoded.error().WithContext("metadata"));
  }
  return decoded;
}

void Unstructured::SetMetadata(const api::meta::v1::ObjectMeta& metadata) {
  // What the encoder writes can be read.
  if (auto tree = JsonTree::Parse(codec::EncodeJson(metadata))) {
    tree_["metadata"] = std::move(*tree);
  }
}

void Unstructured::SetName(std::string_view name) { tree_["metadata"]["name"] = name; }

void Unstructured::SetNamespace(std::string_view namespace_) {
  tree_["metadata"]["namespace"] = namespace_;
}

void Unstructured::SetResourceVersion(std::string_view version) {
  if (version.empty()) {
    tree_["metadata"].Erase("resourceVersion");
  } else {
    tree_["metadata"]["resourceVersion"] = version;
  }
}

void Unstructured::SetLabels(const apimachinery::LabelMap& labels) {
  tree_["metadata"]["labels"] = TreeOf(labels);
}

void Unstructured::SetAnnotations(const std::map<std::string, std::string>& annotations) {
  tree_["metadata"]["annotations"] = TreeOf(annotations);
}

std::string Unstructured::GetString(Path path) const {
  const JsonTree* const value = Get(path);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

std::optional<bool> Unstructured::GetBool(Path path) const {
  const JsonTree* const value = Get(path);
  return value == nullptr ? std::nullopt : value->AsBool();
}

std::optional<std::int64_t> Unstructured::GetInt(Path path) const {
  const JsonTree* const value = Get(path);
  return value == nullptr ? std::nullopt : value->AsInt();
}

std::optional<double> Unstructured::GetDouble(Path path) const {
  const JsonTree* const value = Get(path);
  return value == nullptr ? std::nullopt : value->AsDouble();
}

std::map<std::string, std::string> Unstructured::GetStringMap(Path path) const {
  std::map<std::string, std::string> out;
  const JsonTree* const value = Get(path);
  if (value != nullptr) {
    for (const JsonTree::Member& member : value->members()) {
      if (const std::string* text = member.value.AsString()) {
        out[member.key] = *text;
      }
    }
  }
  return out;
}

std::vector<std::string> Unstructured::GetStringList(Path path) const {
  std::vector<std::string> out;
  const JsonTree* const value = Get(path);
  if (value != nullptr) {
    for (const JsonTree& element : value->elements()) {
      if (const std::string* text = element.AsString()) {
        out.push_back(*text);
      }
    }
  }
  return out;
}

Result<void> Unstructured::Set(Path path, JsonTree value) {
  if (path.size() == 0) {
    return Fail(Reason::kBadRequest, "an empty path names the object itself");
  }
  JsonTree* node = &tree_;
  for (const std::string_view step : path) {
    JsonTree* next = nullptr;
    if (node->IsArray()) {
      next = node->At(std::span(&step, 1));
    } else if (node->IsObject() || node->IsNull()) {
      next = &(*node)[step];
    }
    if (next == nullptr) {
      return Fail(Reason::kBadRequest,
                  "there can be no \"" + std::string(step) + "\" in " + node->ToJson());
    }
    node = next;
  }
  *node = std::move(value);
  return {};
}

bool Unstructured::Remove(Path path) {
  if (path.size() == 0) {
    return false;
  }
  JsonTree* const parent = tree_.At(std::span(path.begin(), path.size() - 1));
  return parent != nullptr && parent->Erase(*(path.end() - 1));
}

}  // namespace kubexx::dynamic

namespace kubexx::codec {

template <>
apimachinery::Result<dynamic::Unstructured> Decode<dynamic::Unstructured>(Encoding encoding,
                                                                          std::string_view bytes) {
  if (encoding != Encoding::kJson) {
    return apimachinery::Fail(apimachinery::Reason::kUnsupportedMediaType,
                              "an unstructured object can be read from JSON only");
  }
  return dynamic::Unstructured::Parse(bytes);
}

}  // namespace kubexx::codec
