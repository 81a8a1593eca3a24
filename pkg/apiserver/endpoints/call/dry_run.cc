#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

/// Returns the name of the options of a verb, or "" for a verb that does not write.
std::string OptionsOfVerb(std::string_view verb) {
  if (verb == "create") {
    return "CreateOptions";
  }
  if (verb == "update") {
    return "UpdateOptions";
  }
  if (verb == "patch") {
    return "PatchOptions";
  }
  return verb.starts_with("delete") ? "DeleteOptions" : "";
}

Result<void> CheckValues(const std::string& kind, const std::vector<std::string>& values) {
  if (std::ranges::all_of(values, [](const std::string& value) { return value == "All"; })) {
    return {};
  }
  JsonTree list = JsonTree::Array();
  for (const std::string& value : values) {
    list.Append(value);
  }
  ResourceType type;
  type.group = "meta.k8s.io";
  type.kind = kind;
  return Fail(
      Invalid(type, "",
              {{.reason = "FieldValueNotSupported",
                .message = "Unsupported value: " + list.ToJson() + ": supported values: \"All\"",
                .field = "dryRun"}}));
}

}  // namespace

Result<void> CheckDryRun(const Call& call) {
  const std::string kind = OptionsOfVerb(call.info.verb);
  return kind.empty() ? Result<void>()
                      : CheckValues(kind, ParamValues(call.request.query, "dryRun"));
}

Result<void> CheckDryRun(const JsonTree& delete_options) {
  return CheckValues("DeleteOptions", StringsAt(delete_options, "dryRun"));
}

}  // namespace kubexx::apiserver
