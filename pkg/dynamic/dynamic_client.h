/// @file
/// DynamicClient: reads and writes objects of a resource that is named at run time.
#ifndef KUBEXX_DYNAMIC_DYNAMIC_CLIENT_H_
#define KUBEXX_DYNAMIC_DYNAMIC_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/raw_client.h"

namespace kubexx::dynamic {

/// The items and the metadata of a list.
struct UnstructuredList {
  codec::ListMeta metadata{};
  std::vector<Unstructured> items{};
};

/// One event of a watch. The object of a kBookmark has only metadata.resourceVersion.
struct UnstructuredEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  Unstructured object{};
};

/// Reads and writes the objects of one resource, either in one namespace, in all namespaces, or
/// cluster-scoped. Semantics: client-go's dynamic.ResourceInterface. The calls work like those of
/// kubernetes::ResourceClient. Objects are sent as JSON, so that no unknown fields are lost. A
/// `subresource` is "" or, for example, "status". Thread-safe, cheap to copy; every call blocks.
class DynamicResource {
 public:
  using EventSink = base::FunctionRef<apimachinery::Result<void>(UnstructuredEvent&&)>;

  explicit DynamicResource(kubernetes::RawClient client) : client_(std::move(client)) {}

  apimachinery::Result<Unstructured> Get(std::string_view name, std::string_view subresource = {},
                                         std::stop_token stop = {}) const;
  /// Lists all objects in pages of 500, or the one page that `options` asks for. Every item has its
  /// apiVersion and kind.
  apimachinery::Result<UnstructuredList> List(const apimachinery::ListOptions& options = {},
                                              std::stop_token stop = {}) const;
  /// Watches until the server ends the watch, which counts as success.
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) const;
  apimachinery::Result<Unstructured> Create(const Unstructured& object,
                                            const kubernetes::CreateOptions& options = {},
                                            std::stop_token stop = {}) const;
  /// Posts `body`, for example an Eviction, to the subresource that `name` identifies, and returns
  /// the answer.
  apimachinery::Result<Unstructured> CreateAt(const kubernetes::ObjectName& name,
                                              const Unstructured& body,
                                              const kubernetes::CreateOptions& options = {},
                                              std::stop_token stop = {}) const;
  apimachinery::Result<Unstructured> Update(const Unstructured& object,
                                            const kubernetes::UpdateOptions& options = {},
                                            std::stop_token stop = {}) const;
  apimachinery::Result<Unstructured> UpdateStatus(const Unstructured& object,
                                                  const kubernetes::UpdateOptions& options = {},
                                                  std::stop_token stop = {}) const;
  /// Updates the subresource that `name` identifies; `body` has the kind of the subresource.
  apimachinery::Result<Unstructured> UpdateAt(const kubernetes::ObjectName& name,
                                              const Unstructured& body,
                                              const kubernetes::UpdateOptions& options = {},
                                              std::stop_token stop = {}) const;
  apimachinery::Result<Unstructured> Patch(std::string_view name, kubernetes::RawPatch patch,
                                           const kubernetes::PatchOptions& options = {},
                                           std::stop_token stop = {}) const;
  /// Applies all fields of `object` with server-side apply.
  apimachinery::Result<Unstructured> Apply(const Unstructured& object,
                                           const kubernetes::ApplyOptions& options,
                                           std::stop_token stop = {}) const;
  apimachinery::Result<Unstructured> ApplyStatus(const Unstructured& object,
                                                 const kubernetes::ApplyOptions& options,
                                                 std::stop_token stop = {}) const;
  apimachinery::Result<void> Delete(std::string_view name,
                                    const kubernetes::DeleteOptions& options = {},
                                    std::stop_token stop = {}) const;
  apimachinery::Result<void> DeleteCollection(const kubernetes::DeleteOptions& options,
                                              const apimachinery::ListOptions& selection,
                                              std::stop_token stop = {}) const;

 private:
  apimachinery::Result<Unstructured> ApplyAt(std::string_view subresource,
                                             const Unstructured& object,
                                             const kubernetes::ApplyOptions& options,
                                             std::stop_token stop) const;

  kubernetes::RawClient client_;
};

/// Makes a DynamicResource for each resource, as client-go's dynamic.Interface does:
/// `DynamicClient(rest).Resource({"example.com", "v1", "widgets"}, "default").Get("w")`.
/// Thread-safe, cheap to copy.
class DynamicClient {
 public:
  /// `defaults` apply to all writes.
  explicit DynamicClient(std::shared_ptr<rest::RESTClient> client,
                         kubernetes::WriteDefaults defaults = {})
      : client_(std::move(client)), defaults_(std::move(defaults)) {}

  /// `namespace_` is empty for cluster-scoped resources, and for lists and watches of all
  /// namespaces.
  DynamicResource Resource(const apimachinery::GroupVersionResource& resource,
                           std::string namespace_ = {}) const;

  const std::shared_ptr<rest::RESTClient>& rest_client() const { return client_; }

 private:
  std::shared_ptr<rest::RESTClient> client_;
  kubernetes::WriteDefaults defaults_;
};

}  // namespace kubexx::dynamic

#endif  // KUBEXX_DYNAMIC_DYNAMIC_CLIENT_H_
