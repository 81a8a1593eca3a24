/// @file
/// UntypedClient: the part of ResourceClient<T> that does not depend on T, so that it is compiled
/// once.
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
#include "kubexx/codec/schema.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/raw_client.h"

namespace kubexx::kubernetes {

/// Sends requests for one resource in one namespace. A schema describes the type of the objects.
/// `object` and `out` point to a value of that type; `out` is value-initialised. Thread-safe, cheap
/// to copy.
class UntypedClient {
 public:
  using ItemSink = RawClient::ObjectSink;
  using FrameSink = RawClient::FrameSink;

  /// `schema` must have static storage. It may be that of a subresource of `resource`, for example
  /// autoscaling/v1 Scale. `defaults` are filled in for all writes.
  UntypedClient(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                const apimachinery::ResourceInfo& resource, const codec::TypeSchema& schema,
                WriteDefaults defaults = {});

  apimachinery::Result<void> Get(std::string_view name, std::string_view subresource, void* out,
                                 std::stop_token stop) const;
  /// See RawClient::List.
  apimachinery::Result<codec::ListMeta> List(apimachinery::ListOptions options, ItemSink sink,
                                             base::FunctionRef<void()> restart,
                                             std::stop_token stop) const;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, FrameSink decode,
                                   base::FunctionRef<apimachinery::Result<void>()> give,
                                   std::stop_token stop) const;
  apimachinery::Result<void> Create(const ObjectName& name, const void* object,
                                    const CreateOptions& options, void* out,
                                    std::stop_token stop) const;
  /// Posts `object` to the subresource of `name`. Does not read the answer, which may be of another
  /// type or a Status of success.
  apimachinery::Result<void> Post(const ObjectName& name, const void* object,
                                  const CreateOptions& options, std::stop_token stop) const;
  apimachinery::Result<void> Update(const ObjectName& name, const void* object,
                                    const UpdateOptions& options, void* out,
                                    std::stop_token stop) const;
  apimachinery::Result<void> Patch(const ObjectName& name, RawPatch patch,
                                   const PatchOptions& options, void* out,
                                   std::stop_token stop) const;
  /// Server-side apply of `json`, to the subresource of `name` if it has one. kBadRequest when the
  /// field manager, also of the defaults, or the name is empty.
  apimachinery::Result<void> Apply(const ObjectName& name, std::string json,
                                   const ApplyOptions& options, void* out,
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
  RawBody Encode(const void* object) const;

  RawClient raw_;
  const codec::TypeSchema* schema_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_UNTYPED_CLIENT_H_
