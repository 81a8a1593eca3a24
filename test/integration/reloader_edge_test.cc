// What surrounds the reloader's core, with the program against a real API server: replicas, shards,
// namespaces, pauses, Events, the meta-info ConfigMap, alerts and the webhook.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apimachinery/resource_version.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/kubernetes/coordination_v1.gen.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::integration {
namespace {

using api::apps::v1::Deployment;
using api::core::v1::Namespace;
using kubernetes::ResourceClient;

constexpr char kConfigVariable[] = "STAKATER_CONFIG_CONFIGMAP";

/// kubexx-reloader with a few variables in its environment. Killed at the end if it still runs.
class Program {
 public:
  Program(std::vector<std::string> arguments, const std::map<std::string, std::string>& variables) {
    const char* folder = std::getenv("KUBEXX_BIN_DIR");
    const std::string path = std::string(folder == nullptr ? "." : folder) + "/kubexx-reloader";
    arguments.insert(arguments.begin(),
                     {path, "--kubeconfig=" + std::string(std::getenv("KUBEXX_TEST_KUBECONFIG")),
                      "--metrics-addr=127.0.0.1:0"});
    std::vector<std::string> environment;
    for (char** each = environ; *each != nullptr; ++each) {
      environment.emplace_back(*each);
    }
    for (const auto& [name, value] : variables) {
      environment.push_back(name + "=" + value);
    }
    EXPECT_EQ(posix_spawn(&pid_, path.c_str(), nullptr, nullptr, Pointers(arguments).data(),
                          Pointers(environment).data()),
              0)
        << "cannot run " << path;
  }
  ~Program() { End(SIGKILL); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The exit status, or nothing when a signal ended it.
  std::optional<int> End(int signal_number) {
    if (pid_ <= 0) {
      return std::nullopt;
    }
    kill(pid_, signal_number);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

  /// The exit status once it has ended by itself; nothing while it runs.
  std::optional<int> ExitStatus() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) {
      return std::nullopt;
    }
    pid_ = 0;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
      pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
  }

  pid_t pid_ = 0;
};

/// Bodies of the POST requests it got.
class Sink {
 public:
  std::string Url() const { return server_.Url(); }
  /// The path, the content type, and the header Authorization ("" without one) of each.
  std::vector<std::string> Heads() {
    const base::MutexLock lock(mu_);
    return heads_;
  }
  std::vector<std::string> Bodies() {
    const base::MutexLock lock(mu_);
    return bodies_;
  }

 private:
  base::Mutex mu_;
  std::vector<std::string> bodies_ KX_GUARDED_BY(mu_);
  std::vector<std::string> heads_ KX_GUARDED_BY(mu_);
  rest::testing::FakeServer server_{[this](rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      {
        const base::MutexLock lock(mu_);
        bodies_.push_back(request->body);
        const auto authorization = request->headers.find("authorization");
        heads_.push_back(request->target + " " + request->headers.at("content-type") + " " +
                         (authorization == request->headers.end() ? "" : authorization->second));
      }
      connection.Respond(200, "text/plain", "ok");
    }
  }};
};

class ReloaderEdge : public ClusterTest {
 protected:
  void TearDown() override {
    for (const std::string& name : others_) {
      (void)kubernetes::Clientset(client_).CoreV1().Namespaces().Delete(name);
    }
    ClusterTest::TearDown();
  }

  std::string NewNamespace(const std::string& suffix) {
    Namespace object;
    object.metadata.name = namespace_ + "-" + suffix;
    EXPECT_TRUE(kubernetes::Clientset(client_).CoreV1().Namespaces().Create(object));
    others_.push_back(object.metadata.name);
    return object.metadata.name;
  }
  void PutConfig(const std::string& value, const std::string& in) {
    ConfigMap object;
    object.metadata.name = "config";
    object.data["key"] = value;
    const ResourceClient<ConfigMap> config_maps(client_, in);
    if (!config_maps.Update(object)) {
      const auto created = config_maps.Create(object);
      ASSERT_TRUE(created) << created.error().ToString();
    }
  }
  /// "web", which rolls for "config" and has rolled for the value "old" before.
  void CreateWeb(const std::string& in, const std::map<std::string, std::string>& more = {}) {
    PutConfig("old", in);
    Deployment web;
    web.metadata.name = "web";
    web.metadata.annotations = more;
    web.metadata.annotations["configmap.reloader.stakater.com/reload"] = "config";
    web.spec.selector.emplace().match_labels["app"] = "web";
    web.spec.template_.metadata.labels["app"] = "web";
    auto& container = web.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.image = "example.com/app:1";
    container.env.push_back({.name = kConfigVariable, .value = DigestOf("old")});
    const auto created = Deployments(in).Create(web);
    ASSERT_TRUE(created) << created.error().ToString();
  }
  ResourceClient<Deployment> Deployments(const std::string& in) const { return {client_, in}; }
  static std::string DigestOf(const std::string& value) {
    return reloader::DigestOf("key=" + value).ToString();
  }
  Deployment Web(const std::string& in) const {
    return Deployments(in).Get("web").value_or(Deployment());
  }
  bool RunsWith(const std::string& value, const std::string& in) const {
    const Deployment web = Web(in);
    return !web.spec.template_.spec.containers.empty() &&
           std::ranges::any_of(web.spec.template_.spec.containers[0].env, [&](const auto& each) {
             return each.name == kConfigVariable && each.value == DigestOf(value);
           });
  }
  bool AwaitRollout(const std::string& value, const std::string& in) {
    return Await([&] { return RunsWith(value, in); });
  }
  /// Whether the pods of the template that is there now can only have begun with the ConfigMap's
  /// data of now: the operator writes no template for data that its pods have anyway, also where
  /// it had read older data for the rollout under way. No controller writes to a Deployment here,
  /// so its resourceVersion is that of its template.
  bool BeganAfterConfig(const std::string& in) const {
    const auto config = ResourceClient<ConfigMap>(client_, in).Get("config");
    return config && apimachinery::CompareResourceVersions(Web(in).metadata.resource_version,
                                                           config->metadata.resource_version) ==
                         std::strong_ordering::greater;
  }
  /// By their Events. A program that ends drops those that the server has not taken within a
  /// second, so those that have to be there are awaited before.
  int Rollouts(const std::string& in) const {
    const auto list = kubernetes::Clientset(client_).CoreV1().Events(in).List();
    EXPECT_TRUE(list) << list.error().ToString();
    int rollouts = 0;
    for (const auto& each : list->items) {
      rollouts += each.reason == "Reloaded" ? std::max(1, static_cast<int>(each.count)) : 0;
    }
    return rollouts;
  }
  bool AwaitRollouts(int at_least, const std::string& in) const {
    return Await([&] { return Rollouts(in) >= at_least; });
  }
  std::string Holder(const std::string& lease) const {
    const auto found =
        kubernetes::Clientset(client_).CoordinationV1().Leases(namespace_).Get(lease);
    return found ? found->spec.holder_identity.value_or("") : std::string();
  }
  std::unique_ptr<Program> Replica(const std::string& pod, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--enable-ha", "--settle-window=20ms"});
    return std::make_unique<Program>(
        std::move(arguments),
        std::map<std::string, std::string>{{"POD_NAME", pod}, {"POD_NAMESPACE", namespace_}});
  }

  std::vector<std::string> others_;
};

TEST_F(ReloaderEdge, AStandbyTakesOverWhatTheLeaderLeaves) {
  CreateWeb(namespace_);
  const std::string scope = "--namespaces=" + namespace_;
  auto first = Replica("first", {scope});
  ASSERT_TRUE(Await([&] { return Holder("stakater-reloader-lock") == "first"; }));
  const auto second = Replica("second", {scope});
  PutConfig("a", namespace_);
  ASSERT_TRUE(AwaitRollout("a", namespace_));

  ASSERT_TRUE(AwaitRollouts(1, namespace_));
  EXPECT_EQ(first->End(SIGTERM), 0);
  PutConfig("b", namespace_);
  ASSERT_TRUE(AwaitRollout("b", namespace_));
  EXPECT_EQ(Holder("stakater-reloader-lock"), "second");
  EXPECT_TRUE(AwaitRollouts(2, namespace_));
  EXPECT_EQ(second->End(SIGTERM), 0);
  EXPECT_EQ(Rollouts(namespace_), 2);
}

TEST_F(ReloaderEdge, ShardsMoveWithoutMissedOrDoubleRollouts) {
  constexpr int kShards = 2;
  std::map<int, std::string> space_of;  // one namespace for each shard
  for (int i = 0; static_cast<int>(space_of.size()) < kShards; ++i) {
    const std::string suffix = std::to_string(i);
    const int shard = reloader::ShardOf(namespace_ + "-" + suffix, kShards);
    if (!space_of.contains(shard)) {
      space_of[shard] = NewNamespace(suffix);
      CreateWeb(space_of[shard]);
    }
  }
  const std::string scope = "--namespaces=" + space_of[0] + "," + space_of[1];
  const auto holders = [&] {
    return std::set<std::string>{Holder("stakater-reloader-lock-0"),
                                 Holder("stakater-reloader-lock-1")};
  };
  auto first = Replica("first", {scope, "--shards=2"});
  ASSERT_TRUE(Await([&] { return holders() == std::set<std::string>{"first"}; }));
  const auto second = Replica("second", {scope, "--shards=2"});
  // While a shard moves, its namespace changes.
  for (const std::string value : {"a", "b"}) {
    for (const auto& [shard, name] : space_of) {
      PutConfig(value, name);
    }
  }
  ASSERT_TRUE(Await([&] { return holders() == std::set<std::string>{"first", "second"}; }));
  for (const auto& [shard, name] : space_of) {
    EXPECT_TRUE(Await([&] { return RunsWith("b", name) || BeganAfterConfig(name); }));
    EXPECT_TRUE(AwaitRollouts(1, name));
  }
  EXPECT_EQ(first->End(SIGTERM), 0);
  for (const auto& [shard, name] : space_of) {
    PutConfig("c", name);
    EXPECT_TRUE(AwaitRollout("c", name));
    EXPECT_TRUE(AwaitRollouts(2, name)) << "b, perhaps after a, and c";
  }
  EXPECT_EQ(holders(), std::set<std::string>{"second"});
  EXPECT_EQ(second->End(SIGTERM), 0);
  for (const auto& [shard, name] : space_of) {
    EXPECT_LE(Rollouts(name), 3) << "a, which b may have overtaken, b and c";
  }
}

TEST_F(ReloaderEdge, ANamespaceThatIsSelectedLaterIsMadeUpFor) {
  CreateWeb(namespace_);
  const std::string other = NewNamespace("other");
  CreateWeb(other);
  const std::string label = "kubexx-test-" + namespace_;
  const auto select = [&](const std::string& name) {
    const auto patched = ResourceClient<Namespace>(client_, "")
                             .Patch(name, rest::PatchType::kMerge,
                                    R"({"metadata":{"labels":{")" + label + R"(":"yes"}}})");
    ASSERT_TRUE(patched) << patched.error().ToString();
  };
  select(other);
  Program program({"--namespace-selector=\"" + label + ":yes\""}, {});
  PutConfig("new", namespace_);
  PutConfig("new", other);
  ASSERT_TRUE(AwaitRollout("new", other));
  EXPECT_FALSE(RunsWith("new", namespace_));
  select(namespace_);
  EXPECT_TRUE(AwaitRollout("new", namespace_));
}

TEST_F(ReloaderEdge, AVariableThatHasAValueFromGetsItsValue) {
  CreateWeb(namespace_);
  Deployment web = Web(namespace_);
  auto& variable = web.spec.template_.spec.containers.at(0).env.at(0);
  variable.value.clear();
  variable.value_from.emplace().field_ref.emplace().field_path = "metadata.name";
  const auto updated = Deployments(namespace_).Update(web);
  ASSERT_TRUE(updated) << updated.error().ToString();
  const Program program({"--namespaces=" + namespace_}, {});
  PutConfig("new", namespace_);
  ASSERT_TRUE(AwaitRollout("new", namespace_));
  EXPECT_FALSE(Web(namespace_).spec.template_.spec.containers.at(0).env.at(0).value_from);
}

TEST_F(ReloaderEdge, APauseOutlivesTheProcess) {
  constexpr char kPausedAt[] = "deployment.reloader.stakater.com/paused-at";
  CreateWeb(namespace_, {{"deployment.reloader.stakater.com/pause-period", "1h"}});
  const std::vector<std::string> scope{"--namespaces=" + namespace_};
  auto program = std::make_unique<Program>(scope, std::map<std::string, std::string>());
  PutConfig("new", namespace_);
  ASSERT_TRUE(AwaitRollout("new", namespace_));
  EXPECT_TRUE(Web(namespace_).spec.paused);
  EXPECT_TRUE(Web(namespace_).metadata.annotations.contains(kPausedAt));
  program->End(SIGKILL);
  EXPECT_TRUE(Web(namespace_).spec.paused);
  // Its end comes while no process is there.
  const auto moved = Deployments(namespace_)
                         .Patch("web", rest::PatchType::kMerge,
                                R"({"metadata":{"annotations":{")" + std::string(kPausedAt) +
                                    R"(":"2024-01-01T00:00:00Z"}}})");
  ASSERT_TRUE(moved) << moved.error().ToString();
  program = std::make_unique<Program>(scope, std::map<std::string, std::string>());
  EXPECT_TRUE(Await([&] { return !Web(namespace_).spec.paused; }));
  EXPECT_FALSE(Web(namespace_).metadata.annotations.contains(kPausedAt));
}

TEST_F(ReloaderEdge, AJobThatIsBeingMadeAnewOutlivesTheProcess) {
  const dynamic::DynamicResource jobs =
      dynamic::DynamicClient(client_).Resource({"batch", "v1", "jobs"}, namespace_);
  PutConfig("old", namespace_);
  // The finalizer keeps the old Job for as long as the test wants it.
  const auto job = dynamic::Unstructured::Parse(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"work","labels":{"l":"1"},)"
      R"("finalizers":["example.com/hold"],"annotations":{"reloader.stakater.com/auto":"true"}},)"
      R"("spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"app",)"
      R"("image":"example.com/app:1","env":[{"name":"STAKATER_CONFIG_CONFIGMAP","value":")" +
      DigestOf("old") + R"("}],"envFrom":[{"configMapRef":{"name":"config"}}]}]}}}})");
  ASSERT_TRUE(job) << job.error().ToString();
  const auto created = jobs.Create(*job);
  ASSERT_TRUE(created) << created.error().ToString();
  const std::vector<std::string> scope{"--namespaces=" + namespace_};
  auto program = std::make_unique<Program>(scope, std::map<std::string, std::string>());
  PutConfig("new", namespace_);
  ASSERT_TRUE(Await([&] {
    const auto old = jobs.Get("work");
    return old && old->Get({"metadata", "deletionTimestamp"}) != nullptr;
  }));
  program->End(SIGKILL);
  const auto released = jobs.Patch(
      "work", {.type = rest::PatchType::kMerge, .text = R"({"metadata":{"finalizers":null}})"});
  ASSERT_TRUE(released) << released.error().ToString();
  ASSERT_TRUE(Await([&] { return !jobs.Get("work"); }));
  EXPECT_EQ(jobs.List()->items.size(), 1U) << "what is left is the keeper";

  program = std::make_unique<Program>(scope, std::map<std::string, std::string>());
  ASSERT_TRUE(Await([&] { return jobs.Get("work").has_value(); }));
  const auto found = jobs.Get("work");
  EXPECT_NE(found->Uid(), created->Uid());
  EXPECT_EQ(found->Labels().at("l"), "1");
  EXPECT_EQ(found->GetString({"spec", "template", "spec", "containers", "0", "env", "0", "value"}),
            DigestOf("new"));
  ASSERT_TRUE(Await([&] { return jobs.List()->items.size() == 1; })) << "the keeper goes";
  EXPECT_EQ(program->End(SIGTERM), 0);
  EXPECT_EQ(jobs.Get("work")->Uid(), found->Uid()) << "and the Job stays";
}

TEST_F(ReloaderEdge, TellsByEventsAlertsAndMetaInfo) {
  CreateWeb(namespace_);
  Sink sink;
  Program program({"--namespaces=" + namespace_},
                  {{"RELOADER_NAMESPACE", namespace_},
                   {"RELOADER_DEPLOYMENT_NAME", "reloader"},
                   {"ALERT_ON_RELOAD", "true"},
                   {"ALERT_SINK", "gchat"},
                   {"ALERT_ADDITIONAL_INFO", "test"},
                   {"ALERT_WEBHOOK_URL", sink.Url() + "/room?key=1"}});
  PutConfig("new", namespace_);
  ASSERT_TRUE(AwaitRollout("new", namespace_));
  EXPECT_TRUE(Await([&] { return sink.Bodies().size() == 1; }));
  EXPECT_EQ(sink.Bodies().at(0),
            R"({"text":"test : Reloader detected changes in *config* of type *CONFIGMAP* in )"
            "namespace *" +
                namespace_ + "*. Hence reloaded *web* of type *Deployment* in namespace *" +
                namespace_ + R"(*"})");
  const auto event = [&]() -> std::optional<api::core::v1::Event> {
    const auto list = kubernetes::Clientset(client_).CoreV1().Events(namespace_).List();
    for (const auto& each : list ? list->items : std::vector<api::core::v1::Event>()) {
      if (each.reason == "Reloaded") {
        return each;
      }
    }
    return std::nullopt;
  };
  ASSERT_TRUE(Await([&] { return event().has_value(); }));
  EXPECT_EQ(event()->source.component, "reloader-configmaps");
  EXPECT_EQ(event()->type, "Normal");
  EXPECT_EQ(event()->involved_object.kind, "Deployment");
  EXPECT_EQ(event()->involved_object.uid, Web(namespace_).metadata.uid);
  EXPECT_EQ(event()->message, "Changes detected in 'config' of type 'CONFIGMAP' in namespace '" +
                                  namespace_ + "', Updated 'web' of type 'Deployment' in " +
                                  "namespace '" + namespace_ + "'");
  ASSERT_TRUE(Await([&] { return ConfigMaps().Get("reloader-meta-info").has_value(); }));
  const auto info = ConfigMaps().Get("reloader-meta-info");
  EXPECT_EQ(info->data.at("deploymentInfo"),
            R"({"name":"reloader","namespace":")" + namespace_ + R"("})");
  EXPECT_EQ(info->metadata.labels.at("reloader.stakater.com/meta-info"), "reloader");
}

TEST_F(ReloaderEdge, TellsReceiversOfARollout) {
  CreateWeb(namespace_);
  Sink sink;
  const base::testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/receivers.yaml";
  const std::string member =
      ", headers: {Authorization: Bearer t}, namespaces: ['" + namespace_ + "']}\n";
  std::ofstream(file) << "cluster: test\nreceivers:\n- {name: log, type: Text, url: '" +
                             sink.Url() + "/text'" + member +
                             "- {name: events, type: CloudEvents, url: '" + sink.Url() +
                             "/events'" + member + "- {name: graphs, type: Grafana, url: '" +
                             sink.Url() + "/g/'" + member +
                             "- {name: others, type: Slack, namespaces: [none], url: '" +
                             sink.Url() + "/slack'}\n";
  Program program({"--namespaces=" + namespace_, "--notifications=" + file},
                  {{"RELOADER_NAMESPACE", namespace_}, {"RELOADER_DEPLOYMENT_NAME", "reloader"}});
  PutConfig("new", namespace_);
  ASSERT_TRUE(AwaitRollout("new", namespace_));
  EXPECT_TRUE(Await([&] { return sink.Bodies().size() == 3; }));
  EXPECT_EQ(program.End(SIGTERM), 0);
  const std::vector<std::string> heads = sink.Heads();
  const std::vector<std::string> bodies = sink.Bodies();
  ASSERT_EQ(bodies.size(), 3U) << "and nothing for a receiver of another namespace";
  std::map<std::string, std::string> told;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    told[heads[i]] = bodies[i];
  }
  EXPECT_TRUE(told["/text text/plain; charset=utf-8 Bearer t"].starts_with(
      "Deployment " + namespace_ + "/web was rolled\n"));
  const auto event = codec::JsonTree::Parse(told["/events application/cloudevents+json Bearer t"]);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->TextAt("type"), "io.kubexx.reloader.Reloaded");
  EXPECT_EQ(event->TextAt("subject"), "Deployment/" + namespace_ + "/web");
  EXPECT_EQ(event->TextAt("source"),
            "/clusters/test/namespaces/" + namespace_ + "/deployments/reloader");
  const auto annotation =
      codec::JsonTree::Parse(told["/g/api/annotations application/json; charset=utf-8 Bearer t"]);
  ASSERT_TRUE(annotation);
  EXPECT_EQ(annotation->Find("tags")->ToJson(),
            R"(["kubexx-reloader","severity:info","cluster:test","namespace:)" + namespace_ +
                R"(","workload:Deployment/web","source:ConfigMap/config"])");
}

TEST_F(ReloaderEdge, EndsWhenTheFileOfReceiversIsWrong) {
  const base::testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/receivers.yaml";
  std::ofstream(file) << "receivers: [{name: ops, type: Slak, url: 'https://example.com'}]";
  Program program({"--namespaces=" + namespace_, "--notifications=" + file}, {});
  std::optional<int> status;
  ASSERT_TRUE(Await([&] { return (status = program.ExitStatus()).has_value(); }));
  EXPECT_EQ(status, 1);
}

TEST_F(ReloaderEdge, CallsTheWebhookInsteadOfRolling) {
  CreateWeb(namespace_);
  Sink sink;
  Program program({"--namespaces=" + namespace_, "--webhook-url=" + sink.Url()},
                  {{"RELOADER_NAMESPACE", namespace_}});
  // Changes count once the first list is here, of which nothing tells: change until one does.
  int i = 0;
  ASSERT_TRUE(Await([&] {
    PutConfig(std::to_string(++i), namespace_);
    return !sink.Bodies().empty();
  }));
  EXPECT_EQ(sink.Bodies().at(0), R"({"webhook":"update successful"})");
  EXPECT_EQ(Web(namespace_).metadata.generation, 1);
}

// The record of what the webhook was called for is in the ConfigMap kubexx-reloader-webhook: a line
// of the beginnings of two digests for each source, as WebhookRecord writes it.
TEST_F(ReloaderEdge, CallsTheWebhookOnceForAChangeThatWasMadeAfterItWasKilled) {
  const auto put = [&](const std::string& name, const std::string& value) {
    ConfigMap object;
    object.metadata.name = name;
    object.data["key"] = value;
    if (!ConfigMaps().Update(object)) {
      ASSERT_TRUE(ConfigMaps().Create(object));
    }
  };
  const auto is_recorded = [&](const std::string& name, const std::string& value) {
    const auto record = ConfigMaps().Get("kubexx-reloader-webhook");
    return record && record->data.contains("told") &&
           record->data.at("told").contains(
               reloader::DigestOf("configmaps/" + namespace_ + "/" + name)
                   .ToString()
                   .substr(0, 16) +
               DigestOf(value).substr(0, 16) + "\n");
  };
  Sink sink;
  const auto run = [&] {
    return std::make_unique<Program>(
        std::vector<std::string>{"--namespaces=" + namespace_, "--webhook-url=" + sink.Url()},
        std::map<std::string, std::string>{{"RELOADER_NAMESPACE", namespace_}});
  };
  put("first", "old");
  put("second", "old");
  auto program = run();
  ASSERT_TRUE(Await([&] { return is_recorded("first", "old") && is_recorded("second", "old"); }));
  program->End(SIGKILL);
  EXPECT_EQ(sink.Bodies().size(), 0U) << "what is seen for the first time is no change";

  put("first", "new");
  program = run();
  ASSERT_TRUE(Await([&] { return is_recorded("first", "new"); }));
  program->End(SIGKILL);
  EXPECT_EQ(sink.Bodies().size(), 1U);

  // Nothing is left to call for. The change of the other source shows that it was looked for: calls
  // are made one after the other, and the last one comes after all that the comparison has found.
  put("second", "new");
  program = run();
  ASSERT_TRUE(Await([&] { return is_recorded("second", "new"); }));
  put("second", "newer");
  ASSERT_TRUE(Await([&] { return is_recorded("second", "newer"); }));
  EXPECT_EQ(program->End(SIGTERM), 0);
  EXPECT_EQ(sink.Bodies().size(), 3U);
}

}  // namespace
}  // namespace kubexx::integration
