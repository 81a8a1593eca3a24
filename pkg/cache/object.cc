#include "kubexx/cache/object.h"

#include <utility>

#include "kubexx/codec/object_meta.h"

namespace kubexx::cache {

apimachinery::Result<Object> MakeObject(codec::Encoding encoding, std::string_view bytes) {
  KX_ASSIGN_OR_RETURN(codec::ObjectMetaSummary meta, codec::ScanObjectMeta(encoding, bytes));
  if (meta.name.empty()) {
    return apimachinery::Fail(apimachinery::Malformed("metadata.name", "is missing"));
  }
  return Object{.encoding = encoding,
                .bytes = std::string(bytes),
                .key = {.namespace_ = std::move(meta.namespace_), .name = std::move(meta.name)},
                .resource_version = std::move(meta.resource_version)};
}

}  // namespace kubexx::cache
