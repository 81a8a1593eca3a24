/// @file
/// The conversions of objects between the storage and the server's form (see object_form.h).
///
/// A stored value is the text in the server's form without metadata.resourceVersion (which is the
/// revision of the key), or the protobuf envelope that kube-apiserver stores.
#ifndef KUBEXX_APISERVER_OBJECT_STORED_OBJECT_H_
#define KUBEXX_APISERVER_OBJECT_STORED_OBJECT_H_

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The form of stored values.
enum class StoredForm : std::uint8_t {
  kJson,
  /// As in kube-apiserver: protobuf in its envelope for built-in types, JSON for custom resources.
  kProtobuf,
};

/// Makes an object in the server's form, with `revision` as its resourceVersion, from a stored
/// value in either form. Returns kInternalError when the value is not an object. Custom resources
/// may be converted by a webhook; the call then blocks, and may fail.
apimachinery::Result<std::string> JsonOfStored(const ResourceType& type, std::string_view value,
                                               std::int64_t revision,
                                               const std::stop_token& stop = {});

/// One value of a list.
struct StoredValue {
  std::string_view value{};
  std::int64_t revision = 0;
};
/// The same for several values. It sends a hundred objects at a time to a conversion webhook.
apimachinery::Result<std::vector<std::string>> JsonOfStoredValues(
    const ResourceType& type, std::span<const StoredValue> values, const std::stop_token& stop);
/// Whether reading stored values of the type may need a webhook, so that JsonOfStoredValues is
/// faster.
bool IsConverted(const ResourceType& type);

/// Whether the value has the version in which objects of the type are stored now.
bool IsOfStorageVersion(const ResourceType& type, std::string_view value);

/// Gives a type for stored objects that reads them as they are: in the version in which they were
/// written, without a schema and without a conversion webhook. That is enough to delete objects.
/// Not thread-safe.
class TypeAsStored {
 public:
  /// `type` must outlive it.
  explicit TypeAsStored(const ResourceType& type) : type_(type) {}

  /// The type for that value. The reference is valid as long as this object.
  const ResourceType& Of(std::string_view value);

 private:
  const ResourceType& type_;
  std::map<std::string, ResourceType, std::less<>> by_version_;
};

/// Converts `object`, of the type `type`, to another version of it.
apimachinery::Result<codec::JsonTree> InVersion(const ResourceType& type,
                                                const codec::JsonTree& object,
                                                const std::string& api_version,
                                                const std::stop_token& stop);

/// Replaces the resourceVersion of `json`, which is in the server's form and has one.
std::string WithRevision(std::string_view json, std::int64_t revision);

/// The value to store for `object`. May ask a conversion webhook, as JsonOfStored.
apimachinery::Result<std::string> StoredOf(const ResourceType& type, const codec::JsonTree& object,
                                           StoredForm form, const std::stop_token& stop = {});

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_STORED_OBJECT_H_
