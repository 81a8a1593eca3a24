#include "kubexx/dynamic/metadata_client.h"

#include "kubexx/codec/codec.h"

namespace kubexx::dynamic {
namespace {

using apimachinery::ListOptions;
using apimachinery::Result;
using codec::Encoding;

Result<void> Decode(Encoding encoding, std::string_view bytes, PartialObjectMetadata& out) {
  KX_ASSIGN_OR_RETURN(out, codec::Decode<PartialObjectMetadata>(encoding, bytes));
  return {};
}

}  // namespace

MetadataResource MetadataClient::Resource(const apimachinery::GroupVersionResource& resource,
                                          std::string namespace_) const {
  const bool namespaced = !namespace_.empty();
  return MetadataResource(
      kubernetes::RawClient(client_, {.resource = resource,
                                      .namespaced = namespaced,
                                      .namespace_ = std::move(namespace_),
                                      .accept = {Encoding::kProtobuf, Encoding::kJson},
                                      .accept_parameters = std::string(kAsPartialObject),
                                      .list_accept_parameters = std::string(kAsPartialObjectList),
                                      .object = {.or_metadata = true}}));
}

Result<PartialObjectMetadata> MetadataResource::Get(std::string_view name,
                                                    std::stop_token stop) const {
  PartialObjectMetadata out;
  KX_RETURN_IF_ERROR(client_.Get(
      {.name = name},
      [&out](Encoding encoding, std::string_view bytes) { return Decode(encoding, bytes, out); },
      std::move(stop)));
  return out;
}

Result<MetadataResource::ListResult> MetadataResource::List(const ListOptions& options,
                                                            std::stop_token stop) const {
  ListResult list;
  auto metadata = client_.List(
      options,
      [&list](Encoding encoding, std::string_view bytes) {
        return Decode(encoding, bytes, list.items.emplace_back());
      },
      [&list] { list.items.clear(); }, std::move(stop));
  KX_ASSIGN_OR_RETURN(list.metadata, std::move(metadata));
  return list;
}

Result<void> MetadataResource::Watch(const ListOptions& options, EventSink sink,
                                     std::stop_token stop) const {
  Event event;
  return client_.Watch(
      options,
      [&event](const codec::WatchFrame& frame) {
        event = {.type = frame.type};
        return Decode(frame.encoding, frame.object, event.object);
      },
      [&sink, &event] { return sink(std::move(event)); }, std::move(stop));
}

Result<PartialObjectMetadata> MetadataResource::Patch(std::string_view name,
                                                      kubernetes::RawPatch patch,
                                                      const kubernetes::PatchOptions& options,
                                                      std::stop_token stop) const {
  PartialObjectMetadata out;
  KX_RETURN_IF_ERROR(client_.Patch(
      {.name = name}, std::move(patch), options,
      [&out](Encoding encoding, std::string_view bytes) { return Decode(encoding, bytes, out); },
      std::move(stop)));
  return out;
}

Result<void> MetadataResource::Delete(std::string_view name,
                                      const kubernetes::DeleteOptions& options,
                                      std::stop_token stop) const {
  return client_.Delete({.name = name}, options, std::move(stop));
}

Result<void> MetadataResource::DeleteCollection(const kubernetes::DeleteOptions& options,
                                                const ListOptions& selection,
                                                std::stop_token stop) const {
  return client_.DeleteCollection(options, selection, std::move(stop));
}

}  // namespace kubexx::dynamic
