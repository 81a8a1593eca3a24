// How a connection reads a request: its header, who it is from, its body.
#include <utility>
// Asio needs <utility> first.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kMaxReadAtOnce = 64 << 10;
/// A body that is longer waits for its turn with others that are.
constexpr std::size_t kMuchToRead = 64 << 10;
/// A body is read in pieces of a TLS record at least. For headers the buffer grows as it has to:
/// most connections wait for one.
constexpr std::size_t kBodyPiece = 16 << 10;

}  // namespace

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
  header_bytes_ = 0;
  // One limit for all of it, so that a byte now and then does not extend it.
  tcp().expires_after(TimeToRead());
  ReadUntil(Part::kHeader);
}

void Session::ReadUntil(Part part) {
  const auto complete = [this, part] {
    return part == Part::kHeader ? parser_->is_header_done() : parser_->is_done();
  };
  error_code error;
  parser_->eager(part == Part::kRequest);
  while (!error && !complete() && buffer_.size() > 0) {
    const std::size_t parsed = parser_->put(asio::const_buffer(buffer_.cdata()), error);
    buffer_.consume(parsed);
    // The parser's own limit is one for what it is given at a time.
    header_bytes_ += part == Part::kHeader ? parsed : 0;
    if (header_bytes_ > host_.options().max_header_bytes) {
      error = bhttp::error::header_limit;
    }
  }
  if (complete() || (error && error != bhttp::error::need_more)) {
    OnPart(part, error);
    return;
  }
  if (!HoldUnread(part)) {
    return;
  }
  const std::size_t least = part == Part::kHeader ? 0 : kBodyPiece;
  const std::size_t room = std::min(std::max(beast::read_size(buffer_, kMaxReadAtOnce), least),
                                    buffer_.max_size() - buffer_.size());
  if (room == 0) {
    OnPart(part, bhttp::error::buffer_overflow);
    return;
  }
  if (ahead_) {
    AwaitReadAhead(part);
    return;
  }
  if (part == Part::kRequest && held_ >= kMuchToRead) {
    host_.InTurn(Dear::kPiece, shared_from_this(), [this, part, room] {
      if (!closed_) {
        ReadSome(part, room);
      }
    });
    return;
  }
  ReadSome(part, room);
}

void Session::ReadSome(Part part, std::size_t room) {
  AsyncReadSome(buffer_.prepare(room), Guarded([this, part](error_code failed, std::size_t size) {
                  OnSomeRead(part, failed, size);
                }));
}

void Session::OnSomeRead(Part part, error_code error, std::size_t size) {
  if (closed_) {
    return;  // It was read before, and would count as held by nobody.
  }
  if (error == asio::error::eof) {
    error = {};
    if (parser_->got_some()) {
      parser_->put_eof(error);
    } else {
      error = bhttp::error::end_of_stream;
    }
    OnPart(part, error ? error : bhttp::error::partial_message);
  } else if (error) {
    OnPart(part, error);
  } else {
    buffer_.commit(size);
    ReadUntil(part);
  }
}

bool Session::HoldUnread(Part part) {
  const bool header = part == Part::kHeader;
  std::size_t& held = header ? held_of_header_ : held_;
  if (held == 0) {
    holding_since_ = std::chrono::steady_clock::now();
  }
  const std::size_t now = header ? header_bytes_ + buffer_.size() : parser_->request().body.size();
  const auto more = static_cast<std::ptrdiff_t>(now - held);
  held = now;
  if (header) {
    host_.HoldHeader(more);
  } else {
    host_.Hold(more);
  }
  return !closed_;
}

void Session::ReleaseHeader() {
  host_.HoldHeader(-static_cast<std::ptrdiff_t>(std::exchange(held_of_header_, 0)));
}

void Session::Release() { host_.Hold(-static_cast<std::ptrdiff_t>(std::exchange(held_, 0))); }

void Session::OnPart(Part part, error_code error) {
  if (part == Part::kHeader) {
    OnHeader(error);
  } else {
    OnRead(error);
  }
}

void Session::OnHeader(error_code error) {
  ReleaseHeader();
  // The header of a body that would be too long is whole, and tells who is refused.
  if (!error || error == bhttp::error::body_limit) {
    Admit();
    own_limit_ = host_.BodyLimit(parser_->request());
  }
  if (ReadFailed(error)) {
    return;
  }
  if (parser_->is_done()) {
    OnRead({});
  } else if (!admitted_ || IsTooLongForItsPath()) {
    DropBody();
  } else {
    tcp().expires_after(TimeToRead());
    ReadBody();
  }
}

bool Session::IsTooLongForItsPath() {
  if (!own_limit_) {
    return false;
  }
  // For a body that comes in chunks, of no known length.
  parser_->body_limit(*own_limit_);
  return parser_->content_length().value_or(0) > *own_limit_;
}

void Session::DropBody() {
  reading_ = false;
  refused_ = true;  // What it sends is not read but dropped.
  parser_->request().body = {};
  Respond();
}

void Session::Admit() {
  const Server::Options& options = host_.options();
  parser_->request().peer = peer_;
  std::optional<std::string> client(std::in_place);
  if (options.admit) {
    client = options.admit(parser_->request());
  }
  admitted_ = client.has_value();
  client_ = client.value_or("");
}

void Session::ReadBody() {
  const std::string_view expected = parser_->request().Header("Expect");
  if (expected.empty() || parser_->is_http10()) {
    return ReadUntil(Part::kRequest);
  }
  if (!beast::iequals(beast::string_view(expected.data(), expected.size()), "100-continue")) {
    reading_ = false;
    return Refuse(417, "What the request expects is not known.");
  }
  if (buffer_.size() > 0) {
    return ReadUntil(Part::kRequest);  // it does not wait for that
  }
  write_limit_.Begin(std::chrono::steady_clock::now(), TimeToRead(), 0);
  frames_.emplace_back("HTTP/1.1 100 Continue\r\n\r\n");
  buffers_.emplace_back(asio::buffer(frames_.back()));
  AsyncWrite(buffers_, Guarded([this](error_code error) {
               buffers_.clear();
               frames_.clear();
               if (error) {
                 Close();
               } else if (!closed_) {
                 ReadUntil(Part::kRequest);
               }
             }));
}

void Session::OnRead(error_code error) {
  if (error == bhttp::error::body_limit && own_limit_ && !closed_) {
    DropBody();
  } else if (!ReadFailed(error)) {
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
    Refuse(431, "The request header is too large.");
  } else if (error == bhttp::error::body_limit) {
    Refuse(413, "Request entity too large: limit is " +
                    std::to_string(own_limit_.value_or(host_.options().max_body_bytes)));
  } else if (parser_->unknown_coding()) {
    Refuse(501, "The body's transfer encoding is not known.");
  } else if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
             error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
    Refuse(400, "The request is not valid HTTP/1.");
  } else {
    Close();
  }
  return true;
}

}  // namespace kubexx::http::internal
