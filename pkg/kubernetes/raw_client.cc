#include "kubexx/kubernetes/raw_client.h"

#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::Encoding;

constexpr std::int64_t kPageSize = 500;

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

// Of WriteOptions or PatchOptions.
void AddWriteParams(rest::Request& request, const WriteDefaults& defaults, const auto& options) {
  const std::string& field_manager =
      options.field_manager.empty() ? defaults.field_manager : options.field_manager;
  if (!field_manager.empty()) {
    request.Param("fieldManager", field_manager);
  }
  const std::string& field_validation =
      options.field_validation.empty() ? defaults.field_validation : options.field_validation;
  if (!field_validation.empty()) {
    request.Param("fieldValidation", field_validation);
  }
  if (options.dry_run || defaults.dry_run) {
    request.Param("dryRun", "All");
  }
}

void SetBody(rest::Request& request, RawBody body) {
  if (body.encode) {
    request.Body(std::move(body.encode));
  } else {
    request.Body(body.encoding, std::move(body.bytes));
  }
}

}  // namespace

RawClient::RawClient(std::shared_ptr<rest::RESTClient> client, RawResource resource)
    : client_(std::move(client)),
      resource_(std::make_shared<const RawResource>(std::move(resource))) {}

rest::Request RawClient::Prepare(rest::Request request, std::string_view namespace_) const {
  const apimachinery::GroupVersionResource& resource = resource_->resource;
  request
      .Resource({.group = resource.group,
                 .version = resource.version,
                 .kind = {},
                 .plural = resource.resource,
                 .namespaced = resource_->namespaced})
      .Namespace(resource_->namespace_.empty() ? namespace_ : resource_->namespace_)
      .Accept(resource_->accept);
  request.AcceptParameters(resource_->accept_parameters);
  return request;
}

rest::Request RawClient::PrepareNamed(rest::Request request, const ObjectName& name) const {
  rest::Request out = Prepare(std::move(request), name.namespace_);
  out.Name(name.name);
  if (!name.subresource.empty()) {
    out.SubResource(name.subresource);
  }
  return out;
}

rest::Request RawClient::PrepareCreate(const ObjectName& name, RawBody body,
                                       const CreateOptions& options) const {
  rest::Request request = name.name.empty() ? Prepare(client_->Post(), name.namespace_)
                                            : PrepareNamed(client_->Post(), name);
  AddWriteParams(request, resource_->defaults, options);
  SetBody(request, std::move(body));
  return request;
}

Result<void> RawClient::CheckType(const codec::TypeMeta& got, Encoding encoding,
                                  std::string_view object, bool wrote) const {
  Result<void> checked = codec::CheckObjectType(resource_->object, got);
  if (checked || got.kind != "Status") {
    return checked;
  }
  const auto status = codec::Decode<api::meta::v1::Status>(encoding, object);
  // Some writes, such as that of a Binding, are answered with a Status of success. Clients that
  // know the type of the answer do not read it then.
  if (wrote && resource_->object.kind.empty() && status && status->status == "Success") {
    return {};
  }
  return status && !status->message.empty() ? Fail(checked.error().WithContext(status->message))
                                            : checked;
}

// Hands the object of a response over.
Result<void> RawClient::Finish(rest::Request request, bool wrote, ObjectSink out,
                               std::stop_token stop) const {
  KX_ASSIGN_OR_RETURN(const rest::Response response, request.Do(std::move(stop)));
  std::string_view bytes = response.body;
  codec::TypeMeta type;
  if (response.encoding == Encoding::kProtobuf) {
    auto envelope = codec::ReadEnvelope(bytes);
    if (!envelope) {
      return Fail(envelope.error().WithContext(request.ToString()));
    }
    bytes = envelope->raw;
    type = {std::string(envelope->api_version), std::string(envelope->kind)};
  } else {
    type = codec::ReadTypeMeta(bytes);
  }
  Result<void> taken = CheckType(type, response.encoding, bytes, wrote);
  if (taken) {
    taken = out(response.encoding, bytes);
  }
  if (!taken) {
    return Fail(taken.error().WithContext(request.ToString()));
  }
  return {};
}

DeleteOptions RawClient::Filled(DeleteOptions options) const {
  options.dry_run = options.dry_run || resource_->defaults.dry_run;
  return options;
}

Result<void> RawClient::Get(const ObjectName& name, ObjectSink out, std::stop_token stop) const {
  return Finish(PrepareNamed(client_->Get(), name), false, out, std::move(stop));
}

// The object's kind and name, as far as they can be read.
std::string RawClient::Describe(Encoding encoding, std::string_view object) const {
  std::string text = resource_->kind.empty() ? resource_->resource.resource : resource_->kind;
  if (const auto meta = codec::ScanObjectMeta(encoding, object); meta && !meta->name.empty()) {
    text += " " + (meta->namespace_.empty() ? "" : meta->namespace_ + "/") + meta->name;
  }
  return text;
}

Result<codec::ListMeta> RawClient::ListPage(const ListOptions& options, ObjectSink sink,
                                            const std::stop_token& stop) const {
  rest::Request request = Prepare(client_->Get(), {});
  request.AcceptParameters(resource_->list_accept_parameters).Options(options);
  std::optional<codec::ListReader> reader;
  Encoding encoding = Encoding::kJson;
  std::size_t index = 0;
  const auto give = [this, &encoding, &sink, &index](std::string_view item) -> Result<void> {
    const std::string place = "items[" + std::to_string(index++) + "], ";
    Result<void> taken = encoding == Encoding::kJson && !item.starts_with('{')
                             ? Result<void>(Fail(apimachinery::Malformed("", "expected an object")))
                             : sink(encoding, item);
    if (!taken) {
      return Fail(taken.error().WithContext(place + Describe(encoding, item)));
    }
    return {};
  };
  const auto on_item = [this, &reader, &encoding, &give](std::string_view item) -> Result<void> {
    if (!resource_->name_types || encoding != Encoding::kJson) {
      return give(item);
    }
    const codec::ItemType type = reader->item_type();
    return give(codec::WithTypeMeta(item, type.api_version, type.kind));
  };
  const auto named = [&request](Result<void> read) -> Result<void> {
    if (!read) {
      return Fail(read.error().WithContext(request.ToString()));
    }
    return read;
  };
  KX_RETURN_IF_ERROR(request.Stream(
      [this, &reader, &encoding](const rest::Request::StreamHead& head) -> Result<void> {
        encoding = head.encoding;
        reader.emplace(encoding);
        reader->Expect({.api_version = resource_->resource.ApiVersion(),
                        .kind = resource_->kind,
                        .or_metadata = !resource_->list_accept_parameters.empty()});
        return {};
      },
      [&](std::string_view chunk) { return named(reader->Feed(chunk, on_item)); }, stop));
  auto metadata = reader->Finish();
  if (!metadata) {
    return Fail(metadata.error().WithContext(request.ToString()));
  }
  return metadata;
}

Result<codec::ListMeta> RawClient::List(ListOptions options, ObjectSink sink,
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
    if (page->continue_ == options.continue_) {  // or this list would have no end
      return Fail(Reason::kInternalError,
                  "list " + resource_->resource.resource +
                      ": the server answered a continue token with the same token again");
    }
    options.continue_ = page->continue_;
    // The token carries the version; naming one beside it is an error.
    options.resource_version.clear();
    options.resource_version_match.clear();
  }
}

Result<void> RawClient::Watch(const ListOptions& options, FrameSink decode,
                              base::FunctionRef<Result<void>()> give, std::stop_token stop) const {
  rest::Request request = Prepare(client_->Get(), {});
  request.Watch().Options(options);
  std::optional<codec::WatchReader> reader;
  bool as_it_is = false;  // the error
  const auto on_frame = [&](const codec::WatchFrame& frame) -> Result<void> {
    if (frame.type == codec::WatchEventType::kError) {
      KX_ASSIGN_OR_RETURN(apimachinery::Status status,
                          rest::DecodeStatus(frame.encoding, frame.object));
      as_it_is = true;
      return Fail(std::move(status));
    }
    if (auto decoded = decode(frame); !decoded) {
      return Fail(decoded.error().WithContext(Describe(frame.encoding, frame.object)));
    }
    Result<void> given = give();
    as_it_is = !given;
    return given;
  };
  return request.Stream(
      [&reader](const rest::Request::StreamHead& head) -> Result<void> {
        reader.emplace(head.encoding);
        return {};
      },
      [&](std::string_view chunk) -> Result<void> {
        Result<void> fed = reader->Feed(chunk, on_frame);
        if (fed || as_it_is) {
          return fed;
        }
        return Fail(fed.error().WithContext(request.ToString()));
      },
      std::move(stop));
}

Result<void> RawClient::Create(const ObjectName& name, RawBody body, const CreateOptions& options,
                               ObjectSink out, std::stop_token stop) const {
  return Finish(PrepareCreate(name, std::move(body), options), true, out, std::move(stop));
}

Result<void> RawClient::Post(const ObjectName& name, RawBody body, const CreateOptions& options,
                             std::stop_token stop) const {
  KX_RETURN_IF_ERROR(PrepareCreate(name, std::move(body), options).Do(std::move(stop)));
  return {};
}

Result<void> RawClient::Update(const ObjectName& name, RawBody body, const UpdateOptions& options,
                               ObjectSink out, std::stop_token stop) const {
  rest::Request request = PrepareNamed(client_->Put(), name);
  AddWriteParams(request, resource_->defaults, options);
  SetBody(request, std::move(body));
  return Finish(std::move(request), true, out, std::move(stop));
}

Result<void> RawClient::Patch(const ObjectName& name, RawPatch patch, const PatchOptions& options,
                              ObjectSink out, std::stop_token stop) const {
  rest::Request request = PrepareNamed(
      client_->Patch(patch.type),
      {.namespace_ = name.namespace_, .name = name.name, .subresource = options.subresource});
  AddWriteParams(request, resource_->defaults, options);
  if (options.force) {
    request.Param("force", "true");
  }
  request.Body(Encoding::kJson, std::move(patch.text));
  return Finish(std::move(request), true, out, std::move(stop));
}

Result<void> RawClient::Delete(const ObjectName& name, const DeleteOptions& options,
                               std::stop_token stop) const {
  rest::Request request = PrepareNamed(client_->Delete(), name);
  request.Body(Encoding::kJson, Encode(Filled(options)));
  KX_RETURN_IF_ERROR(request.Do(std::move(stop)));
  return {};
}

Result<void> RawClient::DeleteCollection(const DeleteOptions& options, const ListOptions& selection,
                                         std::stop_token stop) const {
  rest::Request request = Prepare(client_->Delete(), {});
  request.Options(selection).Body(Encoding::kJson, Encode(Filled(options)));
  KX_RETURN_IF_ERROR(request.Do(std::move(stop)));
  return {};
}

}  // namespace kubexx::kubernetes
