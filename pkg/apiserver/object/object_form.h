/// @file
/// The server's form of objects, and the conversions between it and what clients send and get.
///
/// The server's own form of an object is JSON text that begins with kind, apiVersion and metadata
/// and has no white space. Every write produces it, so that a JSON watch needs no encoding.
#ifndef KUBEXX_APISERVER_OBJECT_OBJECT_FORM_H_
#define KUBEXX_APISERVER_OBJECT_OBJECT_FORM_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The text with which the metadata begin in the server's form.
inline constexpr std::string_view kMetadataMember = R"("metadata":{)";

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

/// Puts kind and apiVersion of the type and the metadata before all other members. The metadata of
/// the result are an object, even if `object` has none.
codec::JsonTree InOrder(const ResourceType& type, const codec::JsonTree& object);

/// Drops the fields of a custom resource that the schema does not have, and fills in the schema's
/// defaults. Returns false when the defaults would be too large; then `object` has only some of
/// them. A null schema changes nothing.
bool FitToSchema(const schema::SchemaRef& schema, codec::JsonTree& object);

/// The error kBadRequest of an object that does not fit its type, for the reason `status`.
apimachinery::Status BadObject(const ResourceType& type, const apimachinery::Status& status);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_OBJECT_FORM_H_
