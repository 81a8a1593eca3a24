/// @file
/// The conversions of objects between the storage, the handlers and the clients.
///
/// The server's own form of an object is JSON text that begins with kind, apiVersion and metadata
/// and has no white space. Every write produces it, so that a JSON watch needs no encoding. The
/// stored value is that text without metadata.resourceVersion (which is the revision of the key),
/// or the protobuf envelope that kube-apiserver stores.
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
/// value in either form. Returns kInternalError when the value is no object. Custom resources may
/// be converted by a webhook; the call then blocks, and may fail.
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

/// Brings `object` into the server's form. For a built-in type it drops unknown fields and adds
/// those that objects of the type always have. For a custom resource it drops the fields that the
/// schema does not have and fills in the schema's defaults. It sets kind and apiVersion. Returns
/// kBadRequest with the path of the field when the object does not fit the type.
apimachinery::Result<codec::JsonTree> Canonical(const ResourceType& type,
                                                const codec::JsonTree& object);

/// The same for a protobuf message without envelope.
apimachinery::Result<codec::JsonTree> CanonicalOfProtobuf(const ResourceType& type,
                                                          std::string_view message);

/// Encodes `json`, which is in the server's form, as a protobuf message without envelope. Returns
/// kNotAcceptable for a custom resource.
apimachinery::Result<std::string> ProtobufOf(const ResourceType& type, std::string_view json);

/// The same with the envelope that has kind and apiVersion, as it is transmitted and stored.
apimachinery::Result<std::string> EnvelopeOf(const ResourceType& type, std::string_view json);

/// Appends `json`, which is in the server's form, as an item of a list. Items of built-in types
/// have no kind and apiVersion there.
void AppendItemOfList(const ResourceType& type, std::string_view json, std::string& out);

/// Encodes a Status as a protobuf message with envelope.
apimachinery::Result<std::string> StatusProtobuf(std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_STORED_OBJECT_H_
