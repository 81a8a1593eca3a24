#include "kubexx/apiserver/object/object_form.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/object/typed_object.h"
#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

JsonTree InOrder(const ResourceType& type, const JsonTree& object) {
  std::vector<JsonTree::Member> members;
  members.push_back({"kind", JsonTree(type.kind)});
  members.push_back({"apiVersion", JsonTree(type.ApiVersion())});
  const JsonTree* const metadata = object.Find("metadata");
  members.push_back(
      {"metadata", metadata != nullptr && metadata->IsObject() ? *metadata : JsonTree::Object()});
  for (const JsonTree::Member& member : object.members()) {
    if (member.key != "kind" && member.key != "apiVersion" && member.key != "metadata") {
      members.push_back(member);
    }
  }
  return JsonTree::Object(std::move(members));
}

bool FitToSchema(const schema::SchemaRef& schema, JsonTree& object) {
  if (schema == nullptr) {
    return true;
  }
  schema::Prune(*schema, object);
  std::size_t room = schema::kMaxDefaultBytes;
  return schema::SetDefaults(*schema, object, room);
}

apimachinery::Status BadObject(const ResourceType& type, const apimachinery::Status& status) {
  return {Reason::kBadRequest, type.kind + " in version \"" + type.version +
                                   "\" cannot be handled as a " + type.kind + ": " +
                                   status.message};
}

Result<JsonTree> Canonical(const ResourceType& type, const JsonTree& object) {
  JsonTree ordered = InOrder(type, object);
  if (type.schema == nullptr) {
    TypedObject metadata(codec::SchemaOf<api::meta::v1::ObjectMeta>());
    if (const auto read = metadata.ReadJson(ordered["metadata"].ToJson()); !read) {
      return Fail(BadObject(type, read.error().WithContext("metadata")));
    }
    KX_ASSIGN_OR_RETURN(ordered["metadata"], JsonTree::Parse(metadata.Json()));
    if (type.custom && !FitToSchema(type.custom->schema, ordered)) {
      return Fail(Reason::kRequestEntityTooLarge,
                  "the defaults of its schema would add more than " +
                      std::to_string(schema::kMaxDefaultBytes) + " bytes to the " + type.kind,
                  413);
    }
    return ordered;
  }
  TypedObject typed(*type.schema);
  if (const auto read = typed.ReadJson(ordered.ToJson()); !read) {
    return Fail(BadObject(type, read.error()));
  }
  return JsonTree::Parse(typed.Json());
}

Result<JsonTree> CanonicalOfProtobuf(const ResourceType& type, std::string_view message) {
  if (type.schema == nullptr) {
    return Fail(Reason::kUnsupportedMediaType, "a custom resource has no protobuf form");
  }
  TypedObject typed(*type.schema);
  if (const auto read = typed.ReadProtobuf(message); !read) {
    return Fail(BadObject(type, read.error()));
  }
  return JsonTree::Parse(typed.Json());
}

Result<std::string> ProtobufOf(const ResourceType& type, std::string_view json) {
  if (type.schema == nullptr) {
    return Fail(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json");
  }
  TypedObject typed(*type.schema);
  KX_RETURN_IF_ERROR(typed.ReadJson(json));
  return typed.Protobuf();
}

Result<std::string> EnvelopeOf(const ResourceType& type, std::string_view json) {
  KX_ASSIGN_OR_RETURN(const std::string message, ProtobufOf(type, json));
  std::string envelope;
  codec::WriteEnvelope(*type.schema, message, envelope);
  return envelope;
}

void AppendItemOfList(const ResourceType& type, std::string_view json, std::string& out) {
  const std::size_t at =
      type.schema == nullptr ? std::string_view::npos : json.find(kMetadataMember);
  if (at == std::string_view::npos) {
    out.append(json);
  } else {
    out.append("{").append(json.substr(at));
  }
}

Result<std::string> StatusProtobuf(std::string_view json) {
  const auto& schema = codec::SchemaOf<api::meta::v1::Status>();
  TypedObject typed(schema);
  KX_RETURN_IF_ERROR(typed.ReadJson(json));
  std::string envelope;
  codec::WriteEnvelope(schema, typed.Protobuf(), envelope);
  return envelope;
}

}  // namespace kubexx::apiserver
