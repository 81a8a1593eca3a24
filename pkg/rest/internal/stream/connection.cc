#include "kubexx/rest/internal/stream/connection.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::rest::internal {
namespace {

constexpr std::size_t kMaxStep = 1 << 30;

void SetRetry(BIO* bio, int ssl_error) {
  if (ssl_error == SSL_ERROR_WANT_READ) {
    BIO_set_retry_read(bio);
  } else if (ssl_error == SSL_ERROR_WANT_WRITE) {
    BIO_set_retry_write(bio);
  }
}

std::string TextOfErrno(int number) { return base::ToLower(std::strerror(number)); }

}  // namespace

Connection::~Connection() {
  // Sends TLS's close message if that needs no waiting. A session that failed must not send it.
  if (top() != nullptr && !broken_ && SSL_is_init_finished(top()) == 1) {
    SSL_shutdown(top());
    ERR_clear_error();
  }
  SSL_free(inner_.ssl);
  SSL_free(outer_.ssl);
  ::close(fd_);
}

// OpenSSL's own socket BIO writes in a way that may end the process by SIGPIPE.
BIO_METHOD* Connection::Method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    if (made != nullptr) {
      BIO_meth_set_read_ex(made, OnRead);
      BIO_meth_set_write_ex(made, OnWrite);
      BIO_meth_set_ctrl(made, OnControl);
    }
    return made;
  }();
  return method;
}

int Connection::OnRead(BIO* bio, char* to, std::size_t size, std::size_t* read) {
  const auto* below = static_cast<const Below*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *read = 0;
  if (below->outer != nullptr) {
    if (SSL_read_ex(below->outer, to, size, read) == 1) {
      return 1;
    }
    // The outer session may have to send before it can go on, and the other way round.
    SetRetry(bio, SSL_get_error(below->outer, 0));
    return 0;
  }
  const ssize_t got = ::recv(below->fd, to, size, 0);
  if (got > 0) {
    *read = static_cast<std::size_t>(got);
    return 1;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_retry_read(bio);
  }
  return 0;
}

int Connection::OnWrite(BIO* bio, const char* from, std::size_t size, std::size_t* written) {
  const auto* below = static_cast<const Below*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *written = 0;
  if (below->outer != nullptr) {
    if (SSL_write_ex(below->outer, from, size, written) == 1) {
      return 1;
    }
    SetRetry(bio, SSL_get_error(below->outer, 0));
    return 0;
  }
  const ssize_t sent = ::send(below->fd, from, size, MSG_NOSIGNAL);
  if (sent >= 0) {
    *written = static_cast<std::size_t>(sent);
    return 1;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    BIO_set_retry_write(bio);
  }
  return 0;
}

long Connection::OnControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0;
}

bool Connection::AddTls(std::shared_ptr<TlsContext> context) {
  Layer& layer = outer_.ssl == nullptr ? outer_ : inner_;
  layer.context = std::move(context);
  layer.below = std::make_unique<Below>(Below{.fd = fd_, .outer = outer_.ssl});
  layer.ssl = SSL_new(layer.context->get());
  BIO* const bio = Method() == nullptr ? nullptr : BIO_new(Method());
  if (layer.ssl == nullptr || bio == nullptr) {
    BIO_free(bio);
    ERR_clear_error();
    failure_ = "out of memory";
    return false;
  }
  BIO_set_data(bio, layer.below.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(layer.ssl, bio, bio);
  SSL_set_connect_state(layer.ssl);
  return true;
}

Connection::Step Connection::ExplainErrno(bool reading) {
  const int number = errno;
  if (number == EAGAIN || number == EWOULDBLOCK || number == EINTR) {
    return {.io = reading ? Io::kWantRead : Io::kWantWrite};
  }
  broken_ = true;
  failure_ = TextOfErrno(number);
  return {.io = Io::kFailed};
}

Connection::Step Connection::Explain(int result) {
  const int number = errno;
  const int error = SSL_get_error(top(), result);
  if (error == SSL_ERROR_WANT_READ) {
    return {.io = Io::kWantRead};
  }
  if (error == SSL_ERROR_WANT_WRITE) {
    return {.io = Io::kWantWrite};
  }
  if (error == SSL_ERROR_ZERO_RETURN) {
    return {.io = Io::kEnd};
  }
  broken_ = true;
  const unsigned long queued = ERR_peek_last_error();
  const bool cut = ERR_GET_LIB(queued) == ERR_LIB_SSL &&
                   ERR_GET_REASON(queued) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  if (error == SSL_ERROR_SSL && !cut) {
    const char* reason = ERR_reason_error_string(queued);
    failure_ = reason == nullptr ? "protocol error" : reason;
    tls_failed_ = true;
  } else if (!cut && queued == 0 && number != 0) {
    failure_ = TextOfErrno(number);
  }
  ERR_clear_error();
  return {.io = Io::kFailed};
}

Connection::Step Connection::Handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(top());
  return result == 1 ? Step{.io = Io::kDone} : Explain(result);
}

void Connection::OfferHttp2() {
  static constexpr std::array<unsigned char, 12> kProtocols = {2,   'h', '2', 8,   'h', 't',
                                                               't', 'p', '/', '1', '.', '1'};
  SSL_set_alpn_protos(top(), kProtocols.data(), kProtocols.size());
}

bool Connection::HasChosenHttp2() const {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  if (top() != nullptr) {
    SSL_get0_alpn_selected(top(), &chosen, &size);
  }
  return size == 2 && std::memcmp(chosen, "h2", 2) == 0;
}

Connection::Step Connection::Read(char* to, std::size_t size) {
  size = std::min(size, kMaxStep);
  if (top() == nullptr) {
    const ssize_t got = ::recv(fd_, to, size, 0);
    if (got > 0) {
      return {.io = Io::kDone, .bytes = static_cast<std::size_t>(got)};
    }
    return got == 0 ? Step{.io = Io::kEnd} : ExplainErrno(true);
  }
  ERR_clear_error();
  errno = 0;
  std::size_t got = 0;
  const int result = SSL_read_ex(top(), to, size, &got);
  return result == 1 ? Step{.io = Io::kDone, .bytes = got} : Explain(result);
}

Connection::Step Connection::Write(std::string_view bytes) {
  bytes = bytes.substr(0, kMaxStep);
  if (top() == nullptr) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent >= 0 ? Step{.io = Io::kDone, .bytes = static_cast<std::size_t>(sent)}
                     : ExplainErrno(false);
  }
  ERR_clear_error();
  errno = 0;
  std::size_t sent = 0;
  const int result = SSL_write_ex(top(), bytes.data(), bytes.size(), &sent);
  return result == 1 ? Step{.io = Io::kDone, .bytes = sent} : Explain(result);
}

void Connection::WipePlaintext() {
  if (top() != nullptr) {
    SSL_set_options(top(), SSL_OP_CLEANSE_PLAINTEXT);
  }
}

bool Connection::IsUsable() const {
  char next = 0;
  const auto has_pending = [](const SSL* ssl) {
    return ssl != nullptr && SSL_has_pending(ssl) != 0;
  };
  return !broken_ && !has_pending(inner_.ssl) && !has_pending(outer_.ssl) &&
         ::recv(fd_, &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

}  // namespace kubexx::rest::internal
