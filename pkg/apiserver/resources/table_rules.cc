// Tables of admission policies, of priorities and fairness, and of devices.
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

JsonTree ValidationsCell(const JsonTree& o) { return SizeAt(o, {"spec", "validations"}); }
JsonTree MutationsCell(const JsonTree& o) { return SizeAt(o, {"spec", "mutations"}); }
JsonTree ParamKindCell(const JsonTree& o) {
  const JsonTree* const kind = o.At({"spec", "paramKind"});
  return kind == nullptr || !kind->IsObject()
             ? "<unset>"
             : std::string(kind->TextAt("apiVersion")) + "/" + std::string(kind->TextAt("kind"));
}
JsonTree PolicyNameCell(const JsonTree& o) { return StringAt(o, {"spec", "policyName"}); }
JsonTree ParamRefCell(const JsonTree& o) {
  const std::string name = StringAt(o, {"spec", "paramRef", "name"});
  const std::string namespace_ = StringAt(o, {"spec", "paramRef", "namespace"});
  if (name.empty()) {
    return o.At({"spec", "paramRef", "selector"}) == nullptr
               ? "<unset>"
               : SelectorAt(o, {"spec", "paramRef", "selector"});
  }
  return namespace_.empty() ? name : namespace_ + "/" + name;
}

JsonTree LevelCell(const JsonTree& o) {
  return StringAt(o, {"spec", "priorityLevelConfiguration", "name"});
}
JsonTree PrecedenceCell(const JsonTree& o) { return NumberAt(o, {"spec", "matchingPrecedence"}); }
JsonTree DistinguisherCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "distinguisherMethod", "type"}).value_or("<none>");
}
JsonTree MissingLevelCell(const JsonTree& o) {
  const JsonTree* const dangling = FindCondition(o, "Dangling");
  return dangling == nullptr ? "?" : std::string(dangling->TextAt("status"));
}

/// Returns a number of a priority level that is limited.
JsonTree LimitAt(const JsonTree& o, CellPath path) {
  const JsonTree* const found = o.At(path);
  return found == nullptr || found->IsNull() ? JsonTree("<none>") : *found;
}
JsonTree LevelTypeCell(const JsonTree& o) { return StringAt(o, {"spec", "type"}); }
JsonTree SharesCell(const JsonTree& o) {
  return LimitAt(o, {"spec", "limited", "nominalConcurrencyShares"});
}
JsonTree QueuesCell(const JsonTree& o) {
  return LimitAt(o, {"spec", "limited", "limitResponse", "queuing", "queues"});
}
JsonTree HandSizeCell(const JsonTree& o) {
  return LimitAt(o, {"spec", "limited", "limitResponse", "queuing", "handSize"});
}
JsonTree QueueLengthCell(const JsonTree& o) {
  return LimitAt(o, {"spec", "limited", "limitResponse", "queuing", "queueLengthLimit"});
}

JsonTree ClaimStateCell(const JsonTree& o) {
  std::vector<std::string> states;
  if (IsDeleting(o)) {
    states.emplace_back("deleted");
  }
  if (o.At({"status", "allocation"}) == nullptr) {
    if (!IsDeleting(o)) {
      states.emplace_back("pending");
    }
  } else {
    states.emplace_back("allocated");
    if (SizeAt(o, {"status", "reservedFor"}) > 0) {
      states.emplace_back("reserved");
    }
  }
  return base::Join(states, ",");
}
JsonTree SliceNodeCell(const JsonTree& o) { return StringAt(o, {"spec", "nodeName"}); }
JsonTree SliceDriverCell(const JsonTree& o) { return StringAt(o, {"spec", "driver"}); }
JsonTree SlicePoolCell(const JsonTree& o) { return StringAt(o, {"spec", "pool", "name"}); }

constexpr Column kValidatingColumns[] = {kNameColumn,
                                         {"Validations", "integer", ValidationsCell},
                                         {"ParamKind", "string", ParamKindCell},
                                         kAgeColumn};
constexpr Column kMutatingColumns[] = {kNameColumn,
                                       {"Mutations", "integer", MutationsCell},
                                       {"ParamKind", "string", ParamKindCell},
                                       kAgeColumn};
constexpr Column kPolicyBindingColumns[] = {kNameColumn,
                                            {"PolicyName", "string", PolicyNameCell},
                                            {"ParamRef", "string", ParamRefCell},
                                            kAgeColumn};
constexpr Column kFlowColumns[] = {kNameColumn,
                                   {"PriorityLevel", "string", LevelCell},
                                   {"MatchingPrecedence", "string", PrecedenceCell},
                                   {"DistinguisherMethod", "string", DistinguisherCell},
                                   kAgeColumn,
                                   {"MissingPL", "string", MissingLevelCell}};
constexpr Column kLevelColumns[] = {kNameColumn,
                                    {"Type", "string", LevelTypeCell},
                                    {"NominalConcurrencyShares", "string", SharesCell},
                                    {"Queues", "string", QueuesCell},
                                    {"HandSize", "string", HandSizeCell},
                                    {"QueueLengthLimit", "string", QueueLengthCell},
                                    kAgeColumn};
constexpr Column kAgeColumns[] = {kNameColumn, kAgeColumn};
constexpr Column kDeviceClaimColumns[] = {
    kNameColumn, {"State", "string", ClaimStateCell}, kAgeColumn};
constexpr Column kDeviceSliceColumns[] = {kNameColumn,
                                          {"Node", "string", SliceNodeCell},
                                          {"Driver", "string", SliceDriverCell},
                                          {"Pool", "string", SlicePoolCell},
                                          kAgeColumn};

}  // namespace

constexpr ColumnTable kValidatingPolicyTable{.columns = kValidatingColumns};
constexpr ColumnTable kMutatingPolicyTable{.columns = kMutatingColumns};
constexpr ColumnTable kPolicyBindingTable{.columns = kPolicyBindingColumns};
constexpr ColumnTable kFlowSchemaTable{.columns = kFlowColumns};
constexpr ColumnTable kPriorityLevelTable{.columns = kLevelColumns};
constexpr ColumnTable kNameAndAgeTable{.columns = kAgeColumns};
constexpr ColumnTable kResourceClaimTable{.columns = kDeviceClaimColumns};
constexpr ColumnTable kResourceSliceTable{.columns = kDeviceSliceColumns};

}  // namespace kubexx::apiserver
