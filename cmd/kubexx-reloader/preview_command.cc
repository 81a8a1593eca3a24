#include "preview_command.h"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "connection.h"
#include "judge.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/observe/preview.h"
#include "namespace_view.h"
#include "running_operator.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kPreviewPatience{60};
constexpr char kPreview[] = "preview";
/// Objects of etcd have at most 1.5 MiB; this is room for some hundreds.
constexpr std::size_t kMaxInput = std::size_t{256} << 20;

Result<std::string> ReadAll(std::istream& in, const std::string& name) {
  std::string text;
  std::string part(std::size_t{1} << 16, '\0');
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxInput) {
      return Fail(Reason::kInvalidConfig, name + " is longer than 256 MiB");
    }
  }
  return text;
}

Result<std::string> ReadInput(const std::string& file) {
  if (file == "-") {
    return ReadAll(std::cin, "the standard input");
  }
  std::ifstream in(file, std::ios::binary);
  auto text = ReadAll(in, file);
  // A folder can be opened, but not be read.
  return !in.is_open() || in.bad() ? Fail(Reason::kInvalidConfig, file + " cannot be read")
                                   : std::move(text);
}

/// What all files together describe.
Result<reloader::DescribedSources> ReadFiles(const std::vector<std::string>& files,
                                             const std::string& namespace_) {
  std::string all;
  for (const std::string& file : files) {
    auto text = ReadInput(file);
    KX_RETURN_IF_ERROR(text);
    all += (all.empty() ? "" : "\n---\n") + *text;
  }
  auto described = reloader::ReadSources(all, namespace_);
  if (described && described->sources.empty()) {
    return Fail(Reason::kInvalidConfig, "the input has no ConfigMap and no Secret");
  }
  return described;
}

/// What the cluster has of a source.
struct PresentSource {
  bool exists = false;
  bool is_immutable = false;
  reloader::Annotations annotations{};
  reloader::ValueDigests data{};
};

template <class T>
Result<PresentSource> ReadPresent(const std::shared_ptr<rest::RESTClient>& client,
                                  const reloader::SourceId& id, const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> objects(client, id.key.namespace_);
  auto object = objects.Get(id.key.name, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error()) ? Result<PresentSource>(PresentSource())
                                                          : Fail(object.error());
  }
  return PresentSource{.exists = true,
                       .is_immutable = object->immutable.value_or(false),
                       .annotations = object->metadata.annotations,
                       .data = reloader::ValueDigestsOf(*object)};
}

/// The changed sources by namespace, and what is to be told of them.
using BySpace = std::map<std::string, reloader::ChangedSources>;

Result<BySpace> Compare(const std::shared_ptr<rest::RESTClient>& client,
                        const std::vector<reloader::DescribedSource>& sources,
                        const reloader::AnnotationKeys& keys, const std::stop_token& stop,
                        reloader::Preview& preview) {
  BySpace changed;
  const auto now = apimachinery::Time::From(base::Clock::Real().Wall());
  for (const reloader::DescribedSource& each : sources) {
    KX_ASSIGN_OR_RETURN(const PresentSource present,
                        each.id.type == reloader::SourceType::kSecret
                            ? ReadPresent<api::core::v1::Secret>(client, each.id, stop)
                            : ReadPresent<api::core::v1::ConfigMap>(client, each.id, stop));
    KX_ASSIGN_OR_RETURN(reloader::ChangedSource source,
                        reloader::ChangedSourceOf(each, present.annotations, keys, now));
    preview.sources.push_back({.id = each.id,
                               .exists = present.exists,
                               .keys = reloader::CompareKeys(present.data, source.data),
                               .is_immutable = present.is_immutable});
    changed[each.id.key.namespace_][each.id] = std::move(source);
  }
  return changed;
}

/// Previews what changes in one namespace.
Result<void> PreviewIn(const std::shared_ptr<rest::RESTClient>& client, const std::string& space,
                       const reloader::ChangedSources& changed, const Judge& judge,
                       const reloader::NamespaceLabels& labels, const std::stop_token& stop,
                       reloader::Preview& preview) {
  KX_ASSIGN_OR_RETURN(
      const std::string not_watched,
      reloader::WhyNotWatched(reloader::WorkloadKind::kDeployment, space, judge.config, labels));
  if (!not_watched.empty()) {
    preview.not_watched.push_back(space + ": " + not_watched);
    return {};
  }
  NamespaceView view(client, judge.config, space);
  KX_RETURN_IF_ERROR(view.Load(stop));
  const std::size_t first = preview.rollouts.size();
  KX_RETURN_IF_ERROR(view.AddPreview(changed, stop, preview));
  for (std::size_t i = first; judge.unread && i < preview.rollouts.size(); ++i) {
    preview.rollouts[i].forecast.step = 0;
    preview.rollouts[i].forecast.hold = reloadpolicy::Hold{
        .reason = reloadpolicy::HoldReason::kPoliciesUnread, .message = *judge.unread};
  }
  return {};
}

Result<reloader::Preview> MakePreview(const PreviewFlags& question, const reloader::Config& config,
                                      const flags::FlagSet::GivenFlags& given) {
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  const base::StopTimer deadline(base::Clock::Real(), {}, kPreviewPatience);
  const std::stop_token stop = deadline.token();
  KX_ASSIGN_OR_RETURN(const Connection connection,
                      Connect(config.kubeconfig, question.namespace_, kPreview, stop));
  KX_ASSIGN_OR_RETURN(reloader::DescribedSources described,
                      ReadFiles(question.files, connection.namespace_));
  reloader::Preview preview{.ignored = std::move(described.others)};
  KX_ASSIGN_OR_RETURN(const BySpace changed, Compare(connection.client, described.sources,
                                                     config.rules.keys, stop, preview));
  for (const auto& [space, sources] : changed) {
    const auto labels = [&, name = space] { return LabelsOf(connection.client, name, stop); };
    const Judge judge =
        FindJudge(connection.client,
                  {reloader::WorkloadKind::kDeployment, space, question.operator_namespace}, config,
                  given, labels, stop);
    preview.flags = judge.whose;
    KX_RETURN_IF_ERROR(PreviewIn(connection.client, space, sources, judge, labels, stop, preview));
  }
  return preview;
}

}  // namespace

void PreviewFlags::AddTo(flags::FlagSet& flags) {
  flags.AddList("filename",
                "file with ConfigMaps and Secrets as they would be, in YAML or JSON; - for the "
                "standard input",
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
      "after the change, as for `kubectl apply`.\n"
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
  if (question.files.empty() || !config_flags.arguments().empty()) {
    Complain(kPreview, (question.files.empty()
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
    return 1;
  }
  std::cout << (question.output == "json" ? reloader::ToJson(*preview)
                                          : reloader::ToText(*preview));
  return question.exit_code && !preview->rollouts.empty() ? kWouldRoll : 0;
}

}  // namespace kubexx
