#include "kubelet.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::simulation {
namespace {

namespace core = api::core::v1;
using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

constexpr int kPods = 2;
constexpr std::string_view kFilesRoot = "/config/";
constexpr std::string_view kOfSecrets = "secrets/";
/// Of a thousand calls so many fail, and of a thousand actions so many are not carried out, or are
/// without anybody being told.
constexpr std::uint64_t kBrokenCalls = 20;
constexpr std::uint64_t kBrokenActions = 60;
constexpr std::uint64_t kUntoldActions = 30;
/// In milliseconds.
constexpr std::int64_t kLongestCall = 300;
constexpr std::int64_t kLongestUntilFiles = 4000;
/// In seconds, between two times at which a kubelet looks by itself.
constexpr std::int64_t kShortestSync = 60;
constexpr std::int64_t kLongestSync = 120;

std::string PluralOf(reloader::WorkloadKind kind) {
  return kind == reloader::WorkloadKind::kDeployment    ? "deployments"
         : kind == reloader::WorkloadKind::kStatefulSet ? "statefulsets"
         : kind == reloader::WorkloadKind::kDaemonSet   ? "daemonsets"
                                                        : "rollouts";
}

/// As the API server says it of an object.
apimachinery::Status IsNotThere(const std::string& name) {
  apimachinery::Status status(Reason::kNotFound, name + " is not there");
  status.details.name = name;
  return status;
}

/// The values of a source's data.
std::map<std::string, std::string> ValuesOf(const std::string& source, const std::string& data) {
  std::map<std::string, std::string> values;
  const auto tree = codec::JsonTree::Parse(data);
  if (!tree) {
    return values;
  }
  for (const codec::JsonTree::Member& member : tree->members()) {
    std::string value(tree->TextAt(member.key));
    if (source.starts_with(kOfSecrets)) {
      const std::string encoded = std::exchange(value, {});
      codec::DecodeBase64(encoded, value);
    }
    values[std::string(member.key)] = std::move(value);
  }
  return values;
}

/// The source whose files are in the directory of a pod in the namespace `space`.
std::string SourceAt(std::string_view directory, const std::string& space) {
  directory.remove_prefix(std::min(directory.size(), kFilesRoot.size()));
  const std::size_t slash = directory.find('/');
  return slash == std::string_view::npos ? ""
                                         : std::string(directory.substr(0, slash + 1)) + space +
                                               "/" + std::string(directory.substr(slash + 1));
}

/// The sources of which the pod has files, and nothing in its environment.
std::set<std::string> FilesOf(const core::Pod& pod) {
  std::set<std::string> sources;
  for (const core::Container& container : pod.spec.containers) {
    for (const core::VolumeMount& mount : container.volume_mounts) {
      sources.insert(SourceAt(mount.mount_path, pod.metadata.namespace_));
    }
    for (const core::EnvFromSource& each : container.env_from) {
      const std::string in = pod.metadata.namespace_ + "/";
      if (each.config_map_ref) {
        sources.erase("configmaps/" + in + each.config_map_ref->local_object_reference.name);
      }
      if (each.secret_ref) {
        sources.erase("secrets/" + in + each.secret_ref->local_object_reference.name);
      }
    }
  }
  return sources;
}

/// As the API server would have it; nothing: the template cannot be read.
std::optional<core::Pod> NewPod(const std::string& space, const std::string& name,
                                const std::string& pod_template) {
  const auto tree = codec::JsonTree::Parse(pod_template);
  const codec::JsonTree* const spec = tree ? tree->Find("spec") : nullptr;
  auto pod = codec::DecodeJson<core::Pod>(
      R"({"spec":)" + (spec == nullptr ? std::string("{}") : spec->ToJson()) +
      R"(,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],)"
      R"("containerStatuses":[{"name":"main","state":{"running":{}}}]}})");
  if (!pod) {
    return std::nullopt;
  }
  pod->metadata.namespace_ = space;
  pod->metadata.name = name;
  pod->metadata.uid = name;
  pod->spec.node_name = "node";
  return *std::move(pod);
}

}  // namespace

std::string DirectoryOf(const std::string& source) {
  const std::size_t space = source.find('/') + 1;
  return std::string(kFilesRoot) + source.substr(0, space) +
         source.substr(source.find('/', space) + 1);
}

/// One operator's way to the pods.
class Kubelet::Access final : public reloader::PodAccess {
 public:
  Access(Kubelet& kubelet, std::shared_ptr<rest::RESTClient> client)
      : kubelet_(kubelet), server_(reloader::NewPodAccess(std::move(client))) {}

  Result<std::vector<core::Pod>> PodsOf(const reloader::WorkloadId& workload,
                                        const std::string& uid,
                                        const std::stop_token& stop) override {
    KX_RETURN_IF_ERROR(kubelet_.Begin(stop));
    return kubelet_.PodsOf(PluralOf(workload.kind) + "/" + workload.key.ToString(), uid);
  }
  Result<core::Pod> Get(const ObjectKey& pod, const std::stop_token& stop) override {
    KX_RETURN_IF_ERROR(kubelet_.Begin(stop));
    return kubelet_.Get(pod.ToString());
  }
  Result<void> WantFiles(const ObjectKey& pod, const std::string& /*uid*/,
                         const std::string& /*at*/, const std::stop_token& stop) override {
    KX_RETURN_IF_ERROR(kubelet_.Begin(stop));
    return kubelet_.WantFiles(pod.ToString());
  }
  Result<reloader::CommandEnd> Look(const ObjectKey& pod, const std::string& /*container*/,
                                    const std::vector<std::string>& command,
                                    const std::stop_token& stop) override {
    KX_RETURN_IF_ERROR(kubelet_.Begin(stop));
    return kubelet_.Look(pod.ToString(), command);
  }
  Result<void> RunAction(const ObjectKey& pod, const std::string& /*container*/,
                         const reloader::ReloadAction& /*action*/,
                         const std::stop_token& stop) override {
    KX_RETURN_IF_ERROR(kubelet_.Begin(stop));
    return kubelet_.RunAction(pod.ToString());
  }
  Result<std::optional<reloader::KeyHashes>> HashesOf(const reloader::SourceId& source,
                                                      const std::stop_token& stop) override {
    return server_->HashesOf(source, stop);
  }

 private:
  Kubelet& kubelet_;
  const std::unique_ptr<reloader::PodAccess> server_;
};

std::unique_ptr<reloader::PodAccess> Kubelet::AccessFor(std::shared_ptr<rest::RESTClient> client) {
  return std::make_unique<Access>(*this, std::move(client));
}

Result<void> Kubelet::Begin(const std::stop_token& stop) {
  std::int64_t takes = 0;
  bool fails = false;
  {
    const base::MutexLock lock(mu_);
    takes = random_.Between(1, kLongestCall);
    fails = random_.Chance(kBrokenCalls);
  }
  if (!base::Clock::Real().SleepFor(std::chrono::milliseconds(takes), stop)) {
    return Fail(Reason::kCancelled, "the operator ends");
  }
  return fails ? Fail(Reason::kUnavailable, "the kubelet does not answer") : Result<void>();
}

Result<std::vector<core::Pod>> Kubelet::PodsOf(const std::string& workload,
                                               const std::string& uid) {
  const auto running = oracle_.RunningOf(workload);
  if (!running || running->uid != uid) {
    return Fail(IsNotThere(workload));
  }
  const std::size_t begin = workload.find('/') + 1;
  const std::string space = workload.substr(begin, workload.find('/', begin) - begin);
  std::vector<core::Pod> pods;
  const base::MutexLock lock(mu_);
  std::erase_if(pods_, [&](const auto& each) {
    return each.second.workload == workload && each.second.pods != running->pods;
  });
  for (int i = 0; i < kPods; ++i) {
    const std::string name = running->pods + "-" + std::to_string(i);
    const auto [found, is_new] = pods_.try_emplace(space + "/" + name);
    Pod& pod = found->second;
    if (is_new) {
      auto object = NewPod(space, name, running->pod_template);
      if (!object) {
        pods_.erase(found);
        return Fail(Reason::kInternalError, "the template cannot be read");
      }
      pod = {.workload = workload,
             .pods = running->pods,
             .object = *std::move(object),
             .next_sync = base::Clock::Real().Now() +
                          std::chrono::seconds(random_.Between(0, kLongestSync))};
      for (const auto& [source, data] : running->read) {
        if (data) {
          pod.files[source] = pod.has[source] = *data;
        }
      }
    }
    pods.push_back(pod.object);
  }
  return pods;
}

Result<Kubelet::Pod*> Kubelet::FindLocked(const std::string& pod) {
  const auto found = pods_.find(pod);
  const auto running =
      found == pods_.end() ? std::nullopt : oracle_.RunningOf(found->second.workload);
  if (!running || running->pods != found->second.pods) {
    return Fail(IsNotThere(pod));
  }
  SyncLocked(found->second);
  return &found->second;
}

void Kubelet::SyncLocked(Pod& pod) {
  const base::TimePoint now = base::Clock::Real().Now();
  if (now < pod.next_sync) {
    return;
  }
  pod.next_sync = now + std::chrono::seconds(random_.Between(kShortestSync, kLongestSync));
  for (auto& [source, data] : pod.files) {
    if (const auto present = oracle_.PresentData(source)) {
      data = *present;  // the files of one that is gone stay
    }
  }
}

Result<core::Pod> Kubelet::Get(const std::string& pod) {
  const base::MutexLock lock(mu_);
  KX_ASSIGN_OR_RETURN(const Pod* const found, FindLocked(pod));
  return found->object;
}

Result<void> Kubelet::WantFiles(const std::string& pod) {
  const base::MutexLock lock(mu_);
  KX_ASSIGN_OR_RETURN(Pod* const found, FindLocked(pod));
  found->next_sync = std::min(
      found->next_sync, base::Clock::Real().Now() +
                            std::chrono::milliseconds(random_.Between(0, kLongestUntilFiles)));
  return {};
}

Result<reloader::CommandEnd> Kubelet::Look(const std::string& pod,
                                           const std::vector<std::string>& command) {
  const base::MutexLock lock(mu_);
  KX_ASSIGN_OR_RETURN(const Pod* const found, FindLocked(pod));
  const auto values_at = [found](std::string_view directory) {
    const auto files = found->files.find(SourceAt(directory, found->object.metadata.namespace_));
    return files == found->files.end() ? std::map<std::string, std::string>()
                                       : ValuesOf(files->first, files->second);
  };
  reloader::CommandEnd end;
  if (command.front() == "ls") {
    end.output = "..data\n";
    for (const auto& [key, value] : values_at(command.back())) {
      end.output += key + "\n";
    }
    return end;
  }
  for (std::size_t i = 2; i < command.size(); ++i) {  // after "sha256sum --"
    const std::string_view path = command[i];
    const auto values = values_at(path.substr(0, path.rfind('/')));
    const auto value = values.find(std::string(path.substr(path.rfind('/') + 1)));
    if (value == values.end()) {
      return reloader::CommandEnd{.code = 1};
    }
    end.output += reloader::Sha256Of(value->second) + "  " + command[i] + "\n";
  }
  return end;
}

Result<void> Kubelet::RunAction(const std::string& pod) {
  const base::MutexLock lock(mu_);
  KX_ASSIGN_OR_RETURN(Pod* const found, FindLocked(pod));
  if (random_.Chance(kBrokenActions)) {
    return Fail(Reason::kBadRequest, "the command ends with the exit code 1");
  }
  found->has = found->files;
  for (const std::string& source : FilesOf(found->object)) {
    const auto data = found->has.find(source);
    const bool have_all =
        data != found->has.end() && std::ranges::all_of(pods_, [&](const auto& each) {
          if (each.second.pods != found->pods || each.second.workload != found->workload) {
            return true;
          }
          const auto other = each.second.has.find(source);
          return other != each.second.has.end() && other->second == data->second;
        });
    if (have_all) {
      oracle_.Reloaded(found->workload, found->pods, source, data->second);
    }
  }
  return random_.Chance(kUntoldActions) ? Fail(Reason::kTimeout, "the command does not end")
                                        : Result<void>();
}

}  // namespace kubexx::simulation
