/// @file
/// Guarded: turns exceptions into errors.
#ifndef KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_
#define KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_

#include <exception>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::controller::internal {

/// Returns what `call` returns, or kInternalError when it throws, whether the user's code threw or
/// the system could not start a thread.
template <class F>
apimachinery::Result<void> Guarded(const F& call) {
  try {
    return call();
  } catch (...) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError, "threw: " + base::ThrownText());
  }
}

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_
