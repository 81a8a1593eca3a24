// Tables of volumes, claims, and classes.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr const char* kBetaClass = "volume.beta.kubernetes.io/storage-class";

/// Returns "RWO,ROX" for the access modes at `path`.
std::string ModesAt(const JsonTree& o, CellPath path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShortModes = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::vector<std::string> found;
  for (const auto& [mode, shown] : kShortModes) {
    const bool has = std::ranges::any_of(ElementsAt(o, path), [wanted = mode](const JsonTree& one) {
      return one.AsString() != nullptr && *one.AsString() == wanted;
    });
    if (has) {
      found.emplace_back(shown);
    }
  }
  return base::Join(found, ",");
}

JsonTree StatusCell(const JsonTree& o) {
  return IsDeleting(o) ? std::string("Terminating") : StringAt(o, {"status", "phase"});
}
JsonTree StorageClassCell(const JsonTree& o) {
  const auto annotations = MetaMap(o, "annotations");
  const auto beta = annotations.find(kBetaClass);
  return beta != annotations.end() ? beta->second : StringAt(o, {"spec", "storageClassName"});
}
JsonTree AttributesClassCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "volumeAttributesClassName"}).value_or("<unset>");
}
JsonTree VolumeModeCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "volumeMode"}).value_or("<unset>");
}

JsonTree CapacityCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "capacity", "storage"}).value_or("0");
}
JsonTree AccessModesCell(const JsonTree& o) { return ModesAt(o, {"spec", "accessModes"}); }
JsonTree ReclaimCell(const JsonTree& o) {
  return StringAt(o, {"spec", "persistentVolumeReclaimPolicy"});
}
JsonTree ClaimCell(const JsonTree& o) {
  const JsonTree* const claim = o.At({"spec", "claimRef"});
  return claim == nullptr || !claim->IsObject()
             ? std::string()
             : std::string(claim->TextAt("namespace")) + "/" + std::string(claim->TextAt("name"));
}
JsonTree ReasonCell(const JsonTree& o) { return StringAt(o, {"status", "reason"}); }

JsonTree VolumeCell(const JsonTree& o) { return StringAt(o, {"spec", "volumeName"}); }
JsonTree ClaimCapacityCell(const JsonTree& o) {
  return StringAt(o, {"spec", "volumeName"}).empty()
             ? ""
             : ValueAt(o, {"status", "capacity", "storage"}).value_or("0");
}
JsonTree ClaimModesCell(const JsonTree& o) {
  return StringAt(o, {"spec", "volumeName"}).empty() ? "" : ModesAt(o, {"status", "accessModes"});
}

/// Returns the name of a class, and whether it is the default class.
std::string ClassName(const JsonTree& o, std::initializer_list<const char*> annotations) {
  const auto all = MetaMap(o, "annotations");
  const bool is_default = std::ranges::any_of(annotations, [&all](const char* annotation) {
    const auto found = all.find(annotation);
    return found != all.end() && found->second == "true";
  });
  return MetaString(o, "name") + (is_default ? " (default)" : "");
}
JsonTree StorageClassNameCell(const JsonTree& o) {
  return ClassName(o, {"storageclass.kubernetes.io/is-default-class",
                       "storageclass.beta.kubernetes.io/is-default-class"});
}
JsonTree ProvisionerCell(const JsonTree& o) { return StringAt(o, {"provisioner"}); }
JsonTree ReclaimPolicyCell(const JsonTree& o) {
  return ValueAt(o, {"reclaimPolicy"}).value_or("Delete");
}
JsonTree BindingModeCell(const JsonTree& o) {
  return ValueAt(o, {"volumeBindingMode"}).value_or("Immediate");
}
JsonTree ExpansionCell(const JsonTree& o) { return FlagAt(o, {"allowVolumeExpansion"}); }
JsonTree DriverNameCell(const JsonTree& o) { return StringAt(o, {"driverName"}); }

JsonTree AttacherCell(const JsonTree& o) { return StringAt(o, {"spec", "attacher"}); }
JsonTree AttachedVolumeCell(const JsonTree& o) {
  return StringAt(o, {"spec", "source", "persistentVolumeName"});
}
JsonTree AttachedNodeCell(const JsonTree& o) { return StringAt(o, {"spec", "nodeName"}); }
JsonTree AttachedCell(const JsonTree& o) { return FlagAt(o, {"status", "attached"}); }

JsonTree DriversCell(const JsonTree& o) { return SizeAt(o, {"spec", "drivers"}); }
JsonTree AttachRequiredCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "attachRequired"}).value_or("true") == "true";
}
JsonTree PodInfoCell(const JsonTree& o) { return FlagAt(o, {"spec", "podInfoOnMount"}); }
JsonTree StorageCapacityCell(const JsonTree& o) { return FlagAt(o, {"spec", "storageCapacity"}); }
JsonTree TokenRequestsCell(const JsonTree& o) {
  return OrElse(MembersAt(o, {"spec", "tokenRequests"}, "audience"), "<unset>");
}
JsonTree RepublishCell(const JsonTree& o) { return FlagAt(o, {"spec", "requiresRepublish"}); }
JsonTree ModesCell(const JsonTree& o) {
  return OrElse(JoinedAt(o, {"spec", "volumeLifecycleModes"}));
}

constexpr Column kVolumeColumns[] = {kNameColumn,
                                     {"Capacity", "string", CapacityCell},
                                     {"Access Modes", "string", AccessModesCell},
                                     {"Reclaim Policy", "string", ReclaimCell},
                                     {"Status", "string", StatusCell},
                                     {"Claim", "string", ClaimCell},
                                     {"StorageClass", "string", StorageClassCell},
                                     {"VolumeAttributesClass", "string", AttributesClassCell},
                                     {"Reason", "string", ReasonCell},
                                     kAgeColumn,
                                     {"VolumeMode", "string", VolumeModeCell, 1}};
constexpr Column kClaimColumns[] = {kNameColumn,
                                    {"Status", "string", StatusCell},
                                    {"Volume", "string", VolumeCell},
                                    {"Capacity", "string", ClaimCapacityCell},
                                    {"Access Modes", "string", ClaimModesCell},
                                    {"StorageClass", "string", StorageClassCell},
                                    {"VolumeAttributesClass", "string", AttributesClassCell},
                                    kAgeColumn,
                                    {"VolumeMode", "string", VolumeModeCell, 1}};
constexpr Column kStorageClassColumns[] = {{"Name", "string", StorageClassNameCell, 0, "name"},
                                           {"Provisioner", "string", ProvisionerCell},
                                           {"ReclaimPolicy", "string", ReclaimPolicyCell},
                                           {"VolumeBindingMode", "string", BindingModeCell},
                                           {"AllowVolumeExpansion", "string", ExpansionCell},
                                           kAgeColumn};
constexpr Column kAttributesClassColumns[] = {
    kNameColumn, {"DriverName", "string", DriverNameCell}, kAgeColumn};
constexpr Column kAttachmentColumns[] = {kNameColumn,
                                         {"Attacher", "string", AttacherCell, 0, "name"},
                                         {"PV", "string", AttachedVolumeCell},
                                         {"Node", "string", AttachedNodeCell},
                                         {"Attached", "boolean", AttachedCell},
                                         kAgeColumn};
constexpr Column kCsiNodeColumns[] = {kNameColumn, {"Drivers", "integer", DriversCell}, kAgeColumn};
constexpr Column kCsiDriverColumns[] = {kNameColumn,
                                        {"AttachRequired", "boolean", AttachRequiredCell},
                                        {"PodInfoOnMount", "boolean", PodInfoCell},
                                        {"StorageCapacity", "boolean", StorageCapacityCell},
                                        {"TokenRequests", "string", TokenRequestsCell},
                                        {"RequiresRepublish", "boolean", RepublishCell},
                                        {"Modes", "string", ModesCell},
                                        kAgeColumn};

}  // namespace

constexpr ColumnTable kVolumeTable{.columns = kVolumeColumns};
constexpr ColumnTable kClaimTable{.columns = kClaimColumns};
constexpr ColumnTable kStorageClassTable{.columns = kStorageClassColumns};
constexpr ColumnTable kAttributesClassTable{.columns = kAttributesClassColumns};
constexpr ColumnTable kAttachmentTable{.columns = kAttachmentColumns};
constexpr ColumnTable kCsiNodeTable{.columns = kCsiNodeColumns};
constexpr ColumnTable kCsiDriverTable{.columns = kCsiDriverColumns};

}  // namespace kubexx::apiserver
