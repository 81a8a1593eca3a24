/// @file
/// Objects on their way between the storage, the handlers and the wire.
///
/// The server's own form of an object is JSON text that begins with kind, apiVersion and metadata
/// and has no white space; every write goes through it, so that a watch of JSON costs no encoding.
/// What is stored is that text without metadata.resourceVersion, which is the revision of its key,
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

/// How values are stored.
enum class StoredForm : std::uint8_t {
  kJson,
  /// As kube-apiserver: protobuf in its envelope for built-in types, JSON for the others.
  kProtobuf,
};

/// The object in the server's form, with `revision` as its resourceVersion, from a value of the
/// storage in either form. kInternalError when it is none. Custom resources whose versions a
/// webhook converts are converted: that blocks, and may fail.
apimachinery::Result<std::string> JsonOfStored(const ResourceType& type, std::string_view value,
                                               std::int64_t revision,
                                               const std::stop_token& stop = {});

/// One value of a list.
struct StoredValue {
  std::string_view value{};
  std::int64_t revision = 0;
};
/// The same of several, for which a webhook is asked once for a hundred.
apimachinery::Result<std::vector<std::string>> JsonOfStoredValues(
    const ResourceType& type, std::span<const StoredValue> values, const std::stop_token& stop);
/// Whether that pays: reading values of the type may need a webhook.
bool IsConverted(const ResourceType& type);

/// Whether the value is of the version that objects of the type are stored in now.
bool IsOfStorageVersion(const ResourceType& type, std::string_view value);

/// A type whose objects are taken as they are stored: each in the version that it was written in,
/// as no schema has shaped it, and without asking a webhook. Who deletes objects needs no more. Not
/// thread-safe.
class TypeAsStored {
 public:
  /// `type` must outlive it.
  explicit TypeAsStored(const ResourceType& type) : type_(type) {}

  /// For that value. The reference is good as long as this object.
  const ResourceType& Of(std::string_view value);

 private:
  const ResourceType& type_;
  std::map<std::string, ResourceType, std::less<>> by_version_;
};

/// `object`, of the type, in another version of it.
apimachinery::Result<codec::JsonTree> InVersion(const ResourceType& type,
                                                const codec::JsonTree& object,
                                                const std::string& api_version,
                                                const std::stop_token& stop);

/// `json`, in the server's form and with a resourceVersion, with another one.
std::string WithRevision(std::string_view json, std::int64_t revision);

/// What is stored for `object`. As JsonOfStored where a webhook converts.
apimachinery::Result<std::string> StoredOf(const ResourceType& type, const codec::JsonTree& object,
                                           StoredForm form, const std::stop_token& stop = {});

/// `object` in the server's form: of a built-in type without fields that the type does not have and
/// with those that it always has; of a custom resource without those that its schema does not have
/// and with its defaults. Its members kind and apiVersion are set. kBadRequest with the field's
/// path when it does not fit the type.
apimachinery::Result<codec::JsonTree> Canonical(const ResourceType& type,
                                                const codec::JsonTree& object);

/// From a protobuf message without envelope.
apimachinery::Result<codec::JsonTree> CanonicalOfProtobuf(const ResourceType& type,
                                                          std::string_view message);

/// `json`, in the server's form, as a protobuf message without envelope. kNotAcceptable for a
/// custom resource.
apimachinery::Result<std::string> ProtobufOf(const ResourceType& type, std::string_view json);

/// The same with kind and apiVersion around it, as it is transmitted and stored.
apimachinery::Result<std::string> EnvelopeOf(const ResourceType& type, std::string_view json);

/// Appends `json`, in the server's form, without what lists leave out of items of built-in types:
/// kind and apiVersion.
void AppendItemOfList(const ResourceType& type, std::string_view json, std::string& out);

/// A Status as an enveloped protobuf message.
apimachinery::Result<std::string> StatusProtobuf(std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_STORED_OBJECT_H_
