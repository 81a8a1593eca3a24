/// @file
/// Subscription: a registration that ends with its owner.
#ifndef KUBEXX_BASE_SUBSCRIPTION_H_
#define KUBEXX_BASE_SUBSCRIPTION_H_

#include <functional>
#include <utility>

namespace kubexx::base {

/// Owns one registration. Reset() and the destructor unregister the callback and wait for a running
/// call of it. Therefore a callback must not destroy its own subscription. Move-only.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::move_only_function<void()> unregister)
      : unregister_(std::move(unregister)) {}
  Subscription(Subscription&& other) noexcept
      : unregister_(std::exchange(other.unregister_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      Reset();
      unregister_ = std::exchange(other.unregister_, nullptr);
    }
    return *this;
  }
  ~Subscription() { Reset(); }

  /// Ends the registration now. Does nothing if there is none.
  void Reset() {
    if (auto unregister = std::exchange(unregister_, nullptr)) {
      unregister();
    }
  }

 private:
  std::move_only_function<void()> unregister_;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_SUBSCRIPTION_H_
