/// @file
/// Waiting, in tests of controllers: with an end, and an error that says what was waited for.
#ifndef KUBEXX_CONTROLLER_TESTING_AWAIT_H_
#define KUBEXX_CONTROLLER_TESTING_AWAIT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/until.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::testing {

/// How long the waits below take at most, of real time, when no other time is given.
inline constexpr base::Duration kPatience = std::chrono::seconds(10);

/// Looks every few milliseconds whether `holds`, and returns as soon as it does. For what no object
/// shows: a line of the log, a metric. kTimeout after `patience`: "waited 10 s for <what>".
/// It looks once when there is no patience, and for ever when it is Duration::max().
apimachinery::Result<void> Eventually(std::string_view what, base::FunctionRef<bool()> holds,
                                      base::Duration patience = kPatience);

/// @cond
namespace internal {

/// An object to wait for.
struct Awaited {
  const apimachinery::ResourceInfo& resource;
  const apimachinery::ObjectKey& key;
  std::string_view what{};
  base::Duration patience{};
};

/// As the server tells it: the namespace of a cluster-scoped object does not matter, as with
/// controller::Client.
apimachinery::ObjectKey KeyOf(const Awaited& awaited);
/// Of that object alone.
std::shared_ptr<cache::ListerWatcher> SourceOf(std::shared_ptr<rest::RESTClient> client,
                                               const Awaited& awaited);
/// With a limit also when there is no patience, where cache::UntilOptions would have none.
cache::UntilOptions OptionsOf(const Awaited& awaited);
/// Adds to a kTimeout what was waited for and what was seen instead: JSON, "" for no object, and
/// nothing when the server has not told yet.
apimachinery::Error Explained(apimachinery::Status error, const Awaited& awaited,
                              const std::optional<std::string>& seen);

}  // namespace internal
/// @endcond

/// Waits with a watch until there is an object at `key` for which `done` holds, and returns it.
/// kTimeout after `patience`, with `what` was waited for and the object as it was seen last (the
/// data of a Secret is left out); other errors as cache::WaitFor. Without patience (zero, or less)
/// it ends as soon as it can, whatever there is.
///
///     auto greeting = kubexx::testing::AwaitObject<ConfigMap>(
///         client, {"hello", "greeting"}, "a greeting",
///         [](const ConfigMap& map) { return map.data.contains("text"); });
template <class T>
apimachinery::Result<T> AwaitObject(std::shared_ptr<rest::RESTClient> client,
                                    const apimachinery::ObjectKey& key, std::string_view what,
                                    std::function<bool(const T&)> done,
                                    base::Duration patience = kPatience) {
  const internal::Awaited awaited{api::ResourceOf<T>(), key, what, patience};
  std::optional<std::string> seen;
  auto found = cache::WaitFor<T>(
      internal::SourceOf(std::move(client), awaited), internal::KeyOf(awaited),
      [&](const T* object) {
        seen = object == nullptr ? std::string() : codec::EncodeJson(*object);
        return object != nullptr && done(*object);
      },
      {}, internal::OptionsOf(awaited));
  if (!found) {
    return internal::Explained(std::move(found).error(), awaited, seen);
  }
  return std::move(**found);
}

/// The same until there is no object at `key`.
template <class T>
apimachinery::Result<void> AwaitGone(std::shared_ptr<rest::RESTClient> client,
                                     const apimachinery::ObjectKey& key,
                                     base::Duration patience = kPatience) {
  const internal::Awaited awaited{api::ResourceOf<T>(), key, "it to be gone", patience};
  std::optional<std::string> seen;
  auto gone = cache::WaitFor<T>(
      internal::SourceOf(std::move(client), awaited), internal::KeyOf(awaited),
      [&](const T* object) {
        seen = object == nullptr ? std::string() : codec::EncodeJson(*object);
        return object == nullptr;
      },
      {}, internal::OptionsOf(awaited));
  if (!gone) {
    return internal::Explained(std::move(gone).error(), awaited, seen);
  }
  return {};
}

}  // namespace kubexx::testing

#endif  // KUBEXX_CONTROLLER_TESTING_AWAIT_H_
