/// @file
/// What ResourceClient<T> does for every T, compiled once.
#ifndef KUBEXX_KUBERNETES_UNTYPED_CLIENT_H_
#define KUBEXX_KUBERNETES_UNTYPED_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/schema.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::kubernetes {

/// Namespace and name that an object gives itself.
struct ObjectName {
  std::string_view name_space{};
  std::string_view name{};
};

/// Requests for one resource in one namespace over objects whose type is a table. `object` and
/// `out` point at a value of the schema's type; `out` is value-initialised. Thread-safe, cheap to
/// copy.
class UntypedClient {
 public:
  using ItemSink = base::FunctionRef<apimachinery::Result<void>(codec::Encoding, std::string_view)>;
  using FrameSink = base::FunctionRef<apimachinery::Result<void>(const codec::WatchFrame&)>;

  /// `resource` refers to static storage, as does `schema`.
  UntypedClient(std::shared_ptr<rest::RESTClient> client, std::string name_space,
                const apimachinery::ResourceInfo& resource, const codec::TypeSchema& schema);

  apimachinery::Result<void> Get(std::string_view name, std::string_view subresource, void* out,
                                 std::stop_token stop) const;
  /// `restart` is called when what `sink` has got so far is void and the list begins anew.
  apimachinery::Result<codec::ListMeta> List(apimachinery::ListOptions options, ItemSink sink,
                                             base::FunctionRef<void()> restart,
                                             std::stop_token stop) const;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, FrameSink sink,
                                   std::stop_token stop) const;
  apimachinery::Result<void> Create(const ObjectName& name, const void* object,
                                    const CreateOptions& options, void* out,
                                    std::stop_token stop) const;
  apimachinery::Result<void> Update(const ObjectName& name, std::string_view subresource,
                                    const void* object, const UpdateOptions& options, void* out,
                                    std::stop_token stop) const;
  apimachinery::Result<void> Patch(std::string_view name, rest::PatchType type, std::string patch,
                                   const PatchOptions& options, void* out,
                                   std::stop_token stop) const;
  apimachinery::Result<void> Delete(std::string_view name, const DeleteOptions& options,
                                    std::stop_token stop) const;
  apimachinery::Result<void> DeleteCollection(const DeleteOptions& options,
                                              const apimachinery::ListOptions& selection,
                                              std::stop_token stop) const;

  /// Decodes an item of a list or the object of an event (no envelope) into `out`.
  apimachinery::Result<void> Decode(codec::Encoding encoding, std::string_view bytes,
                                    void* out) const;

 private:
  rest::Request Prepare(rest::Request request, std::string_view name_space) const;
  rest::Request WriteRequest(rest::Request request, const ObjectName& name, const void* object,
                             const WriteOptions& options) const;
  apimachinery::Result<void> Finish(rest::Request request, void* out, std::stop_token stop) const;
  apimachinery::Result<codec::ListMeta> ListPage(const apimachinery::ListOptions& options,
                                                 ItemSink sink, const std::stop_token& stop) const;

  std::shared_ptr<rest::RESTClient> client_;
  std::string name_space_;
  const apimachinery::ResourceInfo* resource_;
  const codec::TypeSchema* schema_;
  bool protobuf_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_UNTYPED_CLIENT_H_
