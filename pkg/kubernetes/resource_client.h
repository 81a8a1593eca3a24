/// @file
/// ResourceClient: gets, lists, watches and writes objects of type T.
#ifndef KUBEXX_KUBERNETES_RESOURCE_CLIENT_H_
#define KUBEXX_KUBERNETES_RESOURCE_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/untyped_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::kubernetes {

/// The items of a list and its metadata.
template <class T>
struct ObjectList {
  codec::ListMeta metadata{};
  std::vector<T> items{};
};

/// One event of a watch. For a kBookmark only metadata.resource_version is set.
template <class T>
struct WatchEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  T object{};
};

/// Reads and writes objects of type T: those of one namespace, those of all namespaces, or
/// cluster-scoped ones. T needs codec::SchemaOf<T>, api::ResourceOf<T> and a member `metadata` of
/// type meta::v1::ObjectMeta; generated types have them, and a custom resource has to provide them.
/// Built-in types are sent as protobuf, and types whose table has no protobuf tags as JSON. As
/// client-go's typed clients. Cheap to copy, thread-safe. Every call blocks and takes a stop_token
/// that ends it with kCancelled. Errors are the server's Status or those of rest::Request.
template <class T>
class ResourceClient {
 public:
  using EventSink = base::FunctionRef<apimachinery::Result<void>(WatchEvent<T>&&)>;

  /// `namespace_` is empty for cluster-scoped types and for all namespaces; writes then use the
  /// object's namespace. `defaults` are filled in for all writes: a field manager, a field
  /// validation, a dry run.
  ResourceClient(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                 WriteDefaults defaults = {})
      : client_(std::move(client), std::move(namespace_), api::ResourceOf<T>(),
                codec::SchemaOf<T>(), std::move(defaults)) {}

  apimachinery::Result<T> Get(std::string_view name, std::stop_token stop = {}) const {
    T object{};
    KX_RETURN_IF_ERROR(client_.Get(name, {}, &object, std::move(stop)));
    return object;
  }

  /// Returns all matching objects, fetched in pages of 500; with `options.limit` or
  /// `options.continue_` only that page. A list that expires between pages is fetched again in one
  /// piece, as client-go's pager does. kMalformed, which names the request and the object, when an
  /// object cannot be decoded.
  apimachinery::Result<ObjectList<T>> List(const apimachinery::ListOptions& options = {},
                                           std::stop_token stop = {}) const {
    ObjectList<T> list;
    auto metadata = client_.List(
        options,
        [this, &list](codec::Encoding encoding, std::string_view bytes) {
          return client_.Decode(encoding, bytes, &list.items.emplace_back());
        },
        [&list] { list.items.clear(); }, std::move(stop));
    KX_ASSIGN_OR_RETURN(list.metadata, std::move(metadata));
    return list;
  }

  /// Passes events to `sink` on this thread until the server ends the watch, which is success. An
  /// ERROR event or a refused request is returned as its Status (IsExpired: list again), an error
  /// of `sink` as it is. kMalformed, which names the request and the object, when an object cannot
  /// be decoded.
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) const {
    WatchEvent<T> event;
    return client_.Watch(
        options,
        [this, &event](const codec::WatchFrame& frame) {
          event = {.type = frame.type};
          return client_.Decode(frame.encoding, frame.object, &event.object);
        },
        [&sink, &event] { return sink(std::move(event)); }, std::move(stop));
  }

  /// Creates the object and returns it as the server stored it. kAlreadyExists when an object of
  /// that name exists.
  apimachinery::Result<T> Create(const T& object, const CreateOptions& options = {},
                                 std::stop_token stop = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(client_.Create(NameOf(object), &object, options, &out, std::move(stop)));
    return out;
  }

  /// Replaces the object and returns it as the server stored it. kConflict when the
  /// resource_version in `object` is set and differs from the stored object's.
  apimachinery::Result<T> Update(const T& object, const UpdateOptions& options = {},
                                 std::stop_token stop = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(client_.Update(NameOf(object), &object, options, &out, std::move(stop)));
    return out;
  }

  /// Replaces only the status of the object.
  apimachinery::Result<T> UpdateStatus(const T& object, const UpdateOptions& options = {},
                                       std::stop_token stop = {}) const
    requires api::kHasStatus<T>
  {
    return UpdateAt("status", object, options, std::move(stop));
  }

  /// Patches the object. `patch` is JSON of the given type; for kApply it may be YAML, and
  /// `options.field_manager` must be set.
  apimachinery::Result<T> Patch(std::string_view name, rest::PatchType type, std::string patch,
                                const PatchOptions& options = {}, std::stop_token stop = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(client_.Patch({.name = name}, {.type = type, .text = std::move(patch)},
                                     options, &out, std::move(stop)));
    return out;
  }

  /// Patches only the status; ignores `options.subresource`.
  apimachinery::Result<T> PatchStatus(std::string_view name, rest::PatchType type,
                                      std::string patch, PatchOptions options = {},
                                      std::stop_token stop = {}) const
    requires api::kHasStatus<T>
  {
    options.subresource = "status";
    return Patch(name, type, std::move(patch), options, std::move(stop));
  }

  /// Server-side apply: creates the object or sets the fields that `object` has. kConflict, with
  /// one cause for each field, when another manager owns some of them with other values and
  /// `options.force` is false. kBadRequest when neither the options nor the client's defaults have
  /// a field manager.
  apimachinery::Result<T> Apply(const ApplyObject<T>& object, const ApplyOptions& options = {},
                                std::stop_token stop = {}) const {
    return ApplyAt({}, object, options, std::move(stop));
  }

  /// Server-side apply of only the status.
  apimachinery::Result<T> ApplyStatus(const ApplyObject<T>& object,
                                      const ApplyOptions& options = {},
                                      std::stop_token stop = {}) const
    requires api::kHasStatus<T>
  {
    return ApplyAt("status", object, options, std::move(stop));
  }

  apimachinery::Result<void> Delete(std::string_view name, const DeleteOptions& options = {},
                                    std::stop_token stop = {}) const {
    return client_.Delete(name, options, std::move(stop));
  }

  /// Deletes all objects that `selection` matches; when it is empty, all objects of the namespace.
  apimachinery::Result<void> DeleteCollection(const DeleteOptions& options,
                                              const apimachinery::ListOptions& selection,
                                              std::stop_token stop = {}) const {
    return client_.DeleteCollection(options, selection, std::move(stop));
  }

 private:
  // PUT of a subresource that takes and gives a T.
  apimachinery::Result<T> UpdateAt(std::string_view subresource, const T& object,
                                   const UpdateOptions& options, std::stop_token stop) const {
    T out{};
    ObjectName name = NameOf(object);
    name.subresource = subresource;
    KX_RETURN_IF_ERROR(client_.Update(name, &object, options, &out, std::move(stop)));
    return out;
  }

  apimachinery::Result<T> ApplyAt(std::string_view subresource, const ApplyObject<T>& object,
                                  const ApplyOptions& options, std::stop_token stop) const {
    T out{};
    KX_RETURN_IF_ERROR(client_.Apply(
        {.namespace_ = object.namespace_(), .name = object.name(), .subresource = subresource},
        object.ToJson(), options, &out, std::move(stop)));
    return out;
  }

  static ObjectName NameOf(const T& object) {
    return {.namespace_ = object.metadata.namespace_, .name = object.metadata.name};
  }

  UntypedClient client_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_RESOURCE_CLIENT_H_
