// What the objects look like that people make.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "kubelet.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "oracle/pod_template.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

using std::to_string;

}  // namespace

std::string PlainValueOf(bool is_secret, std::uint64_t value) {
  return std::string(is_secret ? kSecretMark : "v") +
         (value >= kFirstBad ? std::string(oracle::kBadData) : "") + to_string(value);
}

std::string People::ValueOf(bool is_secret, std::uint64_t value) {
  std::string plain = PlainValueOf(is_secret, value);
  return is_secret ? codec::EncodeBase64(plain) : plain;
}

std::string People::PathOf(const Source& source) {
  if (source.is_object) {
    return kObjectGroup + ("namespaces/" + source.space + "/" + oracle::kObjectPlural);
  }
  return "/api/v1/namespaces/" + source.space + (source.is_secret ? "/secrets" : "/configmaps");
}

std::string People::PathOf(const Workload& workload) {
  const bool is_of_batch = workload.kind == kCronJob || workload.kind == kJob;
  return std::string(is_of_batch                 ? "/apis/batch/v1/namespaces/"
                     : workload.kind == kRollout ? "/apis/argoproj.io/v1alpha1/namespaces/"
                                                 : "/apis/apps/v1/namespaces/") +
         workload.space + "/" + std::string(kWorkloadPlurals[workload.kind]);
}

std::string People::TemplatePathOf(const Workload& workload) {
  return workload.base.empty()
             ? PathOf(workload) + "/" + workload.name
             : "/apis/apps/v1/namespaces/" + workload.space + "/deployments/" + workload.base;
}

std::string People::DataOf(const Source& source) {
  return R"({"key":")" + ValueOf(source.is_secret, source.value) + R"(","other":")" +
         ValueOf(source.is_secret, source.other) + R"("})";
}

std::string People::BodyOf(const Source& source, bool labelled) const {
  const std::string begin = !source.is_object ? "{"
                                              : R"({"apiVersion":"ci.example.com/v1","kind":")" +
                                                    std::string(oracle::kObjectKind) + R"(",)";
  return begin + R"("metadata":{"name":")" + source.name + R"(","labels":{"touched":")" +
         to_string(labelled ? source.value + source.former : 0) + R"("})" +
         (HasOthers() && source.allowed
              ? R"(,"annotations":{")" + std::string(reloader::kAllowedNamespaces) + R"(":"*"})"
              : "") +
         R"(},"data":)" + DataOf(source) + "}";
}

std::string People::FilesOf(const Workload& workload) const {
  std::string mounts;
  for (const std::size_t index : workload.sources) {
    const Source& source = sources_[index];
    mounts += (mounts.empty() ? R"({"name":")" : R"(,{"name":")") + source.name +
              R"(","mountPath":")" +
              DirectoryOf((source.is_secret ? "secrets/" : "configmaps/") + source.space + "/" +
                          source.name) +
              R"("})";
  }
  const Source& first = sources_[workload.sources.front()];
  return R"("volumeMounts":[)" + mounts + "]" +
         (!workload.has_both
              ? ""
              : R"(,"envFrom":[{)" +
                    std::string(first.is_secret ? R"("secretRef)" : R"("configMapRef)") +
                    R"(":{"name":")" + first.name + R"("}}])");
}

std::string People::VolumesOf(const Workload& workload) const {
  std::string volumes;
  if (workload.mounts) {
    volumes = R"({"name":"csi","csi":{"driver":"secrets-store.csi.k8s.io","volumeAttributes":)"
              R"({"secretProviderClass":")" +
              std::string(kProviderClass) + R"("}}})";
  }
  for (std::size_t i = 0; workload.in_place && i < workload.sources.size(); ++i) {
    const Source& source = sources_[workload.sources[i]];
    volumes += (i == 0 ? R"({"name":")" : R"(,{"name":")") + source.name +
               (source.is_secret ? R"(","secret":{"secretName":")" : R"(","configMap":{"name":")") +
               source.name + R"("}})";
  }
  return volumes.empty() ? "" : R"(,"volumes":[)" + volumes + "]";
}

bool People::NamesObjects(const Workload& workload) const {
  return std::ranges::any_of(workload.sources,
                             [this](std::size_t index) { return sources_[index].is_object; });
}

std::string People::ReloadOnOf(const Workload& workload) const {
  std::string names;
  for (const std::size_t index : workload.sources) {
    if (sources_[index].is_object) {
      names += (names.empty() ? "" : ", ") + std::string(oracle::kObjectKind) + "/" +
               sources_[index].name;
    }
  }
  std::string others;
  for (const std::size_t index : workload.others) {
    const Source& source = sources_[index];
    others += (others.empty() ? "" : ", ") +
              std::string(source.is_secret ? "Secret/" : "ConfigMap/") + source.space + "/" +
              source.name;
  }
  std::string annotations;
  for (const auto& [key, list] : {std::pair(reloader::kReloadOn, names),
                                  std::pair(reloader::kReloadOnOtherNamespaces, others)}) {
    if (!list.empty()) {
      annotations +=
          (annotations.empty() ? R"(")" : R"(,")") + std::string(key) + R"(":")" + list + '"';
    }
  }
  return annotations.empty() ? annotations : R"("annotations":{)" + annotations + "},";
}

std::string People::UseOf(const Workload& workload) const {
  if (workload.in_place) {
    return FilesOf(workload);
  }
  std::string uses;
  for (const std::size_t index : workload.sources) {
    const Source& source = sources_[index];
    if (source.is_object) {
      continue;
    }
    const std::string reference = std::string(source.is_secret ? R"("secret)" : R"("configMap)") +
                                  (workload.by_key ? "KeyRef" : "Ref") + R"(":{"name":")" +
                                  source.name + '"';
    uses += uses.empty() ? "" : ",";
    uses += workload.by_key ? R"({"name":"FROM_)" + source.name + R"(","valueFrom":{)" + reference +
                                  R"(,"key":"key"}}})"
                            : "{" + reference + "}}";
  }
  return (workload.by_key ? R"("env":[)" : R"("envFrom":[)") + uses + "]";
}

std::string People::PodOf(const Workload& workload) const {
  return R"({"metadata":{)" + ReloadOnOf(workload) + R"("labels":{"app":")" + workload.name +
         R"("}},"spec":{)" + (HasTemplate(workload) ? "" : R"("restartPolicy":"Never",)") +
         R"("containers":[{"name":"main","image":"image:)" + to_string(workload.release) + R"(",)" +
         UseOf(workload) +
         (workload.mounts ? R"(,"volumeMounts":[{"name":"csi","mountPath":"/csi"}])" : "") + "}]" +
         VolumesOf(workload) + "}}";
}

std::string People::BaseBodyOf(const Workload& workload) const {
  return R"({"metadata":{"name":")" + workload.base + R"(","annotations":{")" +
         std::string(oracle::kBaseAnnotation) +
         R"(":"true"}},"spec":{"replicas":0,"selector":{"matchLabels":{"app":")" + workload.name +
         R"("}},"template":)" + PodOf(workload) + "}}";
}

std::string People::BodyOf(const Workload& workload) {
  std::string copied =
      workload.unrecorded ? R"(,"reloader.kubexx.io/record-baseline":"false")" : "";
  if (workload.pauses) {
    copied += R"(,"deployment.reloader.stakater.com/pause-period":"20s")";
  }
  if (workload.by_key) {
    copied += R"(,"reloader.kubexx.io/keys":"Referenced")";
  }
  if (workload.in_place) {
    copied += R"(,"reloader.kubexx.io/reload-in-place":"signal:HUP")";
  }
  if (!workload.baseline.empty()) {
    copied += R"(,"reloader.kubexx.io/baseline":)" + codec::JsonTree(workload.baseline).ToJson();
  }
  if (workload.kind == kJob) {  // by which it is told from those that operators make
    copied += R"(,")" + std::string(oracle::kMarkAnnotation) + R"(":")" + NextMark("made") + '"';
  }
  const std::string begin =
      std::string("{") +
      (workload.kind == kRollout ? R"("apiVersion":"argoproj.io/v1alpha1","kind":"Rollout",)"
                                 : "") +
      R"("metadata":{"name":")" + workload.name +
      R"(","annotations":{"reloader.stakater.com/auto":"true")" + copied + R"(}},"spec":{)";
  if (workload.kind == kCronJob) {
    return begin + R"("schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":)" +
           PodOf(workload) + "}}}}";
  }
  if (workload.kind == kJob) {
    return begin + R"("template":)" + PodOf(workload) + "}}";
  }
  if (!workload.base.empty()) {
    return begin +
           R"("replicas":2,"workloadRef":{"apiVersion":"apps/v1","kind":"Deployment",)"
           R"("name":")" +
           workload.base + R"("}}})";
  }
  return begin + (workload.kind == kDaemonSet ? "" : R"("replicas":2,)") +
         (workload.kind == kStatefulSet ? R"("serviceName":"service",)" : "") +
         R"("selector":{"matchLabels":{"app":")" + workload.name + R"("}},"template":)" +
         PodOf(workload) + "}}";
}

}  // namespace kubexx::simulation
