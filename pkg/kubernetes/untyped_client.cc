#include "kubexx/kubernetes/untyped_client.h"

#include <utility>
#include <vector>

#include "kubexx/codec/envelope.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::ListOptions;
using apimachinery::Result;
using codec::Encoding;

RawResource MakeResource(const apimachinery::ResourceInfo& resource, std::string namespace_,
                         const codec::TypeSchema& schema, WriteDefaults defaults) {
  RawResource out{
      .resource = {.group = std::string(resource.group),
                   .version = std::string(resource.version),
                   .resource = std::string(resource.plural)},
      .namespaced = resource.namespaced,
      .namespace_ = std::move(namespace_),
      .kind = std::string(resource.kind),
      .object = {.api_version = codec::ApiVersionOf(schema), .kind = std::string(schema.kind)},
      .defaults = std::move(defaults)};
  if (codec::HasProtobuf(schema)) {
    out.accept = {Encoding::kProtobuf, Encoding::kJson};
  }
  return out;
}

}  // namespace

UntypedClient::UntypedClient(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                             const apimachinery::ResourceInfo& resource,
                             const codec::TypeSchema& schema, WriteDefaults defaults)
    : raw_(std::move(client),
           MakeResource(resource, std::move(namespace_), schema, std::move(defaults))),
      schema_(&schema) {}

Result<void> UntypedClient::Decode(Encoding encoding, std::string_view bytes, void* out) const {
  return encoding == Encoding::kProtobuf ? codec::DecodeProtobuf(*schema_, bytes, out)
                                         : codec::DecodeJson(*schema_, bytes, out);
}

RawBody UntypedClient::Encode(const void* object) const {
  RawBody body;
  if (!codec::HasProtobuf(*schema_)) {
    codec::EncodeJson(*schema_, object, body.bytes);
    return body;
  }
  body.encode = [schema = schema_, object](Encoding encoding) -> Result<std::string> {
    std::string bytes;
    if (encoding == Encoding::kJson) {
      codec::EncodeJson(*schema, object, bytes);
      return bytes;
    }
    std::string message;
    codec::EncodeProtobuf(*schema, object, message);
    codec::WriteEnvelope(*schema, message, bytes);
    return bytes;
  };
  return body;
}

Result<void> UntypedClient::Get(std::string_view name, std::string_view subresource, void* out,
                                std::stop_token stop) const {
  return raw_.Get(
      {.name = name, .subresource = subresource},
      [this, out](Encoding encoding, std::string_view bytes) {
        return Decode(encoding, bytes, out);
      },
      std::move(stop));
}

Result<codec::ListMeta> UntypedClient::List(ListOptions options, ItemSink sink,
                                            base::FunctionRef<void()> restart,
                                            std::stop_token stop) const {
  return raw_.List(std::move(options), sink, restart, std::move(stop));
}

Result<void> UntypedClient::Watch(const ListOptions& options, FrameSink decode,
                                  base::FunctionRef<Result<void>()> give,
                                  std::stop_token stop) const {
  return raw_.Watch(options, decode, give, std::move(stop));
}

Result<void> UntypedClient::Create(const ObjectName& name, const void* object,
                                   const CreateOptions& options, void* out,
                                   std::stop_token stop) const {
  return raw_.Create(
      {.namespace_ = name.namespace_,
       .name = name.subresource.empty() ? std::string_view() : name.name,
       .subresource = name.subresource},
      Encode(object), options,
      [this, out](Encoding encoding, std::string_view bytes) {
        return Decode(encoding, bytes, out);
      },
      std::move(stop));
}

Result<void> UntypedClient::Post(const ObjectName& name, const void* object,
                                 const CreateOptions& options, std::stop_token stop) const {
  return raw_.Post(name, Encode(object), options, std::move(stop));
}

Result<void> UntypedClient::Update(const ObjectName& name, const void* object,
                                   const UpdateOptions& options, void* out,
                                   std::stop_token stop) const {
  return raw_.Update(
      name, Encode(object), options,
      [this, out](Encoding encoding, std::string_view bytes) {
        return Decode(encoding, bytes, out);
      },
      std::move(stop));
}

Result<void> UntypedClient::Patch(const ObjectName& name, RawPatch patch,
                                  const PatchOptions& options, void* out,
                                  std::stop_token stop) const {
  return raw_.Patch(
      name, std::move(patch), options,
      [this, out](Encoding encoding, std::string_view bytes) {
        return Decode(encoding, bytes, out);
      },
      std::move(stop));
}

Result<void> UntypedClient::Apply(const ObjectName& name, std::string json,
                                  const ApplyOptions& options, void* out,
                                  std::stop_token stop) const {
  if (options.field_manager.empty() && raw_.resource().defaults.field_manager.empty()) {
    return apimachinery::Fail(
        apimachinery::Reason::kBadRequest,
        "apply needs a field manager: set ApplyOptions::field_manager, or the "
        "client's with WithFieldManager");
  }
  return Patch(name, {.type = rest::PatchType::kApply, .text = std::move(json)},
               {.field_manager = options.field_manager,
                .field_validation = options.field_validation,
                .dry_run = options.dry_run,
                .force = options.force,
                .subresource = std::string(name.subresource)},
               out, std::move(stop));
}

Result<void> UntypedClient::Delete(std::string_view name, const DeleteOptions& options,
                                   std::stop_token stop) const {
  return raw_.Delete({.name = name}, options, std::move(stop));
}

Result<void> UntypedClient::DeleteCollection(const DeleteOptions& options,
                                             const ListOptions& selection,
                                             std::stop_token stop) const {
  return raw_.DeleteCollection(options, selection, std::move(stop));
}

}  // namespace kubexx::kubernetes
