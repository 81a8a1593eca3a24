#include "kubexx/reloader/observe/kubectl_diff.h"

#include <string_view>
#include <utility>

#include "kubexx/codec/base64.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// Each mask begins so, and no value in base64 does.
constexpr std::string_view kMask = "***";
constexpr std::string_view kChangedMask = "*** (after)";
constexpr std::string_view kData = "data";

const std::string* ValueOf(const JsonTree& secret, std::string_view key) {
  const JsonTree* const data = secret.Find(kData);
  const JsonTree* const value = data == nullptr ? nullptr : data->Find(key);
  return value == nullptr ? nullptr : value->AsString();
}

}  // namespace

MaskedData MaskedDataOf(const JsonTree* live, const JsonTree& merged) {
  MaskedData masked;
  const JsonTree* const data = merged.Find(kData);
  if (data == nullptr) {
    return masked;
  }
  for (const JsonTree::Member& each : data->members()) {
    const std::string* const value = each.value.AsString();
    if (value == nullptr || !value->starts_with(kMask)) {
      continue;
    }
    const bool is_kept =
        *value != kChangedMask && live != nullptr && ValueOf(*live, each.key) != nullptr;
    (is_kept ? masked.kept : masked.changed).insert(each.key);
  }
  return masked;
}

void FillMasked(const MaskedData& masked, const JsonTree& present, JsonTree& merged) {
  JsonTree* const data = merged.Find(kData);
  if (data == nullptr) {
    return;
  }
  for (const std::string& key : masked.kept) {
    const std::string* const value = ValueOf(present, key);
    (*data)[key] = JsonTree(value == nullptr ? std::string() : *value);
  }
  for (const std::string& key : masked.changed) {
    // Any value that is not the present one.
    const std::string* const value = ValueOf(present, key);
    std::string bytes;
    if (value != nullptr) {
      codec::DecodeBase64(*value, bytes);
    }
    (*data)[key] = JsonTree(codec::EncodeBase64(std::move(bytes) + "*"));
  }
}

}  // namespace kubexx::reloader
