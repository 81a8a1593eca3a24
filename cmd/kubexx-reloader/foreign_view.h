// The sources of other namespaces, for somebody who watches one namespace.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_FOREIGN_VIEW_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_FOREIGN_VIEW_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/observe/aged_reads.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/policy/foreign_policies.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

/// Reads sources of other namespaces that workloads name, and the policies that speak of them, as
/// they were some seconds ago at most. Writes nothing. Thread-safe.
class ForeignView {
 public:
  /// What is known of the sources that a workload names.
  struct Named {
    reloader::ChangedSources rolling{};  ///< those that roll it, by their ids for its namespace
    /// Those that could not be read now, each with the error; empty: the person who asks may not
    /// read it.
    std::map<reloader::SourceId, std::string> unread{};
    /// Namespaces of which some source is in `rolling`, and the policies could not be read.
    std::set<std::string> unread_policies{};
  };

  /// `config` and `enforcer`, which gets the policies, must outlive this object.
  ForeignView(const std::shared_ptr<rest::RESTClient>& client, const reloader::Config& config,
              reloader::PolicyEnforcer& enforcer);

  /// Fails only when `stop` was requested. May block.
  apimachinery::Result<Named> NamedBy(const reloader::Workload& workload,
                                      const std::stop_token& stop);

  /// What has become otherwise.
  struct News {
    std::vector<reloader::SourceId> objects{};  ///< by the ids of their own namespaces
    bool has_policies = false;
  };
  /// Reads anew some of what was read long ago, where `is_named` says of an object that workloads
  /// still name it. Blocks for some seconds at most.
  News Refresh(base::FunctionRef<bool(const reloader::SourceId& object)> is_named,
               const std::stop_token& stop);

 private:
  /// What the API server tells of an object.
  struct Answer {
    /// What an informer would keep of it; std::nullopt: it does not exist, or the operator does not
    /// watch it.
    std::optional<reloader::ChangedSource> found{};
    bool may_read = true;
    bool operator==(const Answer& other) const;
  };

  apimachinery::Result<Answer> Read(const reloader::SourceId& object,
                                    const std::stop_token& stop) const;

  const std::shared_ptr<rest::RESTClient> client_;
  const reloader::Config& config_;
  reloader::AgedReads<reloader::SourceId, Answer> sources_;
  reloader::ForeignPolicies policies_;
};

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_FOREIGN_VIEW_H_
