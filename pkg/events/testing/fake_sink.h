/// @file
/// FakeSink: a sink in memory, for tests of recorders and of code that records events.
#ifndef KUBEXX_EVENTS_TESTING_FAKE_SINK_H_
#define KUBEXX_EVENTS_TESTING_FAKE_SINK_H_

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/events/event_sink.h"

namespace kubexx::events::testing {

/// Remembers every request, and answers with the event of the request unless the fault of SetFault
/// returns an error. Thread-safe.
template <class E>
class FakeSink final : public EventSink<E> {
 public:
  /// One call of Create or Patch.
  struct Request {
    E event{};
    std::string patch{};  ///< empty for a Create
  };
  /// Called for each request; an error that it returns is the answer. May block until `stop`.
  using Fault = std::function<apimachinery::Result<void>(const Request&, const std::stop_token&)>;

  apimachinery::Result<E> Create(const E& event, std::stop_token stop) override {
    return Answer({.event = event}, stop);
  }
  apimachinery::Result<E> Patch(const E& event, const std::string& patch,
                                std::stop_token stop) override {
    return Answer({.event = event, .patch = patch}, stop);
  }

  void SetFault(Fault fault) {
    const base::MutexLock lock(mu_);
    fault_ = std::move(fault);
  }
  /// Blocks until there have been `n` requests. Returns all requests so far.
  std::vector<Request> Await(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " requests", where);
    while (requests_.size() < n) {
      patience.Wait(changed_, mu_, requests_.size());
    }
    return requests_;
  }
  std::vector<Request> Requests() const { return Await(0); }

 private:
  apimachinery::Result<E> Answer(Request request, const std::stop_token& stop) {
    Fault fault;
    E stored = request.event;
    {
      const base::MutexLock lock(mu_);
      requests_.push_back(request);
      stored.metadata.resource_version = std::to_string(requests_.size());
      fault = fault_;
    }
    changed_.notify_all();
    if (fault) {
      KX_RETURN_IF_ERROR(fault(request, stop));
    }
    return stored;
  }

  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  std::vector<Request> requests_ KX_GUARDED_BY(mu_);
  Fault fault_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::events::testing

#endif  // KUBEXX_EVENTS_TESTING_FAKE_SINK_H_
