#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/request/delete_options.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

Result<void> CheckUid(const ResourceType& type, const JsonTree& current, const JsonTree& object) {
  return CheckPreconditions(type, current, {.uid = MetaString(object, "uid")});
}

Result<void> CheckVersion(const ResourceType& type, const JsonTree& current,
                          const JsonTree& object) {
  const std::string version = MetaString(object, "resourceVersion");
  if (!version.empty() && version != "0" && version != MetaString(current, "resourceVersion")) {
    return Fail(Conflict(type, MetaString(current, "name"),
                         "the object has been modified; please apply your changes to the latest "
                         "version and try again"));
  }
  return {};
}

void CheckServerMetadata(const ResourceType& type, WritePart part, const JsonTree& current,
                         const JsonTree& object, FieldCauses& causes) {
  if (type.custom && part == WritePart::kStatus) {
    return;  // For these types, nothing else is taken over.
  }
  for (const char* const field : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const JsonTree* const before = current.At({"metadata", field});
    const JsonTree* const after = object.At({"metadata", field});
    const bool given = after != nullptr && !after->IsNull() && *after != "";
    // The value stays, whatever the client sends. For a pod, it does not depend on the status
    // either.
    const bool kept =
        std::string_view(field) == "deletionTimestamp" &&
        (IsDeleting(current) || (part == WritePart::kStatus && type.rules.deleted_gracefully));
    if (given && !kept && (before == nullptr || *before != *after)) {
      causes.Invalid(std::string("metadata.") + field, after->ToJson(), "field is immutable");
    }
  }
}

void KeepServerMetadata(const JsonTree& current, JsonTree& object) {
  for (const char* const field :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generation", "resourceVersion"}) {
    if (const JsonTree* const old = current.At({"metadata", field})) {
      object["metadata"][field] = *old;
    } else {
      object["metadata"].Erase(field);
    }
  }
  object["metadata"].Erase("selfLink");  // No object has a selfLink any more.
}

}  // namespace kubexx::apiserver
