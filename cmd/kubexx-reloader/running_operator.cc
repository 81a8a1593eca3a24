#include "running_operator.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "connection.h"
#include "judge.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/api/coordination/v1/schema.gen.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/ha/leadership.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/described_kind.h"
#include "kubexx/reloader/kinds/source_kind.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/notify/webhook_record.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "named_object.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Result;

/// For the kinds of operators, which are asked for when a person waits.
constexpr std::chrono::seconds kLearnPatience{10};

/// What is left of an operator that is gone does not count; one that cannot be looked at does.
bool IsGone(const std::shared_ptr<rest::RESTClient>& client,
            const apimachinery::ObjectKey& deployment, const std::stop_token& stop) {
  if (deployment.name.empty()) {
    return false;
  }
  const kubernetes::ResourceClient<api::apps::v1::Deployment> deployments(client,
                                                                          deployment.namespace_);
  const auto found = deployments.Get(deployment.name, stop);
  return !found && apimachinery::IsObjectNotFound(found.error());
}

/// Deletes an object, unless it is only to be told of; success as well when there is none.
template <class T>
Result<void> DeleteIfThere(const kubernetes::ResourceClient<T>& client, const std::string& name,
                           bool dry_run, const std::stop_token& stop) {
  const auto done = dry_run ? Result<void>() : client.Delete(name, {}, stop);
  return done || apimachinery::IsObjectNotFound(done.error()) ? Result<void>() : done;
}

/// The kinds that the operator has been told of; none when they are of another version.
std::vector<reloader::CustomKind> KindsIn(const reloader::ToldOperator& told) {
  constexpr std::string_view kFlag = "--workload-kinds=";
  for (const std::string& argument : told.arguments) {
    if (argument.starts_with(kFlag)) {
      return reloader::ParseCustomKinds(std::string_view(argument).substr(kFlag.size()),
                                        reloader::OwnResources())
          .value_or(std::vector<reloader::CustomKind>());
    }
  }
  return {};
}

/// The kinds of sources that the operator has been told of; none when they are of another version.
std::vector<reloader::SourceKind> SourceKindsIn(const reloader::ToldOperator& told) {
  constexpr std::string_view kFlag = "--source-kinds=";
  for (const std::string& argument : told.arguments) {
    if (argument.starts_with(kFlag)) {
      return reloader::ParseSourceKinds(std::string_view(argument).substr(kFlag.size()),
                                        reloader::OwnResources())
          .value_or(std::vector<reloader::SourceKind>());
    }
  }
  return {};
}

/// Whether the operator, by its own flags, rolls nothing in the namespace. What cannot be found out
/// does not count.
bool LeavesOut(const reloader::ToldOperator& told, const Connection& connection,
               const std::stop_token& stop) {
  const auto config = ConfigWith(told.arguments, {});
  if (!config) {
    return false;
  }
  const auto not_watched = reloader::WhyNotWatched(
      reloader::WorkloadKind::kDeployment, connection.namespace_, *config,
      [&] { return LabelsOf(connection.client, connection.namespace_, stop); });
  return not_watched && !not_watched->empty();
}

/// The kinds of the operators that watch the connection's namespace which `word` may mean.
std::vector<reloader::DescribedKind> KindsCalled(
    const std::string& word, const std::vector<reloader::ToldOperator>& operators,
    const Connection& connection, const std::stop_token& stop) {
  std::vector<reloader::DescribedKind> found;
  for (const reloader::ToldOperator& each : operators) {
    for (reloader::CustomKind& kind : KindsIn(each)) {
      if (IsCalled(kind.Resource(), word) && !LeavesOut(each, connection, stop)) {
        found.push_back({std::move(kind), NameOf(each)});
      }
    }
  }
  return found;
}

/// "certificates.v1.cert-manager.io".
std::string ShownSourceKind(const reloader::SourceKind& kind) {
  return kind.resource + "." + kind.version + "." + kind.group;
}

/// Learns the kind of sources that `word` may mean, as LearnKindOf does. Returns whether one of
/// these operators describes one; they need not agree on the fields that count.
Result<bool> LearnSourceKind(const std::string& word,
                             const std::vector<reloader::ToldOperator>& operators,
                             const Connection& connection, const std::stop_token& stop) {
  std::optional<std::pair<reloader::SourceKind, std::string>> learnt;
  for (const reloader::ToldOperator& each : operators) {
    for (reloader::SourceKind& kind : SourceKindsIn(each)) {
      if (!IsCalled(kind.Resource(), word) || LeavesOut(each, connection, stop)) {
        continue;
      }
      if (learnt && (ShownSourceKind(learnt->first) != ShownSourceKind(kind) ||
                     learnt->first.kind != kind.kind)) {
        return Fail(apimachinery::Reason::kConflict,
                    "two operators describe " + word + " differently: for " + learnt->second +
                        " it is " + ShownSourceKind(learnt->first) + ", for " + NameOf(each) + " " +
                        ShownSourceKind(kind) +
                        "; name the namespace of yours with --operator-namespace");
      }
      learnt = {std::move(kind), NameOf(each)};
    }
  }
  if (learnt) {
    std::cerr << "kubexx-reloader: " << word << " is " << ShownSourceKind(learnt->first) << ", as "
              << learnt->second << " describes it\n";
    reloader::AddSourceKinds({learnt->first}, reloader::Precedence::kKnown);
  }
  return learnt.has_value();
}

std::map<std::string, std::vector<reloader::DescribedKind>> DescribedBy(
    const std::vector<reloader::ToldOperator>& operators) {
  std::map<std::string, std::vector<reloader::DescribedKind>> by_name;
  for (const reloader::ToldOperator& each : operators) {
    for (reloader::CustomKind& kind : KindsIn(each)) {
      const std::string name = kind.kind;
      by_name[name].push_back({std::move(kind), NameOf(each)});
    }
  }
  return by_name;
}

}  // namespace

Result<FoundOperators> FindOperators(const std::shared_ptr<rest::RESTClient>& client,
                                     const std::string& namespace_, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::ConfigMap> config_maps(client, namespace_);
  apimachinery::ListOptions options;
  options.label_selector = reloader::kMetaInfoSelector;
  KX_ASSIGN_OR_RETURN(const auto list, config_maps.List(options, stop));
  FoundOperators operators;
  for (const api::core::v1::ConfigMap& each : list.items) {
    auto told = each.metadata.name == reloader::kMetaInfoName
                    ? reloader::ToldBy(each)
                    : std::optional<reloader::ToldOperator>();
    if (told && IsGone(client, told->deployment, stop)) {
      operators.gone.push_back(*std::move(told));
    } else if (told) {
      operators.running.push_back(*std::move(told));
    }
  }
  return operators;
}

std::string NameOf(const reloader::ToldOperator& told) {
  return told.deployment.name.empty() ? "the operator in namespace " + told.deployment.namespace_
                                      : "the operator " + told.deployment.ToString();
}

std::vector<std::string> AddKindsOf(const FoundOperators& operators) {
  std::map<std::string, std::vector<reloader::DescribedKind>> by_name =
      DescribedBy(operators.running);
  by_name.merge(DescribedBy(operators.gone));  // those count only where no running one has the kind
  // Only the names of kinds of sources matter where all are learnt.
  for (const auto* each : {&operators.running, &operators.gone}) {
    for (const reloader::ToldOperator& told : *each) {
      reloader::AddSourceKinds(SourceKindsIn(told), reloader::Precedence::kKnown);
    }
  }
  std::vector<std::string> left_out;
  for (const auto& [name, described] : by_name) {
    const auto& known = reloader::CustomKinds();
    const auto used = std::ranges::find(known, name, &reloader::CustomKind::kind);
    if (used != known.end()) {
      for (const reloader::DescribedKind& each : described) {
        if (each.kind != *used) {
          std::cerr << "kubexx-reloader: " << each.by << " describes " << name
                    << " otherwise than is used here\n";
        }
      }
    } else if (const auto agreed = reloader::AgreedKind(described)) {
      reloader::AddCustomKinds({agreed->kind}, reloader::Precedence::kKnown);
    } else {
      left_out.push_back(agreed.error().message);
    }
  }
  return left_out;
}

Result<void> LearnKindOf(const AskedKind& asked) {
  if (asked.arguments.empty()) {
    return {};
  }
  const std::string word = asked.arguments.front().substr(0, asked.arguments.front().find('/'));
  if (ResourceNamed(word) != nullptr) {
    return {};
  }
  const base::StopTimer deadline(base::Clock::Real(), {}, kLearnPatience);
  const auto connection = Connect(asked.kubeconfig, asked.namespace_, "kinds", deadline.token());
  if (!connection) {
    return {};
  }
  const auto operators =
      FindOperators(connection->client, asked.operator_namespace, deadline.token());
  if (!operators) {
    return {};
  }
  for (const auto* each : {&operators->running, &operators->gone}) {
    const std::vector<reloader::DescribedKind> described =
        KindsCalled(word, *each, *connection, deadline.token());
    if (described.empty()) {
      KX_ASSIGN_OR_RETURN(const bool is_source,
                          LearnSourceKind(word, *each, *connection, deadline.token()));
      if (is_source) {
        return {};
      }
      continue;
    }
    const auto agreed = reloader::AgreedKind(described);
    if (!agreed) {
      return Fail(
          agreed.error().reason,
          agreed.error().message + "; name the namespace of yours with --operator-namespace");
    }
    std::cerr << "kubexx-reloader: " << word << " is " << reloader::Described(agreed->kind)
              << ", as " << agreed->by << " describes it\n";
    reloader::AddCustomKinds({agreed->kind}, reloader::Precedence::kKnown);
    return {};
  }
  return {};
}

Result<void> CleanUpOwn(const std::shared_ptr<rest::RESTClient>& client,
                        const std::string& namespace_, bool dry_run,
                        base::FunctionRef<void(const std::string& object)> tell,
                        const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::ConfigMap> config_maps(client, namespace_);
  for (const std::string& name :
       {std::string(reloader::kMetaInfoName), std::string(reloader::kWebhookRecordName)}) {
    const auto found = config_maps.Get(name, stop);
    if (!found && apimachinery::IsObjectNotFound(found.error())) {
      continue;
    }
    KX_RETURN_IF_ERROR(found);
    KX_RETURN_IF_ERROR(DeleteIfThere(config_maps, name, dry_run, stop));
    tell("ConfigMap " + namespace_ + "/" + name);
  }
  const kubernetes::ResourceClient<api::coordination::v1::Lease> leases(client, namespace_);
  KX_ASSIGN_OR_RETURN(const auto list, leases.List({}, stop));
  for (const api::coordination::v1::Lease& lease : list.items) {
    if (lease.metadata.name.starts_with(reloader::kLeaseName)) {
      KX_RETURN_IF_ERROR(DeleteIfThere(leases, lease.metadata.name, dry_run, stop));
      tell("Lease " + namespace_ + "/" + lease.metadata.name);
    }
  }
  return {};
}

Result<void> CheckReachable(const std::shared_ptr<rest::RESTClient>& client,
                            const std::stop_token& stop) {
  const auto answered = client->Get().AbsPath("/version").MaxRetries(0).Do(stop);
  return answered || answered.error().code != 0
             ? Result<void>()
             : Fail(answered.error().WithContext("the cluster cannot be reached"));
}

Result<apimachinery::LabelMap> LabelsOf(const std::shared_ptr<rest::RESTClient>& client,
                                        const std::string& name, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::Namespace> namespaces(client, "");
  KX_ASSIGN_OR_RETURN(const api::core::v1::Namespace found, namespaces.Get(name, stop));
  return apimachinery::LabelMap(found.metadata.labels.begin(), found.metadata.labels.end());
}

}  // namespace kubexx
