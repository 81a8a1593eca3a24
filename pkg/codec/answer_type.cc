#include "kubexx/codec/answer_type.h"

#include "kubexx/codec/internal/json_walk.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;

constexpr std::string_view kListSuffix = "List";
constexpr std::string_view kStatusKind = "Status";
constexpr std::string_view kMetadataKind = "PartialObjectMetadata";

// "v1 Secret"
std::string TextOf(const TypeMeta& type) {
  return type.api_version.empty() ? type.kind : type.api_version + " " + type.kind;
}

apimachinery::Error Unwanted(std::string_view expected, const TypeMeta& got) {
  return Fail(Malformed("kind", "expected " + std::string(expected) + ", got " +
                                    (got.kind.empty() ? "no kind" : TextOf(got))));
}

bool HasVersion(const WantedType& wanted, const TypeMeta& got) {
  return wanted.api_version.empty() || got.api_version.empty() ||
         got.api_version == wanted.api_version;
}

// The groups of Kubernetes itself, whose list kinds follow its rule: "", "apps" and
// "networking.k8s.io", but not "example.com" and "x-k8s.io".
bool IsKubernetes(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  return !group.contains('.') || group.ends_with(".k8s.io");
}

bool IsListOf(const WantedType& wanted, const TypeMeta& got, bool has_items) {
  if (wanted.or_metadata && got.kind == "PartialObjectMetadataList") {
    return true;
  }
  if (got.kind == kListSuffix) {  // a v1 List, whose items name their own kinds
    return has_items;
  }
  if (!HasVersion(wanted, got)) {
    return false;
  }
  if (wanted.kind.empty() ? got.kind.ends_with(kListSuffix)
                          : got.kind == wanted.kind + std::string(kListSuffix)) {
    return true;
  }
  return has_items && got.kind != wanted.kind && got.api_version == wanted.api_version &&
         (wanted.kind.empty() || !IsKubernetes(wanted.api_version));
}

}  // namespace

TypeMeta ReadTypeMeta(std::string_view json) {
  TypeMeta type;
  int found = 0;
  (void)internal::ForEachMember(
      json, [&type, &found](std::string_view key, std::string_view value) {
        std::string* const part = key == "kind"         ? &type.kind
                                  : key == "apiVersion" ? &type.api_version
                                                        : nullptr;
        if (part != nullptr) {
          ++found;
          if (!internal::ReadString(value, *part)) {
            part->clear();
          }
        }
        return found < 2;  // both mostly come first
      });
  return type;
}

Result<void> CheckObjectType(const WantedType& wanted, const TypeMeta& got) {
  const std::string expected = wanted.kind.empty() ? "an object" : wanted.kind;
  if (got.kind.empty()) {
    return Unwanted(expected, got);
  }
  if ((wanted.or_metadata && got.kind == kMetadataKind) ||
      (wanted.kind.empty() ? got.kind != kStatusKind
                           : got.kind == wanted.kind && HasVersion(wanted, got))) {
    return {};
  }
  return Unwanted(expected, got);
}

Result<void> CheckListType(const WantedType& wanted, const TypeMeta& got, bool has_items) {
  if (!got.kind.empty() && got.kind != kStatusKind && IsListOf(wanted, got, has_items)) {
    return {};
  }
  return Unwanted(wanted.kind.empty() ? "a list" : wanted.kind + "List", got);
}

}  // namespace kubexx::codec
