/// @file
/// RawClient: requests for one resource with encoded objects. All clients, typed or not, use it.
#ifndef KUBEXX_KUBERNETES_RAW_CLIENT_H_
#define KUBEXX_KUBERNETES_RAW_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/answer_type.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::kubernetes {

/// The object, or the part of it, that a request is about. `name` is empty when an object is
/// created. `namespace_` is used only by a client without a namespace of its own.
struct ObjectName {
  std::string_view namespace_{};
  std::string_view name{};
  std::string_view subresource{};
};

/// A resource and how its objects are requested.
struct RawResource {
  apimachinery::GroupVersionResource resource{};
  /// Whether objects live in namespaces.
  bool namespaced = true;
  /// Empty for cluster-scoped resources and for all namespaces.
  std::string namespace_{};
  /// The encodings to ask for, in order of preference.
  std::vector<codec::Encoding> accept{codec::Encoding::kJson};
  /// See rest::Request::AcceptParameters.
  std::string accept_parameters{};
  /// The same parameters for lists.
  std::string list_accept_parameters{};
  /// Whether to add the list's type to the items of JSON lists, which do not contain their type.
  bool name_types = false;
  /// The name of the objects in errors; when empty, the resource's name.
  std::string kind{};
  /// The type of the objects in answers, which for a subresource may be another one.
  codec::WantedType object{};
  /// Filled in for all writes.
  WriteDefaults defaults{};
};

/// An object to send.
struct RawBody {
  codec::Encoding encoding = codec::Encoding::kJson;
  std::string bytes{};
  /// When set, replaces the two fields above: the client sends protobuf, or JSON if the server does
  /// not accept protobuf. See rest::Request::Body. Everything that it refers to must live until the
  /// call has returned.
  rest::Request::Encoder encode{};
};

/// A change to send, in JSON or, for kApply, also in YAML.
struct RawPatch {
  rest::PatchType type = rest::PatchType::kMerge;
  std::string text{};
};

/// Thread-safe, cheap to copy. Every call blocks and takes a stop_token that ends it with
/// kCancelled. Errors are the server's Status, those of rest::Request, or a sink's own; kMalformed
/// when the answer is of another type than RawResource tells, or of none.
class RawClient {
 public:
  /// Gets an object without envelope, whose type was checked; the view is valid during the call.
  /// When the sink fails, its error is returned with the request in front of its message.
  using ObjectSink =
      base::FunctionRef<apimachinery::Result<void>(codec::Encoding, std::string_view)>;
  using FrameSink = base::FunctionRef<apimachinery::Result<void>(const codec::WatchFrame&)>;

  RawClient(std::shared_ptr<rest::RESTClient> client, RawResource resource);

  const RawResource& resource() const { return *resource_; }
  const std::shared_ptr<rest::RESTClient>& rest_client() const { return client_; }

  apimachinery::Result<void> Get(const ObjectName& name, ObjectSink out,
                                 std::stop_token stop) const;
  /// Lists all objects in pages of 500, or the one page that `options` asks for. An error of `sink`
  /// is returned with the request and the item's kind and name in front of its message. When the
  /// list expires between pages, it is requested again in one piece; `restart` is called before
  /// that, and the caller has to drop the items that `sink` has got so far.
  apimachinery::Result<codec::ListMeta> List(apimachinery::ListOptions options, ObjectSink sink,
                                             base::FunctionRef<void()> restart,
                                             std::stop_token stop) const;
  /// Watches until the server ends the watch. An ERROR event is returned as its Status. For each
  /// event it calls `decode` and then `give`. An error of `decode` is returned with the request and
  /// the object's kind and name in front of its message, an error of `give` as it is.
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, FrameSink decode,
                                   base::FunctionRef<apimachinery::Result<void>()> give,
                                   std::stop_token stop) const;
  apimachinery::Result<void> Create(const ObjectName& name, RawBody body,
                                    const CreateOptions& options, ObjectSink out,
                                    std::stop_token stop) const;
  /// As Create, but does not read the answer, which may be of any type.
  apimachinery::Result<void> Post(const ObjectName& name, RawBody body,
                                  const CreateOptions& options, std::stop_token stop) const;
  apimachinery::Result<void> Update(const ObjectName& name, RawBody body,
                                    const UpdateOptions& options, ObjectSink out,
                                    std::stop_token stop) const;
  /// Patches the subresource in `options`, and ignores that in `name`.
  apimachinery::Result<void> Patch(const ObjectName& name, RawPatch patch,
                                   const PatchOptions& options, ObjectSink out,
                                   std::stop_token stop) const;
  apimachinery::Result<void> Delete(const ObjectName& name, const DeleteOptions& options,
                                    std::stop_token stop) const;
  apimachinery::Result<void> DeleteCollection(const DeleteOptions& options,
                                              const apimachinery::ListOptions& selection,
                                              std::stop_token stop) const;

 private:
  rest::Request Prepare(rest::Request request, std::string_view namespace_) const;
  rest::Request PrepareNamed(rest::Request request, const ObjectName& name) const;
  rest::Request PrepareCreate(const ObjectName& name, RawBody body,
                              const CreateOptions& options) const;
  apimachinery::Result<void> CheckType(const codec::TypeMeta& got, codec::Encoding encoding,
                                       std::string_view object, bool wrote) const;
  apimachinery::Result<void> Finish(rest::Request request, bool wrote, ObjectSink out,
                                    std::stop_token stop) const;
  DeleteOptions Filled(DeleteOptions options) const;
  apimachinery::Result<codec::ListMeta> ListPage(const apimachinery::ListOptions& options,
                                                 ObjectSink sink,
                                                 const std::stop_token& stop) const;
  std::string Describe(codec::Encoding encoding, std::string_view object) const;

  std::shared_ptr<rest::RESTClient> client_;
  std::shared_ptr<const RawResource> resource_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_RAW_CLIENT_H_
