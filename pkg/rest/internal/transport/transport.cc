#include "kubexx/rest/internal/transport/transport.h"

#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/internal/http2/server_streams.h"
#include "kubexx/rest/internal/tls/tls.h"
#include "kubexx/rest/internal/transport/exchange.h"
#include "kubexx/rest/internal/transport/guarded_tripper.h"
#include "kubexx/rest/internal/transport/http_message.h"
#include "kubexx/rest/internal/transport/idle_connection.h"
#include "kubexx/rest/internal/transport/network_error.h"
#include "kubexx/rest/internal/transport/network_pool.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using web::http::client::http_client;
using web::http::client::http_client_config;

// cpprestsdk's own timer cannot tell a quiet watch from a dead server, and has one value for both.
// The Exchange keeps our limits, so this timer only has to be longer than any of them.
constexpr std::chrono::hours kNever(24 * 365);

std::atomic<bool> everything_is_a_stream = false;

}  // namespace

class HttpCall::Impl {
 public:
  Impl(base::Clock& clock, std::uint64_t certificate_generation)
      : exchange(std::make_shared<Exchange>(clock)), generation(certificate_generation) {}
  Impl(std::unique_ptr<RoundTrip> elsewhere, std::uint64_t certificate_generation)
      : trip(std::move(elsewhere)), generation(certificate_generation) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (exchange && exchange->Close()) {
      CancelOnNetworkThread(cancel);
    }
  }

  /// Is set for a stream and for a Config's round_tripper. Otherwise there is an exchange.
  std::unique_ptr<RoundTrip> trip;
  std::shared_ptr<Exchange> exchange;  ///< null with `trip`
  pplx::cancellation_token_source cancel;
  std::uint64_t generation = 0;
};

HttpCall::HttpCall(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpCall::HttpCall(HttpCall&&) noexcept = default;
HttpCall::~HttpCall() = default;

Result<HttpHead> HttpCall::AwaitHead(const std::stop_token& stop, const Limits& limits) {
  return impl_->trip ? impl_->trip->AwaitHead(stop, limits)
                     : impl_->exchange->AwaitHead(stop, limits);
}

Result<bool> HttpCall::Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) {
  return impl_->trip ? impl_->trip->Read(sink, stop, deadline)
                     : impl_->exchange->Read(sink, stop, deadline);
}

Result<StreamRead> HttpCall::TryRead(Sink sink) {
  return impl_->trip ? impl_->trip->TryRead(sink)
                     : Fail(Reason::kInternalError, "only a stream can be read without waiting");
}

void HttpCall::Notify(std::function<void()> tell) {
  if (impl_->trip) {
    impl_->trip->Notify(std::move(tell));
  }
}

base::TimePoint HttpCall::Arm() {
  return impl_->trip ? impl_->trip->Arm() : base::TimePoint::max();
}

bool HttpCall::lost_connection() const {
  return impl_->trip ? impl_->trip->lost_connection() : impl_->exchange->lost_connection();
}

bool HttpCall::failed() const {
  return impl_->trip ? impl_->trip->failed() : impl_->exchange->failed();
}

std::uint64_t HttpCall::certificate_generation() const { return impl_->generation; }

class Transport::Impl {
 public:
  Impl(ServerUrl server, std::optional<Proxy> proxy, base::Clock& clock, Http2Use http2)
      : server_(std::move(server)),
        proxy_(std::move(proxy)),
        streams_(std::make_unique<ServerStreams>(server_, proxy_, clock, http2)),
        clock_(clock) {}
  Impl(ServerUrl server, std::shared_ptr<RoundTripper> elsewhere, base::Clock& clock)
      : server_(std::move(server)), elsewhere_(std::move(elsewhere)), clock_(clock) {}

  Result<void> Use(const TlsConfig& config, bool new_certificate);
  HttpCall Start(const HttpRequest& request);
  bool CanNotify() const { return !elsewhere_ || elsewhere_->CanNotify(); }
  const std::optional<Proxy>& proxy() const { return proxy_; }
  std::uint64_t certificate_generation() const {
    base::MutexLock lock(mu_);
    return generation_;
  }

 private:
  // Connections that were made with the same TLS material.
  struct Connections {
    std::shared_ptr<TlsSettings> tls;
    http_client client;
  };

  // Throws what http_client throws.
  std::shared_ptr<Connections> NewConnections(std::shared_ptr<TlsSettings> tls, bool verify) const;
  // Returns the connections to use now, and their generation.
  std::pair<std::shared_ptr<Connections>, std::uint64_t> Current() const;
  // cpprestsdk speaks to no proxies with TLS, nor SOCKS5, and with tunnels it does not show the
  // socket: so nothing that has a proxy is sent by it.
  bool IsStream(const HttpRequest& request) const {
    return request.stream || proxy_ || everything_is_a_stream;
  }
  web::http::http_request Translate(const HttpRequest& request) const;
  static void Send(const std::shared_ptr<Connections>& connections,
                   const web::http::http_request& message,
                   const std::shared_ptr<Exchange>& exchange,
                   const pplx::cancellation_token& cancel);

  const ServerUrl server_;
  const std::optional<Proxy> proxy_;
  const std::shared_ptr<RoundTripper> elsewhere_;  ///< null: the network
  const std::unique_ptr<ServerStreams> streams_;   ///< null with elsewhere_
  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::shared_ptr<Connections> connections_ KX_GUARDED_BY(mu_);
  std::uint64_t generation_ KX_GUARDED_BY(mu_) = 0;
};

Result<void> Transport::Impl::Use(const TlsConfig& config, bool new_certificate) {
  if (elsewhere_) {
    return {};
  }
  std::shared_ptr<TlsSettings> tls;
  if (server_.tls) {
    KX_ASSIGN_OR_RETURN(tls, TlsSettings::New(config, server_.host));
  }
  std::shared_ptr<TlsSettings> proxy_tls;
  if (proxy_ && proxy_->protocol == ProxyProtocol::kHttps) {
    KX_ASSIGN_OR_RETURN(proxy_tls, TlsSettings::ForProxy(config, proxy_->address.host));
  }
  std::shared_ptr<Connections> connections;
  try {
    connections = NewConnections(tls, !config.insecure_skip_verify);
  } catch (const std::exception& error) {
    return Fail(Reason::kInvalidConfig, "server URL: " + std::string(error.what()));
  }
  KX_RETURN_IF_ERROR(streams_->Use(std::move(tls), std::move(proxy_tls)));
  {
    base::MutexLock lock(mu_);
    connections_.swap(connections);
    generation_ += new_certificate ? 1 : 0;
  }
  CloseOnNetworkThread(std::move(connections));
  return {};
}

std::shared_ptr<Transport::Impl::Connections> Transport::Impl::NewConnections(
    std::shared_ptr<TlsSettings> tls, bool verify) const {
  http_client_config config;
  config.set_timeout(kNever);
  config.set_max_redirects(
      0);  // the API does not redirect, and credentials must not follow a redirect
  config.set_validate_certificates(verify);
  LookBeforeUse(config, tls != nullptr);
  if (tls) {
    config.set_ssl_context_callback([tls](boost::asio::ssl::context& context) {
      if (!tls->Apply(context.native_handle())) {
        throw std::runtime_error("cannot set up TLS");
      }
    });
  }
  return std::make_shared<Connections>(std::move(tls),
                                       http_client(server_.OriginToResolve(), config));
}

auto Transport::Impl::Current() const -> std::pair<std::shared_ptr<Connections>, std::uint64_t> {
  const base::MutexLock lock(mu_);
  return {connections_, generation_};
}

void Transport::Impl::Send(const std::shared_ptr<Connections>& connections,
                           const web::http::http_request& message,
                           const std::shared_ptr<Exchange>& exchange,
                           const pplx::cancellation_token& cancel) {
  const auto on_error = [exchange, connections](const std::exception_ptr& error) {
    const auto& tls = connections->tls;
    Failure failure = DescribeFailure(error, tls ? tls->TakeVerifyError() : std::string());
    if (failure.no_connection) {
      // Most often the configured server is the wrong one, so the message names it.
      failure.status.message += " (" + connections->client.base_uri().to_string() + ")";
    }
    exchange->OnFailure(std::move(failure));
  };
  // Nothing has been sent yet, so this may be repeated as often as the pool has useless
  // connections.
  const auto send_again = [connections, message, exchange, cancel, on_error] {
    try {
      Send(connections, message, exchange, cancel);
    } catch (...) {
      on_error(std::current_exception());
    }
  };
  connections->client.request(message, cancel)
      .then(
          [exchange, on_error, send_again](const pplx::task<web::http::http_response>& head) {
            try {
              const web::http::http_response response = head.get();
              if (response.status_code() < 200) {
                exchange->OnFailure(InterimAnswer(response.status_code()));
              } else {
                exchange->OnHead(HeadOf(response));
              }
              response.content_ready().then(
                  [exchange, on_error](const pplx::task<web::http::http_response>& body) {
                    try {
                      body.get();
                      exchange->OnEnd();
                    } catch (...) {
                      on_error(std::current_exception());
                    }
                  });
            } catch (const ClosedWhileIdle&) {
              send_again();
            } catch (...) {
              if (DescribeFailure(std::current_exception(), {}).never_opened) {
                send_again();
              } else {
                on_error(std::current_exception());
              }
            }
          },
          // This runs before cpprestsdk goes on after an interim response.
          OnNetworkThread());
}

HttpCall Transport::Impl::Start(const HttpRequest& request) {
  if (elsewhere_) {
    return HttpCall(std::make_unique<HttpCall::Impl>(elsewhere_->Start(request), 0));
  }
  if (IsStream(request)) {
    // The generation is read first: if it is too old, a watch merely begins again.
    const std::uint64_t generation = certificate_generation();
    return HttpCall(std::make_unique<HttpCall::Impl>(streams_->Start(request), generation));
  }
  std::unique_ptr<HttpCall::Impl> call;
  try {
    const auto [connections, generation] = Current();
    call = std::make_unique<HttpCall::Impl>(clock_, generation);
    const std::shared_ptr<Exchange> exchange = call->exchange;
    web::http::http_request message = ToMessage(request, server_);
    message.set_response_stream(
        Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<BodyStreambuf>(exchange))
            .create_ostream());
    message.set_progress_handler(
        [exchange](web::http::message_direction::direction direction, utility::size64_t total) {
          if (direction == web::http::message_direction::upload) {
            exchange->OnConnected();
          } else {
            exchange->OnReceived(total);
          }
        });
    // It is started on the network thread, so that its continuation is in place there before
    // anything can come.
    crossplat::threadpool::shared_instance().service().post(
        [to = connections, message, exchange, cancel = call->cancel.get_token()] {
          try {
            Send(to, message, exchange, cancel);
          } catch (...) {
            exchange->OnFailure(DescribeFailure(std::current_exception(), {}));
          }
        });
  } catch (...) {
    if (!call) {
      call = std::make_unique<HttpCall::Impl>(clock_, certificate_generation());
    }
    call->exchange->OnFailure(DescribeFailure(std::current_exception(), {}));
  }
  return HttpCall(std::move(call));
}

void SendEverythingAsStreamsForTest(bool yes) { everything_is_a_stream = yes; }

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transport::~Transport() = default;

Result<std::unique_ptr<Transport>> Transport::New(const Config& config, const ServerUrl& server,
                                                  base::Clock& clock) {
  if (config.round_tripper) {
    return std::unique_ptr<Transport>(
        new Transport(std::make_unique<Impl>(server, Guarded(config.round_tripper), clock)));
  }
  KX_ASSIGN_OR_RETURN(std::optional<Proxy> proxy,
                      ChooseProxy(config.proxy_url, server, ValueInEnvironment));
  const bool disabled = !ValueInEnvironment("DISABLE_HTTP2").empty();
  return NewThrough(std::move(proxy), config.tls, server, clock,
                    disabled ? Http2Use::kNever : config.http2);
}

Result<std::unique_ptr<Transport>> Transport::NewThrough(std::optional<Proxy> proxy,
                                                         const TlsConfig& tls,
                                                         const ServerUrl& server,
                                                         base::Clock& clock, Http2Use http2) {
  StartNetworkThreads();
  auto impl = std::make_unique<Impl>(server, std::move(proxy), clock, http2);
  KX_RETURN_IF_ERROR(impl->Use(tls, false));
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

HttpCall Transport::Start(const HttpRequest& request) { return impl_->Start(request); }

bool Transport::CanNotify() const { return impl_->CanNotify(); }

Result<void> Transport::Use(const TlsConfig& tls, bool new_certificate) {
  return impl_->Use(tls, new_certificate);
}

const std::optional<Proxy>& Transport::proxy() const { return impl_->proxy(); }

std::uint64_t Transport::certificate_generation() const { return impl_->certificate_generation(); }

}  // namespace kubexx::rest::internal
