#include "kubexx/reloader/model/kept_source.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

// The members of these structs have types of the standard library, but compilers support their
// offsets nevertheless.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace kubexx::reloader {
namespace {

using enum codec::Kind;
using enum codec::Cardinality;

constexpr const codec::ContainerOps* kFlag = &codec::kContainerOps<std::optional<bool>>;
constexpr const codec::ContainerOps* kPacked =
    &codec::kContainerOps<std::optional<apimachinery::Bytes>>;
constexpr const codec::ContainerOps* kText = &codec::kContainerOps<std::optional<std::string>>;

// clang-format off
constexpr codec::FieldSchema kKeptSourceFields[] = {
    {"digest", 1, kBytes, kPlain, codec::kOmitEmpty, offsetof(KeptSource, digest), nullptr, nullptr},
    {"ignore", 2, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptSource, ignore), nullptr, kFlag},
    {"match", 3, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptSource, match), nullptr, kFlag},
    {"paused", 4, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptSource, paused), nullptr, kFlag},
    {"asCreated", 5, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptSource, as_created), nullptr, kFlag},
    {"keys", 6, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, keys), nullptr, kText},
    {"release", 7, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, release), nullptr, kText},
    {"values", 8, kBytes, kOptional, codec::kOmitEmpty, offsetof(KeptSource, values), nullptr, kPacked},
    {"writer", 9, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, writer), nullptr, kText},
    {"prints", 10, kBytes, kOptional, codec::kOmitEmpty, offsetof(KeptSource, prints), nullptr, kPacked},
    {"restored", 11, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptSource, restored), nullptr, kFlag},
    {"settled", 12, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, settled), nullptr, kText},
    {"unreadable", 13, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, unreadable), nullptr, kText},
    {"allowed", 14, kString, kOptional, codec::kOmitEmpty, offsetof(KeptSource, allowed), nullptr, kText},
};

constexpr codec::FieldSchema kKeptPodStatusFields[] = {
    {"class", 1, kString, kOptional, codec::kOmitEmpty, offsetof(KeptPodStatus, provider_class), nullptr, kText},
    {"digest", 2, kBytes, kPlain, codec::kOmitEmpty, offsetof(KeptPodStatus, digest), nullptr, nullptr},
    {"updated", 3, kBool, kOptional, codec::kOmitEmpty, offsetof(KeptPodStatus, updated), nullptr, kFlag},
};
// clang-format on

template <class Kept>
constexpr codec::TypeSchema TableOf(std::string_view name,
                                    std::span<const codec::FieldSchema> fields) {
  return {.name = name,
          .group = "",
          .version = "",
          .kind = "",
          .fields = fields,
          .json_form = codec::JsonForm::kObject,
          .create = []() -> void* { return new Kept(); },
          .destroy = [](void* object) { delete static_cast<Kept*>(object); }};
}

constexpr codec::TypeSchema kKeptSourceSchema =
    TableOf<KeptSource>("reloader.KeptSource", kKeptSourceFields);
constexpr codec::TypeSchema kKeptPodStatusSchema =
    TableOf<KeptPodStatus>("reloader.KeptPodStatus", kKeptPodStatusFields);

/// Returns a value only for true, because false needs no memory then.
std::optional<bool> Flag(bool value) { return value ? std::optional(true) : std::nullopt; }

bool IsTrue(const Annotations& annotations, const std::string& key) {
  const std::string* value = Find(annotations, key);
  return value != nullptr && *value == "true";
}

}  // namespace

apimachinery::Bytes BytesOf(const Digest& digest) {
  return apimachinery::Bytes(std::string(digest.bytes.begin(), digest.bytes.end()));
}

apimachinery::Result<Digest> DigestFrom(const apimachinery::Bytes& bytes) {
  Digest digest;
  if (bytes.view().size() != digest.bytes.size()) {
    return apimachinery::Fail(apimachinery::Malformed("digest", "is not 20 bytes long"));
  }
  std::ranges::transform(bytes.view(), digest.bytes.begin(),
                         [](char c) { return static_cast<std::uint8_t>(c); });
  return digest;
}

void KeepAnnotations(const Annotations& annotations, const AnnotationKeys& keys, KeptSource& kept) {
  kept.ignore = Flag(IsTrue(annotations, keys.ignore));
  kept.match = Flag(IsTrue(annotations, keys.match));
  if (std::string release = ReleaseOf(annotations); !release.empty()) {
    kept.release = std::move(release);
  }
  // An unreadable annotation still pauses the source, because somebody has set it on purpose.
  const std::string* paused = Find(annotations, kSourcePaused);
  kept.paused = Flag(paused != nullptr && *paused != "false");
}

void KeepAsCreated(const std::optional<apimachinery::Time>& created,
                   const std::vector<std::optional<apimachinery::Time>>& written,
                   KeptSource& kept) {
  constexpr std::int64_t kTimeStep = 1;  // times in metadata are whole seconds
  kept.as_created =
      Flag(created && !written.empty() && std::ranges::all_of(written, [&](const auto& time) {
             return time && time->seconds <= created->seconds + kTimeStep;
           }));
}

Source SourceOf(SourceId id, KeptSource kept) {
  Source source{.id = std::move(id)};
  source.ignore = kept.ignore.value_or(false);
  source.match = kept.match.value_or(false);
  source.paused = kept.paused.value_or(false);
  source.restored = kept.restored.value_or(false);
  if (kept.settled) {
    const auto settled = apimachinery::Time::Parse(*kept.settled);
    source.settled = settled ? std::optional(*settled) : std::nullopt;
  }
  source.release = std::move(kept.release).value_or("");
  source.keys = std::move(kept.keys).value_or("");
  source.allowed = std::move(kept.allowed).value_or("");
  if (kept.prints) {
    source.prints.packed = kept.prints->view();
  }
  return source;
}

}  // namespace kubexx::reloader

template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::reloader::KeptSource>() {
  return kubexx::reloader::kKeptSourceSchema;
}
template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::reloader::KeptPodStatus>() {
  return kubexx::reloader::kKeptPodStatusSchema;
}
