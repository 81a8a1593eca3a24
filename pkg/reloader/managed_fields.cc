#include "kubexx/reloader/managed_fields.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kubexx/reloader/patch.h"

namespace kubexx::reloader {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Time;

namespace {

// How the API server calls what was there before it began to note managers, and those it has
// merged.
constexpr std::string_view kUnknownManagers[] = {"before-first-apply", "ancient-changes"};

}  // namespace

bool IsOfOperator(const ManagedFieldsEntry& entry) { return entry.manager == kFieldManager; }

bool IsUnknownManager(const ManagedFieldsEntry& entry) {
  return std::ranges::find(kUnknownManagers, entry.manager) != std::end(kUnknownManagers);
}

Time TimeOfTemplate(const ManagedFieldsEntry& entry, const codec::JsonTree& fields) {
  const codec::JsonTree* spec = fields.Find("f:spec");
  const bool is_of_template_only =
      spec == nullptr ||
      (spec->IsObject() && spec->members().size() == 1 && spec->Find("f:template") != nullptr);
  return is_of_template_only ? entry.time.value_or(Time{}) : Time{};
}

}  // namespace kubexx::reloader
