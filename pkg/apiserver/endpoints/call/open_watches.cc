#include "kubexx/apiserver/endpoints/call/open_watches.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

struct OpenWatches::Counts {
  base::Mutex mu;
  std::map<std::string, std::size_t> of KX_GUARDED_BY(mu);  // only of users with a watch
};

/// One watch.
class OpenWatches::One {
 public:
  One(std::shared_ptr<Counts> counts, std::string user)
      : counts_(std::move(counts)), user_(std::move(user)) {}
  One(const One&) = delete;
  One& operator=(const One&) = delete;
  ~One() {
    base::MutexLock lock(counts_->mu);
    const auto found = counts_->of.find(user_);
    if (--found->second == 0) {
      counts_->of.erase(found);
    }
  }

 private:
  const std::shared_ptr<Counts> counts_;
  const std::string user_;
};

OpenWatches::OpenWatches(std::size_t most)
    : most_(std::max<std::size_t>(most, 1)), counts_(std::make_shared<Counts>()) {}

Result<std::shared_ptr<const void>> OpenWatches::Begin(const User& user) {
  const bool is_unlimited = std::ranges::find(user.groups, "system:masters") != user.groups.end();
  {
    base::MutexLock lock(counts_->mu);
    std::size_t& count = counts_->of[user.name];
    if (count >= most_ && !is_unlimited) {
      apimachinery::Status status(Reason::kTooManyRequests,
                                  "the user \"" + user.name + "\" has " + std::to_string(count) +
                                      " watches open, as many as one user may have; end some of "
                                      "them, or use several users",
                                  429);
      status.details.retry_after = std::chrono::seconds(1);
      return Fail(std::move(status));
    }
    ++count;
  }
  return std::shared_ptr<const void>(std::make_shared<const One>(counts_, user.name));
}

}  // namespace kubexx::apiserver
