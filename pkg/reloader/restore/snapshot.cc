#include "kubexx/reloader/restore/snapshot.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <variant>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/owner_reference.h"
#include "kubexx/api/resource.h"
#include "kubexx/base/hex.h"
#include "kubexx/crypto/secrets.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/restore/appliers.h"

namespace kubexx::reloader {
namespace {

/// A name has at most 253 characters, and the end of a snapshot's name takes 23 of them.
constexpr std::size_t kMaxSourceName = 220;
constexpr std::size_t kNameDigits = 16;
constexpr std::string_view kNameMark = "-good-";

const apimachinery::ResourceInfo& ResourceOfType(SourceType type) {
  return type == SourceType::kSecret ? api::ResourceOf<api::core::v1::Secret>()
                                     : api::ResourceOf<api::core::v1::ConfigMap>();
}

void AppendPart(std::string_view part, std::string& text) {
  text += std::to_string(part.size()) + ":";
  text += part;
}

void AppendData(const SourceObject& object, std::string& text) {
  if (const auto* secret = std::get_if<api::core::v1::Secret>(&object.object())) {
    for (const auto& [key, value] : secret->data) {
      AppendPart(key, text);
      AppendPart(value.view(), text);
    }
    return;
  }
  const auto& config_map = std::get<api::core::v1::ConfigMap>(object.object());
  for (const auto& [key, value] : config_map.data) {
    AppendPart(key, text);
    AppendPart(value, text);
  }
  text += "binary ";
  for (const auto& [key, value] : config_map.binary_data) {
    AppendPart(key, text);
    AppendPart(value.view(), text);
  }
}

/// The code over all that the operator goes by when it uses a snapshot.
std::string SealFor(const SourceObject& snapshot, const apimachinery::Bytes& key) {
  const api::meta::v1::ObjectMeta& metadata = snapshot.metadata();
  std::string text = "snapshot ";
  AppendPart(NamesOf(snapshot.type()).kind, text);
  AppendPart(metadata.namespace_, text);
  AppendPart(metadata.name, text);
  const std::string* of = Find(metadata.labels, kSnapshotOf);
  AppendPart(of == nullptr ? std::string_view() : *of, text);
  for (const char* annotation : {kSnapshotNumber, kSnapshotReplaced, kSnapshotAppliers}) {
    const std::string* value = Find(metadata.annotations, annotation);
    AppendPart(value == nullptr ? std::string_view() : *value, text);
  }
  AppendData(snapshot, text);
  std::string code = base::ToHex(crypto::HmacSha256(key.view(), text));
  apimachinery::Wipe(text);
  return code;
}

}  // namespace

std::vector<ReplacedData> ReplacedIn(const SourceObject& snapshot) {
  const std::string* text = Find(snapshot.metadata().annotations, kSnapshotReplaced);
  std::vector<ReplacedData> replaced;
  std::string_view rest = text == nullptr ? std::string_view() : std::string_view(*text);
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, space);
    rest.remove_prefix(std::min(space + 1, rest.size()));
    const std::size_t at = word.find('@');
    const auto bad = Digest::Parse(word.substr(0, at));
    if (bad && at != std::string_view::npos) {
      replaced.push_back({.bad = *bad, .version = std::string(word.substr(at + 1))});
    }
  }
  return replaced;
}

void SetReplaced(SourceObject& snapshot, std::span<const ReplacedData> replaced) {
  std::string text;
  for (const ReplacedData& each : replaced.last(std::min(replaced.size(), kMaxReplaced))) {
    text += (text.empty() ? "" : " ") + each.bad.ToString() + "@" + each.version;
  }
  if (text.empty()) {
    snapshot.metadata().annotations.erase(kSnapshotReplaced);
  } else {
    snapshot.metadata().annotations[kSnapshotReplaced] = std::move(text);
  }
}

std::vector<ReplacedData> ReplacedInAll(std::span<const SourceObject> snapshots) {
  std::vector<const SourceObject*> sorted;
  for (const SourceObject& each : snapshots) {
    sorted.push_back(&each);
  }
  std::ranges::stable_sort(sorted, {}, [](const SourceObject* each) { return NumberOf(*each); });
  std::vector<ReplacedData> all;
  for (const SourceObject* each : sorted) {
    for (ReplacedData& replaced : ReplacedIn(*each)) {
      if (std::ranges::find(all, replaced) == all.end()) {
        all.push_back(std::move(replaced));
      }
    }
  }
  return all;
}

std::optional<SourceId> SourceOfSnapshot(const SourceId& object) {
  const std::string_view name = object.key.name;
  const std::size_t at = name.rfind(kNameMark);
  if (at == std::string_view::npos || at == 0 || at >= kMaxSourceName) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(at + kNameMark.size());
  if (digits.size() != kNameDigits ||
      digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  return SourceId{object.type, {object.key.namespace_, std::string(name.substr(0, at))}};
}

std::int64_t NumberOf(const SourceObject& snapshot) {
  const std::string* text = Find(snapshot.metadata().annotations, kSnapshotNumber);
  std::int64_t number = 0;
  if (text == nullptr ||
      std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) {
    return 0;
  }
  return number;
}

void Seal(SourceObject& snapshot, const apimachinery::Bytes& key) {
  snapshot.metadata().annotations[kSnapshotSeal] = SealFor(snapshot, key);
}

bool IsOwn(const SourceObject& object, const std::string& uid, const apimachinery::Bytes& key) {
  const std::string* of = Find(object.metadata().labels, kSnapshotOf);
  const std::string* seal = Find(object.metadata().annotations, kSnapshotSeal);
  return of != nullptr && *of == uid && seal != nullptr &&
         crypto::IsSameSecret(*seal, SealFor(object, key));
}

void SortNewestFirst(std::vector<SourceObject>& snapshots) {
  std::ranges::stable_sort(snapshots, std::ranges::greater(), NumberOf);
}

SourceObject SnapshotOf(const SourceObject& source, std::int64_t number,
                        const std::string& ignore_annotation, const apimachinery::Bytes& key) {
  const api::meta::v1::ObjectMeta& from = source.metadata();
  const std::string digest = source.DigestOfAll().ToString();
  // Nobody can take a name beforehand.
  const std::string mark =
      base::ToHex(crypto::HmacSha256(key.view(), from.uid + "/" + digest)).substr(0, kNameDigits);
  // A name may not have a dot or a hyphen before the one that follows here.
  std::string name = from.name.substr(0, kMaxSourceName);
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) {
    name.pop_back();
  }
  SourceObject snapshot =
      SourceObject::Empty({source.type(), {from.namespace_, name + std::string(kNameMark) + mark}});
  snapshot.TakeData(source);
  snapshot.MakeImmutable();
  api::meta::v1::ObjectMeta& metadata = snapshot.metadata();
  const apimachinery::ResourceInfo& resource = ResourceOfType(source.type());
  metadata.labels = {{kSnapshotOf, from.uid}};
  metadata.annotations = {{kSnapshotSource, std::string(resource.kind) + "/" + from.name},
                          {kSnapshotDigest, digest},
                          {kSnapshotNumber, std::to_string(number)},
                          {ignore_annotation, "true"}};
  metadata.owner_references.push_back(api::OwnerReferenceTo(resource, from.name, from.uid));
  Seal(snapshot, key);
  return snapshot;
}

}  // namespace kubexx::reloader
