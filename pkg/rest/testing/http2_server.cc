#include "kubexx/rest/testing/http2_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/usual_server.h"

namespace kubexx::rest::testing {
namespace {

void Need(bool ok, const char* what) {
  if (!ok) {
    std::perror(what);
    std::abort();
  }
}

std::string_view View(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

nghttp2_nv Nv(const std::string& name, const std::string& value) {
  return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

struct Http2Server::Stream {
  Request request{};
  std::string unsent{};
  bool ended = false;
};

struct Http2Server::Peer {
  Http2Server* server = nullptr;
  int number = 0;
  int fd = -1;
  SSL* ssl = nullptr;
  nghttp2_session* session = nullptr;
  std::map<std::int32_t, Stream> streams{};
  std::string out{};
  bool over = false;
  bool frozen = false;
  std::string http1{};  ///< what has come on a connection without HTTP/2

  bool is_http1() const {
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &size);
    return size == 0;
  }
  /// Answers a GET with a body that does not end.
  void TakeHttp1(std::string_view bytes) {
    http1 += bytes;
    if (http1.ends_with("\r\n\r\n")) {
      const base::MutexLock lock(server->mu_);
      server->requests_.push_back(
          {.connection = number, .path = http1.substr(4, http1.find(' ', 4) - 4)});
      out += "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      http1.clear();
    }
  }

  ~Peer() { Close(); }
  void Close() {
    if (fd >= 0) {
      nghttp2_session_del(std::exchange(session, nullptr));
      SSL_free(std::exchange(ssl, nullptr));
      ::close(std::exchange(fd, -1));
      const base::MutexLock lock(server->mu_);
      ++server->closed_;
    }
    over = true;
  }
};

struct Http2Server::Callbacks {
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* data) {
    Request& request = static_cast<Peer*>(data)->streams[frame->hd.stream_id].request;
    if (View(name, name_size) == ":path") {
      request.path = View(value, value_size);
    } else {
      request.headers[std::string(View(name, name_size))] = View(value, value_size);
    }
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    auto& peer = *static_cast<Peer*>(data);
    const base::MutexLock lock(peer.server->mu_);
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
      ++peer.server->resets_;
    }
    if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Request& request = peer.streams[frame->hd.stream_id].request;
      request.connection = peer.number;
      request.stream = frame->hd.stream_id;
      peer.server->requests_.push_back(request);
    }
    return 0;
  }
  static int OnClose(nghttp2_session*, std::int32_t id, std::uint32_t, void* data) {
    static_cast<Peer*>(data)->streams.erase(id);
    return 0;
  }
  static ssize_t OnRead(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t size,
                        std::uint32_t* flags, nghttp2_data_source*, void* data) {
    Stream& stream = static_cast<Peer*>(data)->streams[id];
    const std::size_t taken = std::min(size, stream.unsent.size());
    stream.unsent.copy(reinterpret_cast<char*>(to), taken);
    stream.unsent.erase(0, taken);
    if (stream.unsent.empty() && stream.ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (taken == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(taken);
  }
};

Http2Server::Http2Server(Options options)
    : options_(options),
      context_(NewServerContext(UsualTlsForHttp2())),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  Need(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 512) == 0 &&
           ::getsockname(listener_.get(), any, &size) == 0,
       "listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Http2Server::~Http2Server() {
  thread_.request_stop();
  Post([] {});
  thread_.join();
  peers_.clear();
  SSL_CTX_free(static_cast<SSL_CTX*>(context_));
}

void Http2Server::Post(std::function<void()> command) {
  {
    const base::MutexLock lock(mu_);
    commands_.push_back(std::move(command));
  }
  const std::uint64_t one = 1;
  Need(::write(wake_.get(), &one, sizeof(one)) == sizeof(one), "eventfd");
}

void Http2Server::OnPeer(int connection, std::function<void(Peer&)> command) {
  Post([this, connection, command = std::move(command)] {
    Peer& peer = *peers_.at(static_cast<std::size_t>(connection));
    if (!peer.over) {
      command(peer);
    }
  });
}

void Http2Server::Run(const std::stop_token& stop) {
  // OpenSSL writes with write(2), which raises it when the peer is gone.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (!stop.stop_requested()) {
    std::vector<pollfd> polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& peer : peers_) {
      const int events = POLLIN | (peer->out.empty() ? 0 : POLLOUT);
      polled.push_back({.fd = peer->over || peer->frozen ? -1 : peer->fd,
                        .events = static_cast<short>(events),
                        .revents = 0});
    }
    ::poll(polled.data(), polled.size(), -1);
    std::uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t drained = ::read(wake_.get(), &wakes, sizeof(wakes));
    std::vector<std::function<void()>> commands;
    {
      const base::MutexLock lock(mu_);
      commands.swap(commands_);
    }
    for (const auto& command : commands) {
      command();
    }
    Accept();
    for (const auto& peer : peers_) {
      Serve(*peer);
    }
  }
}

void Http2Server::Accept() {
  for (;;) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      return;
    }
    auto peer = std::make_unique<Peer>();
    peer->server = this;
    peer->number = static_cast<int>(peers_.size());
    peer->fd = fd;
    peer->ssl = SSL_new(static_cast<SSL_CTX*>(context_));
    SSL_set_fd(peer->ssl, fd);
    SSL_set_accept_state(peer->ssl);
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnClose);
    nghttp2_session_server_new(&peer->session, callbacks, peer.get());
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry streams{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                         options_.max_streams};
    nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, &streams, 1);
    peers_.push_back(std::move(peer));
    const base::MutexLock lock(mu_);
    ++accepted_;
  }
}

void Http2Server::Serve(Peer& peer) {
  std::array<unsigned char, 16 * 1024> bytes;
  while (!peer.over && !peer.frozen) {
    ERR_clear_error();
    const int got = SSL_read(peer.ssl, bytes.data(), static_cast<int>(bytes.size()));
    if (got <= 0) {
      const int error = SSL_get_error(peer.ssl, got);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        peer.Close();
        return;
      }
      break;
    }
    if (peer.is_http1()) {
      peer.TakeHttp1(View(bytes.data(), static_cast<std::size_t>(got)));
    } else if (nghttp2_session_mem_recv(peer.session, bytes.data(), static_cast<std::size_t>(got)) <
               0) {
      peer.Close();
      return;
    }
  }
  Flush(peer);
}

void Http2Server::Flush(Peer& peer) {
  if (peer.over || peer.frozen || SSL_is_init_finished(peer.ssl) == 0) {
    return;
  }
  while (!peer.is_http1()) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(peer.session, &bytes);
    if (size <= 0) {
      break;
    }
    peer.out.append(View(bytes, static_cast<std::size_t>(size)));
  }
  while (!peer.out.empty()) {
    const int sent = SSL_write(peer.ssl, peer.out.data(), static_cast<int>(peer.out.size()));
    if (sent <= 0) {
      break;
    }
    peer.out.erase(0, static_cast<std::size_t>(sent));
  }
  const base::MutexLock lock(peer.server->mu_);
  for (const auto& [id, stream] : peer.streams) {
    peer.server->held_back_[{peer.number, id}] = stream.unsent.size();
  }
}

int Http2Server::connections() const {
  const base::MutexLock lock(mu_);
  return accepted_;
}

int Http2Server::open_connections() const {
  const base::MutexLock lock(mu_);
  return accepted_ - closed_;
}

std::vector<Http2Server::Request> Http2Server::requests() const {
  const base::MutexLock lock(mu_);
  return requests_;
}

int Http2Server::resets() const {
  const base::MutexLock lock(mu_);
  return resets_;
}

std::size_t Http2Server::held_back(const Request& request) const {
  const base::MutexLock lock(mu_);
  const auto found = held_back_.find({request.connection, request.stream});
  return found == held_back_.end() ? 0 : found->second;
}

void Http2Server::Respond(const Request& request, int code, Headers headers) {
  OnPeer(request.connection, [request, code, headers = std::move(headers)](Peer& peer) {
    const std::string status = std::to_string(code);
    const std::string status_name = ":status";
    std::vector<nghttp2_nv> fields = {Nv(status_name, status)};
    for (const auto& [name, value] : headers) {
      fields.push_back(Nv(name, value));
    }
    if (code < 200) {
      nghttp2_submit_headers(peer.session, NGHTTP2_FLAG_NONE, request.stream, nullptr,
                             fields.data(), fields.size(), nullptr);
      return;
    }
    const nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::OnRead};
    nghttp2_submit_response(peer.session, request.stream, fields.data(), fields.size(), &body);
  });
}

void Http2Server::Send(const Request& request, std::string bytes) {
  OnPeer(request.connection, [request, bytes = std::move(bytes)](Peer& peer) {
    if (const auto found = peer.streams.find(request.stream); found != peer.streams.end()) {
      found->second.unsent += bytes;
      nghttp2_session_resume_data(peer.session, request.stream);
    }
  });
}

void Http2Server::End(const Request& request) {
  OnPeer(request.connection, [request](Peer& peer) {
    if (const auto found = peer.streams.find(request.stream); found != peer.streams.end()) {
      found->second.ended = true;
      nghttp2_session_resume_data(peer.session, request.stream);
    }
  });
}

void Http2Server::Reset(const Request& request, std::uint32_t code) {
  OnPeer(request.connection, [request, code](Peer& peer) {
    nghttp2_submit_rst_stream(peer.session, NGHTTP2_FLAG_NONE, request.stream, code);
  });
}

void Http2Server::GoAway(int connection, std::int32_t last) {
  OnPeer(connection, [last](Peer& peer) {
    nghttp2_submit_goaway(peer.session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  });
}

void Http2Server::Drop(int connection) {
  OnPeer(connection, [](Peer& peer) { peer.Close(); });
}

void Http2Server::Freeze(int connection) {
  OnPeer(connection, [](Peer& peer) { peer.frozen = true; });
}

void Http2Server::SendRaw(int connection, std::string bytes) {
  OnPeer(connection, [bytes = std::move(bytes)](Peer& peer) { peer.out += bytes; });
}

}  // namespace kubexx::rest::testing
