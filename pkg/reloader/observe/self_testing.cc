#include "kubexx/reloader/observe/self_testing.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "kubexx/base/stop_timer.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::DynamicResource;
using dynamic::Unstructured;

/// The time between two checks of an object.
constexpr base::Duration kBetweenLooks = std::chrono::milliseconds(250);
/// The time for the deletion of the test's objects, whether the test has succeeded or failed.
constexpr base::Duration kTimeToDelete = std::chrono::seconds(10);

constexpr char kTestedVariable[] = "VALUE";

const apimachinery::GroupVersionResource& ConfigMaps() {
  static const apimachinery::GroupVersionResource resource{"", "v1", "configmaps"};
  return resource;
}

const apimachinery::GroupVersionResource& Deployments() {
  static const apimachinery::GroupVersionResource resource{"apps", "v1", "deployments"};
  return resource;
}

/// Whether the same request may succeed a moment later, because the server, or a program between it
/// and the client, is in trouble.
bool MayPass(const apimachinery::Status& error) {
  switch (error.reason) {
    case Reason::kServerTimeout:
    case Reason::kTimeout:
    case Reason::kTooManyRequests:
    case Reason::kInternalError:
    case Reason::kServiceUnavailable:
    case Reason::kUnavailable:
      return true;
    default:
      return error.code >= 500;
  }
}

JsonTree TestMetadata(const SelfTestOptions& options) {
  JsonTree metadata = JsonTree::Object();
  metadata["name"] = options.name;
  metadata["namespace"] = options.namespace_;
  metadata["labels"]["app.kubernetes.io/name"] = "kubexx-self-test";
  return metadata;
}

Result<Unstructured> TestConfigMap(const SelfTestOptions& options) {
  JsonTree tree = JsonTree::Object();
  tree["apiVersion"] = "v1";
  tree["kind"] = "ConfigMap";
  tree["metadata"] = TestMetadata(options);
  tree["data"][kTestedVariable] = "before";
  return Unstructured::FromTree(std::move(tree));
}

/// Returns a container that the `restricted` pod security standard accepts. The workload never has
/// a pod. The operator's own image is one that the cluster's rules accept.
JsonTree TestContainer(const SelfTestOptions& options, const std::string& image) {
  JsonTree container = JsonTree::Object();
  container["name"] = "self-test";
  container["image"] = image;
  JsonTree reference = JsonTree::Object();
  reference["configMapRef"]["name"] = options.name;
  container["envFrom"].Append(std::move(reference));
  container["resources"]["requests"]["cpu"] = "1m";
  container["resources"]["requests"]["memory"] = "1Mi";
  container["resources"]["limits"]["memory"] = "1Mi";
  JsonTree& security = container["securityContext"];
  security["allowPrivilegeEscalation"] = false;
  security["readOnlyRootFilesystem"] = true;
  security["capabilities"]["drop"].Append("ALL");
  return container;
}

Result<Unstructured> TestDeployment(const SelfTestOptions& options, const std::string& image) {
  JsonTree tree = JsonTree::Object();
  tree["apiVersion"] = "apps/v1";
  tree["kind"] = "Deployment";
  tree["metadata"] = TestMetadata(options);
  tree["metadata"]["annotations"][options.keys.configmap_reload] = options.name;
  JsonTree& spec = tree["spec"];
  spec["replicas"] = 0;
  spec["selector"]["matchLabels"]["kubexx-self-test"] = options.name;
  JsonTree& pods = spec["template"];
  pods["metadata"]["labels"]["kubexx-self-test"] = options.name;
  pods["spec"]["automountServiceAccountToken"] = false;
  JsonTree& security = pods["spec"]["securityContext"];
  security["runAsNonRoot"] = true;
  security["runAsUser"] = 65534;
  security["seccompProfile"]["type"] = "RuntimeDefault";
  pods["spec"]["containers"].Append(TestContainer(options, image));
  return Unstructured::FromTree(std::move(tree));
}

/// Whether the Deployment has been rolled, by either strategy.
bool HasRolled(const Unstructured& deployment, const SelfTestOptions& options) {
  const auto annotations = deployment.GetStringMap({"spec", "template", "metadata", "annotations"});
  if (Find(annotations, kLastReloadedFrom) != nullptr) {
    return true;
  }
  const JsonTree* variables =
      deployment.Get({"spec", "template", "spec", "containers", "0", "env"});
  if (variables == nullptr) {
    return false;
  }
  const std::string name = EnvVarName(SourceType::kConfigMap, options.name);
  for (const JsonTree& variable : variables->elements()) {
    if (variable.TextAt("name") == name) {
      return true;
    }
  }
  return false;
}

std::string WhyNotRolled(const Unstructured& deployment) {
  return Find(deployment.Annotations(), kBaselineAnnotation) != nullptr
             ? "the operator has seen the Deployment, and not rolled it: perhaps a policy or a "
               "flag holds rollouts back"
             : "the operator has written nothing to the Deployment: perhaps it does not watch this "
               "namespace, or --dry-run or --webhook-url is on";
}

/// One run of the self-test, with the objects that it has made.
class SelfTestRun {
 public:
  SelfTestRun(const std::shared_ptr<rest::RESTClient>& client, const SelfTestOptions& options)
      : options_(options),
        config_maps_(dynamic::DynamicClient(client).Resource(ConfigMaps(), options.namespace_)),
        deployments_(dynamic::DynamicClient(client).Resource(Deployments(), options.namespace_)) {}

  Result<void> AwaitOperator(const std::stop_token& stop) {
    while (true) {
      const auto found = deployments_.Get(options_.deployment, {}, stop);
      if (stop.stop_requested()) {
        return Fail(Reason::kTimeout, "the Deployment " + options_.deployment + " is " + seen_);
      }
      if (!found && MayPass(found.error())) {
        seen_ = "not to be had: " + found.error().message;
        options_.clock.SleepFor(kBetweenLooks, stop);
        continue;
      }
      KX_RETURN_IF_ERROR(found);
      const auto number = [&found](Unstructured::Path path) {
        return found->GetInt(path).value_or(0);
      };
      const std::int64_t wanted = found->GetInt({"spec", "replicas"}).value_or(1);
      const std::int64_t available = number({"status", "availableReplicas"});
      if (wanted == 0) {
        return Fail(Reason::kConflict,
                    "the Deployment " + options_.deployment + " has no replicas");
      }
      if (number({"status", "observedGeneration"}) >= found->Generation() &&
          number({"status", "updatedReplicas"}) >= wanted &&
          number({"status", "replicas"}) <= number({"status", "updatedReplicas"}) &&
          available >= wanted) {
        image_ = found->GetString({"spec", "template", "spec", "containers", "0", "image"});
        return {};
      }
      seen_ = "not rolled out yet: " + std::to_string(available) + " of " + std::to_string(wanted) +
              " pods are available";
      options_.clock.SleepFor(kBetweenLooks, stop);
    }
  }

  Result<void> Reload(const std::stop_token& stop) {
    KX_ASSIGN_OR_RETURN(const Unstructured config_map, TestConfigMap(options_));
    KX_ASSIGN_OR_RETURN(const Unstructured deployment, TestDeployment(options_, image_));
    KX_RETURN_IF_ERROR(Create(config_maps_, config_map, has_config_map_, stop));
    KX_RETURN_IF_ERROR(Create(deployments_, deployment, has_deployment_, stop));
    KX_RETURN_IF_ERROR(config_maps_.Patch(
        options_.name,
        {.type = rest::PatchType::kMerge,
         .text = std::string(R"({"data":{")") + kTestedVariable + R"(":"after"}})"},
        {}, stop));
    std::string why = "the operator has not answered";
    while (true) {
      const auto now = deployments_.Get(options_.name, {}, stop);
      if (stop.stop_requested()) {
        return Fail(Reason::kTimeout, "the test's Deployment is not rolled: " + why);
      }
      if (!now && MayPass(now.error())) {
        why = "the API server does not tell of it: " + now.error().message;
        options_.clock.SleepFor(kBetweenLooks, stop);
        continue;
      }
      KX_RETURN_IF_ERROR(now);
      if (HasRolled(*now, options_)) {
        return {};
      }
      why = WhyNotRolled(*now);
      options_.clock.SleepFor(kBetweenLooks, stop);
    }
  }

  /// Deletes the objects, also those that may not exist, but none that the API server has refused
  /// to make. The error names the objects that are left.
  Result<void> Delete() const {
    const base::StopTimer limit(options_.clock, {}, kTimeToDelete);
    std::string left;
    apimachinery::Status error;
    for (const auto& [kind, objects, exists] :
         {std::tuple("Deployment", &deployments_, has_deployment_),
          std::tuple("ConfigMap", &config_maps_, has_config_map_)}) {
      if (auto deleted = exists ? Delete(*objects, limit.token()) : Result<void>(); !deleted) {
        left += (left.empty() ? "the " : " and the ") + std::string(kind) + " " + options_.name;
        error = std::move(deleted).error();
      }
    }
    return left.empty()
               ? Result<void>()
               : Fail(error.WithContext("what the test has made is left in the namespace " +
                                        options_.namespace_ + ", delete it: " + left));
  }

 private:
  /// `exists`: whether the object may be there afterwards.
  static Result<void> Create(const DynamicResource& objects, const Unstructured& object,
                             bool& exists, const std::stop_token& stop) {
    exists = true;
    auto created = objects.Create(object, {}, stop);
    if (!created) {
      exists = MayPass(created.error());
      return Fail(std::move(created).error());
    }
    return {};
  }
  Result<void> Delete(const DynamicResource& objects, const std::stop_token& stop) const {
    while (true) {
      const auto deleted = objects.Delete(
          options_.name, {.propagation = kubernetes::Propagation::kBackground}, stop);
      if (deleted || apimachinery::IsObjectNotFound(deleted.error())) {
        return {};
      }
      if (!MayPass(deleted.error()) || !options_.clock.SleepFor(kBetweenLooks, stop)) {
        return Fail(deleted.error());
      }
    }
  }

  const SelfTestOptions& options_;
  const DynamicResource config_maps_;
  const DynamicResource deployments_;
  bool has_config_map_ = false;
  bool has_deployment_ = false;
  std::string image_ = "kubexx-self-test";
  std::string seen_ = "not to be had";
};

}  // namespace

Result<void> RunSelfTest(const std::shared_ptr<rest::RESTClient>& client,
                         const SelfTestOptions& options,
                         base::FunctionRef<void(const std::string& what)> tell,
                         const std::stop_token& stop) {
  SelfTestRun run(client, options);
  if (!options.deployment.empty()) {
    KX_RETURN_IF_ERROR(run.AwaitOperator(stop));
    tell("the Deployment " + options.deployment + " is rolled out, and its pods are ready");
  }
  if (!options.reload) {
    return {};
  }
  const base::TimePoint begin = options.clock.Now();
  const auto reloaded = run.Reload(stop);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.clock.Now() - begin);
  const auto deleted = run.Delete();
  if (!reloaded) {
    apimachinery::Status error = reloaded.error();
    if (!deleted) {
      error.message += "; besides, " + deleted.error().message;
    }
    return Fail(std::move(error));
  }
  tell("a Deployment was rolled for a change of its ConfigMap, within " +
       std::to_string(took.count()) + " ms");
  return deleted;
}

}  // namespace kubexx::reloader
