#include "kubexx/remotecommand/port_forwarder.h"

#include <poll.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/logging/log.h"
#include "kubexx/remotecommand/internal/connection_threads.h"
#include "kubexx/remotecommand/internal/local_connection.h"
#include "kubexx/remotecommand/internal/tcp_listener.h"
#include "kubexx/remotecommand/internal/wake_event.h"
#include "kubexx/rest/url.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using base::FileDescriptor;
using internal::ConnectionThreads;
using internal::LocalConnection;
using internal::TcpListener;
using internal::WakeEvent;

/// How long a connection that cannot be accepted, as there are no descriptors left, waits for the
/// next try, in milliseconds. Whoever polls for it would be woken again at once.
constexpr int kPauseWithoutDescriptors = 100;

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(port) : std::nullopt;
}

/// A local port at one address.
struct PortListener {
  TcpListener listener;
  std::size_t port = 0;  ///< which of the forwarder's
};

constexpr const char* kLocalhost = "localhost";

/// Listens on `port`, the forwarder's `index`th, of all `addresses`, and notes the local one in it.
Result<void> ListenOn(const std::vector<std::string>& addresses, std::size_t index,
                      ForwardedPort& port, std::vector<PortListener>& listeners) {
  const auto listen = [&](const std::string& address) -> Result<void> {
    KX_ASSIGN_OR_RETURN(TcpListener listener, TcpListener::New(address, port.local));
    port.local = listener.port();
    listeners.push_back({.listener = std::move(listener), .port = index});
    return {};
  };
  for (const std::string& address : addresses) {
    KX_RETURN_IF_ERROR(listen(address == kLocalhost ? "127.0.0.1" : address));
    if (address == kLocalhost) {
      (void)listen("::1");  // Not every system has it.
    }
  }
  return {};
}

class ListeningForwarder final : public PortForwarder {
 public:
  ListeningForwarder(Executor executor, Target target, std::vector<ForwardedPort> ports,
                     std::vector<PortListener> listeners, Options options)
      : executor_(std::move(executor)),
        target_(std::move(target)),
        ports_(std::move(ports)),
        listeners_(std::move(listeners)),
        options_(std::move(options)) {}

  const std::vector<ForwardedPort>& ports() const override { return ports_; }

  Result<void> Run(const std::stop_token& stop) override {
    const WakeEvent wake;
    if (!wake.valid()) {
      return Fail(Reason::kUnavailable, "forward ports: no descriptor is left");
    }
    std::stop_source over;
    const std::stop_callback on_stop(stop, [&over, &wake] {
      over.request_stop();
      wake.Signal();
    });
    ConnectionThreads connections(wake);
    // However this ends: nobody else ends the connections, which are waited for.
    const StopAtEnd stop_at_end{over};
    try {
      return AcceptUntil(stop, over.get_token(), wake, connections);
    } catch (...) {  // of the system, which has no memory left
      return Fail(Reason::kUnavailable, "forward ports: " + base::ThrownText());
    }
  }

 private:
  struct StopAtEnd {
    std::stop_source& stop;
    ~StopAtEnd() { stop.request_stop(); }
  };

  Result<void> AcceptUntil(const std::stop_token& stop, const std::stop_token& over,
                           const WakeEvent& wake, ConnectionThreads& connections) {
    bool lacks_descriptors = false;
    bool was_full = false;
    std::vector<pollfd> waits;  // Grows no more once it has its size.
    while (!stop.stop_requested()) {
      const bool full = connections.size() >= options_.max_connections;
      if (full && !was_full) {
        LogWaiting(0);
      }
      was_full = full;
      waits.assign(1, {wake.fd(), POLLIN, 0});
      for (const PortListener& each : listeners_) {
        waits.push_back({full || lacks_descriptors ? -1 : each.listener.fd(), POLLIN, 0});
      }
      const int patience = lacks_descriptors ? kPauseWithoutDescriptors : -1;
      if (::poll(waits.data(), waits.size(), patience) < 0 && errno != EINTR) {
        return Fail(Reason::kUnavailable, "wait for connections: " + ErrorText(errno));
      }
      wake.Clear();
      connections.Reap();
      // After a pause every listener is asked, as none was waited for.
      const bool ask_all = std::exchange(lacks_descriptors, false);
      for (std::size_t i = 0; i < listeners_.size(); ++i) {
        if ((ask_all || waits[i + 1].revents != 0) &&
            connections.size() < options_.max_connections) {
          KX_ASSIGN_OR_RETURN(const bool accepted, Accept(i, ask_all, connections, over));
          lacks_descriptors = lacks_descriptors || !accepted;
        }
      }
    }
    return {};
  }

  /// Accepts the connection that waits, if there is one. False when there is no descriptor left for
  /// it, which is logged unless `logged`.
  Result<bool> Accept(std::size_t index, bool logged, ConnectionThreads& connections,
                      const std::stop_token& over) {
    TcpListener::Accepted accepted = listeners_[index].listener.Accept();
    const ForwardedPort& port = ports_[listeners_[index].port];
    if (accepted.socket.get() >= 0) {
      try {
        connections.Add([this, &port, over, socket = std::move(accepted.socket)]() mutable {
          CarryUntil(over, port, std::move(socket));
        });
      } catch (...) {
        TellThrown(port);
      }
      return true;
    }
    const int error = accepted.error;
    if (error == EBADF || error == EINVAL || error == ENOTSOCK) {
      return Fail(Reason::kUnavailable, "accept a connection: " + ErrorText(error));
    }
    const bool lacks = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
    if (lacks && !logged) {
      LogWaiting(error);
    }
    return !lacks;  // Other errors are those of a connection that is gone: see accept(2).
  }

  /// Carries a connection to its end, on its thread.
  void CarryUntil(const std::stop_token& over, const ForwardedPort& port, FileDescriptor socket) {
    try {
      Carry(port, std::move(socket), over);
    } catch (...) {
      TellThrown(port);
    }
  }

  void Carry(const ForwardedPort& port, FileDescriptor socket, const std::stop_token& stop) {
    // Resets the client's connection unless it comes to its finish.
    LocalConnection local(std::move(socket), options_.half_closed_timeout, stop);
    Result<void> done = Fail(Reason::kUnavailable, "no descriptor is left");
    try {
      if (local.valid()) {
        done = executor_.Forward(
            target_, port.remote,
            [&local](std::span<char> buffer, const std::stop_token& ended) {
              return local.Read(buffer, ended);
            },
            [&local](std::string_view bytes) { return local.Write(bytes); }, stop);
      }
    } catch (...) {  // Of the system, which has no memory left.
      done = Fail(Reason::kUnavailable, base::ThrownText());
    }
    if (done) {
      local.Finish();
    } else if (!stop.stop_requested() && !local.has_ended()) {
      Tell(port, done.error());
    } else if (local.gave_up()) {
      Log("A forwarded connection was given up", port, done.error().ToString());
    }
  }

  void Tell(const ForwardedPort& port, const Status& error) {
    if (options_.on_error) {
      try {
        options_.on_error(port, error);
      } catch (...) {
        Log("An on_error of forwarded ports threw", port, base::ThrownText());
      }
    } else {
      Log("A forwarded connection failed", port, error.ToString());
    }
  }

  /// Tells of what is being thrown because threads or memory are scarce.
  void TellThrown(const ForwardedPort& port) {
    try {
      Tell(port,
           Status(Reason::kUnavailable, "the system gives too little: " + base::ThrownText()));
    } catch (...) {  // There is not even enough to tell it with. The client is reset.
      return;
    }
  }

  /// Says that connections are not accepted, and why: the error of accept(2), or 0 when there are
  /// as many as may be.
  void LogWaiting(int error) {
    try {
      if (const auto left_out = waiting_lines_.Admit()) {
        logging::Warning("Connections to forwarded ports have to wait",
                         {{"namespace", target_.namespace_},
                          {"pod", target_.pod},
                          {"reason", error != 0 ? ErrorText(error) : "max_connections is reached"},
                          {"max_connections", options_.max_connections},
                          {"left_out", *left_out}});
      }
    } catch (...) {  // There is no memory to say it with.
      return;
    }
  }

  void Log(std::string_view what, const ForwardedPort& port, const std::string& error) {
    if (const auto left_out = lines_.Admit()) {
      logging::Warning(what, {{"namespace", target_.namespace_},
                              {"pod", target_.pod},
                              {"local_port", port.local},
                              {"port", port.remote},
                              {"error", error},
                              {"left_out", *left_out}});
    }
  }

  static std::string ErrorText(int error) { return std::strerror(error); }

  const Executor executor_;
  const Target target_;
  const std::vector<ForwardedPort> ports_;
  const std::vector<PortListener> listeners_;
  const Options options_;
  base::ReportLimit lines_{base::Clock::Real()};
  base::ReportLimit waiting_lines_{base::Clock::Real()};
};

}  // namespace

Result<ForwardedPort> ForwardedPort::Parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool same = colon == std::string_view::npos;
  const std::string_view left = same ? text : text.substr(0, colon);
  const auto remote = ParsePort(same ? text : text.substr(colon + 1));
  const auto local = !same && left.empty() ? std::optional<std::uint16_t>(0) : ParsePort(left);
  if (!local || !remote || *remote == 0) {
    return Fail(Reason::kBadRequest,
                "\"" + std::string(text) +
                    "\" does not name a port to forward: give \"REMOTE\", \"LOCAL:REMOTE\" or "
                    "\":REMOTE\", with a remote port from 1 to 65535");
  }
  return ForwardedPort{.local = *local, .remote = *remote};
}

Result<std::unique_ptr<PortForwarder>> PortForwarder::New(Executor executor, Target target,
                                                          std::vector<ForwardedPort> ports) {
  return New(std::move(executor), std::move(target), std::move(ports), Options{});
}

Result<std::unique_ptr<PortForwarder>> PortForwarder::New(Executor executor, Target target,
                                                          std::vector<ForwardedPort> ports,
                                                          Options options) {
  auto named = rest::CheckPathSegment("namespace", target.namespace_);
  if (named) {
    named = rest::CheckPathSegment("pod", target.pod);
  }
  if (!named) {
    return Fail(std::move(named).error().WithContext("forward ports"));
  }
  if (ports.empty()) {
    return Fail(Reason::kBadRequest, "forward ports: no port is given");
  }
  if (options.max_connections == 0) {
    return Fail(Reason::kBadRequest, "forward ports: max_connections is 0");
  }
  if (options.half_closed_timeout < std::chrono::milliseconds::zero()) {
    return Fail(Reason::kBadRequest, "forward ports: half_closed_timeout is below zero");
  }
  if (options.addresses.empty()) {
    return Fail(Reason::kBadRequest, "forward ports: no address to listen on is given");
  }
  std::vector<PortListener> listeners;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].remote == 0) {
      return Fail(Reason::kBadRequest, "forward ports: a port of the pod is 0");
    }
    if (auto done = ListenOn(options.addresses, i, ports[i], listeners); !done) {
      return Fail(std::move(done).error().WithContext("forward ports"));
    }
  }
  return std::unique_ptr<PortForwarder>(
      std::make_unique<ListeningForwarder>(std::move(executor), std::move(target), std::move(ports),
                                           std::move(listeners), std::move(options)));
}

}  // namespace kubexx::remotecommand
