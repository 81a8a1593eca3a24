#include "kubexx/apiserver/storage/storage.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

KeyValue NoKey(std::string_view key) {
  KeyValue none;
  none.key = std::string(key);
  return none;
}

Result<KeyValue> Read(Storage& storage, std::string_view key, bool missing_is_fine,
                      const std::stop_token& stop) {
  Result<KeyValue> found = storage.Get(key, 0, stop);
  if (!found && missing_is_fine && found.error().reason == Reason::kNotFound) {
    return NoKey(key);
  }
  return found;
}

/// Replaces `current`, or creates the key. If it is not done, `current` of the answer is the state
/// for the next attempt.
Result<Swap> Write(Storage& storage, const KeyValue& current, std::string value,
                   const std::stop_token& stop) {
  if (current.mod_revision != 0) {
    return storage.CompareAndSwap(current.key, current.mod_revision, std::move(value), stop);
  }
  Result<KeyValue> created = storage.Create(current.key, std::move(value), stop);
  if (created) {
    return Swap{.done = true, .current = std::move(*created)};
  }
  if (created.error().reason != Reason::kAlreadyExists) {
    return Fail(std::move(created).error());
  }
  KX_ASSIGN_OR_RETURN(KeyValue now, Read(storage, current.key, true, stop));
  return Swap{.done = false, .current = std::move(now)};
}

}  // namespace

bool IsOutage(const apimachinery::Status& status) {
  return status.reason == Reason::kUnavailable ||
         (status.reason == Reason::kTimeout && !apimachinery::IsTooLargeResourceVersion(status));
}

StorageHealth Storage::CheckHealth(base::Duration /*timeout*/, std::stop_token stop) {
  const Result<Revision> answered = CurrentRevision(std::move(stop));
  const Result<void> health = answered ? Result<void>() : Fail(answered.error());
  return {.reads = health, .writes = health};
}

Result<KeyValue> GuaranteedUpdate(Storage& storage, std::string_view key, UpdateFunction update,
                                  UpdateOptions options, std::stop_token stop) {
  bool fresh = !options.origin.has_value();
  KeyValue current;
  if (fresh) {
    KX_ASSIGN_OR_RETURN(current, Read(storage, key, options.create_if_missing, stop));
  } else {
    current = *std::move(options.origin);
  }
  while (!stop.stop_requested()) {
    if (current.mod_revision == 0 && !options.create_if_missing) {
      return Fail(Reason::kNotFound, std::string(key) + " does not exist", 404);
    }
    Result<std::optional<std::string>> value = update(current);
    // A value from a cache may be old, and so is the value that was made from it. Nothing is
    // decided by it.
    if (!fresh && (!value || !value->has_value())) {
      const Revision seen = current.mod_revision;
      KX_ASSIGN_OR_RETURN(current, Read(storage, key, options.create_if_missing, stop));
      fresh = true;
      if (current.mod_revision != seen) {
        continue;
      }
    }
    if (!value) {
      return Fail(std::move(value).error());
    }
    if (!value->has_value()) {
      return current;
    }
    KX_ASSIGN_OR_RETURN(Swap swap, Write(storage, current, **std::move(value), stop));
    if (swap.done) {
      return std::move(swap.current);
    }
    current = std::move(swap.current);
    fresh = true;
  }
  return Fail(Reason::kCancelled, "update of " + std::string(key) + " was cancelled");
}

}  // namespace kubexx::apiserver::storage
