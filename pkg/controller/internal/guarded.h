/// @file
/// Exceptions as errors.
#ifndef KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_
#define KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_

#include <exception>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::controller::internal {

/// What `call` returns; kInternalError for what it throws, whether that comes from a user's code or
/// from a system that has no threads left.
template <class F>
apimachinery::Result<void> Guarded(const F& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError,
                              std::string("threw: ") + error.what());
  } catch (...) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError,
                              "threw what is no std::exception");
  }
}

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_GUARDED_H_
