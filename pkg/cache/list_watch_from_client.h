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

/// What to list and watch of a resource, and how.
struct ListWatchOptions {
  /// Sent with every request; the server applies them.
  std::string label_selector{};
  std::string field_selector{};
  /// Encodings to ask for, best first. A custom resource is served as JSON only.
  std::vector<codec::Encoding> accept{codec::Encoding::kProtobuf, codec::Encoding::kJson};
  /// See rest::Request::AcceptParameters: of lists, and of watches.
  std::string list_accept_parameters{};
  std::string watch_accept_parameters{};
  /// Give the items of JSON lists, which do not name their type, that of the list.
  bool name_types = false;
  /// A list that sends nothing for this long is given up.
  std::chrono::seconds list_idle_timeout{120};
  /// So is one whose body, of each page, is waited for so long in all; what becomes of the objects
  /// does not count. In place of rest::Config::timeout, which is meant for requests of usual size.
  std::chrono::seconds list_timeout{600};
  /// A watch is given up when it has been silent for this much longer than the time that the server
  /// was asked to keep it open: its connection is dead.
  std::chrono::seconds watch_idle_margin{30};
};

/// As client-go's NewListWatchFromClient. `namespace_` is empty for all namespaces and for
/// cluster-scoped resources. Objects stream from the connection one by one; what encoding they have
/// is the server's choice. Requests are not retried: that is the reflector's part.
std::shared_ptr<ListerWatcher> NewListWatchFromClient(std::shared_ptr<rest::RESTClient> client,
                                                      const apimachinery::ResourceInfo& resource,
                                                      std::string namespace_,
                                                      ListWatchOptions options = {});

/// Changes the options of a request before it is sent, for example to add a selector. Called for
/// every page and every watch, by one thread at a time for one reflector.
using OptionsModifier = std::function<void(apimachinery::ListOptions&)>;

/// The same with a modifier of the requests' options, which is called last; as client-go's
/// NewFilteredListWatchFromClient. Changing versions, limits or continue tokens breaks the
/// reflector's rules and is not meant.
std::shared_ptr<ListerWatcher> NewFilteredListWatchFromClient(
    std::shared_ptr<rest::RESTClient> client, const apimachinery::ResourceInfo& resource,
    std::string namespace_, OptionsModifier modifier, ListWatchOptions options = {});

/// Whether a bookmark has the annotation k8s.io/initial-events-end: "true".
bool EndsInitialEvents(std::string_view bookmark);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_LIST_WATCH_FROM_CLIENT_H_
