/// @file
/// RetryAfter: the time that a reflector waits when the server sends Retry-After.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_RETRY_AFTER_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_RETRY_AFTER_H_

#include <algorithm>
#include <chrono>

#include "kubexx/apimachinery/status.h"

namespace kubexx::cache::internal {

/// The Retry-After of `status`, but at most two minutes, which is also the limit for requests. A
/// server that asks for hours is most often a maintenance page, and the caches stay stale until the
/// reflector asks again.
inline std::chrono::seconds RetryAfter(const apimachinery::Status& status) {
  return std::min<std::chrono::seconds>(status.details.retry_after, std::chrono::minutes(2));
}

}  // namespace kubexx::cache::internal

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_RETRY_AFTER_H_
