/// @file
/// What the containers of a pod print.
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

/// Gets a piece of a log on the thread that reads it; an error ends the reading.
using LogSink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

/// Hands the log of one container over in pieces as they come, not cut at lines. `options` say
/// which container (empty if the pod has only one), from where and how much; with `follow` it goes
/// on until the container ends. Blocks; memory does not grow with the log. The server's Status
/// (kNotFound, kBadRequest while the container is still being created), kUnavailable when the
/// connection broke, kCancelled, or the error of `sink`. Semantics: client-go Pods().GetLogs; a log
/// that broke off is not asked for again. Through a proxy's tunnel it breaks off, too, when the
/// container says nothing for two hours.
apimachinery::Result<void> StreamPodLogs(rest::RESTClient& client, std::string_view namespace_,
                                         std::string_view pod,
                                         const api::core::v1::PodLogOptions& options, LogSink sink,
                                         std::stop_token stop = {});

/// Cuts pieces of text into lines. Not thread-safe.
class LineSplitter {
 public:
  /// A line longer than this comes in parts of this size, so that memory stays bounded.
  static constexpr std::size_t kMaxLine = 1 << 20;

  /// Hands each line that `piece` completes to `sink`, without its "\n" (and "\r" before that). The
  /// error of `sink`.
  apimachinery::Result<void> Feed(std::string_view piece, LogSink sink);
  /// Hands over what is left without a line break, if anything.
  apimachinery::Result<void> Finish(LogSink sink);

 private:
  std::string rest_;
};

/// As StreamPodLogs, line by line. A last line without a line break counts.
apimachinery::Result<void> ForEachPodLogLine(rest::RESTClient& client, std::string_view namespace_,
                                             std::string_view pod,
                                             const api::core::v1::PodLogOptions& options,
                                             LogSink sink, std::stop_token stop = {});

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_POD_LOGS_H_
