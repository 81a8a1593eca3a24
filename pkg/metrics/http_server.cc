#include "kubexx/metrics/http_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/internal/address.h"

namespace kubexx::metrics {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using apimachinery::Fail;
using apimachinery::Reason;

/// How long to wait before the next accept when the process has run out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause(100);
/// How much of a refused request is read, and for how long, so that the client sees the answer:
/// closing with unread input resets the connection.
constexpr std::size_t kMaxDrainBytes = 1 << 20;
constexpr std::chrono::milliseconds kMaxDrainTime(1000);

class Session;
using Sessions = std::list<std::shared_ptr<Session>>;

/// What the sessions need of the server.
class Host {
 public:
  virtual ~Host() = default;
  virtual const HttpServer::Options& options() const = 0;
  virtual HttpResponse Answer(const HttpRequest& request) = 0;
  /// Says that `session` waits for a request from now on.
  virtual void MoveToBack(Sessions::iterator session) = 0;
  virtual void Remove(Sessions::iterator session) = 0;
};

/// One connection. Lives on the server's thread only. A pending operation holds a reference.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Host& host) : stream_(std::move(socket)), host_(host) {}

  void Start(Sessions::iterator self) {
    self_ = self;
    Read();
  }

  /// Waiting for a complete request, that is, worth less than a new connection.
  bool reading() const { return reading_; }

  void Close() {
    if (!closed_) {
      closed_ = true;
      error_code ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
      stream_.close();
      host_.Remove(self_);
    }
  }

 private:
  void Read() {
    reading_ = true;
    host_.MoveToBack(self_);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(host_.options().max_header_bytes));
    parser_->body_limit(host_.options().max_body_bytes);
    // One limit for the whole request, so that a byte now and then does not extend it.
    stream_.expires_after(host_.options().read_timeout);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->OnRead(error); });
  }

  void OnRead(error_code error) {
    reading_ = false;
    if (closed_) {
      return;
    }
    if (error == http::error::header_limit) {
      Refuse(http::status::request_header_fields_too_large, "The request header is too large.");
    } else if (error == http::error::body_limit) {
      Refuse(http::status::payload_too_large, "The request body is too large.");
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      Refuse(http::status::bad_request, "The request is not valid HTTP/1.");
    } else if (error) {
      Close();
    } else {
      Respond();
    }
  }

  void Respond() {
    const auto& request = parser_->get();
    const bool keep_alive = request.keep_alive();
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      Write(http::status::method_not_allowed, {.body = "Only GET and HEAD are allowed.\n"},
            keep_alive, false);
      return;
    }
    const std::string target(request.target());
    const auto question = target.find('?');
    HttpRequest seen{.path = target.substr(0, question)};
    if (question != std::string::npos) {
      seen.query = target.substr(question + 1);
    }
    HttpResponse response = host_.Answer(seen);
    const auto status = static_cast<http::status>(response.status);
    Write(status, std::move(response), keep_alive, request.method() == http::verb::head);
  }

  void Refuse(http::status status, std::string text) {
    refused_ = true;
    Write(status, {.body = std::move(text) + "\n"}, false, false);
  }

  void Write(http::status status, HttpResponse response, bool keep_alive, bool head) {
    response_.emplace(status, 11);
    response_->set(http::field::content_type, response.content_type);
    response_->set(http::field::cache_control, "no-store");
    response_->set("X-Content-Type-Options", "nosniff");
    if (status == http::status::method_not_allowed) {
      response_->set(http::field::allow, "GET, HEAD");
    }
    response_->keep_alive(keep_alive);
    response_->content_length(response.body.size());
    if (!head) {
      response_->body() = std::move(response.body);
    }
    serializer_.emplace(*response_);
    serializer_->split(false);
    stream_.expires_after(host_.options().write_timeout);
    http::async_write(stream_, *serializer_,
                      [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
                        self->OnWritten(error, keep_alive);
                      });
  }

  void OnWritten(error_code error, bool keep_alive) {
    serializer_.reset();
    response_.reset();
    if (closed_) {
      return;
    }
    if (error || (!keep_alive && !refused_)) {
      Close();
    } else if (refused_) {
      error_code ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      reading_ = true;
      stream_.expires_after(kMaxDrainTime);
      Drain();
    } else {
      Read();
    }
  }

  void Drain() {
    stream_.async_read_some(asio::buffer(drain_),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              self->drained_ += size;
                              if (error || self->drained_ > kMaxDrainBytes) {
                                self->Close();
                              } else {
                                self->Drain();
                              }
                            });
  }

  beast::tcp_stream stream_;
  Host& host_;
  Sessions::iterator self_{};
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 4096> drain_{};
  std::size_t drained_ = 0;
  bool refused_ = false;
  bool reading_ = false;
  bool closed_ = false;
};

apimachinery::Result<std::vector<tcp::endpoint>> Resolve(asio::io_context& context,
                                                         const internal::HostPort& address) {
  if (address.host.empty()) {
    return std::vector<tcp::endpoint>{tcp::endpoint(tcp::v6(), address.port),
                                      tcp::endpoint(tcp::v4(), address.port)};
  }
  error_code error;
  const auto found = tcp::resolver(context).resolve(
      address.host, std::to_string(address.port),
      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  std::vector<tcp::endpoint> endpoints;
  if (!error) {
    for (const auto& entry : found) {
      endpoints.push_back(entry.endpoint());
    }
  }
  if (endpoints.empty()) {
    return Fail(Reason::kInvalidConfig, "host \"" + address.host + "\": " + error.message());
  }
  return endpoints;
}

error_code Listen(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error && endpoint.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(tcp::acceptor::max_listen_connections, error);
  }
  if (error) {
    error_code ignored;
    acceptor.close(ignored);
  }
  return error;
}

}  // namespace

class HttpServer::Impl final : public Host {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), acceptor_(context_), pause_(context_) {
    options_.max_connections = std::max<std::size_t>(options_.max_connections, 1);
  }
  ~Impl() override { Stop(); }

  void Handle(std::string path, Handler handler) {
    base::MutexLock lock(mu_);
    handlers_.insert_or_assign(std::move(path), std::move(handler));
  }

  apimachinery::Result<void> Start() {
    KX_ASSIGN_OR_RETURN(const internal::HostPort address,
                        internal::ParseHostPort(options_.address));
    KX_ASSIGN_OR_RETURN(const std::vector<tcp::endpoint> endpoints, Resolve(context_, address));
    error_code error;
    for (const tcp::endpoint& endpoint : endpoints) {
      error = Listen(acceptor_, endpoint);
      // Without IPv6 on this host the IPv4 address is next; a taken port is taken.
      if (!error || error == asio::error::address_in_use) {
        break;
      }
    }
    if (error) {
      return Fail(Reason::kUnavailable,
                  "listen on \"" + options_.address + "\": " + error.message());
    }
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    thread_ = std::jthread([this] { Run(); });
    return {};
  }

  std::uint16_t port() const { return port_; }

  void Stop() {
    context_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    error_code ignored;
    acceptor_.close(ignored);
    while (!sessions_.empty()) {
      const std::shared_ptr<Session> session = sessions_.front();
      session->Close();
    }
  }

  const Options& options() const override { return options_; }

  HttpResponse Answer(const HttpRequest& request) override {
    Handler handler;
    {
      base::MutexLock lock(mu_);
      const auto found = handlers_.find(request.path);
      if (found == handlers_.end()) {
        return {.status = 404, .body = "Not found.\n"};
      }
      handler = found->second;
    }
    try {
      return handler(request);
    } catch (const std::exception& e) {
      logging::Error("HTTP handler failed", {{"path", request.path}, {"error", e.what()}});
    } catch (...) {
      logging::Error("HTTP handler failed", {{"path", request.path}});
    }
    return {.status = 500, .body = "Internal error.\n"};
  }

  void MoveToBack(Sessions::iterator session) override {
    sessions_.splice(sessions_.end(), sessions_, session);
  }
  void Remove(Sessions::iterator session) override { sessions_.erase(session); }

 private:
  void Run() {
    while (true) {
      try {
        context_.run();
        return;
      } catch (const std::exception& e) {  // Out of memory; the connection it concerned is gone.
        logging::Error("HTTP connection failed", {{"error", e.what()}});
      }
    }
  }

  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (error) {
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](error_code stopped) {
          if (!stopped) {
            Accept();
          }
        });
        return;
      }
      Admit(std::move(socket));
      Accept();
    });
  }

  void Admit(tcp::socket socket) {
    if (sessions_.size() >= options_.max_connections) {
      const auto oldest = std::ranges::find_if(
          sessions_, [](const std::shared_ptr<Session>& session) { return session->reading(); });
      if (oldest == sessions_.end()) {
        return;  // All are busy with answers; the socket closes.
      }
      const std::shared_ptr<Session> replaced = *oldest;
      replaced->Close();
    }
    const auto added =
        sessions_.insert(sessions_.end(), std::make_shared<Session>(std::move(socket), *this));
    (*added)->Start(added);
  }

  Options options_;
  base::Mutex mu_;
  std::map<std::string, Handler> handlers_ KX_GUARDED_BY(mu_);
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  Sessions sessions_;  // Touched by the thread, and by Stop after it has ended.
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

HttpServer::HttpServer(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
HttpServer::~HttpServer() = default;
void HttpServer::Handle(std::string path, Handler handler) {
  impl_->Handle(std::move(path), std::move(handler));
}
apimachinery::Result<void> HttpServer::Start() { return impl_->Start(); }
std::uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop() { impl_->Stop(); }

HttpServer::Handler MetricsHandler(const Registry& registry) {
  return [&registry](const HttpRequest&) {
    return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = registry.Serialize()};
  };
}

}  // namespace kubexx::metrics
