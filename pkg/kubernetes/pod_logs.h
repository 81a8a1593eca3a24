/// @file
/// Functions that read the logs of a pod's containers.
#ifndef KUBEXX_KUBERNETES_POD_LOGS_H_
#define KUBEXX_KUBERNETES_POD_LOGS_H_

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::kubernetes {

/// Gets a piece of a log, on the thread that reads the log. An error ends the reading.
using LogSink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

/// Passes the log of one container to `sink` in pieces as they arrive; the pieces are not lines.
/// `options` choose the container (empty if the pod has only one) and the part of the log; with
/// `follow` the call continues until the container ends. Blocks; memory does not grow with the log.
/// Errors are the server's Status (kNotFound; kBadRequest while the container is being created),
/// kUnavailable when the connection broke, kCancelled, or the error of `sink`. Semantics: client-go
/// Pods().GetLogs. A log that broke off is not requested again. Through a proxy's tunnel it also
/// breaks off when the container prints nothing for two hours.
apimachinery::Result<void> StreamPodLogs(rest::RESTClient& client, std::string_view namespace_,
                                         std::string_view pod,
                                         const api::core::v1::PodLogOptions& options, LogSink sink,
                                         std::stop_token stop = {});

/// Splits pieces of text into lines. Not thread-safe.
class LineSplitter {
 public:
  /// A longer line is passed in parts of this size, so that memory stays bounded.
  static constexpr std::size_t kMaxLine = 1 << 20;

  /// Passes each line that `piece` completes to `sink`, without its "\n" (and a "\r" before that).
  /// Returns the error of `sink`.
  apimachinery::Result<void> Feed(std::string_view piece, LogSink sink);
  /// Passes the remaining text without a line break, if any.
  apimachinery::Result<void> Finish(LogSink sink);

 private:
  std::string rest_;
  bool is_after_part_ = false;  ///< the last thing passed was not the end of a line
};

/// Like StreamPodLogs, but line by line. A last line without a line break counts.
apimachinery::Result<void> ForEachPodLogLine(rest::RESTClient& client, std::string_view namespace_,
                                             std::string_view pod,
                                             const api::core::v1::PodLogOptions& options,
                                             LogSink sink, std::stop_token stop = {});

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_POD_LOGS_H_
