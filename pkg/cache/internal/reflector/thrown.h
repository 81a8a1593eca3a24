/// @file
/// ThrownError: turns an exception into an error.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_THROWN_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_THROWN_H_

#include <exception>
#include <string>
#include <system_error>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::cache::internal {

/// Returns the exception that is being handled as an error. Call it in a catch block. It is
/// kUnavailable when the system had no thread left, which is not the source's fault, and otherwise
/// kInternalError.
inline apimachinery::Status ThrownError() {
  using apimachinery::Reason;
  try {
    throw;
  } catch (const std::system_error& error) {
    const bool scarce = error.code() == std::errc::resource_unavailable_try_again;
    return {scarce ? Reason::kUnavailable : Reason::kInternalError,
            std::string("threw: ") + error.what()};
  } catch (...) {
    return {Reason::kInternalError, "threw: " + base::ThrownText()};
  }
}

}  // namespace kubexx::cache::internal

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_THROWN_H_
