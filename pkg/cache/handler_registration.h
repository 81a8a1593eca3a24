/// @file
/// HandlerRegistration: the registration of a handler with an informer.
#ifndef KUBEXX_CACHE_HANDLER_REGISTRATION_H_
#define KUBEXX_CACHE_HANDLER_REGISTRATION_H_

#include <memory>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/subscription.h"

namespace kubexx::cache {

class Listener;

/// Owns the registration of one handler. Its destructor, or Reset, removes the handler, waits for a
/// running call of it, and drops the events that it has not got yet. The handler itself may also
/// remove the registration; this does not wait, and the handler gets nothing more. Move-only; may
/// outlive the informer; converts to a base::Subscription. Like client-go's
/// ResourceEventHandlerRegistration. The const methods are thread-safe.
class [[nodiscard]] HandlerRegistration {
 public:
  HandlerRegistration() = default;
  HandlerRegistration(std::shared_ptr<Listener> listener, base::Subscription subscription)
      : listener_(std::move(listener)), subscription_(std::move(subscription)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): for containers and members of subscriptions.
  operator base::Subscription() && { return std::move(subscription_); }

  /// Whether the informer has synced and the handler has got the whole initial list.
  bool HasSynced() const;
  /// Blocks until HasSynced, without polling. Returns false when the handler was removed, or `stop`
  /// was requested, first.
  bool WaitForSync(const std::stop_token& stop) const;

  /// Delivers all waiting events to the handler and then removes it; the handler gets no newer
  /// events. Blocks until then. The handler is also removed on an error, and the waiting events are
  /// dropped: kCancelled means that `stop` was requested first, kUnavailable that the informer does
  /// not run. Only with kInvalid, when the handler itself calls Drain, it is not removed. Like
  /// client-go's ShutDownEventHandler.
  apimachinery::Result<void> Drain(const std::stop_token& stop);
  /// Removes the handler at once. Does nothing when it has been removed already.
  void Reset() { subscription_.Reset(); }

 private:
  std::shared_ptr<Listener> listener_{};
  base::Subscription subscription_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_HANDLER_REGISTRATION_H_
