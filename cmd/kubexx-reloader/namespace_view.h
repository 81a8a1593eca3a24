// The state of one namespace, or of all, as the operator sees it.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_NAMESPACE_VIEW_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_NAMESPACE_VIEW_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "foreign_view.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloader/observe/preview.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

/// Lists and watches what an operator does, and answers questions about it. Writes nothing.
/// Thread-safe once it has been started.
class NamespaceView {
 public:
  /// `name`: the namespace; empty: all of them. `config` must outlive this object.
  NamespaceView(const std::shared_ptr<rest::RESTClient>& client, const reloader::Config& config,
                const std::string& name);

  /// Begins to list and to watch. Add handlers to the informers of `caches` before.
  void Start();
  /// Starts, and waits until everything has been listed. Fails when that may not be listed.
  apimachinery::Result<void> Load(const std::stop_token& stop);
  apimachinery::Result<reloader::Explanation> Explain(const reloader::WorkloadId& id,
                                                      const std::stop_token& stop);
  /// Explains a workload of the caches by what `arbiter` knows, without what the operator reports
  /// of it. `users`: the workloads that may use a source; empty: those in the caches. `wave_lines`:
  /// see ExplainInput.
  apimachinery::Result<reloader::Explanation> Explain(
      const reloader::Workload& workload, const reloadpolicy::Arbiter& arbiter,
      const std::stop_token& stop,
      std::function<std::vector<reloader::Workload>(const reloader::SourceId&)> users = {},
      reloader::WaveLines* wave_lines = nullptr);
  /// Adds to `preview` what these sources of the namespace would roll.
  apimachinery::Result<void> AddPreview(const reloader::ChangedSources& changed,
                                        const std::stop_token& stop, reloader::Preview& preview);

  /// Looks again at sources of other namespaces, which are not watched. Blocks for some seconds at
  /// most.
  ForeignView::News RefreshForeign(const std::stop_token& stop);

  /// The workloads in the caches that may use the source.
  std::vector<reloader::Workload> UsersOf(const reloader::SourceId& source) const;
  const reloader::Caches& caches() const { return caches_; }
  reloader::PolicyEnforcer& enforcer() { return enforcer_; }
  const reloader::PolicyWatch& policies() const { return watch_; }
  /// Whether the API server refuses to list the workloads of this kind, so that there seem to be
  /// none.
  bool MayNotList(reloader::WorkloadKind kind) const;

 private:
  /// Calls `use` with the sources as a workload sees them; `changed` may be null. Fails when one
  /// cannot be read that was asked for.
  apimachinery::Result<void> WithSources(
      const reloader::Workload& workload, const reloader::ChangedSources* changed,
      const std::stop_token& stop, base::FunctionRef<void(const reloader::SourceLookup&)> use);
  /// What is known of sources of other namespaces, where the caches do not have them.
  apimachinery::Result<ForeignView::Named> NamedBy(const reloader::Workload& workload,
                                                   const std::stop_token& stop);
  bool NeedsRollout(const reloader::Workload& workload, const reloader::SourceId& source,
                    const std::stop_token& stop);

  const reloader::Config& config_;
  const std::string name_;
  const std::shared_ptr<reloader::Fallbacks> fallbacks_;
  reloader::PolicyEnforcer enforcer_;
  reloader::PolicyWatch watch_;
  reloader::Caches caches_;
  reloader::PauseQuery query_pause_;
  reloader::ValueDigestReader value_digests_;
  reloader::SourceAbsences absences_;
  /// Null where the view is of all namespaces.
  const std::unique_ptr<ForeignView> foreign_;
};

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_NAMESPACE_VIEW_H_
