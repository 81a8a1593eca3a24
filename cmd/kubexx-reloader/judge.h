// The rules by which a question about workloads is answered: those of the operator that watches
// them.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_JUDGE_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_JUDGE_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/flags/flags.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

/// By which rules the question is answered.
struct Judge {
  reloader::Config config{};
  std::string whose{};  ///< see Explanation::flags
  /// Why the operator rolls nothing in the namespace, whatever policies say.
  std::optional<std::string> unread{};
};

/// What is asked about.
struct Questioned {
  reloader::WorkloadKind kind = reloader::WorkloadKind::kDeployment;
  std::string namespace_{};
  /// Only an operator in this namespace counts; empty: any.
  std::string operator_namespace{};
};

/// The rules of the operator that watches the workloads, or else of the only one; `own`, those of
/// the command line, when none can be found. `given`: the operator's flags on the command line,
/// which replace the operator's own. Blocks.
Judge FindJudge(const std::shared_ptr<rest::RESTClient>& client, const Questioned& question,
                const reloader::Config& own, const flags::FlagSet::GivenFlags& given,
                const reloader::NamespaceLabels& labels, const std::stop_token& stop);

/// The configuration of a command line with the flags of an operator before it that it does not
/// name itself, as ToldOperator has them.
apimachinery::Result<reloader::Config> ConfigWith(const std::vector<std::string>& of_operator,
                                                  const flags::FlagSet::GivenFlags& own);

/// The flags that are the operator's, too.
flags::FlagSet::GivenFlags WithoutOwn(flags::FlagSet::GivenFlags given);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_JUDGE_H_
