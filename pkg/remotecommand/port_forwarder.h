/// @file
/// PortForwarder: ports of this machine that lead to ports of a pod.
#ifndef KUBEXX_REMOTECOMMAND_PORT_FORWARDER_H_
#define KUBEXX_REMOTECOMMAND_PORT_FORWARDER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/remotecommand/executor.h"

namespace kubexx::remotecommand {

/// A port of this machine and the port of the pod that it leads to.
struct ForwardedPort {
  std::uint16_t local = 0;   ///< 0: any that is free
  std::uint16_t remote = 0;  ///< never 0

  /// Parses "8080" (the same port on both sides), "8080:80" (local, then remote), ":80" or "0:80"
  /// (any local port). kBadRequest for anything else. As the ports of client-go tools/portforward.
  static apimachinery::Result<ForwardedPort> Parse(std::string_view text);

  bool operator==(const ForwardedPort&) const = default;
};

/// Listens on ports of this machine, and carries each connection that is made to them to a port of
/// a pod, on the pod's loopback interface. For programs and tests that speak to a pod with a client
/// of their own, from outside of the cluster.
///
///     using remotecommand::ForwardedPort;
///     using remotecommand::PortForwarder;
///     KX_ASSIGN_OR_RETURN(const ForwardedPort port, ForwardedPort::Parse(":80"));
///     KX_ASSIGN_OR_RETURN(const auto forwarder,
///                         PortForwarder::New(remotecommand::Executor(client),
///                                            {.namespace_ = "default", .pod = "web-0"}, {port}));
///     std::jthread runner([&](const std::stop_token& stop) { (void)forwarder->Run(stop); });
///     Fetch("http://127.0.0.1:" + std::to_string(forwarder->ports().front().local));
///
/// Each connection has a WebSocket to the API server, and three threads, of its own: an event on
/// one connection does not affect the others. When the pod ends a connection, the client gets all
/// that the pod has sent, and then the end. When the connection fails instead, because the server
/// refuses, nobody listens on the pod's port, or the way to it breaks, the client's connection is
/// reset, so that it does not take a part of an answer for the whole, and `on_error` gets the
/// reason.
///
/// A client that ends its own side first (a half-closed connection) still gets what the pod sends.
/// The pod is not told of that end before the connection is over, as Executor::Forward says.
///
/// Semantics: client-go tools/portforward, with these differences. It listens before Run, so there
/// is no channel that tells when it is ready. All ports must be free, not only one, and those of
/// localhost at 127.0.0.1. There is no
/// first connection to the pod that could be refused or lost: a pod that is not there, or goes, is
/// an error of each connection, and one that comes back under its name is reached again.
class PortForwarder {
 public:
  /// Settings of a PortForwarder.
  struct Options {
    /// The addresses of this machine to listen on, in numbers. "localhost" stands for 127.0.0.1,
    /// and for ::1 where the system has it and the port is free there. Whoever can reach them can
    /// reach the pod with the rights of this program. At least one.
    std::vector<std::string> addresses = {"localhost"};
    /// How many connections are carried at a time. Further ones wait, accepted by the system but
    /// not by this program, until one of them has ended; the log says that the bound is reached. A
    /// client whose machine is gone keeps its place for some minutes. At least 1.
    std::size_t max_connections = 128;
    /// How long a connection stays open after its client has ended its own side and while the pod
    /// sends nothing. Then the forwarder closes it, with a line in the log. A client that no longer
    /// exists looks the same as one that has ended its side. The forwarder waits without a limit
    /// for a client to take bytes that the pod has sent.
    std::chrono::milliseconds half_closed_timeout = std::chrono::minutes(1);
    /// Called with the reason when a connection has failed on its way to the pod, or cannot be
    /// carried because the system has no thread, memory or descriptor left for it. Not called when
    /// the client itself ended the connection, nor at a stop. It runs on the connection's thread,
    /// for several connections at a time, or on the thread of Run when the connection has got no
    /// thread; so it must not wait for a stop of Run. An exception is logged. When the function is
    /// not set, the reason is logged as a warning.
    std::function<void(const ForwardedPort& port, const apimachinery::Status& error)> on_error{};
  };

  /// Begins to listen on all `ports`. Connections wait until Run. Ignores `target.container`.
  /// Returns kBadRequest when an argument cannot be used, such as a name of a pod that no pod can
  /// have, and kUnavailable when a local port cannot be listened on. A local port that the system
  /// chooses is the same on all addresses.
  static apimachinery::Result<std::unique_ptr<PortForwarder>> New(Executor executor, Target target,
                                                                  std::vector<ForwardedPort> ports,
                                                                  Options options);
  /// The same with the default options.
  static apimachinery::Result<std::unique_ptr<PortForwarder>> New(Executor executor, Target target,
                                                                  std::vector<ForwardedPort> ports);

  /// Stops to listen. Run must have returned.
  virtual ~PortForwarder() = default;
  PortForwarder(const PortForwarder&) = delete;
  PortForwarder& operator=(const PortForwarder&) = delete;

  /// The ports in the order in which they were given, with the local ones that were chosen.
  /// Thread-safe.
  virtual const std::vector<ForwardedPort>& ports() const = 0;

  /// Carries connections until `stop` is requested; all that are open are then reset and their
  /// threads joined. Blocks. Returns an error only when it cannot wait for connections any more:
  /// where threads, descriptors or memory are scarce, it goes on with what it gets. One call at a
  /// time; it may be called again after a stop.
  virtual apimachinery::Result<void> Run(const std::stop_token& stop) = 0;

 protected:
  PortForwarder() = default;
};

}  // namespace kubexx::remotecommand

#endif  // KUBEXX_REMOTECOMMAND_PORT_FORWARDER_H_
