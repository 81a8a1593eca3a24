/// @file
/// A handler's place in an informer.
#ifndef KUBEXX_CACHE_HANDLER_REGISTRATION_H_
#define KUBEXX_CACHE_HANDLER_REGISTRATION_H_

#include <memory>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/subscription.h"

namespace kubexx::cache {

class Listener;

/// Owns the registration of one handler: its destruction, or Reset, removes the handler, waits for
/// a call of it that is running and drops what it has not been given yet. The handler itself may
/// end it, too, and is not waited for then: it gets nothing more. Move-only; may outlive the
/// informer; becomes a base::Subscription where only the end matters. As client-go's
/// ResourceEventHandlerRegistration. The const methods are thread-safe.
class [[nodiscard]] HandlerRegistration {
 public:
  HandlerRegistration() = default;
  HandlerRegistration(std::shared_ptr<Listener> listener, base::Subscription subscription)
      : listener_(std::move(listener)), subscription_(std::move(subscription)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): for containers and members of subscriptions.
  operator base::Subscription() && { return std::move(subscription_); }

  /// Whether the informer has synced and the handler has been given the whole initial list.
  bool HasSynced() const;
  /// Blocks until HasSynced, without polling; false when the handler was removed, or `stop` was
  /// requested, first.
  bool WaitForSync(const std::stop_token& stop) const;

  /// Removes the handler after it has been given everything that waits for it; it gets no newer
  /// events. Blocks for that long. It is removed in any case: kCancelled means that `stop` was
  /// requested first, kUnavailable that the informer does not run; what waited is dropped then.
  /// kInvalid when the handler itself calls, which removes nothing. As ShutDownEventHandler.
  apimachinery::Result<void> Drain(const std::stop_token& stop);
  /// Removes the handler now. Does nothing when that has happened.
  void Reset() { subscription_.Reset(); }

 private:
  std::shared_ptr<Listener> listener_{};
  base::Subscription subscription_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_HANDLER_REGISTRATION_H_
