#include "kubexx/apiserver/endpoints/request/delete_options.h"

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Result<DeleteOptions> ReadDeleteOptions(const JsonTree& options) {
  DeleteOptions read;
  const JsonTree* const seconds = options.Find("gracePeriodSeconds");
  read.uid = StringAt(options, {"preconditions", "uid"});
  read.resource_version = StringAt(options, {"preconditions", "resourceVersion"});
  read.propagation = StringAt(options, {"propagationPolicy"});
  read.grace_seconds = seconds == nullptr ? std::nullopt : seconds->AsInt();
  if (const JsonTree* const orphan = options.Find("orphanDependents");
      orphan != nullptr && !orphan->IsNull()) {
    if (!read.propagation.empty()) {
      return Fail(Reason::kInvalid,
                  "propagationPolicy: orphanDependents and deletionPropagation cannot be both set",
                  422);
    }
    read.propagation = orphan->AsBool().value_or(false) ? "Orphan" : "Background";
  }
  if (!read.propagation.empty() && read.propagation != "Foreground" &&
      read.propagation != "Background" && read.propagation != "Orphan") {
    return Fail(
        Reason::kInvalid,
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: " +
            JsonTree(read.propagation).ToJson() +
            ": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
        422);
  }
  return read;
}

Result<void> CheckPreconditions(const ResourceType& type, const JsonTree& object,
                                const DeleteOptions& options) {
  const std::string uid = MetaString(object, "uid");
  const std::string version = MetaString(object, "resourceVersion");
  if (!options.uid.empty() && options.uid != uid) {
    return Fail(Conflict(type, MetaString(object, "name"),
                         "Precondition failed: UID in precondition: " + options.uid +
                             ", UID in object meta: " + uid));
  }
  if (!options.resource_version.empty() && options.resource_version != version) {
    return Fail(Conflict(
        type, MetaString(object, "name"),
        "Precondition failed: ResourceVersion in precondition: " + options.resource_version +
            ", ResourceVersion in object meta: " + version));
  }
  return {};
}

}  // namespace kubexx::apiserver
