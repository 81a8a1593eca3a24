#include "kubexx/reloader/model/baseline_owner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/managed_fields.h"

namespace kubexx::reloader {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Time;

namespace {

bool Has(const ManagedFieldsEntry& entry, std::string_view field) {
  return entry.fields_v1 && entry.fields_v1->raw.find(field) != std::string::npos;
}

/// The annotation's name in managed fields.
const std::string& BaselineField() {
  static const std::string field = "\"f:" + std::string(kBaselineAnnotation) + "\"";
  return field;
}

/// The name of the annotation that a CronJob gets with each Job that is made of it.
const std::string& JobField() {
  static const std::string field = "\"f:" + std::string(kRolledFor) + "\"";
  return field;
}

/// The API server notes who creates an object before it asks admission webhooks, and when it was
/// created after that: at most this many seconds later.
constexpr std::int64_t kLongestAdmission = 60;

bool HasTemplate(const ManagedFieldsEntry& entry) { return Has(entry, "\"f:template\""); }

/// The latest time of the entries for which `counts` returns true; std::nullopt when none has one.
template <class Counts>
std::optional<Time> LatestOf(const api::meta::v1::ObjectMeta& metadata, Counts counts) {
  std::optional<Time> latest;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (entry.time && counts(entry)) {
      latest = std::max(latest.value_or(*entry.time), *entry.time);
    }
  }
  return latest;
}

}  // namespace

std::optional<Time> BaselineRestoredAt(const api::meta::v1::ObjectMeta& metadata,
                                       bool template_is_stamped) {
  std::optional<Time> restored;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (!Has(entry, BaselineField())) {
      continue;
    }
    if (IsOfOperator(entry)) {
      return std::nullopt;
    }
    // A write without the template made no pods. It may be a manifest with an old baseline. But an
    // undo may only remove a variable, and a removed field has no owner. Therefore a command that
    // undoes counts, and so does any writer when no other rollout is known.
    const bool made_no_pods = template_is_stamped && !HasTemplate(entry) && !IsOfUndo(entry);
    if (entry.operation != "Update" || made_no_pods || IsUnknownManager(entry)) {
      continue;
    }
    const auto fields = codec::JsonTree::Parse(entry.fields_v1->raw);
    const Time at = fields ? TimeOfTemplate(entry, *fields) : Time{};
    restored = std::max(restored.value_or(Time{}), at);
  }
  return restored;
}

std::optional<Time> UndoneAt(const api::meta::v1::ObjectMeta& metadata) {
  return LatestOf(metadata, [](const ManagedFieldsEntry& entry) {
    return IsOfUndo(entry) && (Has(entry, BaselineField()) || HasTemplate(entry));
  });
}

std::optional<Time> TemplateWrittenAt(const api::meta::v1::ObjectMeta& metadata) {
  return LatestOf(metadata, [](const ManagedFieldsEntry& entry) {
    return !IsOfOperator(entry) && !IsOfUndo(entry) && HasTemplate(entry);
  });
}

std::optional<Time> OwnWrittenAt(const api::meta::v1::ObjectMeta& metadata) {
  return LatestOf(metadata, [](const ManagedFieldsEntry& entry) {
    return entry.manager == kFieldManager &&
           (HasTemplate(entry) || Has(entry, "\"f:restartAt\"") || Has(entry, JobField()));
  });
}

bool IsBaselineForeign(const api::meta::v1::ObjectMeta& metadata) {
  bool is_foreign = false;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (Has(entry, BaselineField())) {
      if (IsOfOperator(entry)) {
        return false;
      }
      is_foreign = is_foreign || !IsUnknownManager(entry);
    }
  }
  return is_foreign;
}

bool IsMadeWithBaseline(const api::meta::v1::ObjectMeta& metadata) {
  return std::ranges::any_of(metadata.managed_fields, [&](const ManagedFieldsEntry& entry) {
    return entry.manager == kFieldManager && entry.operation == "Update" && entry.time &&
           entry.time->seconds + kLongestAdmission >= metadata.creation_timestamp.seconds &&
           HasTemplate(entry) && Has(entry, BaselineField());
  });
}

std::optional<Time> LastWritten(const api::meta::v1::ObjectMeta& metadata) {
  std::optional<Time> written;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (entry.time && (Has(entry, "\"f:data\"") || Has(entry, "\"f:binaryData\""))) {
      written = std::max(written.value_or(*entry.time), *entry.time);
    }
  }
  return written ? std::max(*written, metadata.creation_timestamp) : written;
}

std::map<std::string, Time> KeysLastWritten(const api::meta::v1::ObjectMeta& metadata) {
  constexpr std::string_view kField = "f:";
  std::map<std::string, Time> keys;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (!entry.time || !entry.fields_v1) {
      continue;
    }
    const auto fields = codec::JsonTree::Parse(entry.fields_v1->raw);
    for (const char* part : {"f:data", "f:binaryData"}) {
      const codec::JsonTree* data = fields ? fields->Find(part) : nullptr;
      if (data == nullptr) {
        continue;
      }
      for (const codec::JsonTree::Member& member : data->members()) {
        if (member.key.starts_with(kField)) {
          Time& written =
              keys.try_emplace(member.key.substr(kField.size()), *entry.time).first->second;
          written = std::max({written, *entry.time, metadata.creation_timestamp});
        }
      }
    }
  }
  return keys;
}

}  // namespace kubexx::reloader
