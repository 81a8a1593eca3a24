#include "kubexx/cache/handler_registration.h"

#include "kubexx/cache/internal/informer/listener.h"

namespace kubexx::cache {

bool HandlerRegistration::HasSynced() const { return listener_ && listener_->synced(); }

bool HandlerRegistration::WaitForSync(const std::stop_token& stop) const {
  return listener_ && listener_->WaitForSync(stop);
}

apimachinery::Result<void> HandlerRegistration::Drain(const std::stop_token& stop) {
  if (!listener_) {
    return {};
  }
  auto result = listener_->Drain(stop);
  if (result || result.error().reason != apimachinery::Reason::kInvalid) {
    Reset();
  }
  return result;
}

}  // namespace kubexx::cache
