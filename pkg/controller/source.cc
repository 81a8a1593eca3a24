#include "kubexx/controller/source.h"

#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::controller {
namespace {

// The handler has the list a moment after the store; nobody tells when.
constexpr base::Duration kLookEvery = std::chrono::milliseconds(2);

}  // namespace

bool WaitForHandlerSync(cache::SharedInformerBase& informer, const std::string& handler,
                        const std::stop_token& stop) {
  informer.Start();
  if (!informer.WaitForSync(stop)) {
    return false;
  }
  while (!informer.HandlerHasSynced(handler)) {
    if (!base::Clock::Real().SleepFor(kLookEvery, stop)) {
      return false;
    }
  }
  return true;
}

}  // namespace kubexx::controller
