#include "kubexx/reloader/fields/field_projection.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/kept_source.h"
#include "kubexx/reloader/model/source_trace.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using apimachinery::Time;
using codec::JsonTree;

/// Texts that are wiped when the scope ends.
class WipedTexts {
 public:
  WipedTexts() = default;
  WipedTexts(const WipedTexts&) = delete;
  WipedTexts& operator=(const WipedTexts&) = delete;
  ~WipedTexts() {
    for (std::string& text : texts_) {
      apimachinery::Wipe(text);
    }
  }
  /// There must be no more texts than `number`, so that views of them stay valid.
  void Reserve(std::size_t number) { texts_.reserve(number); }
  std::string_view Add(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  std::vector<std::string> texts_;
};

/// Whether the fields of an entry of managed fields own the field, or what it is in as a whole.
/// What is in a list counts as the list: who owns one of its elements is not looked at.
bool Owns(const JsonTree& fields, const ObjectField& field) {
  const JsonTree* at = &fields;
  for (const FieldStep& step : field.steps) {
    if (step.member.empty()) {
      return true;
    }
    at = at->Find("f:" + step.member);
    if (at == nullptr) {
      return false;
    }
    if (at->size() == 0) {
      return true;
    }
  }
  return true;
}

std::optional<Time> TimeAt(const JsonTree& tree, std::string_view member) {
  const auto time = Time::Parse(tree.TextAt(member));
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<Time> CreationOf(const JsonTree& object) {
  const JsonTree* metadata = object.Find("metadata");
  return metadata == nullptr ? std::nullopt : TimeAt(*metadata, "creationTimestamp");
}

/// The latest entry of the managed fields that owns one of the fields; null when there is none.
const JsonTree* LatestOwner(const SourceKind& kind, const JsonTree& object) {
  const JsonTree* entries = object.At({"metadata", "managedFields"});
  if (entries == nullptr) {
    return nullptr;
  }
  const JsonTree* latest = nullptr;
  std::optional<Time> latest_time;
  for (const JsonTree& entry : entries->elements()) {
    const auto time = TimeAt(entry, "time");
    const JsonTree* fields = entry.Find("fieldsV1");
    if (time && fields != nullptr && (!latest_time || *time > *latest_time) &&
        std::ranges::any_of(kind.fields,
                            [&](const ObjectField& field) { return Owns(*fields, field); })) {
      latest = &entry;
      latest_time = time;
    }
  }
  return latest;
}

std::optional<DataWriter> WriterOfFields(const SourceKind& kind, const JsonTree& object) {
  const JsonTree* entry = LatestOwner(kind, object);
  return entry == nullptr
             ? std::nullopt
             : std::optional<DataWriter>({.manager = ShownManager(entry->TextAt("manager")),
                                          .time = *TimeAt(*entry, "time")});
}

/// Whether `path`, of members in managed fields, leads to the field or into it. What is in a list
/// is in no field: see OwnsOthers.
bool IsWithin(const std::vector<std::string_view>& path, const ObjectField& field) {
  return field.steps.size() <= path.size() &&
         std::ranges::equal(field.steps, std::span(path).first(field.steps.size()),
                            [](const FieldStep& step, std::string_view member) {
                              return !step.member.empty() && member == "f:" + step.member;
                            });
}

/// Whether managed fields, which are at `path` in the object, own anything but fields of the kind.
bool OwnsOthers(const SourceKind& kind, const JsonTree& fields,
                std::vector<std::string_view>& path) {
  for (const JsonTree::Member& each : fields.members()) {
    // Labels and annotations do not count, as for ConfigMaps.
    if (each.key == "." || (path.empty() && each.key == "f:metadata")) {
      continue;
    }
    path.emplace_back(each.key);
    const bool is_field = std::ranges::any_of(
        kind.fields, [&](const ObjectField& field) { return IsWithin(path, field); });
    const bool is_other =
        !is_field && (each.value.size() == 0 || OwnsOthers(kind, each.value, path));
    path.pop_back();
    if (is_other) {
      return true;
    }
  }
  return false;
}

/// When one of the fields was last written; std::nullopt when nothing tells. A controller writes
/// all of a status as one manager, whose time is that of the last of its writes, whatever it was.
std::optional<Time> TimeOfFields(const SourceKind& kind, const JsonTree& object) {
  const JsonTree* entry = LatestOwner(kind, object);
  std::vector<std::string_view> path;
  if (entry == nullptr || OwnsOthers(kind, *entry->Find("fieldsV1"), path)) {
    return std::nullopt;
  }
  // What was restored or copied is as old as the object.
  const auto created = CreationOf(object);
  const auto written = TimeAt(*entry, "time");
  return created ? std::max(*written, *created) : written;
}

std::vector<std::optional<Time>> TimesOfWritesIn(const JsonTree& object) {
  std::vector<std::optional<Time>> times;
  if (const JsonTree* entries = object.At({"metadata", "managedFields"})) {
    for (const JsonTree& entry : entries->elements()) {
      times.push_back(TimeAt(entry, "time"));
    }
  }
  return times;
}

Annotations AnnotationsIn(const JsonTree& object) {
  Annotations annotations;
  if (const JsonTree* all = object.At({"metadata", "annotations"})) {
    for (const JsonTree::Member& each : all->members()) {
      if (const std::string* value = each.value.AsString()) {
        annotations[each.key] = *value;
      }
    }
  }
  return annotations;
}

/// `lines`: limits the lines in the log about objects that cannot be read; null: there are none.
Result<void> ProjectText(const SourceKind& kind, const AnnotationKeys& keys, std::string_view json,
                         cache::Object& object, SourceDetail detail, base::ReportLimit* lines) {
  if (object.encoding != codec::Encoding::kJson) {
    return Fail(apimachinery::Malformed("object", "a custom resource that is not JSON"));
  }
  const auto parsed = JsonTree::Parse(json);
  if (!parsed) {
    // It exists, so it must not count as deleted.
    StoreKept(KeptSource{.unreadable = parsed.error().message}, object);
    if (const auto others = lines == nullptr ? std::nullopt : lines->Admit()) {
      logging::Error(
          "Cannot read an object whose fields are a source; until it can be read, nothing rolls "
          "for it, and what is recorded of it stays",
          {{"kind", kind.kind},
           {"object", object.key.ToString()},
           {"error", parsed.error()},
           {"others", *others}});
    }
    return {};
  }
  const JsonTree& tree = *parsed;
  const ValueDigests digests = FieldDigestsOf(kind, tree);
  KeptSource kept{.digest = BytesOf(digests.whole)};
  KeepAnnotations(AnnotationsIn(tree), keys, kept);
  KeepAsCreated(CreationOf(tree), TimesOfWritesIn(tree), kept);
  if (detail == SourceDetail::kWithKeys) {
    KeepTrace(digests, WriterOfFields(kind, tree), kept);
  }
  StoreKept(kept, object);
  return {};
}

/// As ProjectText, with the object's own bytes, which are wiped.
Result<void> ProjectBytes(const SourceKind& kind, const AnnotationKeys& keys, cache::Object& object,
                          SourceDetail detail, base::ReportLimit* lines) {
  std::string json = std::exchange(object.bytes, {});
  const auto projected = ProjectText(kind, keys, json, object, detail, lines);
  apimachinery::Wipe(json);
  return projected;
}

}  // namespace

ValueDigests FieldDigestsOf(const SourceKind& kind, const JsonTree& object) {
  ValueDigests digests{.whole = kNoSource};
  WipedTexts texts;
  texts.Reserve(kind.fields.size());
  DigestBuilder builder;
  bool is_whole = true;
  for (const ObjectField& field : kind.fields) {
    const JsonTree* value = FieldValueOf(field, object);
    if (value == nullptr) {
      is_whole = false;
      continue;
    }
    const std::string_view text = texts.Add(CanonicalText(*value));
    builder.Add(field.text, text);
    digests.values[FieldKey(field)] = DigestOf(text);
  }
  if (is_whole) {
    digests.whole = builder.Finish();
    digests.written = TimeOfFields(kind, object);
  }
  return digests;
}

std::string FieldKey(const ObjectField& field) {
  std::string key;
  for (const char c : field.text) {
    if (c == '[') {
      key.push_back('.');
    } else if (c == '=') {
      key.push_back('-');
    } else if (base::IsAlphanumeric(c) || c == '.' || c == '-' || c == '_') {
      key.push_back(c);
    } else if (c != ']') {
      key.push_back('_');
    }
  }
  return key;
}

Result<void> ProjectFields(const SourceKind& kind, const AnnotationKeys& keys,
                           cache::Object& object, SourceDetail detail) {
  return ProjectBytes(kind, keys, object, detail, nullptr);
}

std::function<Result<void>(cache::Object&)> TransformForFields(SourceKind kind, AnnotationKeys keys,
                                                               SourceDetail detail) {
  return [kind = std::move(kind), keys = std::move(keys), detail,
          lines = std::make_shared<base::ReportLimit>(base::Clock::Real())](cache::Object& object) {
    return ProjectBytes(kind, keys, object, detail, lines.get());
  };
}

}  // namespace kubexx::reloader
