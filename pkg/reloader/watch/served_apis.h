/// @file
/// Knows which APIs an API server has, for all who wait for definitions of custom resources.
#ifndef KUBEXX_RELOADER_WATCH_SERVED_APIS_H_
#define KUBEXX_RELOADER_WATCH_SERVED_APIS_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Whether a server has the APIs of resources. It asks discovery, which everyone may read: an API
/// that does not exist and may not be listed is answered with Forbidden, not with NotFound. All who
/// ask share the answers: those who ask at the same time wait for one request, and while nothing of
/// a group is served, one list of all groups answers for the resources of all of them. Thread-safe;
/// blocks while the server is asked.
class ServedApis {
 public:
  /// The age of answers for somebody who has to know what is so now. Many may ask at once.
  static constexpr base::Duration kNow = std::chrono::seconds(1);
  /// For somebody who waits until an API is installed, and asks once or twice a minute.
  static constexpr base::Duration kOfLate = std::chrono::seconds(45);

  /// For somebody whose wait lets rollouts go that should be held: policies, which people apply
  /// right after their definitions.
  static constexpr base::Duration kSoon = std::chrono::seconds(4);

  explicit ServedApis(std::shared_ptr<rest::RESTClient> client,
                      base::Clock& clock = base::Clock::Real());
  ServedApis(const ServedApis&) = delete;
  ServedApis& operator=(const ServedApis&) = delete;
  ~ServedApis();

  /// Whether the server has the resource's API, by answers that are not older than `max_age` when
  /// the call begins. A server that is starting may say "no", as may a proxy in front of it. Fails
  /// when the server does not answer, and with kCancelled when `stop` is requested.
  apimachinery::Result<bool> Has(const apimachinery::ResourceInfo& resource, base::Duration max_age,
                                 const std::stop_token& stop);
  /// Whether the server's list of API groups lacks the resource's group and version. A proxy in
  /// front of the server has no such list; the result is false then.
  bool LacksGroup(const apimachinery::ResourceInfo& resource, base::Duration max_age,
                  const std::stop_token& stop);

 private:
  /// What a document of discovery lists: the groups and versions, such as "apps/v1", or the
  /// resources of one of them.
  using Names = std::set<std::string, std::less<>>;
  struct Document {
    std::optional<apimachinery::Result<Names>> answer{};
    base::TimePoint asked_at{};     ///< when the request for `answer` began
    base::TimePoint answered_at{};  ///< when it ended
    bool is_asking = false;         ///< somebody sends a request for it
  };

  apimachinery::Result<Names> Ask(const std::string& path, base::Duration max_age,
                                  const std::stop_token& stop);
  apimachinery::Result<Names> Fetch(const std::string& path, const std::stop_token& stop) const;
  /// Whether the last answer about the document was that there is none.
  bool WasMissing(const std::string& path) const;

  const std::shared_ptr<rest::RESTClient> client_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  base::CondVar answered_;
  /// By path. As many as there are groups with resources that the operator knows.
  std::map<std::string, Document> documents_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SERVED_APIS_H_
