/// @file
/// Serves the page.
#ifndef KUBEXX_RELOADER_UI_PAGE_SERVER_H_
#define KUBEXX_RELOADER_UI_PAGE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/server.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/ui/event_streams.h"
#include "kubexx/reloader/ui/page_access.h"

namespace kubexx::reloader {

/// Serves the page, its events and what it asks for, to whom a PageAccess lets in; and /live, for
/// probes, to everybody. No answer may be shown in a frame, kept by a browser, or make it ask
/// another host. Thread-safe.
class PageServer {
 public:
  struct Options {
    /// "host:port".
    std::string address = "127.0.0.1:0";
    /// Listen without TLS also on an address that other machines can reach.
    bool may_be_reached = false;
    /// Serve over TLS, on any address.
    std::optional<http::TlsOptions> tls{};
    std::size_t max_connections = 64;
    /// What the page shows of one workload, as a JSON object. May block; runs on a few threads.
    std::function<apimachinery::Result<std::string>(const WorkloadId&, const std::stop_token&)>
        workload{};
    /// What the page shows of one source, as a JSON object.
    std::function<apimachinery::Result<std::string>(const SourceId&, const std::stop_token&)>
        source{};
  };

  /// `streams` and `access` must outlive this object.
  PageServer(EventStreams& streams, PageAccess& access, Options options);
  /// Stops.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// Begins to answer. kInvalidConfig for an address that other machines can reach, without TLS and
  /// unless that is permitted; else it fails as http::Server::Start does.
  apimachinery::Result<void> Start();
  std::uint16_t port() const { return server_.port(); }
  /// Ends all streams and answers.
  void Stop();

 private:
  http::Response Answer(const http::Request& request);
  http::Response Events(const http::Request& request);
  http::Response Workload(const http::Request& request) const;
  http::Response Source(const http::Request& request) const;
  http::Server::Options ServerOptions();

  EventStreams& streams_;
  PageAccess& access_;
  const Options options_;
  http::Server server_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_PAGE_SERVER_H_
