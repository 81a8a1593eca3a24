/// @file
/// Recorder: a FakeServer that answers requests and records them.
#ifndef KUBEXX_REST_TESTING_RECORDER_H_
#define KUBEXX_REST_TESTING_RECORDER_H_

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::testing {

/// Answers every request with `answer`, which runs on the connection's thread. Thread-safe.
class Recorder {
 public:
  using Answer = std::function<void(FakeConnection&, const FakeRequest&)>;

  explicit Recorder(Answer answer)
      : server_([this, answer = std::move(answer)](FakeConnection& connection) {
          while (const auto request = connection.ReadRequest()) {
            {
              const base::MutexLock lock(mu_);
              requests_.push_back(*request);
            }
            answer(connection, *request);
          }
        }),
        client_(NewClient(server_.Url())) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() = default;

  const std::shared_ptr<RESTClient>& client() const { return client_; }
  std::string url() const { return server_.Url(); }

  /// The newest request; there must be one.
  FakeRequest last() const {
    const base::MutexLock lock(mu_);
    return requests_.back();
  }
  /// The targets of all requests, in their order.
  std::vector<std::string> targets() const {
    const base::MutexLock lock(mu_);
    std::vector<std::string> out;
    std::ranges::transform(requests_, std::back_inserter(out), &FakeRequest::target);
    return out;
  }

 private:
  mutable base::Mutex mu_;
  std::vector<FakeRequest> requests_ KX_GUARDED_BY(mu_);
  FakeServer server_;
  std::shared_ptr<RESTClient> client_;
};

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_RECORDER_H_
