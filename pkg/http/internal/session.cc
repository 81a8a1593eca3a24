#include <utility>
// Asio needs <utility> first.
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

Request Convert(bhttp::request<bhttp::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  request.path = std::string(message.target());
  if (const auto question = request.path.find('?'); question != std::string::npos) {
    request.query = request.path.substr(question + 1);
    request.path.resize(question);
  }
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body = std::move(message.body());
  return request;
}

}  // namespace

void Session::Start(Sessions::iterator self) {
  self_ = self;
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

void Session::Read() {
  reading_ = true;
  host_.MoveToBack(self_);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(host_.options().max_header_bytes));
  parser_->body_limit(host_.options().max_body_bytes);
  // One limit for the whole request, so that a byte now and then does not extend it.
  tcp().expires_after(host_.options().read_timeout);
  AsyncRead(buffer_, *parser_,
            [self = shared_from_this()](error_code error) { self->OnRead(error); });
}

void Session::OnRead(error_code error) {
  reading_ = false;
  if (closed_) {
    return;
  }
  if (error == bhttp::error::header_limit) {
    Refuse(bhttp::status::request_header_fields_too_large, "The request header is too large.");
  } else if (error == bhttp::error::body_limit) {
    Refuse(bhttp::status::payload_too_large, "The request body is too large.");
  } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
             error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
    Refuse(bhttp::status::bad_request, "The request is not valid HTTP/1.");
  } else if (error) {
    Close();
  } else {
    Respond();
  }
}

void Session::Respond() {
  auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  head_ = message.method() == bhttp::verb::head;
  http10_ = message.version() < 11;
  Request request = Convert(message);
  request.peer = peer_;
  websocket_key_.clear();
  if (bhttp::token_list(message[bhttp::field::connection]).exists("upgrade") &&
      beast::iequals(message[bhttp::field::upgrade], "websocket")) {
    websocket_key_ = std::string(message[bhttp::field::sec_websocket_key]);
  }
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
  tcp().expires_after(host_.options().write_timeout);
  AsyncWrite(*serializer_, [self = shared_from_this(), keep_alive](error_code error) {
    self->OnWritten(error, keep_alive);
  });
}

void Session::OnWritten(error_code error, bool keep_alive) {
  serializer_.reset();
  response_.reset();
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
