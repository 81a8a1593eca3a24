#include "kubexx/apiserver/endpoints/table.h"

#include <chrono>
#include <span>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/partial_metadata.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using Cell = JsonTree (*)(const JsonTree& object);

struct Column {
  const char* name;
  const char* type;
  Cell cell;
  int priority = 0;  // 1: only with -o wide
};

std::int64_t Number(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

std::string OrNone(std::string text) { return text.empty() ? "<none>" : text; }

JsonTree Since(const std::string& time) {
  const auto parsed = apimachinery::Time::Parse(time);
  if (!parsed) {
    return "<unknown>";
  }
  const auto then = std::chrono::system_clock::time_point(std::chrono::seconds(parsed->seconds));
  return HumanDuration(base::Clock::Real().Wall() - then);
}

JsonTree NameCell(const JsonTree& o) { return MetaString(o, "name"); }
JsonTree AgeCell(const JsonTree& o) { return Since(MetaString(o, "creationTimestamp")); }
JsonTree CreatedCell(const JsonTree& o) { return MetaString(o, "creationTimestamp"); }

template <class... Path>
std::size_t Size(const JsonTree& object, Path... path) {
  const JsonTree* const found = object.At({std::string_view(path)...});
  return found == nullptr ? 0 : found->size();
}

JsonTree DataCell(const JsonTree& o) { return Size(o, "data") + Size(o, "binaryData"); }
JsonTree TypeCell(const JsonTree& o) { return StringAt(o, {"type"}); }
JsonTree PhaseCell(const JsonTree& o) { return StringAt(o, {"status", "phase"}); }
JsonTree DesiredCell(const JsonTree& o) { return Number(o, {"spec", "replicas"}); }
JsonTree CurrentCell(const JsonTree& o) { return Number(o, {"status", "replicas"}); }
JsonTree ReadyCell(const JsonTree& o) { return Number(o, {"status", "readyReplicas"}); }
JsonTree ReadyOfCell(const JsonTree& o) {
  return std::to_string(Number(o, {"status", "readyReplicas"})) + "/" +
         std::to_string(Number(o, {"spec", "replicas"}));
}
JsonTree UpdatedCell(const JsonTree& o) { return Number(o, {"status", "updatedReplicas"}); }
JsonTree AvailableCell(const JsonTree& o) { return Number(o, {"status", "availableReplicas"}); }

std::span<const JsonTree::Member> MembersOf(const JsonTree* object) {
  return object == nullptr ? std::span<const JsonTree::Member>() : object->members();
}

/// A member of each container of a pod template, "a,b".
std::string OfContainers(const JsonTree& object, std::string_view member) {
  std::string text;
  if (const JsonTree* const containers = object.At({"spec", "template", "spec", "containers"})) {
    for (const JsonTree& container : containers->elements()) {
      text += (text.empty() ? "" : ",") + std::string(container.TextAt(member));
    }
  }
  return text;
}
JsonTree ContainersCell(const JsonTree& o) { return OfContainers(o, "name"); }
JsonTree ImagesCell(const JsonTree& o) { return OfContainers(o, "image"); }
/// Of a workload or, a plain map, of a Service.
JsonTree SelectorCell(const JsonTree& o) {
  const JsonTree* labels = o.At({"spec", "selector", "matchLabels"});
  if (labels == nullptr) {
    labels = o.At({"spec", "selector"});
  }
  std::string text;
  for (const JsonTree::Member& label : MembersOf(labels)) {
    if (const std::string* const value = label.value.AsString()) {
      text += (text.empty() ? "" : ",") + label.key + "=" + *value;
    }
  }
  return OrNone(text);
}

JsonTree PodReadyCell(const JsonTree& o) {
  std::size_t ready = 0;
  if (const JsonTree* const statuses = o.At({"status", "containerStatuses"})) {
    for (const JsonTree& status : statuses->elements()) {
      const JsonTree* const one = status.Find("ready");
      ready += one != nullptr && one->AsBool().value_or(false) ? 1U : 0U;
    }
  }
  return std::to_string(ready) + "/" + std::to_string(Size(o, "spec", "containers"));
}
JsonTree PodStatusCell(const JsonTree& o) {
  if (IsDeleting(o)) {
    return "Terminating";
  }
  const std::string reason = StringAt(o, {"status", "reason"});
  return reason.empty() ? StringAt(o, {"status", "phase"}) : reason;
}
JsonTree RestartsCell(const JsonTree& o) {
  std::int64_t restarts = 0;
  if (const JsonTree* const statuses = o.At({"status", "containerStatuses"})) {
    for (const JsonTree& status : statuses->elements()) {
      restarts += Number(status, {"restartCount"});
    }
  }
  return std::to_string(restarts);
}
JsonTree PodIpCell(const JsonTree& o) { return OrNone(StringAt(o, {"status", "podIP"})); }
JsonTree PodNodeCell(const JsonTree& o) { return OrNone(StringAt(o, {"spec", "nodeName"})); }

JsonTree ServiceTypeCell(const JsonTree& o) { return StringAt(o, {"spec", "type"}); }
JsonTree ClusterIpCell(const JsonTree& o) { return OrNone(StringAt(o, {"spec", "clusterIP"})); }
JsonTree ExternalIpCell(const JsonTree& o) { return OrNone(StringAt(o, {"spec", "externalName"})); }
JsonTree PortsCell(const JsonTree& o) {
  std::string text;
  if (const JsonTree* const ports = o.At({"spec", "ports"})) {
    for (const JsonTree& port : ports->elements()) {
      const std::string protocol = StringAt(port, {"protocol"});
      text += (text.empty() ? "" : ",") + std::to_string(Number(port, {"port"})) + "/" +
              (protocol.empty() ? "TCP" : protocol);
    }
  }
  return OrNone(text);
}

JsonTree NodeStatusCell(const JsonTree& o) {
  if (const JsonTree* const conditions = o.At({"status", "conditions"})) {
    for (const JsonTree& condition : conditions->elements()) {
      if (StringAt(condition, {"type"}) == "Ready") {
        return StringAt(condition, {"status"}) == "True" ? "Ready" : "NotReady";
      }
    }
  }
  return "Unknown";
}
JsonTree VersionCell(const JsonTree& o) {
  return StringAt(o, {"status", "nodeInfo", "kubeletVersion"});
}

JsonTree LastSeenCell(const JsonTree& o) {
  const std::string last = StringAt(o, {"lastTimestamp"});
  return Since(last.empty() ? StringAt(o, {"eventTime"}) : last);
}
JsonTree EventReasonCell(const JsonTree& o) { return StringAt(o, {"reason"}); }
JsonTree EventObjectCell(const JsonTree& o) {
  const bool core = o.Find("involvedObject") != nullptr;
  const std::string_view about = core ? "involvedObject" : "regarding";
  std::string kind = StringAt(o, {about, "kind"});
  for (char& c : kind) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return kind + "/" + StringAt(o, {about, "name"});
}
JsonTree MessageCell(const JsonTree& o) {
  const std::string message = StringAt(o, {"message"});
  return message.empty() ? StringAt(o, {"note"}) : message;
}
JsonTree HolderCell(const JsonTree& o) { return StringAt(o, {"spec", "holderIdentity"}); }

constexpr Column kName{"Name", "string", NameCell};
constexpr Column kAge{"Age", "string", AgeCell};
constexpr Column kContainers{"Containers", "string", ContainersCell, 1};
constexpr Column kImages{"Images", "string", ImagesCell, 1};
constexpr Column kSelector{"Selector", "string", SelectorCell, 1};

const Column kDefaultColumns[] = {kName, {"Created At", "date", CreatedCell}};
const Column kCustomColumns[] = {kName, kAge};
const Column kConfigMapColumns[] = {kName, {"Data", "integer", DataCell}, kAge};
const Column kSecretColumns[] = {
    kName, {"Type", "string", TypeCell}, {"Data", "integer", DataCell}, kAge};
const Column kPodColumns[] = {kName,
                              {"Ready", "string", PodReadyCell},
                              {"Status", "string", PodStatusCell},
                              {"Restarts", "string", RestartsCell},
                              kAge,
                              {"IP", "string", PodIpCell, 1},
                              {"Node", "string", PodNodeCell, 1}};
const Column kDeploymentColumns[] = {kName,
                                     {"Ready", "string", ReadyOfCell},
                                     {"Up-to-date", "integer", UpdatedCell},
                                     {"Available", "integer", AvailableCell},
                                     kAge,
                                     kContainers,
                                     kImages,
                                     kSelector};
const Column kReplicaSetColumns[] = {kName,
                                     {"Desired", "integer", DesiredCell},
                                     {"Current", "integer", CurrentCell},
                                     {"Ready", "integer", ReadyCell},
                                     kAge,
                                     kContainers,
                                     kImages,
                                     kSelector};
const Column kStatefulSetColumns[] = {
    kName, {"Ready", "string", ReadyOfCell}, kAge, kContainers, kImages};
const Column kServiceColumns[] = {kName,
                                  {"Type", "string", ServiceTypeCell},
                                  {"Cluster-IP", "string", ClusterIpCell},
                                  {"External-IP", "string", ExternalIpCell},
                                  {"Port(s)", "string", PortsCell},
                                  kAge,
                                  kSelector};
const Column kPhaseColumns[] = {kName, {"Status", "string", PhaseCell}, kAge};
const Column kNodeColumns[] = {
    kName, {"Status", "string", NodeStatusCell}, kAge, {"Version", "string", VersionCell}};
const Column kEventColumns[] = {
    {"Last Seen", "string", LastSeenCell}, {"Type", "string", TypeCell},
    {"Reason", "string", EventReasonCell}, {"Object", "string", EventObjectCell},
    {"Message", "string", MessageCell},    {"Name", "string", NameCell, 1}};
const Column kScaleColumns[] = {
    kName, {"Desired", "integer", DesiredCell}, {"Available", "integer", CurrentCell}, kAge};
const Column kLeaseColumns[] = {kName, {"Holder", "string", HolderCell}, kAge};

struct Printer {
  std::string_view plural;
  std::span<const Column> columns;
};
const Printer kPrinters[] = {{"configmaps", kConfigMapColumns},
                             {"secrets", kSecretColumns},
                             {"pods", kPodColumns},
                             {"deployments", kDeploymentColumns},
                             {"replicasets", kReplicaSetColumns},
                             {"replicationcontrollers", kReplicaSetColumns},
                             {"statefulsets", kStatefulSetColumns},
                             {"services", kServiceColumns},
                             {"namespaces", kPhaseColumns},
                             {"nodes", kNodeColumns},
                             {"events", kEventColumns},
                             {"leases", kLeaseColumns},
                             {"scales", kScaleColumns},
                             {"serviceaccounts", kCustomColumns},
                             {"endpoints", kCustomColumns}};

std::span<const Column> ColumnsOf(const ResourceType& type) {
  if (type.schema == nullptr) {
    return kCustomColumns;
  }
  for (const Printer& printer : kPrinters) {
    if (printer.plural == type.plural) {
      return printer.columns;
    }
  }
  return kDefaultColumns;
}

}  // namespace

std::string HumanDuration(base::Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto text = [](auto big, const char* unit, auto small = 0, const char* small_unit = "") {
    return std::to_string(big) + unit + (small == 0 ? "" : std::to_string(small) + small_unit);
  };
  if (seconds < -1) {
    return "<invalid>";
  }
  const auto minutes = seconds / 60;
  const auto hours = minutes / 60;
  const auto days = hours / 24;
  const auto none = decltype(seconds){0};
  if (seconds < 120) {
    return text(seconds < 0 ? none : seconds, "s", none);
  }
  if (minutes < 10) {
    return text(minutes, "m", seconds % 60, "s");
  }
  if (hours < 3) {
    return text(minutes, "m", none);
  }
  if (hours < 8) {
    return text(hours, "h", minutes % 60, "m");
  }
  if (days < 2) {
    return text(hours, "h", none);
  }
  if (days < 8) {
    return text(days, "d", hours % 24, "h");
  }
  if (days < 2 * 365) {
    return text(days, "d", none);
  }
  return days < 8 * 365 ? text(days / 365, "y", days % 365, "d") : text(days / 365, "y", none);
}

namespace {

/// The cell of a column that a definition names, as kube-apiserver fills it.
JsonTree CustomCell(const schema::PrinterColumn& column, const JsonTree& object) {
  const std::vector<const JsonTree*> found = column.path.Find(object);
  if (found.empty()) {
    return nullptr;
  }
  const JsonTree& value = *found.front();
  if (column.type == "date") {
    return value.AsString() == nullptr ? JsonTree() : Since(*value.AsString());
  }
  if (column.type != "string") {
    const bool fits = column.type == "boolean"   ? value.AsBool().has_value()
                      : column.type == "integer" ? value.AsInt().has_value()
                                                 : value.AsDouble().has_value();
    return fits ? value : JsonTree();
  }
  std::string text;
  for (const JsonTree* const one : found) {
    text +=
        (text.empty() ? "" : " ") + (one->AsString() == nullptr ? one->ToJson() : *one->AsString());
  }
  return text;
}

JsonTree CellsOf(const ResourceType& type, const JsonTree& object) {
  JsonTree cells = JsonTree::Array();
  if (type.custom) {
    cells.Append(NameCell(object));
    for (const schema::PrinterColumn& column : type.custom->columns) {
      cells.Append(CustomCell(column, object));
    }
    return cells;
  }
  for (const Column& column : ColumnsOf(type)) {
    cells.Append(column.cell(object));
  }
  return cells;
}

JsonTree Definition(std::string_view name, std::string_view type, std::int64_t priority) {
  JsonTree definition = JsonTree::Object();
  definition["name"] = name;
  definition["type"] = type;
  definition["format"] = name == "Name" ? "name" : "";
  definition["description"] = "";
  definition["priority"] = priority;
  return definition;
}

JsonTree ColumnDefinitions(const ResourceType& type) {
  JsonTree columns = JsonTree::Array();
  if (!type.custom) {
    for (const Column& column : ColumnsOf(type)) {
      columns.Append(Definition(column.name, column.type, column.priority));
    }
    return columns;
  }
  columns.Append(Definition("Name", "string", 0));
  for (const schema::PrinterColumn& column : type.custom->columns) {
    JsonTree definition = Definition(column.name, column.type, column.priority);
    definition["format"] = column.format;
    definition["description"] = column.description;
    columns.Append(std::move(definition));
  }
  return columns;
}

}  // namespace

std::string TableHead(const ResourceType& type, const TableForm& form, std::string_view meta_json) {
  return R"({"kind":"Table","apiVersion":")" + std::string(form.api_version) + R"(","metadata":)" +
         std::string(meta_json) + R"(,"columnDefinitions":)" +
         (form.headers ? ColumnDefinitions(type).ToJson() : "null") + R"(,"rows":[)";
}

Result<std::string> TableRow(const ResourceType& type, const TableForm& form,
                             std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  std::string shown = "null";
  if (form.row_object == RowObject::kObject) {
    shown = json;
  } else if (form.row_object == RowObject::kMetadata) {
    KX_ASSIGN_OR_RETURN(shown, PartialMetadataJson(json, form.api_version));
  }
  return R"({"cells":)" + CellsOf(type, object).ToJson() + R"(,"object":)" + shown + "}";
}

Result<std::string> TableOf(const ResourceType& type, const TableForm& form,
                            std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  KX_ASSIGN_OR_RETURN(const std::string row, TableRow(type, form, json));
  JsonTree meta = JsonTree::Object();
  meta["resourceVersion"] = MetaString(object, "resourceVersion");
  return TableHead(type, form, meta.ToJson()) + row + "]}";
}

}  // namespace kubexx::apiserver
