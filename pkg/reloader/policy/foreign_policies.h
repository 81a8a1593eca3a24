/// @file
/// Tells an enforcer the policies of single further namespaces, which are not watched.
#ifndef KUBEXX_RELOADER_POLICY_FOREIGN_POLICIES_H_
#define KUBEXX_RELOADER_POLICY_FOREIGN_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/observe/aged_reads.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

class PolicyEnforcer;
class ServedApis;

/// Reads ReloadPolicies, for somebody who watches those of one namespace and asks about sources of
/// others. Thread-safe.
class ForeignPolicies {
 public:
  struct Found {
    reloadpolicy::Policy policy{};
    std::string version{};  ///< another one after each change of its spec
  };
  /// The ReloadPolicies of the namespace; none where the API server does not have them. Fails as a
  /// list does.
  using List = std::function<apimachinery::Result<std::vector<Found>>(const std::string& namespace_,
                                                                      const std::stop_token&)>;

  /// `enforcer` must outlive this object.
  ForeignPolicies(PolicyEnforcer& enforcer, List list, base::Clock& clock = base::Clock::Real());

  /// Has the enforcer know the policies of the namespace as they were some seconds ago at most.
  /// Returns whether they may be read. Fails when that cannot be found out now. May block.
  apimachinery::Result<bool> Read(const std::string& namespace_, const std::stop_token& stop);
  /// Reads some of those anew that were read long ago, where `is_needed`. Returns whether something
  /// is otherwise than it was.
  bool Refresh(std::size_t count, base::FunctionRef<bool(const std::string& namespace_)> is_needed,
               const std::stop_token& stop);

 private:
  /// The versions of the policies that there are.
  using Versions = std::map<reloadpolicy::PolicyId, std::string>;
  struct Answer {
    bool may_read = false;
    Versions versions{};
    bool operator==(const Answer&) const = default;
  };

  /// What the enforcer has been told of a namespace, as the answer to the question of this number.
  struct Told {
    Versions versions{};
    std::uint64_t asked = 0;
  };

  apimachinery::Result<Answer> ReadNow(const std::string& namespace_, const std::stop_token& stop);
  /// `asked`: the question's number. An answer to an earlier one than was told of changes nothing.
  void Tell(const std::string& namespace_, std::uint64_t asked, std::vector<Found> policies,
            const Versions& versions);

  PolicyEnforcer& enforcer_;
  const List list_;
  /// Held while the enforcer is told, so that it is told of one answer after the other.
  base::Mutex mu_;
  std::map<std::string, Told> told_ KX_GUARDED_BY(mu_);
  std::uint64_t asked_ KX_GUARDED_BY(mu_) = 0;
  AgedReads<std::string, Answer> reads_;
};

/// Asks the API server.
ForeignPolicies::List NewPolicyList(std::shared_ptr<rest::RESTClient> client,
                                    std::shared_ptr<ServedApis> served);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_FOREIGN_POLICIES_H_
