/// @file
/// MetadataClient: reads and changes the metadata of objects of any resource.
#ifndef KUBEXX_DYNAMIC_METADATA_CLIENT_H_
#define KUBEXX_DYNAMIC_METADATA_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/raw_client.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::dynamic {

using api::meta::v1::PartialObjectMetadata;

/// The media type parameters that ask for the metadata of one object, or of the objects of a watch.
inline constexpr std::string_view kAsPartialObject = cache::kAsPartialObject;
/// The media type parameters that ask for the metadata of a list's items.
inline constexpr std::string_view kAsPartialObjectList = cache::kAsPartialObjectList;

/// Reads and changes the metadata of one resource's objects, either in one namespace, in all
/// namespaces, or cluster-scoped. The server sends nothing but metadata, so that a list of large
/// objects costs little, and it sends protobuf also for custom resources. Semantics: client-go's
/// metadata.ResourceInterface. Thread-safe, cheap to copy; every call blocks.
class MetadataResource {
 public:
  using ListResult = kubernetes::ObjectList<PartialObjectMetadata>;
  using Event = kubernetes::WatchEvent<PartialObjectMetadata>;
  using EventSink = base::FunctionRef<apimachinery::Result<void>(Event&&)>;

  explicit MetadataResource(kubernetes::RawClient client) : client_(std::move(client)) {}

  apimachinery::Result<PartialObjectMetadata> Get(std::string_view name,
                                                  std::stop_token stop = {}) const;
  /// Lists all objects in pages of 500, or the one page that `options` asks for.
  apimachinery::Result<ListResult> List(const apimachinery::ListOptions& options = {},
                                        std::stop_token stop = {}) const;
  /// Watches until the server ends the watch, which counts as success.
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) const;
  /// Patches any part of the object, and returns its metadata.
  apimachinery::Result<PartialObjectMetadata> Patch(std::string_view name,
                                                    kubernetes::RawPatch patch,
                                                    const kubernetes::PatchOptions& options = {},
                                                    std::stop_token stop = {}) const;
  apimachinery::Result<void> Delete(std::string_view name,
                                    const kubernetes::DeleteOptions& options = {},
                                    std::stop_token stop = {}) const;
  apimachinery::Result<void> DeleteCollection(const kubernetes::DeleteOptions& options,
                                              const apimachinery::ListOptions& selection,
                                              std::stop_token stop = {}) const;

 private:
  kubernetes::RawClient client_;
};

/// Makes a MetadataResource for each resource, as client-go's metadata.Interface does. Thread-safe,
/// cheap to copy.
class MetadataClient {
 public:
  explicit MetadataClient(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  /// `namespace_` is empty for cluster-scoped resources, and for lists and watches of all
  /// namespaces.
  MetadataResource Resource(const apimachinery::GroupVersionResource& resource,
                            std::string namespace_ = {}) const;

 private:
  std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace kubexx::dynamic

#endif  // KUBEXX_DYNAMIC_METADATA_CLIENT_H_
