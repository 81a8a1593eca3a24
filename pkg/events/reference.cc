#include "kubexx/events/reference.h"

namespace kubexx::events {

api::core::v1::ObjectReference MakeReference(const codec::TypeSchema& schema,
                                             const api::meta::v1::ObjectMeta& metadata,
                                             std::string field_path) {
  api::core::v1::ObjectReference out;
  out.api_version = schema.group.empty()
                        ? std::string(schema.version)
                        : std::string(schema.group) + "/" + std::string(schema.version);
  out.kind = schema.kind;
  out.namespace_ = metadata.namespace_;
  out.name = metadata.name;
  out.uid = metadata.uid;
  out.resource_version = metadata.resource_version;
  out.field_path = std::move(field_path);
  return out;
}

}  // namespace kubexx::events
