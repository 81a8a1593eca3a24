#include "kubexx/cache/object.h"

#include <string>
#include <utility>

#include "kubexx/codec/object_meta.h"

namespace kubexx::cache {

Object UnreadableObject(apimachinery::Status why) {
  return {.unreadable = std::make_shared<const apimachinery::Status>(std::move(why))};
}

void LeaveOutIfKeyTooLong(Object& object, std::size_t max_key_part) {
  constexpr std::size_t kShown = 256;
  const auto check = [&object, max_key_part](const std::string& part, const char* field) {
    if (object.unreadable || part.size() <= max_key_part) {
      return;
    }
    const apimachinery::ObjectKey shown{.namespace_ = object.key.namespace_.substr(0, kShown),
                                        .name = object.key.name.substr(0, kShown)};
    object = UnreadableObject(apimachinery::Malformed(
        field, "is " + std::to_string(part.size()) + " bytes long and does not fit into a cache; " +
                   "the object is \"" + shown.ToString() + '"'));
  };
  check(object.key.namespace_, "metadata.namespace");
  check(object.key.name, "metadata.name");
  check(object.resource_version, "metadata.resourceVersion");
}

apimachinery::Result<Object> MakeObject(codec::Encoding encoding, std::string_view bytes,
                                        std::string memory) {
  KX_ASSIGN_OR_RETURN(codec::ObjectMetaSummary meta, codec::ScanObjectKey(encoding, bytes));
  if (meta.name.empty()) {
    KX_ASSIGN_OR_RETURN(meta, codec::ScanObjectMeta(encoding, bytes));
    std::string what = "is missing";
    what += meta.namespace_.empty() ? "" : ", in namespace \"" + meta.namespace_ + '"';
    what += meta.uid.empty() ? "" : ", uid \"" + meta.uid + '"';
    return apimachinery::Fail(apimachinery::Malformed("metadata.name", std::move(what)));
  }
  if (memory.capacity() / 2 > bytes.size()) {
    std::string().swap(
        memory);  // caches count the bytes of their objects, and would not count the spare capacity
  }
  memory.assign(bytes);
  return Object{.encoding = encoding,
                .bytes = std::move(memory),
                .key = {.namespace_ = std::move(meta.namespace_), .name = std::move(meta.name)},
                .resource_version = std::move(meta.resource_version)};
}

}  // namespace kubexx::cache
