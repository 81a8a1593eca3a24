#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

// OpenSSL writes with write(2), which raises SIGPIPE when the peer has closed. Therefore TLS
// records are passed through memory.
class FakeConnection::Tls {
 public:
  Tls(SSL_CTX* context, int fd) : fd_(fd), ssl_(SSL_new(context)) {
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() { SSL_free(ssl_); }

  bool Handshake() {
    return Run([this] { return SSL_do_handshake(ssl_); }) > 0;
  }
  int Read(char* buffer, int size) {
    return Run([&] { return SSL_read(ssl_, buffer, size); });
  }
  bool Write(std::string_view bytes) {
    return bytes.empty() ||
           Run([&] { return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())); }) > 0;
  }
  void Close() {
    SSL_shutdown(ssl_);
    Flush();
  }
  SSL* ssl() const { return ssl_; }

 private:
  template <class Operation>
  int Run(Operation operation) {
    for (;;) {
      const int result = operation();
      const int error = SSL_get_error(ssl_, result);
      const bool flushed = Flush();
      if (result > 0) {
        return flushed ? result : -1;
      }
      if (error != SSL_ERROR_WANT_READ || !flushed || !Fetch()) {
        ERR_clear_error();
        return -1;
      }
    }
  }
  bool Flush() {
    char* bytes = nullptr;
    const long pending = BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes);
    long sent = 0;
    while (sent < pending) {
      const ssize_t n =
          ::send(fd_, bytes + sent, static_cast<std::size_t>(pending - sent), MSG_NOSIGNAL);
      if (n <= 0) {
        return false;
      }
      sent += n;
    }
    (void)BIO_reset(SSL_get_wbio(ssl_));
    return true;
  }
  bool Fetch() {
    std::array<char, 16384> block;
    const ssize_t n = ::recv(fd_, block.data(), block.size(), 0);
    return n > 0 && BIO_write(SSL_get_rbio(ssl_), block.data(), static_cast<int>(n)) == n;
  }

  int fd_;
  SSL* ssl_;
};

FakeConnection::FakeConnection(int fd, void* ssl_context) : fd_(fd) {
  if (ssl_context != nullptr) {
    tls_ = std::make_unique<Tls>(static_cast<SSL_CTX*>(ssl_context), fd);
  }
}

FakeConnection::~FakeConnection() {
  tls_.reset();
  ::close(fd_);
}

bool FakeConnection::Handshake() { return !tls_ || tls_->Handshake(); }

bool FakeConnection::Fill() {
  std::array<char, 16384> block;
  const ssize_t n =
      tls_ ? tls_->Read(block.data(), block.size()) : ::recv(fd_, block.data(), block.size(), 0);
  if (n <= 0) {
    return false;
  }
  input_.append(block.data(), static_cast<std::size_t>(n));
  return true;
}

std::optional<FakeRequest> FakeConnection::ReadRequest() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) {
      return std::nullopt;
    }
  }
  FakeRequest request;
  const std::string head = input_.substr(0, end + 2);
  const std::size_t line_end = head.find("\r\n");
  const std::string line = head.substr(0, line_end);
  request.method = line.substr(0, line.find(' '));
  request.target = line.substr(line.find(' ') + 1, line.rfind(' ') - line.find(' ') - 1);
  for (std::size_t at = line_end + 2; at < head.size();) {
    const std::size_t next = head.find("\r\n", at);
    const std::size_t colon = head.find(':', at);
    std::string name = head.substr(at, colon - at);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t value = head.find_first_not_of(' ', colon + 1);
    std::string& values = request.headers[name];
    values += (values.empty() ? "" : "\n") + head.substr(value, next - value);
    at = next + 2;
  }
  const auto length = request.headers.find("content-length");
  const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (input_.size() < end + 4 + size) {
    if (!Fill()) {
      return std::nullopt;
    }
  }
  request.body = input_.substr(end + 4, size);
  input_.erase(0, end + 4 + size);
  return request;
}

std::string FakeConnection::ReadSome() {
  if (input_.empty()) {
    Fill();
  }
  return std::exchange(input_, {});
}

bool FakeConnection::HasUnread() const {
  return !input_.empty() || (tls_ && (SSL_has_pending(tls_->ssl()) != 0 ||
                                      BIO_ctrl_pending(SSL_get_rbio(tls_->ssl())) > 0));
}

bool FakeConnection::SpeaksHttp2() const {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  if (tls_) {
    SSL_get0_alpn_selected(tls_->ssl(), &chosen, &size);
  }
  return size == 2;
}

bool FakeConnection::Write(std::string_view bytes) {
  if (tls_) {
    return tls_->Write(bytes);
  }
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool FakeConnection::Respond(int code, std::string_view content_type, std::string_view body,
                             const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string out = "HTTP/1.1 " + std::to_string(code) +
                    " Whatever\r\nContent-Type: " + std::string(content_type) +
                    "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : headers) {
    out += name + ": " + value + "\r\n";
  }
  return Write(out + "\r\n" + std::string(body));
}

bool FakeConnection::RespondChunked(int code, std::string_view content_type) {
  return Write("HTTP/1.1 " + std::to_string(code) + " Whatever\r\nContent-Type: " +
               std::string(content_type) + "\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool FakeConnection::WriteChunk(std::string_view bytes) {
  std::array<char, 32> head;
  const int length = std::snprintf(head.data(), head.size(), "%zx\r\n", bytes.size());
  return Write(std::string(head.data(), static_cast<std::size_t>(length)) + std::string(bytes) +
               "\r\n");
}

bool FakeConnection::EndChunks() { return Write("0\r\n\r\n"); }

void FakeConnection::AwaitPeer() { (void)Fill(); }

void FakeConnection::EndTls() {
  if (tls_) {
    tls_->Close();
  }
}

void FakeConnection::Reset() {
  // With a linger time of zero, the final close sends RST. The socket stays open until the
  // destructor.
  const linger option{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &option, sizeof(option));
  sockaddr none{};
  none.sa_family = AF_UNSPEC;
  ::connect(fd_, &none,
            // Connecting to AF_UNSPEC ends the connection, by a reset because of the linger time.
            sizeof(none));
}

void FakeConnection::Shutdown() { ::shutdown(fd_, SHUT_RDWR); }

std::string FakeConnection::ClientSubject() const {
  X509* certificate = tls_ ? SSL_get1_peer_certificate(tls_->ssl()) : nullptr;
  if (certificate == nullptr) {
    return {};
  }
  BIO* out = BIO_new(BIO_s_mem());
  X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long length = BIO_get_mem_data(out, &text);
  std::string subject(text, static_cast<std::size_t>(length));
  BIO_free(out);
  X509_free(certificate);
  return subject;
}

std::string FakeConnection::ServerName() const {
  const char* name = tls_ ? SSL_get_servername(tls_->ssl(), TLSEXT_NAMETYPE_host_name) : nullptr;
  return name == nullptr ? std::string() : name;
}

}  // namespace kubexx::rest::testing
