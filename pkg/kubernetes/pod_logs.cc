#include "kubexx/kubernetes/pod_logs.h"

#include <algorithm>
#include <utility>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/apimachinery/group_version.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::Result;

constexpr apimachinery::ResourceInfo kPods{"", "v1", "Pod", "pods", true};

}  // namespace

Result<void> StreamPodLogs(rest::RESTClient& client, std::string_view namespace_,
                           std::string_view pod, const api::core::v1::PodLogOptions& options,
                           LogSink sink, std::stop_token stop) {
  rest::Request request = client.Get();
  request.Resource(kPods)
      .Namespace(namespace_)
      .Name(pod)
      .SubResource("log")
      .VersionedParams(options);
  // A log is no API object: errors are JSON, the log itself is text whatever is asked for.
  return request.Stream([](const auto&) -> Result<void> { return {}; }, sink, std::move(stop));
}

Result<void> LineSplitter::Feed(std::string_view piece, LogSink sink) {
  while (!piece.empty()) {
    // The end of a line that has been passed already, because it was as long as a part.
    if (std::exchange(is_after_part_, false) && piece.starts_with('\n')) {
      piece.remove_prefix(1);
      continue;
    }
    const std::size_t end = piece.find('\n');
    const std::size_t room = kMaxLine - rest_.size();
    const std::size_t take = std::min(std::min(end, piece.size()), room);
    rest_.append(piece.substr(0, take));
    piece.remove_prefix(take);
    const bool complete = piece.starts_with('\n');
    if (!complete && rest_.size() < kMaxLine) {
      break;
    }
    if (complete) {
      piece.remove_prefix(1);
      if (rest_.ends_with('\r')) {
        rest_.pop_back();
      }
    }
    is_after_part_ = !complete;
    KX_RETURN_IF_ERROR(sink(rest_));
    rest_.clear();
  }
  return {};
}

Result<void> LineSplitter::Finish(LogSink sink) {
  if (rest_.empty()) {
    return {};
  }
  return sink(std::exchange(rest_, {}));
}

Result<void> ForEachPodLogLine(rest::RESTClient& client, std::string_view namespace_,
                               std::string_view pod, const api::core::v1::PodLogOptions& options,
                               LogSink sink, std::stop_token stop) {
  LineSplitter splitter;
  KX_RETURN_IF_ERROR(StreamPodLogs(
      client, namespace_, pod, options,
      [&splitter, &sink](std::string_view piece) { return splitter.Feed(piece, sink); },
      std::move(stop)));
  return splitter.Finish(sink);
}

}  // namespace kubexx::kubernetes
