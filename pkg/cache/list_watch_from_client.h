/// @file
/// Lists and watches one resource of an API server.
#ifndef KUBEXX_CACHE_LIST_WATCH_FROM_CLIENT_H_
#define KUBEXX_CACHE_LIST_WATCH_FROM_CLIENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/codec/codec.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::cache {

/// Which objects of a resource to list and watch, and how.
struct ListWatchOptions {
  /// Selectors that are sent with every request; the server applies them.
  std::string label_selector{};
  std::string field_selector{};
  /// The encodings to ask for, in order of preference. Servers serve custom resources only as JSON.
  std::vector<codec::Encoding> accept{codec::Encoding::kProtobuf, codec::Encoding::kJson};
  /// Parameters of the Accept header of lists and of watches, see rest::Request::AcceptParameters.
  std::string list_accept_parameters{};
  std::string watch_accept_parameters{};
  /// Whether to add the list's type to the items of JSON lists, which do not contain their type.
  bool name_types = false;
  /// A list fails when the server sends nothing for this long.
  std::chrono::seconds list_idle_timeout{120};
  /// A list fails when the waits for the body of a page take this long in total. The time for
  /// processing the objects does not count. Replaces rest::Config::timeout, which is meant for
  /// requests of usual size.
  std::chrono::seconds list_timeout{600};
  /// The margin after which a silent watch counts as dead and fails: the server has sent nothing
  /// for the lifetime that the watch asked for, and for this much longer.
  std::chrono::seconds watch_idle_margin{30};
};

/// Media type parameters that ask for metadata only: of one object or a watch, and of a list.
inline constexpr std::string_view kAsPartialObject = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The media type parameters that ask for the metadata of a list's items.
inline constexpr std::string_view kAsPartialObjectList =
    "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Changes the encodings and parameters so that the server sends metadata only, as objects of type
/// PartialObjectMetadata; as protobuf for custom resources, too.
void AskForMetadata(ListWatchOptions& options);

/// Makes a source that lists and watches `resource`, as client-go's NewListWatchFromClient.
/// `namespace_` is empty for all namespaces and for cluster-scoped resources. The source hands over
/// objects one by one as the connection delivers them, in the encoding that the server chose. It
/// does not retry requests, because the reflector does.
std::shared_ptr<ListerWatcher> NewListWatchFromClient(std::shared_ptr<rest::RESTClient> client,
                                                      const apimachinery::ResourceInfo& resource,
                                                      std::string namespace_,
                                                      ListWatchOptions options = {});

/// Changes the options of a request before it is sent, for example to add a selector. Called for
/// every page and every watch, by one thread at a time for one reflector. When it throws, that
/// request has failed, and the reflector tries again.
using OptionsModifier = std::function<void(apimachinery::ListOptions&)>;

/// Like NewListWatchFromClient, with a modifier that gets the options of each request last; as
/// client-go's NewFilteredListWatchFromClient. The modifier must not change versions, limits or
/// continue tokens, because the reflector relies on them.
std::shared_ptr<ListerWatcher> NewFilteredListWatchFromClient(
    std::shared_ptr<rest::RESTClient> client, const apimachinery::ResourceInfo& resource,
    std::string namespace_, OptionsModifier modifier, ListWatchOptions options = {});

/// Whether the bookmark has the annotation k8s.io/initial-events-end: "true".
bool EndsInitialEvents(std::string_view bookmark);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_LIST_WATCH_FROM_CLIENT_H_
