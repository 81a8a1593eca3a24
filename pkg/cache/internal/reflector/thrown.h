/// @file
/// ThrownError: an exception as an error.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_THROWN_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_THROWN_H_

#include <exception>
#include <string>
#include <system_error>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::cache::internal {

/// Returns the exception that is being handled as an error; call it in a catch block. kUnavailable
/// when the system had no thread left, which says nothing of the source; otherwise kInternalError.
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
