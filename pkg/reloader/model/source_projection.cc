#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Result;

// Annotations of the projection. They replace the object's own, so nobody else can set them.
constexpr char kProjectedDigestKey[] = "digest";
constexpr char kIgnoreKey[] = "ignore";
constexpr char kMatchKey[] = "match";
constexpr char kPausedKey[] = "paused";
constexpr char kKeysKey[] = "keys";
constexpr char kReleaseKey[] = "release";
constexpr char kAsCreatedKey[] = "as-created";

// Times in metadata are whole seconds.
constexpr std::int64_t kTimeStep = 1;

Digest DigestOfData(const ConfigMap& config_map) {
  DigestBuilder builder;
  for (const auto& [key, value] : config_map.data) {
    builder.Add(key, value);
  }
  std::map<std::string_view, std::string> encoded;
  for (const auto& [key, value] : config_map.binary_data) {
    builder.Add(key, encoded[key] = EncodeBase64(value.view()));
  }
  return builder.Finish();
}

Digest DigestOfData(const Secret& secret) {
  DigestBuilder builder;
  for (const auto& [key, value] : secret.data) {
    builder.Add(key, value.view());
  }
  return builder.Finish();
}

/// Wipes a text when the scope ends.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string& text) : text_(text) {}
  WipeAtEnd(const WipeAtEnd&) = delete;
  WipeAtEnd& operator=(const WipeAtEnd&) = delete;
  ~WipeAtEnd() { apimachinery::Wipe(text_); }

 private:
  std::string& text_;
};

void WipeValues(std::map<std::string, std::string>& texts) {
  for (auto& [key, value] : texts) {
    apimachinery::Wipe(value);
  }
}

// Bytes wipe themselves. What kubectl apply leaves in an annotation holds the data once more.
void WipeTexts(ConfigMap& config_map) { WipeValues(config_map.metadata.annotations); }
void WipeTexts(Secret& secret) {
  WipeValues(secret.metadata.annotations);
  WipeValues(secret.string_data);
}

bool IsTrue(const Annotations& annotations, const std::string& key) {
  const std::string* value = Find(annotations, key);
  return value != nullptr && *value == "true";
}

void KeepKeys(const api::meta::v1::ObjectMeta& metadata, Annotations& kept) {
  const std::string* text = Find(metadata.annotations, kSourceKeys);
  if (text == nullptr) {
    return;
  }
  std::vector<std::string> keys;
  AnyItem(*text, [&](std::string_view key) {
    keys.emplace_back(key);
    return false;
  });
  std::vector<std::string> problems;
  if (std::string list = reloadpolicy::KeyList(std::move(keys), problems); !list.empty()) {
    kept[kKeysKey] = std::move(list);
  }
  for (const std::string& problem : problems) {
    logging::Warning("Part of an annotation has no effect", {{"annotation", kSourceKeys},
                                                             {"namespace", metadata.namespace_},
                                                             {"source", metadata.name},
                                                             {"error", problem}});
  }
}

bool IsAsCreatedByTimes(const api::meta::v1::ObjectMeta& metadata) {
  return !metadata.managed_fields.empty() &&
         std::ranges::all_of(metadata.managed_fields, [&](const auto& each) {
           return each.time &&
                  each.time->seconds <= metadata.creation_timestamp.seconds + kTimeStep;
         });
}

template <class T>
Result<void> Project(const AnnotationKeys& keys, cache::Object& object) {
  std::string bytes = std::exchange(object.bytes, {});
  const WipeAtEnd wipe(bytes);
  KX_ASSIGN_OR_RETURN(T source, codec::Decode<T>(object.encoding, bytes));
  T projection{};
  Annotations& kept = projection.metadata.annotations;
  kept[kProjectedDigestKey] = DigestOfData(source).ToString();
  KeepSourceAnnotations(source.metadata.annotations, keys, kept);
  KeepKeys(source.metadata, kept);
  if (IsAsCreatedByTimes(source.metadata)) {
    kept[kAsCreatedKey] = "true";
  }
  projection.metadata.namespace_ = source.metadata.namespace_;
  projection.metadata.name = source.metadata.name;
  WipeTexts(source);
  object.encoding = codec::Encoding::kProtobuf;
  object.bytes = codec::EncodeProtobuf(projection);
  return {};
}

template <class T>
bool HasAsCreated(const cache::Object& object) {
  const auto projection = codec::Decode<T>(object.encoding, object.bytes);
  return projection && projection->metadata.annotations.contains(kAsCreatedKey);
}

template <class T>
Result<Source> Read(SourceType type, const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const T projection, codec::Decode<T>(object.encoding, object.bytes));
  const Annotations& kept = projection.metadata.annotations;
  const std::string* text = Find(kept, kProjectedDigestKey);
  const auto digest = text == nullptr ? std::nullopt : Digest::Parse(*text);
  if (!digest) {
    return apimachinery::Fail(apimachinery::Malformed("metadata.annotations", "has no digest"));
  }
  Source source{.id = {type, {projection.metadata.namespace_, projection.metadata.name}},
                .digest = *digest};
  ReadSourceAnnotations(kept, source);
  return source;
}

}  // namespace

ValueDigests ValueDigestsOf(const ConfigMap& config_map) {
  ValueDigests result{.whole = DigestOfData(config_map)};
  for (const auto& [key, value] : config_map.data) {
    result.values[key] = DigestOf(value);
  }
  for (const auto& [key, value] : config_map.binary_data) {
    result.values[key] = DigestOf(value.view());
  }
  return result;
}

ValueDigests ValueDigestsOf(const Secret& secret) {
  ValueDigests result{.whole = DigestOfData(secret)};
  for (const auto& [key, value] : secret.data) {
    result.values[key] = DigestOf(value.view());
  }
  return result;
}

void KeepSourceAnnotations(const Annotations& annotations, const AnnotationKeys& keys,
                           Annotations& kept) {
  if (IsTrue(annotations, keys.ignore)) {
    kept[kIgnoreKey] = "true";
  }
  if (IsTrue(annotations, keys.match)) {
    kept[kMatchKey] = "true";
  }
  if (std::string release = ReleaseOf(annotations); !release.empty()) {
    kept[kReleaseKey] = std::move(release);
  }
  // A brake that somebody has set and nobody can read holds.
  if (const std::string* paused = Find(annotations, kSourcePaused);
      paused != nullptr && *paused != "false") {
    kept[kPausedKey] = "true";
  }
}

void ReadSourceAnnotations(const Annotations& kept, Source& source) {
  source.ignore = kept.contains(kIgnoreKey);
  source.match = kept.contains(kMatchKey);
  source.paused = kept.contains(kPausedKey);
  if (const std::string* release = Find(kept, kReleaseKey)) {
    source.release = *release;
  }
  if (const std::string* list = Find(kept, kKeysKey)) {
    source.keys = *list;
  }
}

Result<void> ProjectSource(SourceType type, const AnnotationKeys& keys, cache::Object& object) {
  switch (type) {
    case SourceType::kConfigMap:
      return Project<ConfigMap>(keys, object);
    case SourceType::kSecret:
      return Project<Secret>(keys, object);
    case SourceType::kSecretProviderClass:
      break;
  }
  return ProjectPodStatus(object);
}

bool IsAsCreated(SourceType type, const cache::Object& object) {
  return type == SourceType::kSecret ? HasAsCreated<Secret>(object)
                                     : HasAsCreated<ConfigMap>(object);
}

Result<Source> SourceFrom(SourceType type, const cache::Object& object) {
  switch (type) {
    case SourceType::kConfigMap:
      return Read<ConfigMap>(type, object);
    case SourceType::kSecret:
      return Read<Secret>(type, object);
    case SourceType::kSecretProviderClass:
      break;
  }
  KX_ASSIGN_OR_RETURN(const std::optional<PodReport> report, PodReportFrom(object));
  return report ? Source{.id = report->source, .digest = report->digest}
                : Source{.id = {type, object.key}};
}

}  // namespace kubexx::reloader
