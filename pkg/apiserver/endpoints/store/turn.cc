#include "kubexx/apiserver/endpoints/store/turn.h"

#include <optional>

#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<std::unique_ptr<Turn::Hold>> Turn::Take(base::Clock& clock, const std::stop_token& stop) {
  std::optional<http::Waiting> waiting;
  if (const CurrentRequest* const current = CurrentRequest::Get()) {
    waiting.emplace(current->request());
  }
  const Result<void> may_wait = waiting ? waiting->Check() : Result<void>();
  base::MutexLock lock(mu_);
  while (taken_) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while others wrote definitions");
    }
    KX_RETURN_IF_ERROR(may_wait);
    clock.WaitUntil(mu_, free_, stop, base::TimePoint::max());
  }
  taken_ = true;
  return std::make_unique<Hold>(*this);
}

void Turn::End() {
  base::MutexLock lock(mu_);
  taken_ = false;
  free_.notify_all();
}

}  // namespace kubexx::apiserver
