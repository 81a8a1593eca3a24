#include "kubexx/reloader/baseline_owner.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/baseline.h"
#include "kubexx/reloader/patch.h"

namespace kubexx::reloader {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Time;

namespace {

// How the API server calls what was there before it began to note managers, and those it has
// merged.
constexpr std::string_view kUnknownManagers[] = {"before-first-apply", "ancient-changes"};

bool Has(const ManagedFieldsEntry& entry, std::string_view field) {
  return entry.fields_v1 && entry.fields_v1->raw.find(field) != std::string::npos;
}

bool IsUnknown(const ManagedFieldsEntry& entry) {
  return std::ranges::find(kUnknownManagers, entry.manager) != std::end(kUnknownManagers);
}

/// The annotation as managed fields write it.
const std::string& BaselineField() {
  static const std::string field = "\"f:" + std::string(kBaselineAnnotation) + "\"";
  return field;
}

/// Whether nothing else of spec than the pod template is the entry's. Otherwise its time may be
/// that of a later write, such as `kubectl rollout pause`.
bool IsOfTemplateOnly(const ManagedFieldsEntry& entry) {
  const auto fields = codec::JsonTree::Parse(entry.fields_v1->raw);
  const codec::JsonTree* spec = fields ? fields->Find("f:spec") : nullptr;
  return fields && (spec == nullptr || (spec->IsObject() && spec->members().size() == 1 &&
                                        spec->Find("f:template") != nullptr));
}

}  // namespace

std::optional<Time> BaselineRestoredAt(const api::meta::v1::ObjectMeta& metadata,
                                       bool template_is_stamped) {
  std::optional<Time> restored;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (!Has(entry, BaselineField())) {
      continue;
    }
    if (entry.manager == kFieldManager) {
      return std::nullopt;
    }
    // Without the template it made no pods: a manifest with an old baseline, perhaps. But the undo
    // of the first rollout only takes a variable away, and what is gone has no owner.
    if (entry.operation != "Update" || (template_is_stamped && !Has(entry, "\"f:template\"")) ||
        IsUnknown(entry)) {
      continue;
    }
    const Time at = IsOfTemplateOnly(entry) ? entry.time.value_or(Time{}) : Time{};
    restored = std::max(restored.value_or(Time{}), at);
  }
  return restored;
}

bool IsBaselineForeign(const api::meta::v1::ObjectMeta& metadata) {
  bool is_foreign = false;
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (Has(entry, BaselineField())) {
      if (entry.manager == kFieldManager) {
        return false;
      }
      is_foreign = is_foreign || !IsUnknown(entry);
    }
  }
  return is_foreign;
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

}  // namespace kubexx::reloader
