#include "kubexx/cache/object.h"

#include <utility>

#include "kubexx/codec/object_meta.h"

namespace kubexx::cache {

Object UnreadableObject(apimachinery::Status why) {
  return {.unreadable = std::make_shared<const apimachinery::Status>(std::move(why))};
}

apimachinery::Result<Object> MakeObject(codec::Encoding encoding, std::string_view bytes) {
  KX_ASSIGN_OR_RETURN(codec::ObjectMetaSummary meta, codec::ScanObjectMeta(encoding, bytes));
  if (meta.name.empty()) {
    std::string what = "is missing";
    what += meta.namespace_.empty() ? "" : ", in namespace \"" + meta.namespace_ + '"';
    what += meta.uid.empty() ? "" : ", uid \"" + meta.uid + '"';
    return apimachinery::Fail(apimachinery::Malformed("metadata.name", std::move(what)));
  }
  return Object{.encoding = encoding,
                .bytes = std::string(bytes),
                .key = {.namespace_ = std::move(meta.namespace_), .name = std::move(meta.name)},
                .resource_version = std::move(meta.resource_version)};
}

}  // namespace kubexx::cache
