/// @file
/// Functions that wait in tests of controllers. Each has a time limit and an error that says what
/// it waited for.
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

/// How long the functions below wait at most, in real time, unless another time is given.
inline constexpr base::Duration kPatience = std::chrono::seconds(10);

/// Calls `holds` every few milliseconds and returns as soon as it returns true. For conditions that
/// no object shows, such as a line of the log or a metric. kTimeout after `patience`: "waited 10 s
/// for <what>". When `patience` is zero or negative it calls `holds` once; when it is
/// Duration::max(), it waits for ever.
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

/// The key under which the server has the object: the namespace of a cluster-scoped object does
/// not matter, as with controller::Client.
apimachinery::ObjectKey KeyOf(const Awaited& awaited);
/// A source of that object only.
std::shared_ptr<cache::ListerWatcher> SourceOf(std::shared_ptr<rest::RESTClient> client,
                                               const Awaited& awaited);
/// Options with a time limit even when there is no patience, where cache::UntilOptions has none.
cache::UntilOptions OptionsOf(const Awaited& awaited);
/// Adds to a kTimeout what the test waited for and what it saw instead: `seen` is JSON, "" for no
/// object, and std::nullopt when the server has not answered yet.
apimachinery::Error Explained(apimachinery::Status error, const Awaited& awaited,
                              const std::optional<std::string>& seen);

}  // namespace internal
/// @endcond

/// Waits with a watch until there is an object at `key` for which `done` returns true, and returns
/// the object. kTimeout after `patience`; the error contains `what` and the object as it was seen
/// last (without the data of a Secret). Other errors are those of cache::WaitFor. When `patience`
/// is zero or negative, the wait ends as soon as the state of the object is known.
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

/// Waits until there is no object at `key`; otherwise like AwaitObject.
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
