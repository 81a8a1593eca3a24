#include "kubexx/controller/testing/await.h"

#include <stop_token>

#include "kubexx/base/after.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::testing {
namespace {

using apimachinery::Reason;

constexpr std::chrono::milliseconds kBetweenLooks{2};

std::string InSeconds(base::Duration time) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return milliseconds % 1000 == 0 ? std::to_string(milliseconds / 1000) + " s"
                                  : std::to_string(milliseconds) + " ms";
}

}  // namespace

apimachinery::Result<void> Eventually(std::string_view what, base::FunctionRef<bool()> holds,
                                      base::Duration patience) {
  base::Clock& clock = base::Clock::Real();
  const base::TimePoint end = base::After(clock.Now(), patience);
  while (!holds()) {
    if (clock.Now() >= end) {
      return apimachinery::Fail(Reason::kTimeout,
                                "waited " + InSeconds(patience) + " for " + std::string(what));
    }
    clock.SleepFor(kBetweenLooks, {});
  }
  return {};
}

namespace internal {

apimachinery::ObjectKey KeyOf(const Awaited& awaited) {
  return {awaited.resource.namespaced ? awaited.key.namespace_ : std::string(), awaited.key.name};
}

std::shared_ptr<cache::ListerWatcher> SourceOf(std::shared_ptr<rest::RESTClient> client,
                                               const Awaited& awaited) {
  return cache::NewListWatchFromClient(std::move(client), awaited.resource,
                                       KeyOf(awaited).namespace_,
                                       {.field_selector = "metadata.name=" + awaited.key.name});
}

cache::UntilOptions OptionsOf(const Awaited& awaited) {
  return {.timeout = awaited.patience > base::Duration::zero() ? awaited.patience : kPatience};
}

namespace {

/// The managed fields are several times as long as everything that tests ask for.
std::string WithoutManagedFields(const std::string& object) {
  auto tree = codec::JsonTree::Parse(object);
  if (!tree || tree->At({"metadata", "managedFields"}) == nullptr) {
    return object;
  }
  (*tree)["metadata"].Erase("managedFields");
  return tree->ToJson();
}

}  // namespace

apimachinery::Error Explained(apimachinery::Status error, const Awaited& awaited,
                              const std::optional<std::string>& seen) {
  const std::string object = std::string(awaited.resource.kind) + " " + KeyOf(awaited).ToString();
  const std::string why = error.message;
  if (error.reason != Reason::kTimeout) {
    return apimachinery::Fail(
        error.WithContext("waiting for " + std::string(awaited.what) + " of " + object));
  }
  const base::Duration waited = seen ? awaited.patience : OptionsOf(awaited).timeout;
  error.message = "waited " + InSeconds(waited) + " for " + std::string(awaited.what) + ": ";
  if (!seen) {
    error.message += "the server has not told yet whether " + object + " is there: " + why;
  } else if (seen->empty()) {
    error.message += "there is no " + object;
  } else if (awaited.resource.kind == "Secret") {
    error.message += object + " is there, but not like that";
  } else {
    error.message += object + " was last " + WithoutManagedFields(*seen);
  }
  return apimachinery::Fail(std::move(error));
}

}  // namespace internal

}  // namespace kubexx::testing
