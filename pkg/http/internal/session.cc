#include <utility>
// Asio needs <utility> first.
#include <algorithm>
#include <boost/asio/io_context.hpp>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

/// How much of a refused request is read, and for how long, so that the client sees the answer:
/// closing with unread input resets the connection.
constexpr std::size_t kMaxDrainBytes = 1 << 20;
constexpr std::chrono::milliseconds kMaxDrainTime(1000);

/// Beyond a header, what is read ahead of a body.
constexpr std::size_t kMaxReadAhead = 64 << 10;

/// Beast throws at larger ones.
constexpr std::size_t kMaxFieldBytes = 60 << 10;

/// Whether the header can be sent: nothing in it ends a line.
bool IsSendable(const Response& response) {
  return std::ranges::all_of(response.headers, [](const auto& field) {
    return field.first.size() + field.second.size() <= kMaxFieldBytes &&
           (field.first + field.second).find_first_of("\r\n") == std::string::npos;
  });
}

}  // namespace

void Session::Start(Sessions::iterator self, bool spare) {
  self_ = self;
  spare_ = spare;
  buffer_.max_size(host_.options().max_header_bytes + kMaxReadAhead);
  reading_ = true;
  tcp().expires_after(host_.options().read_timeout);
  AsyncHandshake([self = shared_from_this()](error_code error) {
    if (self->closed_) {
      return;
    }
    if (error) {
      self->Close();
    } else {
      self->peer_ = self->PeerOfClient();
      self->Read();
    }
  });
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
  host_.Remove(self_);
}

std::chrono::milliseconds Session::TimeToRead() const {
  const Server::Options& options = host_.options();
  return admitted_ && options.idle_timeout.count() > 0 ? options.idle_timeout
                                                       : options.read_timeout;
}

void Session::Read() {
  reading_ = true;
  host_.MoveToBack(self_);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(host_.options().max_header_bytes));
  parser_->body_limit(host_.options().max_body_bytes);
  // One limit for all of it, so that a byte now and then does not extend it.
  tcp().expires_after(TimeToRead());
  AsyncReadHeader(buffer_, *parser_,
                  [self = shared_from_this()](error_code error) { self->OnHeader(error); });
}

void Session::OnHeader(error_code error) {
  if (ReadFailed(error)) {
    return;
  }
  const Server::Options& options = host_.options();
  parser_->request().peer = peer_;
  admitted_ = !options.admit || options.admit(parser_->request());
  if (parser_->is_done()) {
    OnRead({});
  } else if (!admitted_) {
    reading_ = false;
    refused_ = true;  // What it sends is not read but dropped.
    Respond();
  } else {
    tcp().expires_after(TimeToRead());
    AsyncRead(buffer_, *parser_,
              [self = shared_from_this()](error_code failed) { self->OnRead(failed); });
  }
}

void Session::OnRead(error_code error) {
  if (!ReadFailed(error)) {
    reading_ = false;
    Respond();
  }
}

bool Session::ReadFailed(error_code error) {
  if (closed_) {
    return true;
  }
  if (!error) {
    return false;
  }
  reading_ = false;
  if (error == bhttp::error::header_limit) {
    Refuse(bhttp::status::request_header_fields_too_large, "The request header is too large.");
  } else if (error == bhttp::error::body_limit) {
    Refuse(bhttp::status::payload_too_large, "The request body is too large.");
  } else if (parser_->unknown_coding()) {
    Refuse(bhttp::status::not_implemented, "The body's transfer encoding is not known.");
  } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
             error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
    Refuse(bhttp::status::bad_request, "The request is not valid HTTP/1.");
  } else {
    Close();
  }
  return true;
}

void Session::Respond() {
  keep_alive_ = parser_->keep_alive() && admitted_ && !refused_ && !spare_;
  head_ = parser_->is_head();
  http10_ = parser_->is_http10();
  websocket_key_.clear();
  if (parser_->wants_websocket()) {
    websocket_key_ = std::string(parser_->request().Header("Sec-WebSocket-Key"));
  }
  Request request = std::move(parser_->request());
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
    deadline_.async_wait([self = shared_from_this(), serial = serial_](error_code error) {
      if (!error && self->waiting_ && serial == self->serial_) {
        self->OnDeadline();
      }
    });
  }
}

void Session::OnDeadline() {
  keep_alive_ = false;
  stop_.request_stop();
  Deliver(serial_, {.status = 503, .body = "The handler took too long.\n"});
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
    Write(std::move(response), keep_alive_, head_);
  } else if (http10_ || head_) {
    response.stream->Closed();
    Write({.status = http10_ ? 505 : 405, .body = "A stream needs GET and HTTP/1.1.\n"}, false,
          head_);
  } else {
    BeginStream(std::move(response));
  }
}

void Session::Refuse(bhttp::status status, std::string text) {
  refused_ = true;
  Write({.status = static_cast<int>(status), .body = std::move(text) + "\n"}, false, false);
}

void Session::Write(Response response, bool keep_alive, bool head) {
  response_.emplace(static_cast<bhttp::status>(response.status), 11);
  for (const auto& [name, value] : response.headers) {
    response_->insert(name, value);
  }
  response_->set(bhttp::field::content_type, response.content_type);
  response_->set(bhttp::field::cache_control, "no-store");
  response_->set("X-Content-Type-Options", "nosniff");
  response_->keep_alive(keep_alive);
  response_->content_length(response.body.size());
  if (!head) {
    response_->body() = std::move(response.body);
  }
  serializer_.emplace(*response_);
  serializer_->split(false);
  const Server::Options& options = host_.options();
  answering_ = true;
  tcp().expires_after(admitted_ ? options.write_timeout
                                : std::min(options.write_timeout, options.read_timeout));
  AsyncWrite(*serializer_, [self = shared_from_this(), keep_alive](error_code error) {
    self->OnWritten(error, keep_alive);
  });
}

void Session::OnWritten(error_code error, bool keep_alive) {
  serializer_.reset();
  response_.reset();
  answering_ = false;
  if (closed_) {
    return;
  }
  if (error) {
    Close();
  } else if (refused_) {
    error_code ignored;
    tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
    reading_ = true;
    tcp().expires_after(kMaxDrainTime);
    Drain();
  } else if (keep_alive) {
    buffer_.shrink_to_fit();  // A large request was an exception.
    Read();
  } else {
    reading_ = true;
    tcp().expires_after(kMaxDrainTime);
    AsyncShutdown([self = shared_from_this()](error_code) { self->Close(); });
  }
}

// What the peer still sends is dropped below TLS.
void Session::Drain() {
  tcp().async_read_some(asio::buffer(drain_),
                        [self = shared_from_this()](error_code error, std::size_t size) {
                          self->drained_ += size;
                          if (error || self->drained_ > kMaxDrainBytes) {
                            self->Close();
                          } else {
                            self->Drain();
                          }
                        });
}

}  // namespace kubexx::http::internal
