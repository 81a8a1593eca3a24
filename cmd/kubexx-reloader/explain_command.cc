#include "explain_command.h"

#include <algorithm>
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
#include "kubexx/base/stop_timer.h"
#include "kubexx/flags/flags.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "named_object.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using reloader::WorkloadId;
using reloader::WorkloadKind;

constexpr std::chrono::seconds kPatience{30};
constexpr std::string_view kExplain = "explain";

/// The state of one namespace, as the operator sees it.
class View {
 public:
  View(const std::shared_ptr<rest::RESTClient>& client, const reloader::Config& config,
       const std::string& name)
      : enforcer_({.flags = config.rollouts}),
        // Somebody waits. What this person may not read says nothing of the operator.
        watch_(client, {.namespaces = {name}, .patience = base::Duration(0)}),
        caches_(Informers(client, config, name), config.rules),
        query_pause_(reloader::NewPauseQuery(client)),
        value_digests_(reloader::NewValueFetch(client)),
        absences_({.has_selector = !config.source_label_selector.empty(),
                   .exists = reloader::NewSourceQuery(client)}) {}

  Result<void> Load(const std::stop_token& stop) {
    watch_.Start(enforcer_);
    caches_.Start();
    if (!caches_.WaitForSync(stop) || !caches_.HasSynced() || !watch_.WaitForSync(stop)) {
      return Fail(Reason::kTimeout,
                  "the workloads, ConfigMaps and Secrets of the namespace cannot be listed and "
                  "watched; is that permitted?");
    }
    caches_.LoadPodReports();
    caches_.ForEachWorkload([this](const reloader::Workload& workload) {
      enforcer_.OnWorkload(workload.id, &workload);
    });
    return {};
  }

  Result<reloader::Explanation> Explain(const WorkloadId& id, const reloader::Config& config,
                                        const std::stop_token& stop) {
    const auto workload = caches_.GetWorkload(id);
    if (!workload) {
      return Fail(Reason::kNotFound, std::string(reloader::KindName(id.kind)) + " " +
                                         id.key.ToString() + " does not exist");
    }
    reloader::KeyedSources sources(caches_, &enforcer_, &value_digests_, stop, &absences_);
    sources.LookFor(*workload);
    const auto get = [&](const reloader::SourceId& source) { return sources.Get(source); };
    const auto names = [&](reloader::SourceType type) {
      return caches_.SourceNames(type, id.key.namespace_);
    };
    const reloadpolicy::Arbiter arbiter = enforcer_.Snapshot();
    bool paused_by_others = false;
    if (workload->paused && id.kind == WorkloadKind::kDeployment) {
      KX_ASSIGN_OR_RETURN(const reloader::PauseState pause, query_pause_(id, stop));
      paused_by_others = pause.by_others;
    }
    reloader::Explanation explanation = reloader::Explain(
        {.workload = *workload,
         .sources = {get, names, &sources},
         .rules = config.rules,
         .arbiter = arbiter,
         .now = base::Clock::Real().Wall(),
         .source_selector = config.source_label_selector,
         .paused_by_others = paused_by_others,
         .users = [this](const reloader::SourceId& source) { return UsersOf(source); },
         .needs_rollout =
             [&](const reloader::Workload& other, const reloader::SourceId& source) {
               return NeedsRollout(other, source, config, stop);
             }});
    if (const auto& failure = sources.failure() ? sources.failure() : sources.left_out()) {
      return Fail(*failure);
    }
    explanation.unread_policies = watch_.Unread();
    explanation.reported = watch_.Reported(id);
    return explanation;
  }

 private:
  /// Whether the workload must be rolled for the source, by the keys that count for it.
  bool NeedsRollout(const reloader::Workload& workload, const reloader::SourceId& source,
                    const reloader::Config& config, const std::stop_token& stop) {
    reloader::KeyedSources sources(caches_, &enforcer_, &value_digests_, stop, &absences_);
    sources.LookFor(workload);
    const auto get = [&](const reloader::SourceId& id) { return sources.Get(id); };
    const auto names = [&](reloader::SourceType type) {
      return caches_.SourceNames(type, workload.id.key.namespace_);
    };
    reloader::PatternCache patterns;
    return reloader::IsDue(reloader::MakePlan(workload, {get, names, &sources},
                                              reloader::Knowledge{}, config.rules, patterns),
                           source);
  }

  std::vector<reloader::Workload> UsersOf(const reloader::SourceId& source) const {
    const reloader::Caches::Concerned concerned = caches_.WorkloadsOf(source);
    std::vector<reloader::Workload> users;
    for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
      for (const WorkloadId& id : *ids) {
        if (auto workload = caches_.GetWorkload(id)) {
          users.push_back(*std::move(workload));
        }
      }
    }
    return users;
  }

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

  reloader::PolicyEnforcer enforcer_;
  reloader::PolicyWatch watch_;
  reloader::Caches caches_;
  reloader::PauseQuery query_pause_;
  reloader::ValueDigestReader value_digests_;
  reloader::SourceAbsences absences_;
};

/// By which rules the question is answered.
struct Judge {
  reloader::Config config{};
  std::string whose{};  ///< see Explanation::flags
  /// Why the operator rolls nothing in the workload's namespace, whatever policies say.
  std::optional<std::string> unread{};
};

/// The person's command line, with the flags of an operator before it that it does not name itself.
Result<reloader::Config> ConfigWith(const std::vector<std::string>& of_operator,
                                    const flags::FlagSet::GivenFlags& own) {
  std::vector<std::string> words{""};
  for (const std::string& argument : of_operator) {
    const std::string name = argument.substr(0, argument.find('=')).substr(2);
    if (std::ranges::find(own, name, &flags::FlagSet::GivenFlags::value_type::first) == own.end()) {
      words.push_back(argument);
    }
  }
  for (const auto& [name, value] : own) {
    words.push_back("--" + name + "=" + value);
  }
  flags::FlagSet flags("", "");
  const reloader::ConfigFlags config_flags(flags);
  ExplainFlags().AddTo(flags);
  std::vector<const char*> argv;
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  KX_RETURN_IF_ERROR(flags.Parse(static_cast<int>(argv.size()), argv.data()));
  return config_flags.Build([](const char*) { return std::string(); });
}

/// The rules of the operator that watches the workload, or else of the only one; those of the
/// command line when none can be found.
Judge FindJudge(const std::shared_ptr<rest::RESTClient>& client, const ExplainFlags& question,
                const WorkloadId& id, const Judge& own, const flags::FlagSet::GivenFlags& given,
                const reloader::NamespaceLabels& labels, const std::stop_token& stop) {
  const auto without = [&own](const std::string& why) {
    return Judge{own.config, "given here; those of the running operator are not known: " + why};
  };
  const auto operators = FindOperators(client, question.operator_namespace, stop);
  if (!operators) {
    return without("the ConfigMaps reloader-meta-info cannot be read: " +
                   operators.error().message);
  }
  std::vector<Judge> judges;
  std::vector<Judge> watching;
  std::string why =
      operators->gone.empty()
          ? "no operator has published them in a ConfigMap reloader-meta-info"
          : "the Deployment " + operators->gone.front().ToString() +
                ", which a ConfigMap reloader-meta-info names, does not exist any more";
  for (const reloader::ToldOperator& each : operators->running) {
    const std::string name = each.deployment.name.empty()
                                 ? "the operator in namespace " + each.deployment.namespace_
                                 : "the operator " + each.deployment.ToString();
    // It is the one that watches the workload by its own flags; what is given here is tried on it.
    const auto as_it_is = ConfigWith(each.arguments, {});
    auto config = ConfigWith(each.arguments, given);
    if (!as_it_is || !config) {
      why = "those of " + name +
            " are of another version: " + (as_it_is ? config : as_it_is).error().message;
      continue;
    }
    judges.push_back({*std::move(config), "of " + name, each.UnreadIn(id.key.namespace_)});
    const auto not_watched = reloader::WhyNotWatched(id.kind, id.key.namespace_, *as_it_is, labels);
    if (not_watched && not_watched->empty()) {
      watching.push_back(judges.back());
    }
  }
  if (judges.empty()) {
    return without(why);
  }
  Judge chosen = watching.empty() ? judges.front() : watching.front();
  if (!given.empty()) {
    chosen.whose += ", and those given here";
  }
  if (watching.size() > 1 || (watching.empty() && judges.size() > 1)) {
    chosen.whose += "; there are other operators (--operator-namespace chooses one)";
  }
  return chosen;
}

/// The flags that are the operator's, too.
flags::FlagSet::GivenFlags WithoutOwn(flags::FlagSet::GivenFlags given) {
  std::erase_if(given, [](const auto& flag) {
    return flag.first == "namespace" || flag.first == "output" ||
           flag.first == "operator-namespace" || flag.first == "kubeconfig" ||
           flag.first == "context";
  });
  return given;
}

Result<void> Answer(const ExplainFlags& question, WorkloadId id, const reloader::Config& config,
                    const flags::FlagSet::GivenFlags& given) {
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(config.kubeconfig));
  id.key.namespace_ = !question.namespace_.empty()    ? question.namespace_
                      : connection.namespace_.empty() ? "default"
                                                      : connection.namespace_;
  connection.user_agent = "kubexx-reloader-explain/" KUBEXX_VERSION;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(connection)));
  const base::StopTimer deadline(base::Clock::Real(), {}, kPatience);
  KX_RETURN_IF_ERROR(CheckReachable(client, deadline.token()));
  const auto labels = [&] { return LabelsOf(client, id.key.namespace_, deadline.token()); };
  const Judge judge =
      FindJudge(client, question, id, {.config = config}, given, labels, deadline.token());
  reloader::Explanation explanation{.workload = id};
  KX_ASSIGN_OR_RETURN(explanation.not_watched,
                      reloader::WhyNotWatched(id.kind, id.key.namespace_, judge.config, labels));
  if (explanation.not_watched.empty()) {
    View view(client, judge.config, id.key.namespace_);
    KX_RETURN_IF_ERROR(view.Load(deadline.token()));
    KX_ASSIGN_OR_RETURN(explanation, view.Explain(id, judge.config, deadline.token()));
    if (judge.unread) {
      explanation.hold = {.reason = reloadpolicy::HoldReason::kPoliciesUnread,
                          .message = *judge.unread};
    }
  }
  explanation.flags = judge.whose;
  std::cout << (question.output == "json" ? reloader::ToJson(explanation)
                                          : reloader::ToText(explanation));
  return {};
}

}  // namespace

void ExplainFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "namespace of the workload; by default the kubeconfig's",
                  &namespace_);
  flags.AddChoice("output", "format of the answer", {"text", "json"}, &output);
  flags.AddString("operator-namespace",
                  "use the flags of the operator in this namespace; by default those of the "
                  "operator that watches the workload",
                  &operator_namespace);
  flags.AllowArguments("KIND/NAME", &arguments);
}

int RunExplain(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " explain",
      "Tells what would make the operator roll a workload, and why or why not: the rules, the "
      "references to ConfigMaps and Secrets, what is recorded on the workload, the policies, and "
      "what a rollout waits for.\n"
      "The command reads the cluster with your kubeconfig and writes nothing. It uses the flags "
      "that the running operator has written to the ConfigMap reloader-meta-info, and says so; "
      "flags that you give here replace them.\n"
      "-n and -o stand for --namespace and --output. The command exits with 0 when it has "
      "explained the workload, with 1 when it could not, and with 2 when the command line is "
      "wrong.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  ExplainFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, ExplainFlags::kShort)) {
    return *exit_code;
  }
  const auto workload = NamedWorkload(question.arguments);
  if (!workload) {
    Complain(kExplain,
             workload.error().message + "\nSee " + std::string(ProgramName()) +
                 " explain --help for its usage.");
    return kBadUsage;
  }
  const auto config = config_flags.Build(environment);
  if (!config) {
    Complain(kExplain, config.error().message);
    return 1;
  }
  // What the operator's parts log about policies and rights is in the answer, in words that are
  // true of one who only reads.
  logging::Init({.level = logging::Level::kError, .format = config->logging.format});
  if (const auto answered = Answer(question, *workload, *config, WithoutOwn(flags.given()));
      !answered) {
    Complain(kExplain, answered.error().message);
    return 1;
  }
  return 0;
}

}  // namespace kubexx
