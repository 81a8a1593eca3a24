// The pods behind an API server.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/streams.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace meta = api::meta::v1;
using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kLookLimit{10};
constexpr std::chrono::seconds kActionLimit{30};

/// The selector as a text for a request.
std::string SelectorText(const meta::LabelSelector& selector) {
  std::string text = apimachinery::LabelSelector::FromMap(
                         {selector.match_labels.begin(), selector.match_labels.end()})
                         .ToString();
  for (const meta::LabelSelectorRequirement& each : selector.match_expressions) {
    std::string values;
    for (const std::string& value : each.values) {
      values += (values.empty() ? "" : ",") + value;
    }
    text += text.empty() ? "" : ",";
    if (each.operator_ == "Exists") {
      text += each.key;
    } else if (each.operator_ == "DoesNotExist") {
      text += "!" + each.key;
    } else {
      text += each.key + (each.operator_ == "NotIn" ? " notin (" : " in (") + values + ")";
    }
  }
  return text;
}

/// The label by which a controller of ReplicaSets tells its pods apart; empty: the kind's pods are
/// its own.
std::string_view HashLabelOf(WorkloadKind kind) {
  return kind == WorkloadKind::kDeployment ? "pod-template-hash"
         : kind == WorkloadKind::kRollout  ? "rollouts-pod-template-hash"
                                           : "";
}

/// Whether the pod belongs to the workload with this UID. A selector alone may match others' pods.
bool IsPodOf(const core::Pod& pod, const WorkloadId& workload, const std::string& uid) {
  const std::string_view label = HashLabelOf(workload.kind);
  for (const meta::OwnerReference& owner : pod.metadata.owner_references) {
    if (!owner.controller.value_or(false)) {
      continue;
    }
    if (label.empty()) {
      return owner.uid == uid;
    }
    const std::string* hash = Find(pod.metadata.labels, label);
    return owner.kind == "ReplicaSet" && hash != nullptr &&
           owner.name == workload.key.name + "-" + *hash;
  }
  return false;
}

bool IsLive(const core::Pod& pod) {
  return !pod.metadata.deletion_timestamp && pod.status.phase != "Succeeded" &&
         pod.status.phase != "Failed";
}

KeyHashes HashesIn(const core::ConfigMap& source) {
  KeyHashes hashes;
  for (const auto& [key, value] : source.data) {
    hashes[key] = Sha256Of(value);
  }
  for (const auto& [key, value] : source.binary_data) {
    hashes[key] = Sha256Of(value.view());
  }
  return hashes;
}

KeyHashes HashesIn(const core::Secret& source) {
  KeyHashes hashes;
  for (const auto& [key, value] : source.data) {
    hashes[key] = Sha256Of(value.view());
  }
  return hashes;
}

/// The lowest exit code by which runtimes, shells and signals tell of a command that could not do
/// its work.
constexpr int kNoSuchCommand = 126;

/// Whether a program says by this status that it does not take the data. Prometheus answers 500.
/// Other statuses tell of a wrong path, a missing right, or a server that is not there.
bool IsRefusal(int status) {
  return status == 400 || status == 409 || status == 412 || status == 422 || status == 500;
}

bool IsPartOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

/// Whether the text ends with this name, which is not the end of a longer one.
bool EndsWithName(std::string_view text, std::string_view name) {
  return text.ends_with(name) &&
         (text.size() == name.size() || !IsPartOfName(text[text.size() - name.size() - 1]));
}

/// Whether the text has this name, as `exec: "ls": ...` and not as "fails" has it.
bool HasName(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (EndsWithName(text.substr(0, end), name) &&
        (end == text.size() || !IsPartOfName(text[end]))) {
      return true;
    }
  }
  return false;
}

/// Whether the text says of this file that it is not there: "stat FILE: no such file or directory",
/// maybe in quotation marks.
bool SaysIsMissing(std::string_view text, std::string_view file) {
  constexpr std::string_view kMissing = "o such file or directory";
  for (auto at = text.find(kMissing); at != std::string_view::npos;
       at = text.find(kMissing, at + 1)) {
    std::string_view before = text.substr(0, at - std::min<std::size_t>(at, 1));  // and "N", or "n"
    while (!before.empty() && std::string_view(": \"'`").contains(before.back())) {
      before.remove_suffix(1);
    }
    if (EndsWithName(before, file)) {
      return true;
    }
  }
  return false;
}

/// Whether the container's runtime says that there is no such program. Some have an exit code for
/// that, and others only an error with the text of what runs the containers, which comes after
/// "Internal error occurred" as any error of a kubelet does. A runtime that is being started is no
/// such file either, namely its socket; so the text has to name the program.
bool IsNoProgram(const apimachinery::Status& failure, std::string_view program) {
  const std::string& text = failure.message;
  return failure.reason == Reason::kInternalError && !text.contains("code = Unavailable") &&
         ((text.contains("executable") && HasName(text, program)) || SaysIsMissing(text, program));
}

/// Whether it may be over soon what keeps the API server from passing on a request: it is being
/// started or stopped, or has no storage. That it cannot reach the pod is not its own fault.
bool IsPassing(const apimachinery::Status& failure) {
  constexpr int kTooManyRequests = 429;
  constexpr int kServerError = 500;
  return (failure.code >= kServerError || failure.code == kTooManyRequests) &&
         !failure.message.contains("rror trying to reach service");
}

class RestPodAccess final : public PodAccess {
 public:
  explicit RestPodAccess(std::shared_ptr<rest::RESTClient> client)
      : client_(std::move(client)),
        executor_(client_, {.connect_timeout = kLookLimit, .max_message_bytes = kMaxOutputBytes}) {}

  Result<std::vector<core::Pod>> PodsOf(const WorkloadId& workload, const std::string& uid,
                                        const std::stop_token& stop) override {
    KX_ASSIGN_OR_RETURN(const dynamic::Unstructured object,
                        ResourceFor(client_, workload.kind, workload.key.namespace_)
                            .Get(workload.key.name, {}, stop));
    const codec::JsonTree* selector = object.tree().At({"spec", "selector"});
    if (object.Uid() != uid || selector == nullptr) {
      return Fail(Reason::kConflict, "the workload was made anew");
    }
    KX_ASSIGN_OR_RETURN(const auto labels,
                        codec::DecodeJson<meta::LabelSelector>(selector->ToJson()));
    const std::string text = SelectorText(labels);
    if (text.empty()) {
      return Fail(Reason::kInvalid, "its selector is empty");
    }
    KX_ASSIGN_OR_RETURN(auto list,
                        Pods(workload.key.namespace_).List({.label_selector = text}, stop));
    std::erase_if(list.items, [&](const core::Pod& pod) {
      return !IsLive(pod) || !IsPodOf(pod, workload, uid);
    });
    return std::move(list.items);
  }

  Result<core::Pod> Get(const ObjectKey& pod, const std::stop_token& stop) override {
    return Pods(pod.namespace_).Get(pod.name, stop);
  }

  Result<void> WantFiles(const ObjectKey& pod, const std::string& uid, const std::string& at,
                         const std::stop_token& stop) override {
    codec::JsonTree patch = codec::JsonTree::Object();
    patch["metadata"]["uid"] = uid;
    patch["metadata"]["annotations"][std::string(kFilesWantedAt)] = at;
    KX_RETURN_IF_ERROR(
        Pods(pod.namespace_).Patch(pod.name, rest::PatchType::kMerge, patch.ToJson(), {}, stop));
    return {};
  }

  Result<CommandEnd> Look(const ObjectKey& pod, const std::string& container,
                          const std::vector<std::string>& command,
                          const std::stop_token& stop) override {
    return Run(pod, container, command, kLookLimit, kMaxOutputBytes, stop);
  }

  Result<void> RunAction(const ObjectKey& pod, const std::string& container,
                         const ReloadAction& action, const std::stop_token& stop) override {
    if (action.kind == ReloadAction::Kind::kHttp) {
      return Send(pod, action, stop);
    }
    KX_ASSIGN_OR_RETURN(const CommandEnd end,
                        Run(pod, container, action.command, kActionLimit, 0, stop));
    if (action.kind == ReloadAction::Kind::kSignal && end.code == kSignalIsLost) {
      return Fail(Reason::kInvalid, "process 1 of container " + container +
                                        " does not handle this signal, so it would be lost");
    }
    const bool is_refusal =
        action.kind == ReloadAction::Kind::kExec && end.code > 0 && end.code < kNoSuchCommand;
    return end.code == 0 ? Result<void>()
                         : Fail(is_refusal ? Reason::kBadRequest : Reason::kInvalid,
                                "its exit code is " + std::to_string(end.code));
  }

  Result<std::optional<KeyHashes>> HashesOf(const SourceId& source,
                                            const std::stop_token& stop) override {
    return source.type == SourceType::kSecret ? HashesOfOne<core::Secret>(source, stop)
                                              : HashesOfOne<core::ConfigMap>(source, stop);
  }

 private:
  kubernetes::ResourceClient<core::Pod> Pods(const std::string& namespace_) const {
    return {client_, namespace_, {.field_manager = std::string(kFieldManager)}};
  }

  template <class T>
  Result<std::optional<KeyHashes>> HashesOfOne(const SourceId& source,
                                               const std::stop_token& stop) const {
    const kubernetes::ResourceClient<T> sources(client_, source.key.namespace_);
    KX_ASSIGN_OR_RETURN(const auto list,
                        sources.List({.field_selector = "metadata.name=" + source.key.name}, stop));
    return list.items.empty() ? std::nullopt : std::optional(HashesIn(list.items.front()));
  }

  /// Keeps the first `kept` bytes of the output, and lets the command write as much as it likes.
  Result<CommandEnd> Run(const ObjectKey& pod, const std::string& container,
                         const std::vector<std::string>& command, base::Duration limit,
                         std::size_t kept, const std::stop_token& stop) const {
    CommandEnd end;
    const base::StopTimer timer(base::Clock::Real(), stop, limit);
    const auto exit = executor_.Exec(
        {.namespace_ = pod.namespace_, .pod = pod.name, .container = container}, command,
        {.out = [&end, kept](std::string_view bytes) -> Result<void> {
          end.output.append(bytes.substr(0, kept - std::min(kept, end.output.size())));
          return {};
        }},
        timer.token());
    if (!exit && timer.expired()) {
      return Fail(Reason::kTimeout, "it has not ended in time");
    }
    if (!exit && IsNoProgram(exit.error(), command.front())) {
      return Fail(Reason::kInvalid, "container " + container + " has no " + command.front());
    }
    KX_RETURN_IF_ERROR(exit);
    end.code = exit->code;
    return end;
  }

  /// Sends the request of the action. What a program answers may be anything and of any size, is
  /// told nobody, and is not kept.
  Result<void> Send(const ObjectKey& pod, const ReloadAction& action,
                    const std::stop_token& stop) const {
    const std::string path = action.path.substr(0, action.path.find('?'));
    rest::Request request = client_->Verb(action.method);
    request
        .AbsPath("/api/v1/namespaces/" + pod.namespace_ + "/pods/" + pod.name + ":" +
                 std::to_string(action.port) + "/proxy" + path)
        .MaxRetries(0);
    std::string_view query = std::string_view(action.path).substr(path.size());
    while (!query.empty()) {
      query.remove_prefix(1);  // "?" or "&"
      const std::string_view pair = query.substr(0, query.find('&'));
      const std::size_t equals = std::min(pair.find('='), pair.size());
      request.Param(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
      query.remove_prefix(pair.size());
    }
    const base::StopTimer timer(base::Clock::Real(), stop, kActionLimit);
    const auto answer =
        request.Stream([](const rest::Request::StreamHead&) -> Result<void> { return {}; },
                       [](std::string_view) -> Result<void> { return {}; }, timer.token());
    if (!answer && timer.expired()) {
      return Fail(Reason::kTimeout, "it has not answered in time");
    }
    if (answer || answer.error().code == 0) {
      return answer ? Result<void>() : Fail(answer.error());
    }
    if (IsMissingRight(answer.error())) {  // a program may answer with the same words
      return Fail(Reason::kForbidden,
                  "the answer has the status 403, as where the right to pods/proxy is missing",
                  answer.error().code);
    }
    if (!apimachinery::HasStatusCause(answer.error(), apimachinery::kUnexpectedResponseCause)) {
      return Fail(IsPassing(answer.error()) ? Reason::kUnavailable : Reason::kInvalid,
                  "the API server answers with the status " + std::to_string(answer.error().code));
    }
    return Fail(IsRefusal(answer.error().code) ? Reason::kBadRequest : Reason::kInvalid,
                "the answer has the status " + std::to_string(answer.error().code));
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const remotecommand::Executor executor_;
};

}  // namespace

std::unique_ptr<PodAccess> NewPodAccess(std::shared_ptr<rest::RESTClient> client) {
  return std::make_unique<RestPodAccess>(std::move(client));
}

}  // namespace kubexx::reloader
