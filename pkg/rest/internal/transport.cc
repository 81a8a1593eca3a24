#include "kubexx/rest/internal/transport.h"

#include <cpprest/http_client.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <pplx/threadpool.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "kubexx/logging/log.h"
#include "kubexx/rest/internal/exchange.h"
#include "kubexx/rest/internal/network_error.h"
#include "kubexx/rest/internal/proxy.h"
#include "kubexx/rest/internal/tls.h"

// cpprestsdk neither wipes nor frees a password it has read back, except on Windows: a leak for
// every request and every tunnel through a proxy with credentials. It calls this member through its
// dynamic symbol table, where the definition of the program that links it comes first.
void web::details::zero_memory_deleter::operator()(utility::string_t* data) const {
  OPENSSL_cleanse(data->data(), data->size());
  delete data;
}

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using web::http::client::http_client;
using web::http::client::http_client_config;

// cpprestsdk's own timer cannot tell a quiet watch from a dead server and has one value for both;
// ours are kept by the Exchange. This one only has to be longer than any of them.
constexpr std::chrono::hours kNever(24 * 365);

// One thread for all connections of the process. cpprestsdk closes the socket of a cancelled
// request wherever cancel() is called, without a lock against the handlers of the same connection;
// with one thread, and cancel() called on it, the two cannot meet. It never blocks, so it serves
// hundreds of watches.
constexpr int kNetworkThreads = 1;

std::atomic<bool> owns_network_threads = false;

// cpprestsdk sets its timer anew for every piece that it reads, which Asio tells the kernel when no
// other timer ends sooner: a third of the system calls of a watch. This one always does.
void EndSoonerThanTimeouts(boost::asio::steady_timer& timer) {
  timer.expires_after(kNever / 2);
  timer.async_wait([&timer](boost::system::error_code error) {
    if (!error) {
      EndSoonerThanTimeouts(timer);
    }
  });
}

void StartNetworkThreads() {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      crossplat::threadpool::initialize_with_threads(kNetworkThreads);
      owns_network_threads = true;
      // Never deleted: the pool is there until the process ends.
      static auto* const timer =
          new boost::asio::steady_timer(crossplat::threadpool::shared_instance().service());
      EndSoonerThanTimeouts(*timer);
    } catch (const std::runtime_error&) {
      logging::Warning(
          "cpprestsdk's thread pool was started by other code; with several threads in it, "
          "stopping a request may crash inside cpprestsdk: create the first RESTClient earlier");
    }
  });
}

// See kNetworkThreads.
void CancelOnNetworkThread(const pplx::cancellation_token_source& source) {
  crossplat::threadpool::shared_instance().service().post([source] {
    try {
      source.cancel();  // closes the socket
    } catch (...) {
      // What cancellation callbacks throw concerns nobody any more.
    }
  });
}

using Socket = boost::asio::ip::tcp::socket;

// A peer that vanished without a word is noticed after a minute, also on a watch that has nothing
// to send. As Go's dialer, which probes after 30 s of silence.
void KeepAlive(void* socket) {
  const int fd = static_cast<Socket*>(socket)->native_handle();
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// Called by cpprestsdk for each request, with the socket of a new connection not open yet.
void PrepareSocket(web::http::client::native_handle handle, bool tls) {
  if (!tls) {
    if (auto* socket = static_cast<Socket*>(handle); socket->is_open()) {
      KeepAlive(socket);
    }
    return;
  }
  auto* stream = static_cast<boost::asio::ssl::stream<Socket&>*>(handle);
  if (!stream->next_layer().is_open()) {
    TlsSettings::AtHandshake(stream->native_handle(), KeepAlive, &stream->next_layer());
  }
}

std::string Find(const web::http::http_headers& headers, const char* name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

HttpHead HeadOf(const web::http::http_response& response) {
  const auto& headers = response.headers();
  return {.code = response.status_code(),
          .content_type = Find(headers, "Content-Type"),
          .retry_after = Find(headers, "Retry-After"),
          .warning = Find(headers, "Warning"),
          .content_encoding = Find(headers, "Content-Encoding")};
}

}  // namespace

class HttpCall::Impl {
 public:
  Impl(base::Clock& clock, std::uint64_t certificate_generation)
      : exchange(std::make_shared<Exchange>(clock)), generation(certificate_generation) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (exchange->Close()) {
      CancelOnNetworkThread(cancel);
    }
  }

  std::shared_ptr<Exchange> exchange;
  pplx::cancellation_token_source cancel;
  std::uint64_t generation;
};

HttpCall::HttpCall(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpCall::HttpCall(HttpCall&&) noexcept = default;
HttpCall::~HttpCall() = default;

Result<HttpHead> HttpCall::AwaitHead(const std::stop_token& stop, const Limits& limits) {
  return impl_->exchange->AwaitHead(stop, limits);
}

Result<bool> HttpCall::Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) {
  return impl_->exchange->Read(sink, stop, deadline);
}

bool HttpCall::lost_connection() const { return impl_->exchange->lost_connection(); }

bool HttpCall::failed() const { return impl_->exchange->failed(); }

std::uint64_t HttpCall::certificate_generation() const { return impl_->generation; }

class Transport::Impl {
 public:
  Impl(ServerUrl server, std::optional<Proxy> proxy, base::Clock& clock)
      : server_(std::move(server)), proxy_(std::move(proxy)), clock_(clock) {}

  Result<void> Use(const TlsConfig& config, bool new_certificate);
  HttpCall Start(const HttpRequest& request);
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

  http_client_config ClientConfig(const std::shared_ptr<TlsSettings>& tls, bool verify) const;
  static web::http::http_request Translate(const HttpRequest& request);

  const ServerUrl server_;
  const std::optional<Proxy> proxy_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::shared_ptr<Connections> connections_ KX_GUARDED_BY(mu_);
  std::uint64_t generation_ KX_GUARDED_BY(mu_) = 0;
};

Result<void> Transport::Impl::Use(const TlsConfig& config, bool new_certificate) {
  std::shared_ptr<TlsSettings> tls;
  if (server_.tls) {
    KX_ASSIGN_OR_RETURN(tls, TlsSettings::New(config, server_.host));
  }
  std::shared_ptr<Connections> connections;
  try {
    connections = std::make_shared<Connections>(Connections{
        .tls = tls,
        .client = http_client(server_.Origin(), ClientConfig(tls, !config.insecure_skip_verify))});
  } catch (const std::exception& error) {
    return Fail(Reason::kInvalidConfig, "server URL: " + std::string(error.what()));
  }
  {
    base::MutexLock lock(mu_);
    connections_.swap(connections);
    generation_ += new_certificate ? 1 : 0;
  }
  if (connections) {
    // Idle connections are closed on the thread that works on them.
    crossplat::threadpool::shared_instance().service().post([old = std::move(connections)] {});
  }
  return {};
}

http_client_config Transport::Impl::ClientConfig(const std::shared_ptr<TlsSettings>& tls,
                                                 bool verify) const {
  http_client_config config;
  config.set_timeout(kNever);
  config.set_max_redirects(
      0);  // the API does not redirect, and credentials must not follow elsewhere
  config.set_validate_certificates(verify);
  if (proxy_.has_value()) {
    web::web_proxy proxy{web::uri(proxy_->url)};
    if (!proxy_->username.empty()) {
      proxy.set_credentials(web::credentials(proxy_->username, proxy_->password));
    }
    config.set_proxy(proxy);
  }
  config.set_nativehandle_options(
      [is_tls = tls != nullptr](web::http::client::native_handle handle) {
        PrepareSocket(handle, is_tls);
      });
  if (tls) {
    config.set_ssl_context_callback([tls](boost::asio::ssl::context& context) {
      if (!tls->Apply(context.native_handle())) {
        throw std::runtime_error("cannot set up TLS");
      }
    });
  }
  return config;
}

web::http::http_request Transport::Impl::Translate(const HttpRequest& request) {
  web::http::http_request out(request.method);
  out.set_request_uri(web::uri(request.target));
  for (const auto& [name, value] : request.headers) {
    // cpprestsdk would join values of the same name by a comma, which makes one group of two. It
    // sends values as they are, and ours have no line breaks, so this is a header of its own.
    const auto there = out.headers().find(name);
    if (there == out.headers().end()) {
      out.headers()[name] = value;
    } else {
      there->second += "\r\n" + name + ": " + value;
    }
  }
  if (request.has_body) {
    out.set_body(std::vector<unsigned char>(request.body.begin(), request.body.end()));
  }
  return out;
}

HttpCall Transport::Impl::Start(const HttpRequest& request) {
  std::shared_ptr<Connections> connections;
  std::uint64_t generation = 0;
  {
    base::MutexLock lock(mu_);
    connections = connections_;
    generation = generation_;
  }
  auto call = std::make_unique<HttpCall::Impl>(clock_, generation);
  const std::shared_ptr<Exchange> exchange = call->exchange;
  try {
    web::http::http_request message = Translate(request);
    message.set_response_stream(
        Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<BodyStreambuf>(exchange))
            .create_ostream());
    message.set_progress_handler(
        [exchange](web::http::message_direction::direction direction, utility::size64_t) {
          if (direction == web::http::message_direction::upload) {
            exchange->OnConnected();
          }
        });
    const auto on_error = [exchange, tls = connections->tls](const std::exception_ptr& error) {
      exchange->OnFailure(DescribeFailure(error, tls ? tls->TakeVerifyError() : std::string()));
    };
    connections->client.request(message, call->cancel.get_token())
        .then([exchange, on_error](const pplx::task<web::http::http_response>& head) {
          try {
            const web::http::http_response response = head.get();
            exchange->OnHead(HeadOf(response));
            response.content_ready().then(
                [exchange, on_error](const pplx::task<web::http::http_response>& body) {
                  try {
                    body.get();
                    exchange->OnEnd();
                  } catch (...) {
                    on_error(std::current_exception());
                  }
                });
          } catch (...) {
            on_error(std::current_exception());
          }
        });
  } catch (...) {
    exchange->OnFailure(DescribeFailure(std::current_exception(), {}));
  }
  return HttpCall(std::move(call));
}

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transport::~Transport() = default;

Result<std::unique_ptr<Transport>> Transport::New(const Config& config, const ServerUrl& server,
                                                  base::Clock& clock) {
  const auto environment = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start-up
    return value == nullptr ? std::string() : std::string(value);
  };
  KX_ASSIGN_OR_RETURN(std::optional<Proxy> proxy,
                      ChooseProxy(config.proxy_url, server, environment));
  return NewThrough(std::move(proxy), config.tls, server, clock);
}

Result<std::unique_ptr<Transport>> Transport::NewThrough(std::optional<Proxy> proxy,
                                                         const TlsConfig& tls,
                                                         const ServerUrl& server,
                                                         base::Clock& clock) {
  StartNetworkThreads();
  auto impl = std::make_unique<Impl>(server, std::move(proxy), clock);
  KX_RETURN_IF_ERROR(impl->Use(tls, false));
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

int NetworkThreads() { return owns_network_threads ? kNetworkThreads : 0; }

HttpCall Transport::Start(const HttpRequest& request) { return impl_->Start(request); }

Result<void> Transport::Use(const TlsConfig& tls, bool new_certificate) {
  return impl_->Use(tls, new_certificate);
}

std::uint64_t Transport::certificate_generation() const { return impl_->certificate_generation(); }

}  // namespace kubexx::rest::internal
