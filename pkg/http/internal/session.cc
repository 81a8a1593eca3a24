#include <utility>
// Asio needs <utility> first.
#include <algorithm>
#include <boost/asio/io_context.hpp>

#include "kubexx/crypto/sha.h"
#include "kubexx/http/internal/response_header.h"
#include "kubexx/http/internal/session.h"
#include "kubexx/logging/log.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// Beyond a header, what is read ahead of a body.
constexpr std::size_t kMaxReadAhead = 64 << 10;

}  // namespace

void Session::Start(Sessions::iterator self, bool spare) {
  self_ = self;
  spare_ = spare;
  buffer_.max_size(host_.options().max_header_bytes + kMaxReadAhead);
  reading_ = true;
  CloseAfter(host_.options().read_timeout);
  AsyncHandshake(Guarded([this](error_code error) {
    if (closed_) {
      return;
    }
    deadline_.cancel();
    if (error) {
      Close();
    } else {
      peer_ = PeerOfClient();
      Read();
    }
  }));
}

void Session::Fail(const std::exception& error) {
  Close();
  logging::Error("An operation of an HTTP connection threw; the connection is closed",
                 {{"error", error.what()}});
}

void Session::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  deadline_.cancel();
  error_code ignored;
  tcp().socket().shutdown(tcp::socket::shutdown_both, ignored);
  tcp().close();
  stop_.request_stop();
  EndStream();
  ReleaseHeader();
  Release();
  ReleaseAnswer();
  host_.Remove(self_);
}

bool Session::idle() const {
  return reading_ && !lingering_ && (!parser_ || (!parser_->got_some() && buffer_.size() == 0));
}

bool Session::has_unfinished_header() const {
  return reading_ && !lingering_ && parser_ && !parser_->is_header_done();
}

void Session::WakeOrClose() {
  try {
    Wake();
  } catch (const std::exception& error) {
    logging::Error("Cannot send more of an HTTP stream; its connection is closed",
                   {{"error", error.what()}});
    Close();
  }
}

void Session::Respond() {
  keep_alive_ = parser_->keep_alive() && admitted_ && !refused_ && !spare_;
  head_ = parser_->is_head();
  http10_ = parser_->is_http10();
  websocket_key_.clear();
  if (parser_->wants_websocket() && crypto::HasSha1()) {  // AcceptKey is one
    websocket_key_ = std::string(parser_->request().Header("Sec-WebSocket-Key"));
  }
  Request request = std::move(parser_->request());
  request.is_body_dropped = refused_;
  Release();
  const Server::Options& options = host_.options();
  if (options.handler_threads > 0) {
    stop_ = std::stop_source();
    request.stop = stop_.get_token();
    request.deadline = std::chrono::steady_clock::now() + options.handler_timeout;
  }
  waiting_ = true;
  host_.Serve(shared_from_this(), ++serial_, std::move(request));
  if (waiting_) {
    deadline_.expires_after(options.handler_timeout);
    deadline_.async_wait(Guarded([this, serial = serial_](error_code error) {
      if (!error && waiting_ && serial == serial_) {
        OnDeadline();
      }
    }));
    if (!refused_) {
      ReadAhead();
    }
  }
}

void Session::OnDeadline() {
  keep_alive_ = false;
  stop_.request_stop();
  const Server::Options& options = host_.options();
  Deliver(serial_, options.timeout_response
                       ? options.timeout_response()
                       : Response{.status = 503, .body = "The handler took too long.\n"});
}

void Session::Deliver(std::uint64_t serial, Response response) {
  if (closed_ || !waiting_ || serial != serial_) {
    if (response.stream != nullptr) {
      response.stream->Closed();  // It may be known to those who feed it.
    }
    return;
  }
  waiting_ = false;
  deadline_.cancel();
  if (!IsSendable(response)) {
    if (response.stream != nullptr) {
      response.stream->Closed();
    }
    response = {.status = 500, .body = "The header of the answer cannot be sent.\n"};
  }
  if (response.stream == nullptr) {
    Write(std::move(response), keep_alive_ && !host_.draining(), head_);
  } else if (http10_ || head_) {
    response.stream->Closed();
    Write({.status = http10_ ? 505 : 405, .body = "A stream needs GET and HTTP/1.1.\n"}, false,
          head_);
  } else {
    BeginStream(std::move(response));
  }
}

void Session::Refuse(int status, std::string text) {
  refused_ = true;
  Release();
  parser_->request().body = {};
  const Server::Options& options = host_.options();
  Write(options.refusal ? options.refusal(status, text)
                        : Response{.status = status, .body = std::move(text) + "\n"},
        false, false);
}

void Session::Write(Response response, bool keep_alive, bool head) {
  frames_.push_back(
      HeaderOf(response, (keep_alive ? "" : "Connection: close\r\n") +
                             ("Content-Length: " + std::to_string(response.body.size()) + "\r\n")));
  if (!head) {
    frames_.push_back(std::move(response.body));
  }
  for (const std::string& frame : frames_) {
    buffers_.emplace_back(asio::buffer(frame));
  }
  answering_ = true;
  held_of_answer_ = asio::buffer_size(buffers_);
  BeginWrite();
  host_.HoldAnswer(*this, static_cast<std::ptrdiff_t>(held_of_answer_));
  AsyncWrite(buffers_,
             Guarded([this, keep_alive](error_code error) { OnWritten(error, keep_alive); }));
}

void Session::BeginWrite() {
  const Server::Options& options = host_.options();
  taken_at_ = std::chrono::steady_clock::now();
  if (admitted_) {
    write_limit_.Begin(taken_at_, options.write_timeout, options.min_write_rate);
  } else {
    write_limit_.Begin(taken_at_, std::min(options.write_timeout, options.read_timeout), 0);
  }
}

void Session::OnWritten(error_code error, bool keep_alive) {
  buffers_.clear();
  frames_.clear();
  answering_ = false;
  ReleaseAnswer();
  if (closed_) {
    return;
  }
  if (error) {
    Close();
  } else if (refused_) {
    Linger();
  } else if (keep_alive) {
    buffer_.shrink_to_fit();  // A large request was an exception.
    Read();
  } else {
    EndQuietly();
  }
}

void Session::ReleaseAnswer() {
  host_.HoldAnswer(*this, -static_cast<std::ptrdiff_t>(std::exchange(held_of_answer_, 0)));
}

void Session::CloseAfter(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) {
      self->Close();
    }
  });
}

}  // namespace kubexx::http::internal
