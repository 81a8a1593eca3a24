#include "kubexx/kubelet/config/update_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/file_descriptor.h"
#include "kubexx/kubelet/config/update_json.h"
#include "kubexx/logging/log.h"

namespace kubexx::kubelet {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using Line = std::shared_ptr<const std::string>;

/// Until a client is accepted again after there was no room for one, in milliseconds.
constexpr int kPauseWhenFull = 100;

Result<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Fail(Reason::kInvalidConfig, "socket \"" + path + "\": the path must have 1 to " +
                                            std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// Takes away a socket on which nobody listens any more, and nothing else.
void RemoveDeadSocket(const std::string& path, const sockaddr_un& address) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) {
    return;
  }
  const base::FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), Generic(address), sizeof address) != 0 && errno == ECONNREFUSED) {
    ::unlink(path.c_str());
  }
}

Result<base::FileDescriptor> Listen(const std::string& path) {
  KX_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
  RemoveDeadSocket(path, address);
  base::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Before it is bound the mode is that of the file to be.
  if (socket.get() < 0 || ::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), Generic(address), sizeof address) != 0 ||
      ::listen(socket.get(), 16) != 0) {
    return Fail(Reason::kUnavailable, "cannot listen on " + path + ": " + std::strerror(errno));
  }
  return socket;
}

}  // namespace

class UpdateServer::Impl {
 public:
  Impl(Options options, PodConfig& pods, base::FileDescriptor socket)
      : options_(std::move(options)),
        pods_(pods),
        socket_(std::move(socket)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  ~Impl() {
    thread_.request_stop();
    Wake();
    thread_.join();
    clients_.clear();
    ::unlink(options_.path.c_str());
  }

 private:
  /// One connection. The consumer of updates appends, the server's thread writes.
  struct Client {
    base::FileDescriptor socket{};
    base::Mutex mu{};
    std::deque<Line> lines{};  // guarded by mu
    std::size_t unread = 0;    // guarded by mu
    bool overflown = false;    // guarded by mu
    std::size_t written = 0;   ///< of the first line
    base::Subscription subscription{};
  };

  void Run(const std::stop_token& stop) {
    bool is_full = false;
    while (!stop.stop_requested()) {
      // Who waits for a connection that cannot be accepted would be woken again at once.
      std::vector<pollfd> waits{{wake_.get(), POLLIN, 0},
                                {is_full ? -1 : socket_.get(), POLLIN, 0}};
      for (const auto& client : clients_) {
        const base::MutexLock lock(client->mu);
        const short events = client->lines.empty() ? POLLIN : POLLIN | POLLOUT;
        waits.push_back({client->socket.get(), events, 0});
      }
      const int patience = is_full ? kPauseWhenFull : -1;
      if (::poll(waits.data(), waits.size(), patience) < 0 && errno != EINTR) {
        logging::Error("The stream of pods ends, as it cannot wait for its clients",
                       {{"error", std::strerror(errno)}});
        return;
      }
      std::uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
      Serve(waits);
      is_full = waits[1].revents != 0 && !Accept();
    }
  }

  void Serve(const std::vector<pollfd>& waits) {
    std::size_t i = 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++i) {
      const bool alive = Read(**client, waits[i].revents) && Write(**client);
      client = alive ? std::next(client) : clients_.erase(client);
    }
  }

  /// Takes the next client; false when there is no room for one now, and it still waits.
  bool Accept() {
    base::FileDescriptor socket(
        ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      const int error = errno;
      const bool is_full =
          error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
      if (is_full && !std::exchange(told_full_, true)) {
        logging::Warning("A client of the stream of pods has to wait",
                         {{"error", std::strerror(error)}});
      }
      return !is_full;
    }
    told_full_ = false;
    if (clients_.size() >= options_.max_clients) {
      logging::Warning("A client of the stream of pods is refused: too many are connected",
                       {{"clients", clients_.size()}});
      return true;
    }
    auto client = std::make_unique<Client>();
    client->socket = std::move(socket);
    Client& added = *client;
    clients_.push_back(std::move(client));
    added.subscription =
        pods_.Subscribe([this, &added](const PodUpdate& update) { Append(added, update); });
    return true;
  }

  void Append(Client& client, const PodUpdate& update) {
    auto line = std::make_shared<const std::string>(ToJsonLine(update));
    {
      const base::MutexLock lock(client.mu);
      client.unread += line->size();
      client.overflown = client.overflown || client.unread > options_.max_unread;
      if (client.overflown) {
        client.lines.clear();
      } else {
        client.lines.push_back(std::move(line));
      }
    }
    Wake();
  }

  static bool Read(const Client& client, short events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) {
      return true;
    }
    char ignored[1024];
    const ssize_t count = ::read(client.socket.get(), ignored, sizeof ignored);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  /// As much as the client takes now; false when it is to be cut off.
  static bool Write(Client& client) {
    while (true) {
      Line line;
      {
        const base::MutexLock lock(client.mu);
        if (client.overflown) {
          logging::Warning("A client of the stream of pods does not read and is cut off");
          return false;
        }
        if (client.lines.empty()) {
          return true;
        }
        line = client.lines.front();
      }
      const ssize_t count = ::send(client.socket.get(), line->data() + client.written,
                                   line->size() - client.written, MSG_NOSIGNAL);
      if (count < 0) {
        return errno == EAGAIN || errno == EINTR;
      }
      client.written += static_cast<std::size_t>(count);
      const base::MutexLock lock(client.mu);
      client.unread -= static_cast<std::size_t>(count);
      if (client.written == line->size() && !client.lines.empty()) {
        client.lines.pop_front();
        client.written = 0;
      }
    }
  }

  void Wake() const {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  const Options options_;
  PodConfig& pods_;
  const base::FileDescriptor socket_;
  const base::FileDescriptor wake_;
  std::list<std::unique_ptr<Client>> clients_{};  // of thread_, and of the destructor after it
  bool told_full_ = false;                        // of thread_
  std::jthread thread_;
};

Result<std::unique_ptr<UpdateServer>> UpdateServer::Start(Options options, PodConfig& pods) {
  KX_ASSIGN_OR_RETURN(base::FileDescriptor socket, Listen(options.path));
  return std::unique_ptr<UpdateServer>(
      new UpdateServer(std::make_unique<Impl>(std::move(options), pods, std::move(socket))));
}

UpdateServer::UpdateServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UpdateServer::~UpdateServer() = default;

}  // namespace kubexx::kubelet
