#include "kubexx/scale/scale_client.h"

#include <algorithm>
#include <utility>

#include "kubexx/codec/codec.h"

namespace kubexx::scale {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::Encoding;
using kubernetes::RawClient;

kubernetes::ObjectName NameOf(const ScaleTarget& target) {
  return {.namespace_ = {}, .name = target.object.name, .subresource = "scale"};
}

}  // namespace

ScaleClient::ScaleClient(std::shared_ptr<rest::RESTClient> client,
                         std::shared_ptr<discovery::RestMapper> mapper)
    : client_(std::move(client)), mapper_(std::move(mapper)) {}

Result<RawClient> ScaleClient::ClientFor(const ScaleTarget& target,
                                         const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(discovery::RestMapping mapping, mapper_->MappingFor(target.kind, stop));
  if (std::ranges::find(mapping.subresources, "scale") == mapping.subresources.end()) {
    return Fail(Reason::kMethodNotAllowed, mapping.resource.ToString() + " have no scale");
  }
  // A custom resource's scale is JSON only; one protocol for all is simpler, and it is small.
  return RawClient(client_, {.resource = std::move(mapping.resource),
                             .namespaced = mapping.namespaced,
                             .namespace_ = mapping.namespaced ? target.object.namespace_ : "",
                             .object = {.kind = "Scale"}});
}

Result<ScaleClient::Scale> ScaleClient::Get(const ScaleTarget& target, std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const RawClient client, ClientFor(target, stop));
  Scale out;
  KX_RETURN_IF_ERROR(client.Get(
      NameOf(target),
      [&out](Encoding, std::string_view json) {
        return codec::DecodeJson(codec::SchemaOf<Scale>(), json, &out);
      },
      std::move(stop)));
  return out;
}

Result<ScaleClient::Scale> ScaleClient::Update(const ScaleTarget& target, Scale scale,
                                               const kubernetes::UpdateOptions& options,
                                               std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const RawClient client, ClientFor(target, stop));
  scale.metadata.name = target.object.name;
  scale.metadata.namespace_ = target.object.namespace_;
  Scale out;
  KX_RETURN_IF_ERROR(client.Update(
      NameOf(target), {.encoding = Encoding::kJson, .bytes = codec::EncodeJson(scale)}, options,
      [&out](Encoding, std::string_view json) {
        return codec::DecodeJson(codec::SchemaOf<Scale>(), json, &out);
      },
      std::move(stop)));
  return out;
}

Result<ScaleClient::Scale> ScaleClient::Patch(const ScaleTarget& target, kubernetes::RawPatch patch,
                                              kubernetes::PatchOptions options,
                                              std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const RawClient client, ClientFor(target, stop));
  options.subresource = "scale";
  Scale out;
  KX_RETURN_IF_ERROR(client.Patch(
      NameOf(target), std::move(patch), options,
      [&out](Encoding, std::string_view json) {
        return codec::DecodeJson(codec::SchemaOf<Scale>(), json, &out);
      },
      std::move(stop)));
  return out;
}

}  // namespace kubexx::scale
