#include "preview_command.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <stop_token>
#include <utility>

#include "connection.h"
#include "judge.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/observe/kubectl_diff.h"
#include "kubexx/reloader/observe/preview.h"
#include "kubexx/reloader/operator/watch_scope.h"
#include "namespace_view.h"
#include "preview_input.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kPreviewPatience{60};
constexpr char kPreview[] = "preview";
/// What the cluster has of a source.
struct PresentSource {
  bool exists = false;
  bool is_immutable = false;
  reloader::Annotations annotations{};
  apimachinery::LabelMap labels{};
  reloader::ValueDigests data{};
  codec::JsonTree object{};  ///< only of a Secret whose values the input masks
};

template <class T>
Result<PresentSource> ReadPresent(const std::shared_ptr<rest::RESTClient>& client,
                                  const reloader::SourceId& id, bool with_values,
                                  const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> objects(client, id.key.namespace_);
  auto object = objects.Get(id.key.name, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error()) ? Result<PresentSource>(PresentSource())
                                                          : Fail(object.error());
  }
  PresentSource present{.exists = true,
                        .is_immutable = object->immutable.value_or(false),
                        .annotations = object->metadata.annotations,
                        .labels = {object->metadata.labels.begin(), object->metadata.labels.end()},
                        .data = reloader::ValueDigestsOf(*object)};
  if (with_values) {
    KX_ASSIGN_OR_RETURN(present.object, codec::JsonTree::Parse(codec::EncodeJson(*object)));
  }
  return present;
}

using MaskedSecrets = std::map<reloader::SourceId, reloader::MaskedData>;

/// Why the operator does not look at the source; empty when it does. Labels that the file does not
/// name stay as they are.
Result<std::string> WhyLeftOut(const reloader::DescribedSource& described,
                               apimachinery::LabelMap labels, const reloader::Config& config) {
  if (config.ignored_types.contains(described.id.type)) {
    return std::string("is not watched, because of --resources-to-ignore");
  }
  if (config.source_label_selector.empty()) {
    return std::string();
  }
  if (const codec::JsonTree* own = described.object.At({"metadata", "labels"})) {
    for (const codec::JsonTree::Member& each : own->members()) {
      if (const std::string* value = each.value.AsString()) {
        labels[each.key] = *value;
      }
    }
  }
  KX_ASSIGN_OR_RETURN(const auto selector,
                      apimachinery::LabelSelector::Parse(config.source_label_selector));
  return selector.Matches(labels) ? std::string()
                                  : std::string(
                                        "is not watched, because it lacks a label that "
                                        "--resource-label-selector requires");
}

/// The preview of one namespace.
class SpacePreview {
 public:
  SpacePreview(const std::shared_ptr<rest::RESTClient>& client, const Judge& judge,
               const MaskedSecrets& masked, const std::stop_token& stop, reloader::Preview& preview)
      : client_(client), judge_(judge), masked_(masked), stop_(stop), preview_(preview) {}

  Result<void> Run(const std::string& space,
                   const std::vector<const reloader::DescribedSource*>& sources,
                   const reloader::NamespaceLabels& labels) {
    for (const reloader::DescribedSource* each : sources) {
      KX_RETURN_IF_ERROR(Compare(*each));
    }
    KX_ASSIGN_OR_RETURN(
        const std::string not_watched,
        reloader::WhyNotWatched(reloader::WorkloadKind::kDeployment, space, judge_.config, labels));
    if (!not_watched.empty()) {
      preview_.not_watched.push_back("namespace " + space + ": " + not_watched);
    }
    if (!not_watched.empty() || changed_.empty()) {
      return {};
    }
    NamespaceView view(client_, judge_.config, space);
    KX_RETURN_IF_ERROR(view.Load(stop_));
    const std::size_t first = preview_.rollouts.size();
    KX_RETURN_IF_ERROR(view.AddPreview(changed_, stop_, preview_));
    for (std::size_t i = first; judge_.unread && i < preview_.rollouts.size(); ++i) {
      preview_.rollouts[i].forecast.step = 0;
      preview_.rollouts[i].forecast.hold = reloadpolicy::Hold{
          .reason = reloadpolicy::HoldReason::kPoliciesUnread, .message = *judge_.unread};
    }
    return {};
  }

 private:
  /// Adds what changes of a source.
  Result<void> Compare(reloader::DescribedSource described) {
    const reloader::SourceId& id = described.id;
    const auto masked = masked_.find(id);
    const bool is_masked = masked != masked_.end();
    KX_ASSIGN_OR_RETURN(const PresentSource present,
                        id.type == reloader::SourceType::kSecret
                            ? ReadPresent<api::core::v1::Secret>(client_, id, is_masked, stop_)
                            : ReadPresent<api::core::v1::ConfigMap>(client_, id, false, stop_));
    if (is_masked) {
      reloader::FillMasked(masked->second, present.object, described.object);
    }
    KX_ASSIGN_OR_RETURN(
        reloader::ChangedSource source,
        reloader::ChangedSourceOf(described, present.annotations, judge_.config.rules.keys,
                                  apimachinery::Time::From(base::Clock::Real().Wall())));
    preview_.sources.push_back({.id = id,
                                .exists = present.exists,
                                .keys = reloader::CompareKeys(present.data, source.data),
                                .is_immutable = present.is_immutable});
    KX_ASSIGN_OR_RETURN(const std::string left_out,
                        WhyLeftOut(described, present.labels, judge_.config));
    if (left_out.empty()) {
      NoteElsewhere(source.source);
      changed_[id] = std::move(source);
    } else {
      preview_.not_watched.push_back(std::string(reloader::NamesOf(id.type).kind) + " " +
                                     id.key.ToString() + ": " + left_out);
    }
    return {};
  }

  /// Says so where workloads of other namespaces may name the source. These are not looked at: that
  /// would need the right to read all namespaces, and take as long as an operator's start.
  void NoteElsewhere(const reloader::Source& source) {
    if (!judge_.config.rules.keys.other_namespaces || source.allowed.empty()) {
      return;
    }
    std::string spaces;
    for (const char c : source.allowed) {
      spaces += c == ',' ? std::string(", ") : std::string(1, c);
    }
    preview_.elsewhere.push_back(std::string(reloader::NamesOf(source.id.type).kind) + " " +
                                 source.id.key.ToString() + ": " +
                                 (spaces == "*" ? std::string("all namespaces") : spaces));
  }

  const std::shared_ptr<rest::RESTClient>& client_;
  const Judge& judge_;
  const MaskedSecrets& masked_;
  const std::stop_token& stop_;
  reloader::Preview& preview_;
  reloader::ChangedSources changed_;
};

Result<reloader::Preview> MakePreview(const PreviewFlags& question, const reloader::Config& config,
                                      const flags::FlagSet::GivenFlags& given) {
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  // First: whoever writes to the standard input may take its time.
  KX_ASSIGN_OR_RETURN(const PreviewInput input,
                      question.folders.empty()
                          ? ReadPreviewFiles(question.files)
                          : ReadPreviewFolders(question.folders[0], question.folders[1]));
  for (const std::string& left_out : input.left_out) {
    Complain(kPreview, "left out: " + left_out);
  }
  const base::StopTimer deadline(base::Clock::Real(), {}, kPreviewPatience);
  const std::stop_token stop = deadline.token();
  KX_ASSIGN_OR_RETURN(const Connection connection,
                      Connect(config.kubeconfig, question.namespace_, kPreview, stop));
  KX_ASSIGN_OR_RETURN(reloader::DescribedSources described,
                      reloader::ReadSources(input.after, connection.namespace_));
  if (described.sources.empty()) {
    if (!question.folders.empty()) {
      return reloader::Preview{.ignored = std::move(described.others)};  // nothing has changed
    }
    return Fail(Reason::kInvalidConfig, "the input has no ConfigMap and no Secret");
  }
  KX_ASSIGN_OR_RETURN(const MaskedSecrets masked,
                      MaskedSecretsIn(input, described, connection.namespace_));
  std::map<std::string, std::vector<const reloader::DescribedSource*>> by_space;
  for (const reloader::DescribedSource& each : described.sources) {
    by_space[each.id.key.namespace_].push_back(&each);
  }
  reloader::Preview preview{.ignored = std::move(described.others)};
  for (const auto& [space, sources] : by_space) {
    const auto labels = [&, name = space] { return LabelsOf(connection.client, name, stop); };
    const Judge judge =
        FindJudge(connection.client,
                  {reloader::WorkloadKind::kDeployment, space, question.operator_namespace}, config,
                  given, labels, stop);
    preview.flags = judge.whose;
    KX_RETURN_IF_ERROR(
        SpacePreview(connection.client, judge, masked, stop, preview).Run(space, sources, labels));
  }
  return preview;
}

}  // namespace

void PreviewFlags::AddTo(flags::FlagSet& flags) {
  flags.AddList("filename",
                "file with ConfigMaps and Secrets as they would be, in YAML or JSON, or a diff of "
                "such files; - for the standard input",
                &files);
  flags.AddString("namespace", "namespace of objects that name none; by default the kubeconfig's",
                  &namespace_);
  flags.AddChoice("output", "format of the answer", {"text", "json"}, &output);
  flags.AddString("operator-namespace",
                  "use the flags of the operator in this namespace; by default those of the "
                  "operator that watches the workloads",
                  &operator_namespace);
  flags.AddBool("exit-code", "exit with 3 when something would roll", &exit_code);
}

int RunPreview(int argc, const char* const* argv,
               const reloader::ConfigFlags::Environment& environment) {
  flags::FlagSet flags(
      std::string(ProgramName()) + " preview",
      "Tells which workloads a change of ConfigMaps and Secrets would roll, in which order and "
      "when, and what would hold each of them. The files describe the objects as they would be "
      "after the change, as for `kubectl apply`, or are a diff of such files, as `git diff` writes "
      "it. Or kubectl finds out what would be, and calls this program: "
      "KUBECTL_EXTERNAL_DIFF=\"kubexx-reloader preview\" kubectl diff -f FILE\n"
      "The command reads the cluster with your kubeconfig, writes nothing, and shows no values. It "
      "uses the flags that the running operator has written to the ConfigMap reloader-meta-info; "
      "flags that you give here replace them.\n"
      "-f, -n and -o stand for --filename, --namespace and --output. The command exits with 0 when "
      "it has made the preview, with 1 when it could not, and with 2 when the command line is "
      "wrong; with --exit-code it exits with 3 when it has made the preview and something would "
      "roll.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  PreviewFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, PreviewFlags::kShort)) {
    return *exit_code;
  }
  if (question.files.empty() && AreFolders(config_flags.arguments())) {
    question.folders = config_flags.arguments();
  } else if (question.files.empty() || !config_flags.arguments().empty()) {
    Complain(kPreview, (config_flags.arguments().empty()
                            ? std::string("give the file with -f, or - for the standard input")
                            : "unexpected argument \"" + config_flags.arguments().front() + "\"") +
                           "\nSee " + std::string(ProgramName()) +
                           " preview --help for its usage.");
    return kBadUsage;
  }
  const auto config = config_flags.Build(environment);
  if (!config) {
    Complain(kPreview, config.error().message);
    return 1;
  }
  logging::Init({.level = logging::Level::kError, .format = config->logging.format});
  const auto preview = MakePreview(question, *config, WithoutOwn(flags.given()));
  if (!preview) {
    Complain(kPreview, preview.error().message);
    return question.folders.empty() ? 1 : kFailedForKubectl;
  }
  std::cout << (question.output == "json" ? reloader::ToJson(*preview)
                                          : reloader::ToText(*preview));
  return question.exit_code && std::ranges::any_of(preview->rollouts, reloader::IsMade) ? kWouldRoll
                                                                                        : 0;
}

}  // namespace kubexx
