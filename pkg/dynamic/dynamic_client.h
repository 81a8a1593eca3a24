/// @file
/// DynamicClient: reads and writes objects of any resource, named at run time.
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

/// The items of a list and its metadata.
struct UnstructuredList {
  codec::ListMeta metadata{};
  std::vector<Unstructured> items{};
};

/// One event of a watch. Of a kBookmark only metadata.resourceVersion is set.
struct UnstructuredEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  Unstructured object{};
};

/// Objects of one resource in one namespace, in all, or cluster-scoped ones. As client-go's
/// dynamic.ResourceInterface; the calls mean what those of kubernetes::ResourceClient do. Objects
/// travel as JSON, without loss of unknown fields. A `subresource` is "" or, for example, "status".
/// Thread-safe, cheap to copy; every call blocks.
class DynamicResource {
 public:
  using EventSink = base::FunctionRef<apimachinery::Result<void>(UnstructuredEvent&&)>;

  explicit DynamicResource(kubernetes::RawClient client) : client_(std::move(client)) {}

  apimachinery::Result<Unstructured> Get(std::string_view name, std::string_view subresource = {},
                                         std::stop_token stop = {}) const;
  /// All pages of 500, or the one that `options` asks for. Every item names its type.
  apimachinery::Result<UnstructuredList> List(const apimachinery::ListOptions& options = {},
                                              std::stop_token stop = {}) const;
  /// Watches until the server ends the watch, which is success.
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) const;
  apimachinery::Result<Unstructured> Create(const Unstructured& object,
                                            const kubernetes::CreateOptions& options = {},
                                            std::stop_token stop = {}) const;
  /// Posts `body` to a subresource of `name`, for example an Eviction, and returns the answer.
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
  /// Updates any subresource; `body` is of its kind.
  apimachinery::Result<Unstructured> UpdateAt(const kubernetes::ObjectName& name,
                                              const Unstructured& body,
                                              const kubernetes::UpdateOptions& options = {},
                                              std::stop_token stop = {}) const;
  apimachinery::Result<Unstructured> Patch(std::string_view name, kubernetes::RawPatch patch,
                                           const kubernetes::PatchOptions& options = {},
                                           std::stop_token stop = {}) const;
  /// Server-side apply of all that `object` has.
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

/// As client-go's dynamic.Interface:
/// `DynamicClient(rest).Resource({"example.com", "v1", "widgets"}, "default").Get("w")`.
/// Thread-safe, cheap to copy.
class DynamicClient {
 public:
  /// `defaults` are filled in for all writes.
  explicit DynamicClient(std::shared_ptr<rest::RESTClient> client,
                         kubernetes::WriteDefaults defaults = {})
      : client_(std::move(client)), defaults_(std::move(defaults)) {}

  /// `namespace_` is empty for cluster-scoped resources, and to list and watch all namespaces.
  DynamicResource Resource(const apimachinery::GroupVersionResource& resource,
                           std::string namespace_ = {}) const;

  const std::shared_ptr<rest::RESTClient>& rest_client() const { return client_; }

 private:
  std::shared_ptr<rest::RESTClient> client_;
  kubernetes::WriteDefaults defaults_;
};

}  // namespace kubexx::dynamic

#endif  // KUBEXX_DYNAMIC_DYNAMIC_CLIENT_H_
