/// @file
/// One handler of an informer: its bounded queue and its thread.
#ifndef KUBEXX_CACHE_LISTENER_H_
#define KUBEXX_CACHE_LISTENER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Delivers events to one handler, in order, on a thread of its own. Push waits while `max_events`
/// wait, so that a slow handler holds its informer back instead of growing memory. What a stopped
/// listener had not delivered yet it delivers after the next StartThread. Thread-safe, except that
/// StartThread and StopThread come from one thread at a time.
class Listener {
 public:
  using Handler = std::function<void(const RawEvent&)>;

  /// Settings of a Listener.
  struct Options {
    std::string informer{};
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    std::size_t max_events = 1024;
  };

  Listener(Options options, std::shared_ptr<const PackedStore> store, Handler handler);
  ~Listener();

  void StartThread();
  /// Waits for a running call of the handler; keeps what is queued.
  void StopThread();

  /// Waits for room while the listener is bounded.
  void Push(std::shared_ptr<const RawEvent> event);
  /// Queues adds of all these objects, as one item; never waits.
  void PushSnapshot(std::vector<EntryRef> entries);
  /// Queues the end of the initial list: when it is reached, synced() is true. Never waits.
  void PushSynced();

  /// Unbounded, Push never waits: for the informer's last deltas while it stops.
  void SetBounded(bool bounded);
  /// Ends it for good: drops what is queued and joins the thread.
  void Close();

  bool synced() const;
  bool closed() const;
  const std::string& name() const { return options_.name; }

 private:
  struct Snapshot {
    std::vector<EntryRef> entries;
    std::size_t next = 0;
  };
  struct Synced {};
  using Item = std::variant<std::shared_ptr<const RawEvent>, Snapshot, Synced>;

  void Run(const std::stop_token& stop);
  /// The next event to deliver; nothing when stopped.
  std::shared_ptr<const RawEvent> Next(const std::stop_token& stop);
  std::shared_ptr<const RawEvent> TakeLocked() KX_REQUIRES(mu_);
  void Deliver(const RawEvent& event);

  Options options_;
  std::shared_ptr<const PackedStore> store_;
  Handler handler_;
  metrics::Gauge queued_{};
  metrics::Counter held_back_seconds_{};
  metrics::Counter errors_{};

  mutable base::Mutex mu_;
  base::CondVar not_full_;
  base::CondVar not_empty_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  bool bounded_ KX_GUARDED_BY(mu_) = true;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  /// Held while the thread is started, stopped and joined; before mu_.
  base::Mutex thread_mu_;
  std::optional<std::jthread> thread_ KX_GUARDED_BY(thread_mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_LISTENER_H_
