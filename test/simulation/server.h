/// @file
/// The API server of a simulation.
#ifndef KUBEXX_TEST_SIMULATION_SERVER_H_
#define KUBEXX_TEST_SIMULATION_SERVER_H_

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "wire_call.h"

namespace kubexx::simulation {

/// kubexx-apiserver's Api with the threads that its process has around it, but for the sockets:
/// requests come from the virtual network. The threads are of whoever constructs it. Thread-safe.
class Server {
 public:
  /// Told of each request that is worked on, on the thread that does. Either may be empty.
  struct Observer {
    std::function<void(WireCall& call)> begin{};
    std::function<void(const WireCall& call, int status)> end{};
  };

  /// `storage` must outlive it. Blocks until it can serve. `tick`: how often it looks whether
  /// watches have lasted long enough, and the like; the program does so each second.
  Server(apiserver::storage::Storage& storage, apiserver::ApiOptions options, Observer observer,
         base::Duration tick = std::chrono::seconds(1));
  ~Server() { Kill(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Takes a request whose connection is there. Refused once it is being killed.
  void Take(std::shared_ptr<WireCall> call);
  /// Looks so often from the next look on, and so often whether there is anything to clear away.
  void SetTick(base::Duration tick, base::Duration reaping) {
    tick_ = tick;
    reaping_ = reaping;
  }
  /// Somebody has closed the connection of this call.
  void Look(const WireCall& call);
  /// Connections have been closed.
  void LookAtAll();
  /// As if the process was killed: connections end, what is worked on has no answer, and requests
  /// are refused. Blocks until nothing of it runs; may be called again.
  void Kill();

 private:
  /// An answer without an end. All but `is_due` is the pump's.
  struct Streaming {
    std::shared_ptr<WireCall> call{};
    std::shared_ptr<http::BodyStream> stream{};
    bool has_begun = false;
    bool is_due = true;  ///< the pump has to look at it; guarded by the server's mu_
  };
  enum class Pumped : std::uint8_t { kWaits, kIsFull, kHasEnded };

  static constexpr std::size_t kFewOpen = 64;

  void Work(const std::stop_token& stop);
  std::shared_ptr<WireCall> Next(const std::stop_token& stop);
  void Answer(const std::shared_ptr<WireCall>& call, http::Response response);
  void Pump(const std::stop_token& stop);
  /// Those that are due, after the wait for one; empty when told to stop.
  std::vector<std::shared_ptr<Streaming>> AwaitDue(const std::stop_token& stop);
  Pumped PumpOne(const std::shared_ptr<Streaming>& one);
  void Tell(Streaming& one);
  void Tick(const std::stop_token& stop);

  const Observer observer_;
  std::atomic<base::Duration> tick_;
  std::atomic<base::Duration> reaping_;
  std::unique_ptr<apiserver::Api> api_;
  base::Mutex mu_;
  base::CondVar changed_;
  base::CondVar streams_changed_;
  bool down_ KX_GUARDED_BY(mu_) = false;
  std::deque<std::shared_ptr<WireCall>> calls_ KX_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Streaming>> streams_ KX_GUARDED_BY(mu_);
  bool look_ KX_GUARDED_BY(mu_) = false;  ///< one of them is due
  std::vector<std::shared_ptr<WireCall>> open_ KX_GUARDED_BY(mu_);
  std::size_t most_open_ KX_GUARDED_BY(mu_) = kFewOpen;  ///< with more it looks which have ended
  std::vector<std::jthread> threads_{};
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_SERVER_H_
