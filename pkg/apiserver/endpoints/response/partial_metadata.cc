#include "kubexx/apiserver/endpoints/response/partial_metadata.h"

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

Result<std::string> MetadataJsonOf(std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  const JsonTree* const metadata = object.Find("metadata");
  return metadata == nullptr ? "{}" : metadata->ToJson();
}

}  // namespace

Result<std::string> PartialMetadataJson(std::string_view json, std::string_view api_version) {
  KX_ASSIGN_OR_RETURN(const std::string metadata, MetadataJsonOf(json));
  return R"({"kind":"PartialObjectMetadata","apiVersion":")" + std::string(api_version) +
         R"(","metadata":)" + metadata + "}";
}

Result<std::string> PartialMetadataMessage(std::string_view json) {
  KX_ASSIGN_OR_RETURN(const std::string metadata, MetadataJsonOf(json));
  api::meta::v1::PartialObjectMetadata partial;
  const codec::TypeSchema& schema = codec::SchemaOf<api::meta::v1::PartialObjectMetadata>();
  KX_RETURN_IF_ERROR(codec::DecodeJson(schema, R"({"metadata":)" + metadata + "}", &partial));
  std::string message;
  codec::EncodeProtobuf(schema, &partial, message);
  return message;
}

}  // namespace kubexx::apiserver
