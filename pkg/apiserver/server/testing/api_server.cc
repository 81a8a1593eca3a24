#include "kubexx/apiserver/server/testing/api_server.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/response/error_response.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"

namespace kubexx::testing {
namespace {

/// A test cannot continue without its server.
void Check(const apimachinery::Result<void>& result) {
  if (!result) {
    std::cerr << "kubexx::testing::ApiServer: " << result.error().ToString() << "\n";
    std::abort();
  }
}

/// A watch that the test can end.
class BreakableStream final : public http::BodyStream {
 public:
  BreakableStream(std::shared_ptr<http::BodyStream> inner, RequestMatch request)
      : inner_(std::move(inner)), request_(std::move(request)) {}

  void Start(std::function<void()> wake) override {
    {
      const base::MutexLock lock(mu_);
      wake_ = wake;
    }
    inner_->Start(std::move(wake));
  }
  bool Take(std::vector<Chunk>& chunks) override {
    {
      const base::MutexLock lock(mu_);
      if (broken_) {
        return false;
      }
    }
    return inner_->Take(chunks);
  }
  void Closed() override {
    inner_->Closed();
    const base::MutexLock lock(mu_);
    wake_ = nullptr;
    closed_ = true;
  }

  const RequestMatch& request() const { return request_; }
  /// Returns false when it has ended already.
  bool Break() {
    const base::MutexLock lock(mu_);
    if (broken_ || closed_) {
      return false;
    }
    broken_ = true;
    if (wake_) {
      // The lock is held, because Closed waits for it, and after Closed this must not be called.
      wake_();
    }
    return true;
  }

 private:
  const std::shared_ptr<http::BodyStream> inner_;
  const RequestMatch request_;
  base::Mutex mu_;
  std::function<void()> wake_ KX_GUARDED_BY(mu_);
  bool broken_ KX_GUARDED_BY(mu_) = false;
  bool closed_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace

class ApiServer::Faults {
 public:
  http::Response Answer(const http::Request& request, const http::Handler& next) {
    const auto seen = PartsOfRequest(request.method, request.path, request.query);
    if (!seen) {
      return next(request);
    }
    if (seen->verb == "watch") {
      return Watch(request, *seen, next);
    }
    {
      const base::MutexLock lock(mu_);
      ++counts_[*seen];
    }
    const auto status = TakeFault(*seen);
    return status ? apiserver::ErrorResponse(*status) : next(request);
  }

  void Add(RequestMatch which, apimachinery::Status status, int times) {
    const base::MutexLock lock(mu_);
    faults_.push_back({std::move(which), std::move(status), times});
    std::erase_if(faults_, [](const Fault& fault) { return fault.times <= 0; });
  }
  int Left() const {
    const base::MutexLock lock(mu_);
    int left = 0;
    for (const Fault& fault : faults_) {
      left += fault.times;
    }
    return left;
  }
  int Break(const RequestMatch& which) {
    std::vector<std::shared_ptr<BreakableStream>> watches;
    {
      const base::MutexLock lock(mu_);
      for (const auto& weak : watches_) {
        if (auto watch = weak.lock(); watch != nullptr && Matches(which, watch->request())) {
          watches.push_back(std::move(watch));
        }
      }
    }
    return static_cast<int>(
        std::ranges::count_if(watches, [](const auto& watch) { return watch->Break(); }));
  }
  int Count(const RequestMatch& which) const {
    const base::MutexLock lock(mu_);
    int count = 0;
    for (const auto& [seen, times] : counts_) {
      count += Matches(which, seen) ? times : 0;
    }
    return count;
  }

 private:
  struct Fault {
    RequestMatch which{};
    apimachinery::Status status{};
    int times = 0;
  };

  /// Counts a watch in the same step in which Break can end it, so that a test that has waited for
  /// the count may break the watch.
  http::Response Watch(const http::Request& request, const RequestMatch& seen,
                       const http::Handler& next) {
    const auto status = TakeFault(seen);
    http::Response response = status ? apiserver::ErrorResponse(*status) : next(request);
    const base::MutexLock lock(mu_);
    ++counts_[seen];
    if (response.stream != nullptr) {
      auto stream = std::make_shared<BreakableStream>(std::move(response.stream), seen);
      std::erase_if(watches_, [](const auto& watch) { return watch.expired(); });
      watches_.push_back(stream);
      response.stream = std::move(stream);
    }
    return response;
  }

  /// Returns the error with which the request is refused, if it is.
  std::optional<apimachinery::Status> TakeFault(const RequestMatch& request) {
    const base::MutexLock lock(mu_);
    const auto fault = std::ranges::find_if(
        faults_, [&request](const Fault& each) { return Matches(each.which, request); });
    if (fault == faults_.end()) {
      return std::nullopt;
    }
    apimachinery::Status status = fault->status;
    if (--fault->times == 0) {
      faults_.erase(fault);
    }
    return status;
  }

  mutable base::Mutex mu_;
  std::list<Fault> faults_ KX_GUARDED_BY(mu_);
  std::map<RequestMatch, int> counts_ KX_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<BreakableStream>> watches_ KX_GUARDED_BY(mu_);
};

ApiServer::ApiServer(apiserver::ApiServerOptions options) : faults_(std::make_shared<Faults>()) {
  options.around = [faults = faults_, around = std::move(options.around)](
                       const http::Request& request, const http::Handler& next) {
    if (!around) {
      return faults->Answer(request, next);
    }
    return faults->Answer(request,
                          [&](const http::Request& passed) { return around(passed, next); });
  };
  // A server that replaces another one must not have its versions, because a watch would go on from
  // a version that the new server never had.
  static std::atomic<std::int64_t> servers = 0;
  auto storage = apiserver::storage::NewMemoryStorage({.base_revision = 1'000'000 * servers++});
  if (!storage) {
    Check(apimachinery::Fail(storage.error()));
  }
  server_ = std::make_unique<apiserver::ApiServer>(std::move(*storage), std::move(options));
  Check(server_->Start());
}

ApiServer::~ApiServer() = default;

void ApiServer::FailRequests(RequestMatch which, apimachinery::Status status, int times) {
  faults_->Add(std::move(which), std::move(status), times);
}

int ApiServer::FailuresLeft() const { return faults_->Left(); }

int ApiServer::BreakWatches(const RequestMatch& which) { return faults_->Break(which); }

int ApiServer::Count(const RequestMatch& which) const { return faults_->Count(which); }

}  // namespace kubexx::testing
