#include "steer_commands.h"

#include <chrono>
#include <iostream>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "connection.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/write/hand_edits.h"
#include "named_object.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Result;
using reloader::HandEdit;

constexpr std::chrono::seconds kSteerPatience{30};

/// One of the commands.
struct Steering {
  std::string name{};
  std::string about{};
  HandEdit edit = HandEdit::kPause;
};

/// Whether a server answers that it has no such API, and not that there is no such object.
bool IsNotServed(const apimachinery::Status& error) {
  return error.reason == apimachinery::Reason::kNotFound && !apimachinery::IsObjectNotFound(error);
}

/// Reads the object, and patches it unless there is nothing to change. Returns what to tell.
Result<std::string> Steer(const Steering& command, const SteerFlags& question,
                          const NamedObject& named) {
  const base::StopTimer deadline(base::Clock::Real(), {}, kSteerPatience);
  KX_ASSIGN_OR_RETURN(const Connection connection, Connect(question.kubeconfig, question.namespace_,
                                                           command.name, deadline.token()));
  const apimachinery::ResourceInfo& resource = *named.resource;
  const std::string space = resource.namespaced ? connection.namespace_ : std::string();
  const dynamic::DynamicResource objects =
      dynamic::DynamicClient(connection.client)
          .Resource({std::string(resource.group), std::string(resource.version),
                     std::string(resource.plural)},
                    space);
  const auto object = objects.Get(named.name, {}, deadline.token());
  if (!object) {
    return apimachinery::Fail(IsNotServed(object.error())
                                  ? apimachinery::Status(apimachinery::Reason::kNotFound,
                                                         "the API server does not serve " +
                                                             std::string(resource.plural) + "." +
                                                             std::string(resource.group) +
                                                             "; their CRD is not installed")
                                  : object.error());
  }
  const HandEdit edit = question.mended ? HandEdit::kMended : command.edit;
  const std::string whole =
      std::string(resource.kind) + " " + (space.empty() ? "" : space + "/") + named.name;
  auto change = reloader::HandChangeOf(edit, resource.kind, *object, base::Clock::Real().Wall());
  if (!change) {
    return apimachinery::Fail(change.error().WithContext(whole));
  }
  if (!change->patch.empty()) {
    KX_ASSIGN_OR_RETURN(
        const dynamic::Unstructured answer,
        objects.Patch(named.name,
                      {.type = rest::PatchType::kMerge, .text = std::move(change->patch)},
                      {.field_manager = reloader::kHandFieldManager}, deadline.token()));
    const std::vector<std::string_view> wanted(change->wanted.begin(), change->wanted.end());
    if (answer.tree().At(std::span(wanted)) == nullptr) {
      return apimachinery::Fail(
          apimachinery::Reason::kInvalidConfig,
          whole +
              ": the API server drops annotations of its pod template, as the schema in its "
              "CRD has none there, so no pods are made anew; change its pod template yourself");
    }
  }
  return whole + ": " + change->told;
}

int RunSteering(const Steering& command, int argc, const char* const* argv) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " " + command.name,
      command.about +
          "\nThe command uses your kubeconfig and your rights. -n stands for --namespace. It exits "
          "with 0 when the object is as it should be, with 1 when it could not be changed, and "
          "with 2 when the command line is wrong.",
      KUBEXX_VERSION);
  SteerFlags question;
  command.edit == HandEdit::kRetry ? question.AddRetryTo(flags) : question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, SteerFlags::kShort)) {
    return *exit_code;
  }
  if (const auto learnt = LearnKindOf({question.arguments, question.namespace_,
                                       question.operator_namespace, question.kubeconfig});
      !learnt) {
    Complain(command.name, learnt.error().message);
    return 1;
  }
  const auto named = ObjectNamed(question.arguments);
  if (!named) {
    Complain(command.name, named.error().message + "\nSee " + std::string(ProgramName()) + " " +
                               command.name + " --help for its usage.");
    return kBadUsage;
  }
  logging::Init({.level = logging::Level::kError});
  const auto told = Steer(command, question, *named);
  if (!told) {
    Complain(command.name, told.error().message);
    return 1;
  }
  std::cout << *told << std::endl;
  return 0;
}

}  // namespace

void SteerFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "namespace of the object; by default the kubeconfig's", &namespace_);
  flags.AddString("operator-namespace",
                  "take a kind of --workload-kinds as the operator in this namespace describes it",
                  &operator_namespace);
  reloader::AddKubeconfigFlags(flags, kubeconfig);
  flags.AllowArguments("KIND/NAME", &arguments);
}

void SteerFlags::AddRetryTo(flags::FlagSet& flags) {
  AddTo(flags);
  flags.AddBool("mended",
                "make no new pods; only say that the failure is mended, so that rollouts which it "
                "has stopped go on",
                &mended);
}

int RunPause(int argc, const char* const* argv) {
  return RunSteering(
      {"pause",
       "Holds back the rollouts of a workload, those for a ConfigMap, Secret or "
       "SecretProviderClass, or those that a ReloadPolicy or ClusterReloadPolicy governs, until "
       "`resume`. The command sets the annotation reloader.kubexx.io/paused, or spec.paused of the "
       "policy.",
       HandEdit::kPause},
      argc, argv);
}

int RunResume(int argc, const char* const* argv) {
  return RunSteering({"resume",
                      "Ends what `pause` has begun: the command removes the annotation "
                      "reloader.kubexx.io/paused, or spec.paused of a policy. What has changed "
                      "meanwhile is rolled out.",
                      HandEdit::kResume},
                     argc, argv);
}

int RunRetry(int argc, const char* const* argv) {
  return RunSteering(
      {"retry",
       "Makes the pods of a workload anew whose rollout has failed, as `kubectl rollout restart` "
       "does. The workload counts as failed until its new pods are healthy.",
       HandEdit::kRetry},
      argc, argv);
}

}  // namespace kubexx
