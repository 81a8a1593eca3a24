#include "people.h"

#include <chrono>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::simulation {
namespace {

using std::to_string;

// Indexes of kWorkloadPlurals.
constexpr std::size_t kStatefulSet = 1;
constexpr std::size_t kDaemonSet = 2;

constexpr int kMostSpaces = 3;
constexpr int kSourcesEach = 3;
constexpr int kDeploymentsEach = 3;

std::string ValueOf(bool is_secret, std::uint64_t value) {
  return is_secret ? codec::EncodeBase64(kSecretMark + to_string(value)) : "v" + to_string(value);
}

}  // namespace

People::People(std::shared_ptr<rest::RESTClient> client, oracle::Random random, Timeline& timeline)
    : client_(std::move(client)), random_(random), timeline_(timeline) {
  const std::int64_t spaces = random_.Between(1, kMostSpaces);
  for (std::int64_t s = 0; s < spaces; ++s) {
    const std::string& space = spaces_.emplace_back("space-" + to_string(s));
    const std::size_t first = sources_.size();
    for (int i = 0; i < kSourcesEach; ++i) {
      sources_.push_back({.is_secret = i == 0, .space = space, .name = "s" + to_string(i)});
    }
    const std::int64_t deployments = random_.Between(1, kDeploymentsEach);
    for (std::int64_t i = 0; i < deployments; ++i) {
      Workload workload{.kind = random_.Chance(500) ? 0 : random_.Below(kWorkloadPlurals.size()),
                        .space = space,
                        .name = "d" + to_string(i)};
      for (std::size_t source = first; source < sources_.size(); ++source) {
        if (source == first + static_cast<std::size_t>(i) % kSourcesEach || random_.Chance(500)) {
          workload.sources.push_back(source);
        }
      }
      workloads_.push_back(std::move(workload));
    }
  }
}

void People::Insist(const std::string& method, const std::string& path, const std::string& body,
                    const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    rest::Request request = method == "PATCH" ? client_->Patch(rest::PatchType::kStrategicMerge)
                                              : client_->Verb(method);
    request.AbsPath(path);
    if (!body.empty()) {
      request.Body(codec::Encoding::kJson, body);
    }
    const auto answer = request.Do(stop);
    const int code = answer ? answer->code : answer.error().code;
    if (answer || (code >= 400 && code < 500 && code != 429)) {
      timeline_.Add(method + " " + path + (answer ? "" : ": " + answer.error().ToString()));
      return;
    }
    base::Clock::Real().SleepFor(std::chrono::milliseconds(200), stop);
  }
}

std::string People::PathOf(const Source& source) {
  return "/api/v1/namespaces/" + source.space + (source.is_secret ? "/secrets" : "/configmaps");
}

std::string People::PathOf(const Workload& workload) {
  return "/apis/apps/v1/namespaces/" + workload.space + "/" +
         std::string(kWorkloadPlurals[workload.kind]);
}

std::string People::BodyOf(const Source& source, bool labelled) {
  return R"({"metadata":{"name":")" + source.name + R"(","labels":{"touched":")" +
         to_string(labelled ? source.value + source.former : 0) + R"("}},"data":{"key":")" +
         ValueOf(source.is_secret, source.value) + R"("}})";
}

std::string People::BodyOf(const Workload& workload) const {
  std::string copied;
  if (!workload.baseline.empty()) {
    copied = R"(,"reloader.kubexx.io/baseline":)" + codec::JsonTree(workload.baseline).ToJson();
  }
  std::string from;
  for (const std::size_t index : workload.sources) {
    const Source& source = sources_[index];
    from += (from.empty() ? "" : ",") +
            std::string(source.is_secret ? R"({"secretRef":{"name":")"
                                         : R"({"configMapRef":{"name":")") +
            source.name + R"("}})";
  }
  return R"({"metadata":{"name":")" + workload.name +
         R"(","annotations":{"reloader.stakater.com/auto":"true")" + copied + "}},\"spec\":{" +
         (workload.kind == kDaemonSet ? "" : R"("replicas":2,)") +
         (workload.kind == kStatefulSet ? R"("serviceName":"service",)" : "") +
         R"("selector":{"matchLabels":{"app":")" + workload.name +
         R"("}},"template":{"metadata":{"labels":{"app":")" + workload.name +
         R"("}},"spec":{"containers":[{"name":"main","image":"image:)" +
         to_string(workload.release) + R"(","envFrom":[)" + from + "]}]}}}}";
}

void People::Put(Source& source, const std::stop_token& stop) {
  source.former = source.value;
  source.value = next_value_++;
  source.there = true;
  source.paused = false;
  Insist("POST", PathOf(source), BodyOf(source, false), stop);
}

void People::Put(Workload& workload, const std::stop_token& stop) {
  workload.there = true;
  Insist("POST", PathOf(workload), BodyOf(workload), stop);
}

void People::Edit(Source& source, std::uint64_t value, const std::stop_token& stop) {
  if (!source.there) {
    Put(source, stop);
    return;
  }
  source.former = std::exchange(source.value, value);
  Insist("PATCH", PathOf(source) + "/" + source.name,
         R"({"data":{"key":")" + ValueOf(source.is_secret, source.value) + R"("}})", stop);
}

std::string People::BaselineAt(const std::string& path, const std::stop_token& stop) {
  const auto answer = client_->Get().AbsPath(path).Do(stop);
  const auto object = answer ? codec::JsonTree::Parse(answer->body)
                             : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  const codec::JsonTree* const text =
      object ? object->At({"metadata", "annotations", "reloader.kubexx.io/baseline"}) : nullptr;
  return text == nullptr || text->AsString() == nullptr ? "" : *text->AsString();
}

void People::SetRights(bool given, const std::stop_token& stop) {
  const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  if (!given) {
    Insist("DELETE", bindings + "/" + kOperatorUser, "", stop);
    return;
  }
  Insist("POST", bindings,
         R"({"metadata":{"name":")" + std::string(kOperatorUser) +
             R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
             R"("name":"cluster-admin"},"subjects":[{"kind":"User","name":")" +
             kOperatorUser + R"(","apiGroup":"rbac.authorization.k8s.io"}]})",
         stop);
}

void People::Begin(const std::stop_token& stop) {
  SetRights(true, stop);
  spaces_.emplace_back("operators");
  for (const std::string& space : spaces_) {
    Insist("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + space + R"("}})", stop);
  }
  for (Source& source : sources_) {
    Put(source, stop);
  }
  for (Workload& workload : workloads_) {
    Put(workload, stop);
  }
}

void People::Act(const std::stop_token& stop) {
  Source& source = sources_[random_.Below(sources_.size())];
  Workload& workload = workloads_[random_.Below(workloads_.size())];
  const std::string path = PathOf(workload) + "/" + workload.name;
  const std::uint64_t what = random_.Below(100);
  if (what < 55) {
    Edit(source, next_value_++, stop);
  } else if (what < 63) {
    Edit(source, source.former, stop);
  } else if (what < 70 && source.there) {
    Insist("PATCH", PathOf(source) + "/" + source.name,
           R"({"metadata":{"labels":{"touched":")" + to_string(next_value_++) + R"("}}})", stop);
  } else if (what < 73 && source.there) {
    source.paused = !source.paused;
    Insist("PATCH", PathOf(source) + "/" + source.name,
           R"({"metadata":{"annotations":{"reloader.kubexx.io/paused":)" +
               std::string(source.paused ? R"("true")" : "null") + "}}}",
           stop);
  } else if (what < 80) {
    for (std::uint64_t i = 0; i <= random_.Below(6); ++i) {
      Edit(sources_[random_.Below(sources_.size())], next_value_++, stop);
    }
  } else if (what < 88 && workload.there) {
    ++workload.release;
    Insist("PATCH", path,
           R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"image:)" +
               to_string(workload.release) + R"("}]}}}})",
           stop);
  } else if (what < 92 && source.there) {
    source.there = false;
    Insist("DELETE", PathOf(source) + "/" + source.name, "", stop);
  } else if (what < 96 && workload.there) {
    workload.there = false;
    workload.baseline = random_.Chance(500) ? BaselineAt(path, stop) : "";
    Insist("DELETE", path, "", stop);
  } else if (!workload.there) {
    Put(workload, stop);
  } else if (!source.there) {
    Put(source, stop);
  }
}

}  // namespace kubexx::simulation
