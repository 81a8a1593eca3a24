#include "kubexx/kubernetes/scale_methods.h"

#include <utility>

namespace kubexx::kubernetes {

using apimachinery::Result;

ScaleMethods::ScaleMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                           const apimachinery::ResourceInfo& resource)
    : client_(std::move(client), std::move(namespace_), resource, codec::SchemaOf<Scale>()) {}

Result<ScaleMethods::Scale> ScaleMethods::GetScale(std::string_view name,
                                                   std::stop_token stop) const {
  Scale out;
  KX_RETURN_IF_ERROR(client_.Get(name, "scale", &out, std::move(stop)));
  return out;
}

Result<ScaleMethods::Scale> ScaleMethods::UpdateScale(const Scale& scale,
                                                      const UpdateOptions& options,
                                                      std::stop_token stop) const {
  Scale out;
  KX_RETURN_IF_ERROR(client_.Update({.namespace_ = scale.metadata.namespace_,
                                     .name = scale.metadata.name,
                                     .subresource = "scale"},
                                    &scale, options, &out, std::move(stop)));
  return out;
}

Result<ScaleMethods::Scale> ScaleMethods::PatchScale(std::string_view name, RawPatch patch,
                                                     PatchOptions options,
                                                     std::stop_token stop) const {
  Scale out;
  options.subresource = "scale";
  KX_RETURN_IF_ERROR(
      client_.Patch({.name = name}, std::move(patch), options, &out, std::move(stop)));
  return out;
}

Result<ScaleMethods::Scale> ScaleMethods::ApplyScale(const ApplyObject<Scale>& scale,
                                                     const ApplyOptions& options,
                                                     std::stop_token stop) const {
  Scale out;
  KX_RETURN_IF_ERROR(client_.Apply(
      {.namespace_ = scale.namespace_(), .name = scale.name(), .subresource = "scale"},
      scale.ToJson(), options, &out, std::move(stop)));
  return out;
}

}  // namespace kubexx::kubernetes
