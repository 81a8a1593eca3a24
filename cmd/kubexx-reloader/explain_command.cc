#include "explain_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/ascii.h"
#include "kubexx/cache/stop_timer.h"
#include "kubexx/flags/flags.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/caches.h"
#include "kubexx/reloader/explain.h"
#include "kubexx/reloader/kubernetes_io.h"
#include "kubexx/reloader/policy_gate.h"
#include "kubexx/reloader/policy_watch.h"
#include "kubexx/reloader/projection.h"
#include "kubexx/reloader/source_keys.h"
#include "kubexx/reloader/watch_scope.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using reloader::WorkloadId;
using reloader::WorkloadKind;

constexpr std::chrono::seconds kPatience{30};

/// What the command line asks for, beside the operator's flags.
struct Question {
  std::string namespace_{};
  std::string output = "text";
  std::vector<std::string> arguments{};
};

/// "Deployment", "deployments", "deploy" and so on.
std::optional<WorkloadKind> KindOf(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"deploy", "deployment"},
      {"ds", "daemonset"},
      {"sts", "statefulset"},
      {"cj", "cronjob"},
      {"dc", "deploymentconfig"}};
  std::string wanted = base::ToLower(text);
  for (const auto& [name, kind] : kShort) {
    wanted = wanted == name ? std::string(kind) : wanted;
  }
  for (const WorkloadKind kind : reloader::kWorkloadKinds) {
    const std::string name = base::ToLower(reloader::KindName(kind));
    if (wanted == name || wanted == name + "s") {
      return kind;
    }
  }
  return std::nullopt;
}

Result<WorkloadId> WorkloadOf(const Question& question) {
  const auto usage = [](const std::string& what) {
    return Fail(Reason::kInvalidConfig, what + "; give KIND/NAME or KIND NAME");
  };
  std::vector<std::string> words = question.arguments;
  if (words.size() == 1) {
    const std::size_t slash = words[0].find('/');
    if (slash == std::string::npos) {
      return usage("\"" + words[0] + "\" names no workload");
    }
    words = {words[0].substr(0, slash), words[0].substr(slash + 1)};
  }
  if (words.size() != 2 || words[1].empty()) {
    return usage("one workload is needed");
  }
  const auto kind = KindOf(words[0]);
  if (!kind) {
    return usage("\"" + words[0] + "\" is no kind of workload");
  }
  return WorkloadId{*kind, {question.namespace_, words[1]}};
}

/// The state of one namespace, as the operator sees it.
class View {
 public:
  View(const std::shared_ptr<rest::RESTClient>& client, const reloader::Config& config,
       const std::string& name)
      : gate_({.flags = config.rollouts}),
        watch_(client, {.namespaces = {name}}),
        caches_(Informers(client, config, name), config.rules),
        value_digests_(reloader::NewValueFetch(client)) {}

  Result<void> Load(const std::stop_token& stop) {
    watch_.Start(gate_);
    caches_.Start();
    if (!caches_.WaitForSync(stop) || !watch_.WaitForSync(stop)) {
      return Fail(Reason::kTimeout,
                  "the workloads, ConfigMaps and Secrets of the namespace cannot be listed and "
                  "watched; is that permitted?");
    }
    caches_.LoadPodReports();
    for (const reloader::InformerSet& set : caches_.informers()) {
      for (const auto& [kind, informer] : set.workloads) {
        informer->ForEachRaw([this, kind = kind](const cache::Object& object) {
          if (const auto workload = reloader::WorkloadFrom(kind, object)) {
            gate_.OnWorkload(workload->id, &*workload, true);
          }
        });
      }
    }
    return {};
  }

  Result<reloader::Explanation> Explain(const WorkloadId& id, const reloader::Config& config,
                                        const std::stop_token& stop) {
    const auto workload = caches_.GetWorkload(id);
    if (!workload) {
      return Fail(Reason::kNotFound, std::string(reloader::KindName(id.kind)) + " " +
                                         id.key.ToString() + " does not exist");
    }
    reloader::KeyedSources sources(caches_, &gate_, &value_digests_, stop);
    const auto get = [&](const reloader::SourceId& source) { return sources.Get(source); };
    const auto names = [&](reloader::SourceType type) {
      return caches_.SourceNames(type, id.key.namespace_);
    };
    const reloadpolicy::Gate gate = gate_.Snapshot();
    reloader::Explanation explanation =
        reloader::Explain({.workload = *workload,
                           .sources = {get, names, &sources},
                           .rules = config.rules,
                           .gate = gate,
                           .now = base::Clock::Real().Wall(),
                           .source_selector = config.source_label_selector});
    if (sources.failure()) {
      return Fail(*sources.failure());
    }
    const std::string kind(reloader::KindName(id.kind));
    AddReported(watch_.namespaced(), kind + "/" + id.key.name, "ReloadPolicy ", explanation);
    AddReported(watch_.of_cluster(), kind + "/" + id.key.ToString(), "ClusterReloadPolicy ",
                explanation);
    return explanation;
  }

 private:
  static std::vector<reloader::InformerSet> Informers(
      const std::shared_ptr<rest::RESTClient>& client, const reloader::Config& config,
      const std::string& name) {
    const reloader::WatchSettings settings{.keys = config.rules.keys,
                                           .source_label_selector = config.source_label_selector,
                                           .ignored_types = config.ignored_types,
                                           .kinds = reloader::WatchedKinds(config)};
    std::vector<reloader::InformerSet> informers;
    informers.push_back(reloader::NewInformers(client, name, settings));
    return informers;
  }

  template <class T>
  static void AddReported(const cache::SharedInformer<T>& informer, const std::string& workload,
                          const std::string& kind, reloader::Explanation& to) {
    for (const apimachinery::ObjectKey& key : informer.Keys()) {
      const auto policy = informer.Get(key);
      if (!policy || !(*policy)->status) {
        continue;
      }
      for (const auto& waiting : (*policy)->status->pending_rollouts) {
        if (waiting.workload == workload) {
          to.reported.push_back(kind + key.ToString() + ": " + waiting.reason + ": " +
                                waiting.message.value_or(""));
        }
      }
    }
  }

  reloader::PolicyGate gate_;
  reloader::PolicyWatch watch_;
  reloader::Caches caches_;
  reloader::ValueDigestReader value_digests_;
};

Result<apimachinery::LabelMap> LabelsOf(const std::shared_ptr<rest::RESTClient>& client,
                                        const std::string& name, const std::stop_token& stop) {
  const kubernetes::ResourceClient<api::core::v1::Namespace> namespaces(client, "");
  KX_ASSIGN_OR_RETURN(const api::core::v1::Namespace found, namespaces.Get(name, stop));
  return apimachinery::LabelMap(found.metadata.labels.begin(), found.metadata.labels.end());
}

Result<void> Answer(Question question, const reloader::Config& config) {
  rest::KubeconfigOptions kubeconfig = config.kubeconfig;
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(kubeconfig));
  if (question.namespace_.empty()) {
    question.namespace_ = connection.namespace_.empty() ? "default" : connection.namespace_;
  }
  KX_ASSIGN_OR_RETURN(const WorkloadId id, WorkloadOf(question));
  connection.user_agent = "kubexx-reloader-explain/" KUBEXX_VERSION;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(connection)));
  const cache::StopTimer deadline(base::Clock::Real(), {}, kPatience);
  reloader::Explanation explanation{.workload = id};
  KX_ASSIGN_OR_RETURN(explanation.not_watched,
                      reloader::WhyNotWatched(id.kind, question.namespace_, config, [&] {
                        return LabelsOf(client, question.namespace_, deadline.token());
                      }));
  if (explanation.not_watched.empty()) {
    View view(client, config, question.namespace_);
    KX_RETURN_IF_ERROR(view.Load(deadline.token()));
    KX_ASSIGN_OR_RETURN(explanation, view.Explain(id, config, deadline.token()));
  }
  std::cout << (question.output == "json" ? reloader::ToJson(explanation)
                                          : reloader::ToText(explanation));
  return {};
}

}  // namespace

int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment) {
  flags::FlagSet flags(
      "kubexx-reloader explain",
      "Tells what would roll a workload, and why or why not: rules, references, what is recorded, "
      "policies, and what a rollout waits for. Reads the cluster with your kubeconfig and writes "
      "nothing. Give it the operator's own flags, so that it answers by the same rules.\n"
      "-n and -o stand for --namespace and --output. Exits with 0 when the workload was explained, "
      "and with 1 when it cannot be.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  Question question;
  flags.AddString("namespace", "of the workload; by default the kubeconfig's",
                  &question.namespace_);
  flags.AddChoice("output", "how to answer", {"text", "json"}, &question.output);
  flags.AllowArguments("KIND/NAME", &question.arguments);
  std::vector<const char*> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    arguments.push_back(argument == "-n" ? "--namespace" : argument == "-o" ? "--output" : argv[i]);
  }
  if (const auto exit_code =
          flags.ParseOrExitCode(static_cast<int>(arguments.size()), arguments.data())) {
    return *exit_code;
  }
  const auto config = config_flags.Build(environment);
  if (!config) {
    std::cerr << "kubexx-reloader explain: " << config.error().message << "\n";
    return 1;
  }
  if (const auto answered = Answer(question, *config); !answered) {
    std::cerr << "kubexx-reloader explain: " << answered.error().message << "\n";
    return 1;
  }
  return 0;
}

}  // namespace kubexx
