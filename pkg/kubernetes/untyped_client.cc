#include "kubexx/kubernetes/untyped_client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Result;
using codec::Encoding;

constexpr std::int64_t kPageSize = 500;

// How much longer than it should last a watch may stay silent before the server counts as dead.
constexpr std::chrono::seconds kWatchGrace(30);

// A custom resource has no protobuf: its table has no tags.
bool HasProtobuf(const codec::TypeSchema& schema) {
  return std::ranges::any_of(schema.fields,
                             [](const codec::FieldSchema& field) { return field.tag != 0; });
}

std::string ApiVersion(const apimachinery::ResourceInfo& resource) {
  return apimachinery::GroupVersionKind{.group = std::string(resource.group),
                                        .version = std::string(resource.version)}
      .ApiVersion();
}

std::string_view Text(Propagation propagation) {
  switch (propagation) {
    case Propagation::kOrphan:
      return "Orphan";
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kServerDefault:
      break;
  }
  return {};
}

std::string Encode(const DeleteOptions& options) {
  api::meta::v1::DeleteOptions wire;
  wire.grace_period_seconds = options.grace_period_seconds;
  if (const std::string_view text = Text(options.propagation); !text.empty()) {
    wire.propagation_policy = std::string(text);
  }
  if (!options.uid.empty() || !options.resource_version.empty()) {
    auto& preconditions = wire.preconditions.emplace();
    if (!options.uid.empty()) {
      preconditions.uid = options.uid;
    }
    if (!options.resource_version.empty()) {
      preconditions.resource_version = options.resource_version;
    }
  }
  if (options.dry_run) {
    wire.dry_run.emplace_back("All");
  }
  return codec::EncodeJson(wire);
}

void AddWriteParams(rest::Request& request, const std::string& field_manager,
                    const std::string& field_validation, bool dry_run) {
  if (!field_manager.empty()) {
    request.Param("fieldManager", field_manager);
  }
  if (!field_validation.empty()) {
    request.Param("fieldValidation", field_validation);
  }
  if (dry_run) {
    request.Param("dryRun", "All");
  }
}

}  // namespace

UntypedClient::UntypedClient(std::shared_ptr<rest::RESTClient> client, std::string name_space,
                             const apimachinery::ResourceInfo& resource,
                             const codec::TypeSchema& schema)
    : client_(std::move(client)),
      name_space_(std::move(name_space)),
      resource_(&resource),
      schema_(&schema),
      protobuf_(HasProtobuf(schema)) {}

rest::Request UntypedClient::Prepare(rest::Request request, std::string_view name_space) const {
  request.Resource(*resource_).Namespace(name_space);
  if (protobuf_) {
    request.Accept({Encoding::kProtobuf, Encoding::kJson});
  }
  return request;
}

Result<void> UntypedClient::Decode(Encoding encoding, std::string_view bytes, void* out) const {
  return encoding == Encoding::kProtobuf ? codec::DecodeProtobuf(*schema_, bytes, out)
                                         : codec::DecodeJson(*schema_, bytes, out);
}

Result<void> UntypedClient::Finish(rest::Request request, void* out, std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const rest::Response response, request.Do(std::move(stop)));
  std::string_view bytes = response.body;
  if (response.encoding == Encoding::kProtobuf) {
    auto envelope = codec::ReadEnvelope(bytes);
    if (!envelope) {
      return Fail(envelope.error().WithContext(request.ToString()));
    }
    bytes = envelope->raw;
  }
  if (auto decoded = Decode(response.encoding, bytes, out); !decoded) {
    return Fail(decoded.error().WithContext(request.ToString()));
  }
  return {};
}

Result<void> UntypedClient::Get(std::string_view name, std::string_view subresource, void* out,
                                std::stop_token stop) const {
  rest::Request request = Prepare(client_->Get(), name_space_);
  request.Name(name);
  if (!subresource.empty()) {
    request.SubResource(subresource);
  }
  return Finish(std::move(request), out, std::move(stop));
}

Result<codec::ListMeta> UntypedClient::ListPage(const ListOptions& options, ItemSink sink,
                                                const std::stop_token& stop) const {
  rest::Request request = Prepare(client_->Get(), name_space_);
  request.Options(options);
  std::optional<codec::ListReader> reader;
  Encoding encoding = Encoding::kJson;
  KX_RETURN_IF_ERROR(request.Stream(
      [&reader, &encoding](const rest::Request::StreamHead& head) -> Result<void> {
        encoding = head.encoding;
        reader.emplace(encoding);
        return {};
      },
      [&reader, &encoding, &sink](std::string_view chunk) {
        return reader->Feed(chunk, [&](std::string_view item) { return sink(encoding, item); });
      },
      stop));
  return reader->Finish();
}

Result<codec::ListMeta> UntypedClient::List(ListOptions options, ItemSink sink,
                                            base::FunctionRef<void()> restart,
                                            std::stop_token stop) const {
  if (options.limit > 0 || !options.continue_.empty()) {
    return ListPage(options, sink, stop);
  }
  const ListOptions whole = options;
  options.limit = kPageSize;
  for (;;) {
    auto page = ListPage(options, sink, stop);
    if (!page && !options.continue_.empty() && apimachinery::IsExpired(page.error())) {
      restart();
      return ListPage(whole, sink, stop);
    }
    if (!page || page->continue_.empty()) {
      return page;
    }
    options.continue_ = page->continue_;
    // The token carries the version; naming one beside it is an error.
    options.resource_version.clear();
    options.resource_version_match.clear();
  }
}

Result<void> UntypedClient::Watch(const ListOptions& options, FrameSink sink,
                                  std::stop_token stop) const {
  rest::Request request = Prepare(client_->Get(), name_space_);
  request.Watch().Options(options);
  std::optional<codec::WatchReader> reader;
  const auto on_frame = [&sink](const codec::WatchFrame& frame) -> Result<void> {
    if (frame.type == codec::WatchEventType::kError) {
      KX_ASSIGN_OR_RETURN(apimachinery::Status status,
                          rest::DecodeStatus(frame.encoding, frame.object));
      return Fail(std::move(status));
    }
    return sink(frame);
  };
  return request.Stream(
      [&reader](const rest::Request::StreamHead& head) -> Result<void> {
        reader.emplace(head.encoding);
        return {};
      },
      [&reader, &on_frame](std::string_view chunk) { return reader->Feed(chunk, on_frame); },
      std::move(stop),
      options.timeout.count() > 0 ? options.timeout + kWatchGrace : std::chrono::seconds(0));
}

rest::Request UntypedClient::WriteRequest(rest::Request request, const ObjectName& name,
                                          const void* object, const WriteOptions& options) const {
  rest::Request out =
      Prepare(std::move(request), name_space_.empty() ? name.name_space : name_space_);
  AddWriteParams(out, options.field_manager, options.field_validation, options.dry_run);
  std::string body;
  if (protobuf_) {
    std::string message;
    codec::EncodeProtobuf(*schema_, object, message);
    codec::WriteEnvelope(ApiVersion(*resource_), resource_->kind, message, body);
  } else {
    codec::EncodeJson(*schema_, object, body);
  }
  out.Body(protobuf_ ? Encoding::kProtobuf : Encoding::kJson, std::move(body));
  return out;
}

Result<void> UntypedClient::Create(const ObjectName& name, const void* object,
                                   const CreateOptions& options, void* out,
                                   std::stop_token stop) const {
  return Finish(WriteRequest(client_->Post(), name, object, options), out, std::move(stop));
}

Result<void> UntypedClient::Update(const ObjectName& name, std::string_view subresource,
                                   const void* object, const UpdateOptions& options, void* out,
                                   std::stop_token stop) const {
  rest::Request request = WriteRequest(client_->Put(), name, object, options);
  request.Name(name.name);
  if (!subresource.empty()) {
    request.SubResource(subresource);
  }
  return Finish(std::move(request), out, std::move(stop));
}

Result<void> UntypedClient::Patch(std::string_view name, rest::PatchType type, std::string patch,
                                  const PatchOptions& options, void* out,
                                  std::stop_token stop) const {
  rest::Request request = Prepare(client_->Patch(type), name_space_);
  request.Name(name);
  if (!options.subresource.empty()) {
    request.SubResource(options.subresource);
  }
  AddWriteParams(request, options.field_manager, options.field_validation, options.dry_run);
  if (options.force) {
    request.Param("force", "true");
  }
  request.Body(Encoding::kJson, std::move(patch));
  return Finish(std::move(request), out, std::move(stop));
}

Result<void> UntypedClient::Delete(std::string_view name, const DeleteOptions& options,
                                   std::stop_token stop) const {
  rest::Request request = Prepare(client_->Delete(), name_space_);
  request.Name(name).Body(Encoding::kJson, Encode(options));
  KX_RETURN_IF_ERROR(request.Do(std::move(stop)));
  return {};
}

Result<void> UntypedClient::DeleteCollection(const DeleteOptions& options,
                                             const ListOptions& selection,
                                             std::stop_token stop) const {
  rest::Request request = Prepare(client_->Delete(), name_space_);
  request.Options(selection).Body(Encoding::kJson, Encode(options));
  KX_RETURN_IF_ERROR(request.Do(std::move(stop)));
  return {};
}

}  // namespace kubexx::kubernetes
