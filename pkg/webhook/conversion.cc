#include "kubexx/webhook/conversion.h"

#include <algorithm>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::webhook {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

const ConversionBase::Version* ConversionBase::Find(std::string_view api_version) const {
  const auto found = std::ranges::find_if(versions_, [api_version](const Version& each) {
    return codec::ApiVersionOf(each.schema) == api_version;
  });
  return found == versions_.end() ? nullptr : &*found;
}

Error ConversionBase::Unknown(std::string_view what, std::string_view api_version) const {
  std::string known;
  for (const Version& version : versions_) {
    known += (known.empty() ? "" : ", ") + codec::ApiVersionOf(version.schema);
  }
  return Fail(Status(Reason::kBadRequest,
                     std::string(what) + " version \"" + std::string(api_version) +
                         "\" is unknown to this webhook, which converts " +
                         std::string(versions_.front().resource.kind) + " between " + known,
                     400));
}

Result<std::string> ConversionBase::Convert(std::string_view object,
                                            const std::string& api_version) const {
  const auto tree = codec::JsonTree::Parse(object);
  if (!tree) {
    return Fail(Status(Reason::kBadRequest, "the object is no JSON: " + tree.error().message, 400));
  }
  const std::string own_version(tree->TextAt("apiVersion"));
  const Version* const from = Find(own_version);
  const Version* const to = Find(api_version);
  if (from == nullptr) {
    return Unknown("the object's", own_version);
  }
  if (to == nullptr) {
    return Unknown("the wanted", api_version);
  }
  // A definition may name the path of another one's webhook.
  if (const std::string_view kind = tree->TextAt("kind"); kind != from->resource.kind) {
    return Fail(Status(Reason::kBadRequest,
                       "the object is of the kind \"" + std::string(kind) +
                           "\", and this webhook converts " + std::string(from->resource.kind),
                       400));
  }
  if (from == to) {
    return std::string(object);
  }
  Typed given{*from, from->make()};
  if (auto decoded = codec::DecodeJson(from->schema, object, given.object.get()); !decoded) {
    return Fail(Status(Reason::kBadRequest,
                       "the object is no " + std::string(from->resource.kind) + " of " +
                           own_version + ": " + decoded.error().message,
                       400));
  }
  KX_ASSIGN_OR_RETURN(Typed hub, ToHub(std::move(given)));
  KX_ASSIGN_OR_RETURN(const Typed converted, FromHub(std::move(hub), *to));
  std::string json;
  codec::EncodeJson(to->schema, converted.object.get(), json);
  return json;
}

Result<ConversionBase::Typed> ConversionBase::ToHub(Typed from) const {
  if (!from.version.to_hub) {
    return from;
  }
  const Version& hub = versions_.front();
  Typed made{hub, hub.make()};
  hub.metadata_of(made.object.get()) = from.version.metadata_of(from.object.get());
  KX_RETURN_IF_ERROR(from.version.to_hub(from.object.get(), made.object.get()));
  return made;
}

Result<ConversionBase::Typed> ConversionBase::FromHub(Typed hub, const Version& wanted) const {
  if (!wanted.from_hub) {
    return hub;
  }
  Typed made{wanted, wanted.make()};
  wanted.metadata_of(made.object.get()) = hub.version.metadata_of(hub.object.get());
  KX_RETURN_IF_ERROR(wanted.from_hub(hub.object.get(), made.object.get()));
  return made;
}

}  // namespace kubexx::webhook
