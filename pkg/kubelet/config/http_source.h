/// @file
/// HttpSource: the static pods of a URL.
#ifndef KUBEXX_KUBELET_CONFIG_HTTP_SOURCE_H_
#define KUBEXX_KUBELET_CONFIG_HTTP_SOURCE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/kubelet/config/file_source.h"
#include "kubexx/kubelet/config/pod_update.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::kubelet {

/// Requests a Pod or a PodList from a URL at the start and every `interval`, and passes its pods to
/// the sink when the answer differs from the last one. An unreadable answer, an error and an empty
/// answer change nothing and are reported once each. An empty answer at the start counts as no
/// pods, so that consumers know that the source has answered. As the kubelet's NewSourceURL. The
/// destructor stops it.
class HttpSource {
 public:
  /// The URL, and how often to request it.
  struct Options {
    /// An http or https URL; path and query are optional.
    std::string url{};
    /// Headers to send, for example for authentication.
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string node_name{};
    std::chrono::milliseconds interval = std::chrono::seconds(20);
    /// The time limit of one request.
    std::chrono::milliseconds timeout = std::chrono::seconds(10);
    base::Clock& clock = base::Clock::Real();
    /// See FileSource::Options::on_problems.
    std::function<void(const ManifestProblems&)> on_problems{};
  };
  /// Returns kInvalidConfig for a URL that cannot be used. Sends no request yet.
  static apimachinery::Result<std::unique_ptr<HttpSource>> New(Options options, PodSink sink);
  HttpSource(const HttpSource&) = delete;
  HttpSource& operator=(const HttpSource&) = delete;

 private:
  HttpSource(Options options, std::unique_ptr<rest::UrlClient> client, PodSink sink);
  void Run(const std::stop_token& stop);
  apimachinery::Result<void> Ask(const std::stop_token& stop);
  apimachinery::Result<void> Take(std::string body);
  void Report(const apimachinery::Result<void>& asked);

  const Options options_;
  const std::unique_ptr<rest::UrlClient> client_;
  const PodSink sink_;
  std::optional<std::string> last_{};  ///< the last answer that was used
  std::optional<apimachinery::Status> problem_{};
  std::jthread thread_;
};

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_HTTP_SOURCE_H_
