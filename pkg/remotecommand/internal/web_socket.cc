#include "kubexx/remotecommand/internal/web_socket.h"

#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/base/after.h"
#include "kubexx/base/clock.h"
#include "kubexx/remotecommand/internal/byte_stream.h"
#include "kubexx/remotecommand/internal/dialer.h"
#include "kubexx/remotecommand/internal/handover.h"
#include "kubexx/remotecommand/internal/liveness.h"
#include "kubexx/remotecommand/internal/run_until_done.h"
#include "kubexx/remotecommand/internal/send_queue.h"
#include "kubexx/remotecommand/internal/start_thread.h"
#include "kubexx/remotecommand/internal/tcp_state.h"
#include "kubexx/rest/error_response.h"
#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// How long a server that has closed the WebSocket has for the connection below.
constexpr std::chrono::seconds kCloseTime{1};

apimachinery::Error Cancelled() {
  return apimachinery::Fail(apimachinery::Reason::kCancelled, "cancelled");
}

/// Over Boost.Beast. One thread has the io_context, and everything that no lock guards: the
/// caller's until Run, and one of its own during Run, since the caller's is the sink's then.
class BeastWebSocket final : public WebSocket {
 public:
  explicit BeastWebSocket(const Executor::Options& options)
      : options_(options), timer_(context_), dialer_(context_) {}

  /// What it is spoken over, before Connect.
  apimachinery::Result<void> MakeStream(const rest::StreamAccess& access) {
    KX_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, internal::MakeStream(context_, access));
    ws_.emplace(context_, std::move(bytes));
    return {};
  }

  apimachinery::Result<Closed> Run(MessageSink sink, HeldUpInput held_up,
                                   const std::stop_token& stop) override {
    context_.restart();
    liveness_.emplace(
        Liveness::Limits{.silence = options_.silence_timeout, .write = options_.write_timeout},
        held_up, Now());
    ws_->control_callback([this](websocket::frame_type kind, beast::string_view text) {
      liveness_->Heard(Now());
      if (kind == websocket::frame_type::pong) {
        liveness_->OnPong(std::string_view(text.data(), text.size()));
      }
      if (kind == websocket::frame_type::close) {
        OnPeerClosed();
      }
    });
    Read();
    Ping();
    Pump();
    std::exception_ptr thrown;
    std::jthread network;
    if (auto started = StartThread(network, [this, &thrown] { RunNetwork(thrown); }); !started) {
      queue_.Close();
      return apimachinery::Fail(std::move(started).error());
    }
    std::exception_ptr thrown_by_sink;
    {
      const std::stop_callback on_stop(
          stop, [this] { asio::post(context_, [this] { Finish(Cancelled()); }); });
      try {
        GiveTo(sink, stop);
      } catch (...) {
        thrown_by_sink = std::current_exception();
        asio::post(context_, [this] { Finish(Cancelled()); });
      }
      network.join();
    }
    queue_.Close();
    if (thrown_by_sink || thrown) {
      std::rethrow_exception(thrown_by_sink ? thrown_by_sink : thrown);
    }
    if (!*result_ && stop.stop_requested()) {
      return Cancelled();
    }
    return std::move(*result_);
  }

  bool Send(std::string message, const std::stop_token& stop) override {
    if (!queue_.Push(std::move(message), stop)) {
      return false;
    }
    asio::post(context_, [this] { Pump(); });
    return true;
  }

  /// Resolves, connects, and asks for `protocol`.
  apimachinery::Result<void> Connect(const rest::StreamAccess& access, const std::string& target,
                                     const std::string& protocol, const std::stop_token& stop) {
    // One limit for everything.
    asio::steady_timer limit(context_);
    const base::TimePoint connect_by = base::After(Now(), options_.connect_timeout);
    limit.expires_at(connect_by);
    limit.async_wait([this](error_code error) {
      if (!error && connecting_) {
        timed_out_ = true;
        Abort();
      }
    });
    const std::stop_callback on_stop(stop, [this] { asio::post(context_, [this] { Abort(); }); });
    connecting_ = true;
    auto connected = dialer_.Dial(bytes(), access, connect_by, stop);
    if (connected) {
      connected = Upgrade(access, target, protocol);
    }
    // What is due already is called all the same, by Run, and is to find nothing to do.
    connecting_ = false;
    limit.cancel();
    error_code ignored;
    tcp().socket().set_option(tcp::no_delay(true), ignored);
    if (stop.stop_requested() && (!connected || aborted_)) {
      return Cancelled();
    }
    if (timed_out_) {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable,
                                "connect to " + access.server.Authority() + ": timed out");
    }
    return connected;
  }

 private:
  // Compression is not offered.
  using Stream = websocket::stream<AnyStream, false>;
  using Request = websocket::request_type;
  using Response = websocket::response_type;

  ByteStream& bytes() { return ws_->next_layer().bytes(); }
  beast::tcp_stream& tcp() { return bytes().tcp(); }

  apimachinery::Result<void> Upgrade(const rest::StreamAccess& access, const std::string& target,
                                     const std::string& protocol) {
    ws_->set_option(websocket::stream_base::timeout{websocket::stream_base::none(),
                                                    websocket::stream_base::none(), false});
    ws_->set_option(websocket::stream_base::decorator([&](Request& request) {
      for (const auto& [name, value] : access.headers) {
        request.insert(name, value);
      }
      request.set(bhttp::field::sec_websocket_protocol, protocol);
    }));
    ws_->read_message_max(options_.max_message_bytes);
    ws_->binary(true);
    ws_->auto_fragment(false);
    Response response;
    const error_code error = RunUntilDone(context_, [&](auto done) {
      ws_->async_handshake(response, access.server.Authority(), target, done);
    });
    const auto header = [&response](bhttp::field name) { return std::string(response[name]); };
    if (error == websocket::error::upgrade_declined) {
      return apimachinery::Fail(rest::StatusOfResponse(
          static_cast<int>(response.result_int()), header(bhttp::field::content_type),
          header(bhttp::field::retry_after), response.body()));
    }
    if (error) {
      return apimachinery::Fail(
          apimachinery::Reason::kUnavailable,
          "WebSocket handshake with " + access.server.Authority() + ": " + error.message());
    }
    if (const std::string chosen = header(bhttp::field::sec_websocket_protocol);
        chosen != protocol) {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable,
                                access.server.Authority() + " does not speak " + protocol +
                                    " but \"" + chosen + "\"; it may be too old");
    }
    return {};
  }

  void Abort() {
    if (!connecting_) {
      return;
    }
    aborted_ = true;
    dialer_.Cancel();
    error_code ignored;
    tcp().socket().close(ignored);
  }

  void RunNetwork(std::exception_ptr& thrown) {
    try {
      context_.run();
    } catch (...) {
      thrown = std::current_exception();
    }
    handover_.End();
  }

  /// Passes messages to `sink`, on its thread, until the connection has ended.
  void GiveTo(MessageSink sink, const std::stop_token& stop) {
    while (const auto message = handover_.Take()) {
      if (stop.stop_requested()) {
        return;
      }
      asio::post(context_, [this, taken = sink(*message)]() mutable { OnTaken(std::move(taken)); });
    }
  }

  static base::TimePoint Now() { return std::chrono::steady_clock::now(); }

  void Read() {
    liveness_->BeginRead(Now());
    ws_->async_read(buffer_, [this](error_code error, std::size_t) { OnRead(error); });
  }

  void OnRead(error_code error) {
    liveness_->EndRead();
    if (result_) {
      return;
    }
    // A server that does not wait for our answer to its close frame makes the answer fail, which
    // says nothing.
    if (error == websocket::error::closed || (error && peer_closed_)) {
      Finish(WhatPeerSaid());
      return;
    }
    if (error) {
      Finish(apimachinery::Fail(apimachinery::Reason::kUnavailable,
                                "connection broke: " + error.message()));
      return;
    }
    const auto bytes = buffer_.cdata();
    handover_.Give(std::string_view(static_cast<const char*>(bytes.data()), bytes.size()));
  }

  Closed WhatPeerSaid() const {
    const auto& said = ws_->reason();
    const bool has_code = said.code != websocket::close_code::none;
    return {.code = has_code ? static_cast<std::uint16_t>(said.code)
                             : static_cast<std::uint16_t>(websocket::close_code::no_status),
            .reason = std::string(said.reason.data(), said.reason.size())};
  }

  /// The server has said its last word. What is left is our answer, and that it ends the connection
  /// below; one that does not do so in time has ended all the same, and held-up input may keep our
  /// answer from being sent.
  void OnPeerClosed() {
    peer_closed_ = true;
    timer_.expires_after(kCloseTime);
    timer_.async_wait([this](error_code error) {
      if (!error) {
        Finish(WhatPeerSaid());
      }
    });
  }

  void OnTaken(apimachinery::Result<void> taken) {
    if (result_) {
      return;
    }
    if (!taken) {
      Finish(apimachinery::Fail(std::move(taken).error()));
      return;
    }
    buffer_.consume(buffer_.size());
    Read();
  }

  void Ping() {
    timer_.expires_at(base::After(Now(), options_.ping_interval));
    timer_.async_wait([this](error_code error) {
      if (error || result_ || peer_closed_) {
        return;
      }
      const auto state = TcpState::Of(tcp().socket().native_handle());
      if (const char* why = liveness_->WhyGivenUp(Now(), state)) {
        Finish(apimachinery::Fail(apimachinery::Reason::kUnavailable, why));
        return;
      }
      if (!pinging_) {
        pinging_ = true;
        ws_->async_ping(websocket::ping_data(liveness_->PingText()),
                        [this](error_code) { pinging_ = false; });
      }
      Ping();
    });
  }

  void Pump() {
    if (writing_ || result_) {
      return;
    }
    std::optional<std::string> next = queue_.Pop();
    if (!next) {
      return;
    }
    writing_ = true;
    liveness_->BeginWrite(Now());
    outgoing_ = std::move(*next);
    ws_->async_write(asio::buffer(outgoing_), [this](error_code error, std::size_t) {
      writing_ = false;
      // When the write fails, so does the read, which knows more.
      if (!error) {
        liveness_->EndWrite();
        Pump();
      }
    });
  }

  void Finish(apimachinery::Result<Closed> result) {
    if (!result_) {
      result_.emplace(std::move(result));
      queue_.Close();
      timer_.cancel();
      error_code ignored;
      tcp().socket().shutdown(tcp::socket::shutdown_both, ignored);
      tcp().close();
    }
  }

  Executor::Options options_;
  asio::io_context context_{1};
  std::optional<Stream> ws_;
  asio::steady_timer timer_;
  Dialer dialer_;
  bool connecting_ = false;
  /// The socket was closed while connecting.
  bool aborted_ = false;
  bool timed_out_ = false;
  std::optional<apimachinery::Result<Closed>> result_;
  std::optional<Liveness> liveness_;  ///< during Run
  bool writing_ = false;
  bool pinging_ = false;
  bool peer_closed_ = false;
  std::string outgoing_;
  SendQueue queue_;
  Handover handover_;
  /// The last message, while the sink has it.
  beast::flat_buffer buffer_;
};

}  // namespace

apimachinery::Result<std::unique_ptr<WebSocket>> WebSocket::Open(const rest::StreamAccess& access,
                                                                 const std::string& target,
                                                                 const std::string& protocol,
                                                                 const Executor::Options& options,
                                                                 const std::stop_token& stop) {
  auto socket = std::make_unique<BeastWebSocket>(options);
  KX_RETURN_IF_ERROR(socket->MakeStream(access));
  KX_RETURN_IF_ERROR(socket->Connect(access, target, protocol, stop));
  return std::unique_ptr<WebSocket>(std::move(socket));
}

}  // namespace kubexx::remotecommand::internal
