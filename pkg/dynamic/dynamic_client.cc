#include "kubexx/dynamic/dynamic_client.h"

#include <optional>

#include "kubexx/codec/codec.h"

namespace kubexx::dynamic {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::Encoding;
using kubernetes::ObjectName;

// Reads the object of a response into `out`.
class Reader {
 public:
  Result<void> operator()(Encoding encoding, std::string_view bytes) {
    KX_ASSIGN_OR_RETURN(object, codec::Decode<Unstructured>(encoding, bytes));
    return {};
  }
  Result<Unstructured> Finish(Result<void> result) {
    if (!result) {
      return Fail(std::move(result).error());
    }
    return std::move(object);
  }

  Unstructured object{};
};

kubernetes::RawBody BodyOf(const Unstructured& object) {
  return {.encoding = Encoding::kJson, .bytes = object.ToJson()};
}

}  // namespace

DynamicResource DynamicClient::Resource(const apimachinery::GroupVersionResource& resource,
                                        std::string namespace_) const {
  const bool namespaced = !namespace_.empty();
  return DynamicResource(kubernetes::RawClient(client_, {.resource = resource,
                                                         .namespaced = namespaced,
                                                         .namespace_ = std::move(namespace_),
                                                         .name_types = true,
                                                         .defaults = defaults_}));
}

Result<Unstructured> DynamicResource::Get(std::string_view name, std::string_view subresource,
                                          std::stop_token stop) const {
  Reader reader;
  return reader.Finish(
      client_.Get({.name = name, .subresource = subresource}, reader, std::move(stop)));
}

Result<UnstructuredList> DynamicResource::List(const ListOptions& options,
                                               std::stop_token stop) const {
  UnstructuredList list;
  auto metadata = client_.List(
      options,
      [&list](Encoding encoding, std::string_view bytes) -> Result<void> {
        KX_ASSIGN_OR_RETURN(Unstructured object, codec::Decode<Unstructured>(encoding, bytes));
        list.items.push_back(std::move(object));
        return {};
      },
      [&list] { list.items.clear(); }, std::move(stop));
  KX_ASSIGN_OR_RETURN(list.metadata, std::move(metadata));
  return list;
}

Result<void> DynamicResource::Watch(const ListOptions& options, EventSink sink,
                                    std::stop_token stop) const {
  auto type = codec::WatchEventType::kAdded;
  Unstructured object;
  return client_.Watch(
      options,
      [&type, &object](const codec::WatchFrame& frame) -> Result<void> {
        type = frame.type;
        KX_ASSIGN_OR_RETURN(object, codec::Decode<Unstructured>(frame.encoding, frame.object));
        return {};
      },
      [&sink, &type, &object] { return sink({.type = type, .object = std::move(object)}); },
      std::move(stop));
}

Result<Unstructured> DynamicResource::Create(const Unstructured& object,
                                             const kubernetes::CreateOptions& options,
                                             std::stop_token stop) const {
  Reader reader;
  return reader.Finish(
      client_.Create({.namespace_ = {}}, BodyOf(object), options, reader, std::move(stop)));
}

Result<Unstructured> DynamicResource::CreateAt(const ObjectName& name, const Unstructured& body,
                                               const kubernetes::CreateOptions& options,
                                               std::stop_token stop) const {
  Reader reader;
  return reader.Finish(client_.Create(name, BodyOf(body), options, reader, std::move(stop)));
}

Result<Unstructured> DynamicResource::Update(const Unstructured& object,
                                             const kubernetes::UpdateOptions& options,
                                             std::stop_token stop) const {
  const std::string name = object.Name();
  return UpdateAt({.name = name}, object, options, std::move(stop));
}

Result<Unstructured> DynamicResource::UpdateStatus(const Unstructured& object,
                                                   const kubernetes::UpdateOptions& options,
                                                   std::stop_token stop) const {
  const std::string name = object.Name();
  return UpdateAt({.name = name, .subresource = "status"}, object, options, std::move(stop));
}

Result<Unstructured> DynamicResource::UpdateAt(const ObjectName& name, const Unstructured& body,
                                               const kubernetes::UpdateOptions& options,
                                               std::stop_token stop) const {
  Reader reader;
  return reader.Finish(client_.Update(name, BodyOf(body), options, reader, std::move(stop)));
}

Result<Unstructured> DynamicResource::Patch(std::string_view name, kubernetes::RawPatch patch,
                                            const kubernetes::PatchOptions& options,
                                            std::stop_token stop) const {
  Reader reader;
  return reader.Finish(
      client_.Patch({.name = name}, std::move(patch), options, reader, std::move(stop)));
}

Result<Unstructured> DynamicResource::ApplyAt(std::string_view subresource,
                                              const Unstructured& object,
                                              const kubernetes::ApplyOptions& options,
                                              std::stop_token stop) const {
  if (options.field_manager.empty() && client_.resource().defaults.field_manager.empty()) {
    return Fail(
        Reason::kBadRequest,
        "apply needs a field manager: set ApplyOptions::field_manager, or the client's with "
        "WithFieldManager");
  }
  return Patch(object.Name(), {.type = rest::PatchType::kApply, .text = object.ToJson()},
               {.field_manager = options.field_manager,
                .field_validation = options.field_validation,
                .dry_run = options.dry_run,
                .force = options.force,
                .subresource = std::string(subresource)},
               std::move(stop));
}

Result<Unstructured> DynamicResource::Apply(const Unstructured& object,
                                            const kubernetes::ApplyOptions& options,
                                            std::stop_token stop) const {
  return ApplyAt({}, object, options, std::move(stop));
}

Result<Unstructured> DynamicResource::ApplyStatus(const Unstructured& object,
                                                  const kubernetes::ApplyOptions& options,
                                                  std::stop_token stop) const {
  return ApplyAt("status", object, options, std::move(stop));
}

Result<void> DynamicResource::Delete(std::string_view name,
                                     const kubernetes::DeleteOptions& options,
                                     std::stop_token stop) const {
  return client_.Delete({.name = name}, options, std::move(stop));
}

Result<void> DynamicResource::DeleteCollection(const kubernetes::DeleteOptions& options,
                                               const ListOptions& selection,
                                               std::stop_token stop) const {
  return client_.DeleteCollection(options, selection, std::move(stop));
}

}  // namespace kubexx::dynamic
