/// @file
/// The request that a thread handles.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_CURRENT_REQUEST_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_CURRENT_REQUEST_H_

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Makes the request that this thread handles known to code that is not passed it, such as a
/// converter or the storage. That code needs it to let the server work on another request in its
/// place while it waits, and to end when the client does not wait any more.
class CurrentRequest {
 public:
  /// `request` must outlive it. At `deadline` the answer is of no use any more; it is a time of the
  /// real clock.
  explicit CurrentRequest(const http::Request& request,
                          base::TimePoint deadline = base::TimePoint::max());
  ~CurrentRequest();
  CurrentRequest(const CurrentRequest&) = delete;
  CurrentRequest& operator=(const CurrentRequest&) = delete;

  /// The one of this thread; null on the server's own threads.
  static const CurrentRequest* Get();

  const http::Request& request() const { return request_; }
  base::TimePoint deadline() const { return deadline_; }

 private:
  const http::Request& request_;
  const base::TimePoint deadline_;
  const CurrentRequest* const outer_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_CURRENT_REQUEST_H_
