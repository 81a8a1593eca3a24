/// @file
/// Guarded: turns exceptions into errors.
#ifndef KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_
#define KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_

#include <exception>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::controller::internal {

/// Returns the result of `call`, or kInternalError when it throws. An exception comes from the
/// user's code, or from a thread that the system could not start.
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
