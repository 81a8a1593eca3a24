// Reading while a request is answered: the end of the connection tells that nobody waits for the
// answer, and what arrives is the beginning of the next request, or of what a stream is told.
#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

namespace asio = boost::asio;
using boost::system::error_code;

void Session::ReadAhead() {
  if (ahead_ || buffer_.size() + drain_.size() > buffer_.max_size()) {
    return;
  }
  ahead_ = true;
  tcp().expires_never();
  AsyncReadSome(asio::buffer(drain_),
                Guarded([this](error_code error, std::size_t size) { OnReadAhead(error, size); }));
}

void Session::OnReadAhead(error_code error, std::size_t size) {
  ahead_ = false;
  if (closed_) {
    return;
  }
  if (lingering_) {
    return error ? Close() : Drain();
  }
  if (stream_body_ != nullptr) {
    return OnClientOfStream(error, std::string_view(drain_.data(), size));
  }
  if (!error) {
    buffer_.commit(asio::buffer_copy(buffer_.prepare(size), asio::buffer(drain_, size)));
  }
  if (wanted_) {
    const Part part = *std::exchange(wanted_, std::nullopt);
    deadline_.cancel();
    tcp().expires_after(TimeToRead());
    return error ? OnSomeRead(part, error, 0) : ReadUntil(part);
  }
  if (!waiting_) {
    return;  // The next read is told the same.
  }
  if (!error) {
    return ReadAhead();
  }
  stop_.request_stop();
  if (error == asio::error::eof) {
    keep_alive_ = false;  // It may have ended its side alone, and still take an answer.
  } else {
    Close();
  }
}

void Session::AwaitReadAhead(Part part) {
  wanted_ = part;
  // The time of a read that has begun cannot be set any more.
  deadline_.expires_after(TimeToRead());
  deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->wanted_) {
      self->Close();
    }
  });
}

}  // namespace kubexx::http::internal
