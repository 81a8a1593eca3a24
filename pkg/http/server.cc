#include "kubexx/http/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/http/internal/draining.h"
#include "kubexx/http/internal/listener.h"
#include "kubexx/http/internal/session.h"
#include "kubexx/http/internal/shares.h"
#include "kubexx/http/internal/tls_context.h"
#include "kubexx/http/internal/turns.h"
#include "kubexx/http/internal/wakes.h"
#include "kubexx/http/internal/worker_pool.h"
#include "kubexx/logging/log.h"

namespace kubexx::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using internal::Session;
using internal::Sessions;
using tcp = asio::ip::tcp;

/// How long to wait before the next accept when the process has run out of descriptors.
constexpr std::chrono::milliseconds kAcceptPause(100);

/// So many new connections are taken before what others send and want has its turn.
constexpr int kAcceptsInATurn = 32;

/// No more are taken while so many wait to shake hands: they wait in the kernel instead, where who
/// comes next is not taken for one that has been idle.
constexpr std::size_t kMostHandshakes = 64;
constexpr std::chrono::milliseconds kHandshakePause(1);

/// Connections that are served beyond the limit when none can be replaced: for health pages.
constexpr std::size_t kSpareConnections = 16;

struct Route {
  bool post = false;
  bool at_once = false;
  Handler handler{};
  std::optional<std::size_t> max_body_bytes{};
};

Response Call(const Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (...) {
    logging::Error("An HTTP handler threw",
                   {{"path", request.path}, {"error", base::ThrownText()}});
  }
  return {.status = 500, .body = "Internal error.\n"};
}

}  // namespace

class Server::Impl final : public internal::Host {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        acceptor_(context_),
        pause_(context_),
        workers_(std::max<std::size_t>(options_.max_connections, 1), options_.max_queued_body_bytes,
                 options_.max_waiting_handlers, !options_.admit) {
    options_.max_connections = std::max<std::size_t>(options_.max_connections, 1);
  }
  ~Impl() override { Stop(); }

  void Handle(std::string path, Route route) {
    base::MutexLock lock(mu_);
    routes_.insert_or_assign(std::move(path), std::move(route));
  }

  void HandleOthers(Handler handler) {
    base::MutexLock lock(mu_);
    others_ = std::move(handler);
  }

  apimachinery::Result<void> Start() {
    KX_RETURN_IF_ERROR(StartTls());
    KX_RETURN_IF_ERROR(internal::Listen(context_, options_.address, acceptor_));
    error_code error;
    port_ = acceptor_.local_endpoint(error).port();
    if (options_.on_listening) {
      KX_RETURN_IF_ERROR(options_.on_listening());
    }
    workers_.Start(options_.handler_threads);
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
    // Closing asks the handlers to stop.
    while (!sessions_.empty()) {
      const std::shared_ptr<Session> session = sessions_.front();
      session->Close();
    }
    handshakes_.Clear();
    pieces_.Clear();
    workers_.Stop();
  }

  void Drain(std::chrono::milliseconds limit) {
    draining_.Await(thread_.joinable() ? limit : limit.zero());
  }
  const Options& options() const override { return options_; }
  std::optional<std::size_t> BodyLimit(const Request& header) override {
    base::MutexLock lock(mu_);
    const auto found = routes_.find(header.path);
    if (found == routes_.end() || !found->second.max_body_bytes) {
      return std::nullopt;
    }
    return std::min(*found->second.max_body_bytes, options_.max_body_bytes);
  }
  bool draining() const override { return draining_.begun(); }

  void Serve(std::shared_ptr<Session> session, std::uint64_t serial, Request request) override {
    Route route;
    bool any_method = false;
    {
      base::MutexLock lock(mu_);
      if (const auto found = routes_.find(request.path); found != routes_.end()) {
        route = found->second;
      } else {
        route.handler = others_;
        any_method = true;
      }
    }
    if (!route.handler) {
      session->Deliver(serial, {.status = 404, .body = "Not found.\n"});
    } else if (!any_method &&
               (route.post != (request.method == "POST") ||
                (!route.post && request.method != "GET" && request.method != "HEAD"))) {
      const std::string allowed = route.post ? "POST" : "GET, HEAD";
      session->Deliver(serial, {.status = 405,
                                .body = "Only " + allowed + " is allowed.\n",
                                .headers = {{"Allow", allowed}}});
    } else if (session->spare() && !route.at_once) {
      session->Deliver(serial, {.status = 503,
                                .body = "All connections are in use.\n",
                                .headers = {{"Retry-After", "1"}}});
    } else if (options_.handler_threads == 0 || route.at_once) {
      session->Deliver(serial, Call(route.handler, request));
    } else {
      Enqueue(std::move(session), serial, std::move(route.handler), std::move(request));
    }
  }

  void Hold(std::ptrdiff_t bytes) override {
    held_ += static_cast<std::size_t>(bytes);
    if (bytes > 0 && held_ > options_.max_unread_body_bytes) {
      Close(internal::OldestBody(sessions_));
    }
  }

  void HoldHeader(std::ptrdiff_t bytes) override {
    held_of_headers_ += static_cast<std::size_t>(bytes);
    if (bytes > 0 && held_of_headers_ > options_.max_unread_header_bytes) {
      Close(internal::OldestHeader(sessions_));
    }
  }

  void HoldAnswer(const Session& session, std::ptrdiff_t bytes) override {
    held_of_answers_ += static_cast<std::size_t>(bytes);
    if (bytes >= internal::kMuchToTake) {
      internal::EndStalledAnswers(sessions_, session, options_, held_of_answers_);
    }
  }

  void MoveToBack(Sessions::iterator session) override {
    sessions_.splice(sessions_.end(), sessions_, session);
  }
  void Remove(Sessions::iterator session) override { sessions_.erase(session); }

  void InTurn(internal::Dear what, std::shared_ptr<Session> session,
              std::function<void()> step) override {
    (what == internal::Dear::kHandshake ? handshakes_ : pieces_)
        .Add({std::move(session), std::move(step)});
  }

  void Awake(std::weak_ptr<Session> session) override { wakes_.Add(std::move(session)); }

 private:
  /// `session` may be null.
  static void Close(const std::shared_ptr<Session>& session) {
    if (session != nullptr) {
      session->Close();
    }
  }

  apimachinery::Result<void> StartTls() {
    if (!options_.tls) {
      return {};
    }
    CertificateProvider provider = options_.tls->certificate;
    if (!provider) {
      KX_ASSIGN_OR_RETURN(KeyPair pair, SelfSigned({"localhost", "127.0.0.1"}));
      provider = FixedCertificate(std::move(pair));
    }
    tls_.emplace(std::move(provider), options_.tls->client_ca,
                 options_.tls->client_certificate_optional);
    return tls_->Start();
  }

  void Enqueue(std::shared_ptr<Session> session, std::uint64_t serial, Handler handler,
               Request request) {
    // Who waits may do so on behalf of somebody who does.
    const internal::JobOrigin origin{.client = session->client(), .bytes = request.body.size()};
    request.on_wait = [place =
                           std::make_shared<internal::WaitPlace>(workers_, origin)](bool begins) {
      if (begins) {
        return place->Begin();
      }
      place->End();
      return true;
    };
    auto job = [this, session, serial, handler = std::move(handler),
                request = std::move(request)]() mutable {
      // Nobody waits any more, but perhaps one that has ended its side.
      Response response{.status = 503, .body = "The request was cancelled.\n"};
      if (!request.stop.stop_requested()) {
        response = Call(handler, request);
      }
      asio::post(context_,
                 [session = std::move(session), serial, response = std::move(response)]() mutable {
                   try {
                     session->Deliver(serial, std::move(response));
                   } catch (const std::exception& e) {  // Out of memory.
                     session->Fail(e);
                   }
                 });
    };
    if (!workers_.Push(std::move(job), origin)) {
      session->Deliver(serial, {.status = 503,
                                .body = "Too many requests are waiting.\n",
                                .headers = {{"Retry-After", "1"}}});
    }
  }

  void Run() {
    while (true) {
      try {
        context_.run();
        return;
      } catch (const std::exception& e) {  // Out of memory.
        logging::Error("An operation of the HTTP library threw; its connection is closed",
                       {{"error", e.what()}});
        CloseForgotten();
      }
    }
  }

  /// What a session does ends it when it throws (Session::Guarded). Of one whose operation has
  /// thrown elsewhere, in the library, nothing is left but its place in the list.
  void CloseForgotten() {
    for (auto next = sessions_.begin(); next != sessions_.end();) {
      const auto session = next++;
      if (session->use_count() == 1) {
        const std::shared_ptr<Session> forgotten = *session;
        forgotten->Close();
      }
    }
  }

  void Accept() {
    if (handshakes_.size() >= kMostHandshakes) {
      AcceptLater(kHandshakePause);
      return;
    }
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || draining_.begun()) {
        return;
      }
      if (error) {
        const bool scarce = error == asio::error::no_descriptors ||
                            error == boost::system::errc::too_many_files_open_in_system;
        AcceptLater(scarce && CloseIdle() ? std::chrono::milliseconds(0) : kAcceptPause);
        return;
      }
      Take(std::move(socket));
      // With one for each turn, many that come at once would keep whoever comes next waiting.
      for (int more = 1; more < kAcceptsInATurn; ++more) {
        tcp::socket next(context_);
        if (acceptor_.accept(next, error)) {
          break;  // There is none, or the next Accept is told what is wrong.
        }
        Take(std::move(next));
      }
      Accept();
    });
  }

  void Take(tcp::socket socket) {
    try {
      Admit(std::move(socket));
    } catch (const std::exception& e) {  // Out of memory; the next may have more luck.
      logging::Error("Cannot accept an HTTP connection", {{"error", e.what()}});
    }
  }

  void AcceptLater(std::chrono::milliseconds pause) {
    pause_.expires_after(pause);
    pause_.async_wait([this](error_code stopped) {
      if (!stopped) {
        Accept();
      }
    });
  }

  /// Closes the connection that has been without a complete request for longest, of clients that
  /// were not let in if there is one, also when it does not take its answer; false when all are
  /// busy.
  bool CloseIdle() {
    auto oldest = std::ranges::find_if(sessions_, [](const std::shared_ptr<Session>& session) {
      return session->replaceable() && !session->admitted();
    });
    if (oldest == sessions_.end()) {
      oldest = std::ranges::find_if(
          sessions_, [](const std::shared_ptr<Session>& session) { return session->reading(); });
    }
    if (oldest == sessions_.end()) {
      return false;
    }
    const std::shared_ptr<Session> closed = *oldest;
    closed->Close();
    return true;
  }

  void Admit(tcp::socket socket) {
    if (sessions_.size() >= options_.max_connections && !CloseIdle() &&
        sessions_.size() >= options_.max_connections + kSpareConnections) {
      return;  // All are busy with answers; the socket closes.
    }
    // Also when the one that made room was one.
    const bool spare = sessions_.size() >= options_.max_connections;
    // An answer in several pieces would wait for the client to acknowledge the first, which takes
    // its time.
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    internal::KeepAlive(socket);
    const auto added = sessions_.insert(
        sessions_.end(),
        internal::MakeSession(std::move(socket), *this, tls_ ? tls_->Current() : nullptr));
    (*added)->Start(added, spare);
  }

  Options options_;
  base::Mutex mu_;
  std::map<std::string, Route> routes_ KX_GUARDED_BY(mu_);
  Handler others_ KX_GUARDED_BY(mu_);
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::optional<internal::TlsContext> tls_;  // Touched by the thread, and by Start before it.
  internal::Wakes wakes_{context_};
  // Touched as sessions_ is.
  internal::Turns handshakes_{context_};
  internal::Turns pieces_{context_};
  Sessions sessions_;  // Touched by the thread, and by Stop after it has ended.
  internal::Draining draining_{context_, acceptor_, sessions_};
  std::size_t held_ = 0;             // of bodies that are not complete
  std::size_t held_of_headers_ = 0;  // that are not complete
  std::size_t held_of_answers_ = 0;  // that clients have not taken
  std::uint16_t port_ = 0;
  internal::WorkerPool workers_;
  std::jthread thread_;
};

Server::Server(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
void Server::Handle(std::string path, Handler handler) {
  impl_->Handle(std::move(path), {.handler = std::move(handler)});
}
void Server::HandlePost(std::string path, Handler handler,
                        std::optional<std::size_t> max_body_bytes) {
  impl_->Handle(std::move(path),
                {.post = true, .handler = std::move(handler), .max_body_bytes = max_body_bytes});
}
void Server::HandleAtOnce(std::string path, Handler handler) {
  impl_->Handle(std::move(path), {.at_once = true, .handler = std::move(handler)});
}
void Server::HandleOthers(Handler handler) { impl_->HandleOthers(std::move(handler)); }
apimachinery::Result<void> Server::Start() { return impl_->Start(); }
std::uint16_t Server::port() const { return impl_->port(); }
void Server::Drain(std::chrono::milliseconds limit) { impl_->Drain(limit); }
void Server::Stop() { impl_->Stop(); }

}  // namespace kubexx::http
