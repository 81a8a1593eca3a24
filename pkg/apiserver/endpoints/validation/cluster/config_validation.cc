#include "kubexx/apiserver/endpoints/validation/cluster/config_validation.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/json_syntax.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/ascii.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The limit for the values of one object together.
constexpr std::size_t kMaxDataBytes = 1 << 20;

std::string QuotedKey(std::string_view key) { return JsonTree(key).ToJson(); }

/// Returns the number of bytes in the values of `data`, which are base64. `data` may be null.
std::size_t DecodedBytes(const JsonTree* data) {
  std::size_t bytes = 0;
  for (const JsonTree::Member& one :
       data == nullptr ? std::span<const JsonTree::Member>() : data->members()) {
    if (const std::string* const text = one.value.AsString()) {
      const auto letters =
          text->size() - static_cast<std::size_t>(std::ranges::count_if(
                             *text, [](char c) { return c == '\n' || c == '\r' || c == '='; }));
      bytes += letters * 3 / 4;
    }
  }
  return bytes;
}

/// Checks the keys of ConfigMaps and Secrets, which are names of files.
void CheckKeys(const JsonTree& object, const char* member, FieldCauses& causes) {
  const JsonTree* const data = object.Find(member);
  if (data == nullptr) {
    return;
  }
  for (const JsonTree::Member& one : data->members()) {
    const bool good = !one.key.empty() && one.key.size() <= 253 && one.key != "." &&
                      !one.key.starts_with("..") && std::ranges::all_of(one.key, [](char c) {
                        return base::IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
                      });
    if (!good) {
      causes.Invalid(std::string(member) + "[" + one.key + "]", QuotedKey(one.key),
                     "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                     "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation "
                     "is '[-._a-zA-Z0-9]+')");
    }
  }
}

/// Checks a file of credentials, which has to be a JSON object.
void CheckDockerConfig(const JsonTree* data, const std::string& key, FieldCauses& causes) {
  const JsonTree* const value = data == nullptr ? nullptr : data->Find(key);
  const std::string field = "data[" + key + "]";
  if (value == nullptr) {
    causes.Required(field);
    return;
  }
  std::string text;
  const std::string* const encoded = value->AsString();
  const bool decoded = encoded != nullptr && codec::DecodeBase64(*encoded, text);
  if (!decoded || !IsJsonMap(text)) {
    causes.Invalid(field, QuotedKey("(not shown)"), "is no object in JSON");
  }
}

}  // namespace

void CheckConfigMap(const JsonTree& object, FieldCauses& causes) {
  CheckKeys(object, "data", causes);
  CheckKeys(object, "binaryData", causes);
  const JsonTree* const binary = object.Find("binaryData");
  std::size_t bytes = DecodedBytes(binary);
  const codec::MemberIndex in_binary(binary);
  if (const JsonTree* const data = object.Find("data")) {
    for (const JsonTree::Member& one : data->members()) {
      if (in_binary.Find(one.key) != nullptr) {
        causes.Invalid("data[" + one.key + "]", QuotedKey(one.key), "is in binaryData, too");
      }
      bytes += one.value.AsString() == nullptr ? 0 : one.value.AsString()->size();
    }
  }
  if (bytes > kMaxDataBytes) {
    causes.TooLong("[]", kMaxDataBytes);  // kube-apiserver uses this name for the whole object
  }
}

void CheckSecret(const JsonTree& object, FieldCauses& causes) {
  const std::string_view type = object.TextAt("type");
  const JsonTree* const data = object.Find("data");
  const auto has = [data](std::string_view key) {
    return data != nullptr && data->Find(key) != nullptr;
  };
  const auto need = [&](std::string_view key) {
    if (!has(key)) {
      causes.Required("data[" + std::string(key) + "]");
    }
  };
  CheckKeys(object, "data", causes);
  if (DecodedBytes(data) > kMaxDataBytes) {
    causes.TooLong("data", kMaxDataBytes);
  }
  if (type == "kubernetes.io/tls") {
    need("tls.crt");
    need("tls.key");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    CheckDockerConfig(data, ".dockerconfigjson", causes);
  } else if (type == "kubernetes.io/dockercfg") {
    CheckDockerConfig(data, ".dockercfg", causes);
  } else if (type == "kubernetes.io/ssh-auth" &&
             StringAt(object, {"data", "ssh-privatekey"}).empty()) {
    causes.Required("data[ssh-privatekey]");
  } else if (type == "kubernetes.io/basic-auth" && !has("username") && !has("password")) {
    need("username");
    need("password");
  } else if (type == "kubernetes.io/service-account-token" &&
             StringAt(object, {"metadata", "annotations", "kubernetes.io/service-account.name"})
                 .empty()) {
    causes.Required("metadata.annotations[kubernetes.io/service-account.name]");
  }
}

void CheckMarkedData(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const immutable = current.Find("immutable");
  if (immutable == nullptr || !immutable->AsBool().value_or(false)) {
    return;
  }
  for (const char* const field : {"immutable", "data", "binaryData", "stringData"}) {
    if (!SameMember(current.Find(field), object.Find(field))) {
      causes.Forbidden(field, "field is immutable when `immutable` is set");
    }
  }
}

}  // namespace kubexx::apiserver
