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
#include "kubexx/cache/watch/until.h"
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
/// The time limit of the wait. Without patience it is that of the server's first answer.
cache::UntilOptions OptionsOf(const Awaited& awaited);
/// Adds to a kTimeout what the test waited for and what it saw instead: `seen` is JSON, "" for no
/// object, and std::nullopt when the server has not answered yet.
apimachinery::Error Explained(apimachinery::Status error, const Awaited& awaited,
                              const std::optional<std::string>& seen);

/// Waits until `done` returns true for the object, null while there is none. Without patience the
/// first look is the last.
template <class T>
apimachinery::Result<std::optional<T>> AwaitState(std::shared_ptr<rest::RESTClient> client,
                                                  const Awaited& awaited,
                                                  base::FunctionRef<bool(const T*)> done) {
  std::optional<std::string> seen;
  bool met = false;
  auto found = cache::WaitFor<T>(
      SourceOf(std::move(client), awaited), KeyOf(awaited),
      [&](const T* object) {
        seen = object == nullptr ? std::string() : codec::EncodeJson(*object);
        met = done(object);
        return met || awaited.patience <= base::Duration::zero();
      },
      {}, OptionsOf(awaited));
  if (!found) {
    return Explained(std::move(found).error(), awaited, seen);
  }
  if (!met) {
    return Explained({apimachinery::Reason::kTimeout, "there was no patience"}, awaited, seen);
  }
  return found;
}

}  // namespace internal
/// @endcond

/// Waits with a watch until there is an object at `key` for which `done` returns true, and returns
/// the object. kTimeout after `patience`; the error contains `what` and the object as it was seen
/// last (without the data of a Secret). Other errors are those of cache::WaitFor. When `patience`
/// is zero or negative, the wait ends as soon as the state of the object is known, which takes as
/// long as the server needs to answer, but no longer than kPatience.
///
///     auto greeting = kubexx::testing::AwaitObject<ConfigMap>(
///         client, {"hello", "greeting"}, "a greeting",
///         [](const ConfigMap& map) { return map.data.contains("text"); });
template <class T>
apimachinery::Result<T> AwaitObject(std::shared_ptr<rest::RESTClient> client,
                                    const apimachinery::ObjectKey& key, std::string_view what,
                                    std::function<bool(const T&)> done,
                                    base::Duration patience = kPatience) {
  KX_ASSIGN_OR_RETURN(
      std::optional<T> found,
      internal::AwaitState<T>(std::move(client), {api::ResourceOf<T>(), key, what, patience},
                              [&](const T* object) { return object != nullptr && done(*object); }));
  return *std::move(found);
}

/// Waits until there is no object at `key`; otherwise like AwaitObject.
template <class T>
apimachinery::Result<void> AwaitGone(std::shared_ptr<rest::RESTClient> client,
                                     const apimachinery::ObjectKey& key,
                                     base::Duration patience = kPatience) {
  KX_RETURN_IF_ERROR(internal::AwaitState<T>(std::move(client),
                                             {api::ResourceOf<T>(), key, "it to be gone", patience},
                                             [](const T* object) { return object == nullptr; }));
  return {};
}

}  // namespace kubexx::testing

#endif  // KUBEXX_CONTROLLER_TESTING_AWAIT_H_
