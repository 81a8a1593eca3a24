/// @file
/// ErrorOfHead: why a stream has no head, as its owner gets to know it.
#ifndef KUBEXX_REST_INTERNAL_STREAM_HEAD_WAIT_H_
#define KUBEXX_REST_INTERNAL_STREAM_HEAD_WAIT_H_

#include <optional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// The error of RoundTrip::AwaitHead. `sent` says whether the request had been sent. What is no
/// matter of time, and no stop, is kept in `failure`.
apimachinery::Error ErrorOfHead(Trouble trouble, const RoundTrip::Limits& limits, bool sent,
                                const base::Clock& clock, std::optional<Failure>& failure);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_HEAD_WAIT_H_
