// Tables of nodes, namespaces and Events, and of the objects that govern them.
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree DataCell(const JsonTree& o) { return SizeAt(o, {"data"}) + SizeAt(o, {"binaryData"}); }
JsonTree TypeCell(const JsonTree& o) { return StringAt(o, {"type"}); }
JsonTree PhaseCell(const JsonTree& o) { return StringAt(o, {"status", "phase"}); }

JsonTree NodeStatusCell(const JsonTree& o) {
  std::string status = "Unknown";
  if (FindCondition(o, "Ready") != nullptr) {
    status = ConditionHolds(o, "Ready") ? "Ready" : "NotReady";
  }
  return status + (FlagAt(o, {"spec", "unschedulable"}) ? ",SchedulingDisabled" : "");
}
JsonTree RolesCell(const JsonTree& o) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : MetaMap(o, "labels")) {
    if (key.starts_with(kPrefix)) {
      roles.insert(key.substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role") {
      roles.insert(value);
    }
  }
  roles.erase("");
  return OrElse(base::Join(roles, ","));
}
JsonTree VersionCell(const JsonTree& o) {
  return StringAt(o, {"status", "nodeInfo", "kubeletVersion"});
}
std::string AddressOf(const JsonTree& o, std::string_view type) {
  for (const JsonTree& address : ElementsAt(o, {"status", "addresses"})) {
    if (address.TextAt("type") == type) {
      return std::string(address.TextAt("address"));
    }
  }
  return "<none>";
}
JsonTree InternalIpCell(const JsonTree& o) { return AddressOf(o, "InternalIP"); }
JsonTree NodeExternalIpCell(const JsonTree& o) { return AddressOf(o, "ExternalIP"); }
JsonTree OsImageCell(const JsonTree& o) {
  return OrElse(StringAt(o, {"status", "nodeInfo", "osImage"}), "<unknown>");
}
JsonTree KernelCell(const JsonTree& o) {
  return OrElse(StringAt(o, {"status", "nodeInfo", "kernelVersion"}), "<unknown>");
}
JsonTree RuntimeCell(const JsonTree& o) {
  return OrElse(StringAt(o, {"status", "nodeInfo", "containerRuntimeVersion"}), "<unknown>");
}

JsonTree HolderCell(const JsonTree& o) { return StringAt(o, {"spec", "holderIdentity"}); }

JsonTree HealthCell(const JsonTree& o) {
  const auto conditions = ElementsAt(o, {"conditions"});
  return conditions.empty()                              ? "Unknown"
         : conditions.front().TextAt("status") == "True" ? "Healthy"
                                                         : "Unhealthy";
}
JsonTree HealthMessageCell(const JsonTree& o) {
  return StringAt(o, {"conditions", "0", "message"});
}
JsonTree HealthErrorCell(const JsonTree& o) { return StringAt(o, {"conditions", "0", "error"}); }

/// Returns the used and the allowed amounts, of limits or of all other resources.
std::string QuotaOf(const JsonTree& o, bool limits) {
  const apimachinery::LabelMap used = LabelMapOf(o.At({"status", "used"}));
  std::vector<std::string> parts;
  for (const auto& [name, hard] : LabelMapOf(o.At({"status", "hard"}))) {
    if (name.starts_with("limits.") == limits) {
      const auto found = used.find(name);
      parts.push_back(name + ": " + (found == used.end() ? "0" : found->second) + "/" + hard);
    }
  }
  return base::Join(parts, ", ");
}
JsonTree QuotaRequestsCell(const JsonTree& o) { return QuotaOf(o, false); }
JsonTree QuotaLimitsCell(const JsonTree& o) { return QuotaOf(o, true); }

JsonTree RoleCell(const JsonTree& o) {
  return StringAt(o, {"roleRef", "kind"}) + "/" + StringAt(o, {"roleRef", "name"});
}
std::string SubjectsOf(const JsonTree& o, std::string_view kind) {
  std::vector<std::string> names;
  for (const JsonTree& subject : ElementsAt(o, {"subjects"})) {
    if (subject.TextAt("kind") == kind) {
      const std::string name(subject.TextAt("name"));
      names.push_back(
          kind == "ServiceAccount" ? std::string(subject.TextAt("namespace")) + "/" + name : name);
    }
  }
  return base::Join(names, ", ");
}
JsonTree UsersCell(const JsonTree& o) { return SubjectsOf(o, "User"); }
JsonTree GroupsCell(const JsonTree& o) { return SubjectsOf(o, "Group"); }
JsonTree AccountsCell(const JsonTree& o) { return SubjectsOf(o, "ServiceAccount"); }

JsonTree SignerCell(const JsonTree& o) { return OrElse(StringAt(o, {"spec", "signerName"})); }
JsonTree RequestorCell(const JsonTree& o) { return StringAt(o, {"spec", "username"}); }
JsonTree RequestedCell(const JsonTree& o) {
  const auto seconds = ValueAt(o, {"spec", "expirationSeconds"});
  return seconds ? HumanDuration(std::chrono::seconds(NumberAt(o, {"spec", "expirationSeconds"})))
                 : "<none>";
}
JsonTree DecisionCell(const JsonTree& o) {
  std::string text = FindCondition(o, "Denied") != nullptr     ? "Denied"
                     : FindCondition(o, "Approved") != nullptr ? "Approved"
                                                               : "Pending";
  if (FindCondition(o, "Failed") != nullptr) {
    text += ",Failed";
  }
  return text + (StringAt(o, {"status", "certificate"}).empty() ? "" : ",Issued");
}

JsonTree ValueCell(const JsonTree& o) { return NumberAt(o, {"value"}); }
JsonTree GlobalDefaultCell(const JsonTree& o) { return FlagAt(o, {"globalDefault"}); }
JsonTree PreemptionCell(const JsonTree& o) { return ValueAt(o, {"preemptionPolicy"}).value_or(""); }
JsonTree HandlerCell(const JsonTree& o) { return StringAt(o, {"handler"}); }
JsonTree WebhooksCell(const JsonTree& o) { return SizeAt(o, {"webhooks"}); }

JsonTree ApiServiceCell(const JsonTree& o) {
  const JsonTree* const service = o.At({"spec", "service"});
  return service == nullptr || !service->IsObject()
             ? "Local"
             : std::string(service->TextAt("namespace")) + "/" +
                   std::string(service->TextAt("name"));
}
JsonTree ApiAvailableCell(const JsonTree& o) {
  const JsonTree* const available = FindCondition(o, "Available");
  if (available == nullptr) {
    return "Unknown";
  }
  const std::string status(available->TextAt("status"));
  return status == "True" ? status : status + " (" + std::string(available->TextAt("reason")) + ")";
}

constexpr Column kConfigMapColumns[] = {kNameColumn, {"Data", "string", DataCell}, kAgeColumn};
constexpr Column kSecretColumns[] = {
    kNameColumn, {"Type", "string", TypeCell}, {"Data", "string", DataCell}, kAgeColumn};
constexpr Column kNamespaceColumns[] = {kNameColumn, {"Status", "string", PhaseCell}, kAgeColumn};
constexpr Column kAccountColumns[] = {kNameColumn, kAgeColumn};
constexpr Column kNodeColumns[] = {kNameColumn,
                                   {"Status", "string", NodeStatusCell},
                                   {"Roles", "string", RolesCell},
                                   kAgeColumn,
                                   {"Version", "string", VersionCell},
                                   {"Internal-IP", "string", InternalIpCell, 1},
                                   {"External-IP", "string", NodeExternalIpCell, 1},
                                   {"OS-Image", "string", OsImageCell, 1},
                                   {"Kernel-Version", "string", KernelCell, 1},
                                   {"Container-Runtime", "string", RuntimeCell, 1}};
constexpr Column kLeaseColumns[] = {kNameColumn, {"Holder", "string", HolderCell}, kAgeColumn};
constexpr Column kHealthColumns[] = {kNameColumn,
                                     {"Status", "string", HealthCell},
                                     {"Message", "string", HealthMessageCell},
                                     {"Error", "string", HealthErrorCell}};
constexpr Column kQuotaColumns[] = {kNameColumn,
                                    {"Request", "string", QuotaRequestsCell},
                                    {"Limit", "string", QuotaLimitsCell},
                                    kAgeColumn};
constexpr Column kBindingColumns[] = {kNameColumn,
                                      {"Role", "string", RoleCell},
                                      kAgeColumn,
                                      {"Users", "string", UsersCell, 1},
                                      {"Groups", "string", GroupsCell, 1},
                                      {"ServiceAccounts", "string", AccountsCell, 1}};
constexpr Column kRequestColumns[] = {kNameColumn,
                                      kAgeColumn,
                                      {"SignerName", "string", SignerCell},
                                      {"Requestor", "string", RequestorCell},
                                      {"RequestedDuration", "string", RequestedCell},
                                      {"Condition", "string", DecisionCell}};
constexpr Column kPriorityColumns[] = {kNameColumn,
                                       {"Value", "integer", ValueCell},
                                       {"Global-Default", "boolean", GlobalDefaultCell},
                                       kAgeColumn,
                                       {"PreemptionPolicy", "string", PreemptionCell}};
constexpr Column kRuntimeClassColumns[] = {
    kNameColumn, {"Handler", "string", HandlerCell}, kAgeColumn};
constexpr Column kWebhookColumns[] = {
    kNameColumn, {"Webhooks", "integer", WebhooksCell}, kAgeColumn};
constexpr Column kApiServiceColumns[] = {kNameColumn,
                                         {"Service", "string", ApiServiceCell},
                                         {"Available", "string", ApiAvailableCell},
                                         kAgeColumn};

}  // namespace

constexpr ColumnTable kConfigMapTable{.columns = kConfigMapColumns};
constexpr ColumnTable kSecretTable{.columns = kSecretColumns};
constexpr ColumnTable kNamespaceTable{.columns = kNamespaceColumns};
constexpr ColumnTable kServiceAccountTable{.columns = kAccountColumns};
constexpr ColumnTable kNodeTable{.columns = kNodeColumns};
constexpr ColumnTable kLeaseTable{.columns = kLeaseColumns};
constexpr ColumnTable kComponentStatusTable{.columns = kHealthColumns};
constexpr ColumnTable kQuotaTable{.columns = kQuotaColumns};
constexpr ColumnTable kRoleBindingTable{.columns = kBindingColumns};
constexpr ColumnTable kCertificateRequestTable{.columns = kRequestColumns};
constexpr ColumnTable kPriorityClassTable{.columns = kPriorityColumns};
constexpr ColumnTable kRuntimeClassTable{.columns = kRuntimeClassColumns};
constexpr ColumnTable kWebhooksTable{.columns = kWebhookColumns};
constexpr ColumnTable kApiServiceTable{.columns = kApiServiceColumns};

}  // namespace kubexx::apiserver
