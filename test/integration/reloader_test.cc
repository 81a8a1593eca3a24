// kubexx-reloader against a real API server: in this process, and as the program.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/sanitizers.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using integration::Await;
namespace core = api::core::v1;
namespace apps = api::apps::v1;
using kubernetes::ResourceClient;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr char kConfigVariable[] = "STAKATER_APP_CONFIG_CONFIGMAP";
constexpr char kSecretVariable[] = "STAKATER_APP_SECRET_SECRET";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

template <class T>
T Workload(const std::string& name) {
  T workload;
  workload.metadata.name = name;
  workload.spec.selector.emplace().match_labels["app"] = name;
  workload.spec.template_.metadata.labels["app"] = name;
  core::Container& container = workload.spec.template_.spec.containers.emplace_back();
  container.name = "app";
  container.image = "example.com/app:1";
  return workload;
}

/// A namespace of its own with ConfigMap "app-config", Secret "app-secret", and workloads that use
/// them.
class ReloaderIntegration : public testing::Test {
 protected:
  void SetUp() override {
    const std::string kubeconfig = Environment("KUBEXX_TEST_KUBECONFIG");
    if (kubeconfig.empty()) {
      FAIL() << "KUBEXX_TEST_KUBECONFIG is not set; run these tests with: hack/test --integration";
    }
    auto config = rest::LoadKubeconfig({.path = kubeconfig});
    ASSERT_TRUE(config) << config.error().ToString();
    config->qps = -1;
    auto client = rest::RESTClient::New(*std::move(config));
    ASSERT_TRUE(client) << client.error().ToString();
    client_ = *client;
    namespace_ = "reloader-" + std::to_string(steady_clock::now().time_since_epoch().count());
    core::Namespace own;
    own.metadata.name = namespace_;
    Create(own, "");
    core::ConfigMap config_map;
    config_map.metadata.name = "app-config";
    config_map.data["key"] = "old";
    Create(config_map);
    core::Secret secret;
    secret.metadata.name = "app-secret";
    secret.data["key"] = apimachinery::Bytes("old");
    Create(secret);
  }
  void TearDown() override {
    if (client_) {
      const auto deleted = ResourceClient<core::Namespace>(client_, "").Delete(namespace_);
      EXPECT_TRUE(deleted) << deleted.error().ToString();
    }
  }

  template <class T>
  ResourceClient<T> Client() const {
    return {client_, namespace_};
  }
  template <class T>
  void Create(const T& object, const std::string& in) {
    const auto created = ResourceClient<T>(client_, in).Create(object);
    ASSERT_TRUE(created) << created.error().ToString();
  }
  template <class T>
  void Create(const T& object) {
    Create(object, namespace_);
  }
  template <class T>
  void Patch(const std::string& name, const std::string& patch) {
    const auto patched = Client<T>().Patch(name, rest::PatchType::kStrategicMerge, patch);
    ASSERT_TRUE(patched) << patched.error().ToString();
  }
  /// The variable's value in the first container; nothing when it is absent.
  template <class T>
  std::optional<std::string> Variable(const std::string& name, const std::string& variable) {
    const auto workload = Client<T>().Get(name);
    if (workload) {
      for (const core::EnvVar& each : workload->spec.template_.spec.containers.at(0).env) {
        if (each.name == variable) {
          return each.value;
        }
      }
    }
    return std::nullopt;
  }
  template <class T>
  bool AwaitVariable(const std::string& name, const std::string& variable,
                     const std::string& value) {
    return Await([&] { return Variable<T>(name, variable) == value; });
  }
  template <class T>
  std::int64_t Generation(const std::string& name) {
    const auto workload = Client<T>().Get(name);
    return workload ? workload->metadata.generation : -1;
  }

  /// Deployment with auto, StatefulSet with lists, DaemonSet with auto in its template; and one
  /// that asks for nothing.
  void CreateWorkloads() {
    auto deployment = Workload<apps::Deployment>("web");
    deployment.metadata.annotations["reloader.stakater.com/auto"] = "true";
    deployment.spec.template_.spec.containers[0]
        .env_from.emplace_back()
        .config_map_ref.emplace()
        .local_object_reference.name = "app-config";
    Create(deployment);
    auto stateful_set = Workload<apps::StatefulSet>("db");
    stateful_set.metadata.annotations["secret.reloader.stakater.com/reload"] = "other,app-.*";
    Create(stateful_set);
    auto daemon_set = Workload<apps::DaemonSet>("agent");
    daemon_set.spec.template_.metadata.annotations["reloader.stakater.com/auto"] = "true";
    core::PodSpec& pod = daemon_set.spec.template_.spec;
    core::Volume& volume = pod.volumes.emplace_back();
    volume.name = "all";
    auto& sources = volume.volume_source.projected.emplace().sources;
    sources.emplace_back().config_map.emplace().local_object_reference.name = "app-config";
    sources.emplace_back().secret.emplace().local_object_reference.name = "app-secret";
    pod.containers[0].volume_mounts.push_back({.name = "all", .mount_path = "/all"});
    Create(daemon_set);
    auto bystander = Workload<apps::Deployment>("bystander");
    bystander.spec.template_.spec = deployment.spec.template_.spec;
    Create(bystander);
  }

  /// The annotation that records what a workload runs with; empty when there is none.
  template <class T = apps::Deployment>
  std::string Baseline(const std::string& name) {
    const auto workload = Client<T>().Get(name);
    const auto* text =
        workload ? Find(workload->metadata.annotations, kBaselineAnnotation) : nullptr;
    return text == nullptr ? std::string() : *text;
  }
  template <class T>
  bool AwaitBaseline(const std::string& name, const std::string& source, const std::string& item) {
    return Await([&] {
      return Baseline<T>(name).find(source + "=" + DigestText(item)) != std::string::npos;
    });
  }

  /// Blocks until the operator has worked through so many changes of "configmaps" or "secrets".
  bool AwaitChanges(const std::string& resource, double count) {
    return Await([&] {
      return registry_
                 .Counter(
                     "reloader_events_processed_total", "",
                     {{"event_type", "update"}, {"resource_type", resource}, {"result", "success"}})
                 .Value() >= count;
    });
  }

  std::unique_ptr<Operator> StartOperator(base::Duration settle_window = milliseconds(100),
                                          const DecisionRules& rules = {}) {
    WatchSettings settings;
    settings.registry = &registry_;
    std::vector<InformerSet> informers;
    informers.push_back(NewInformers(client_, namespace_, settings));
    Operator::Options options;
    options.rules = rules;
    options.registry = &registry_;
    options.settle_window = settle_window;
    options.drain_timeout = std::chrono::minutes(1);  // what is due at the end is written
    options.fetch_values = NewValueFetch(client_);
    options.read_workload = NewWorkloadRead(client_, rules.keys);
    auto reloader = std::make_unique<Operator>(std::move(options), std::move(informers), *writer());
    reloader->Start();
    EXPECT_TRUE(Await([&] { return reloader->Ready(); }));
    return reloader;
  }
  WorkloadWriter* writer() {
    if (!writer_) {
      writer_ = NewWriter(client_);
    }
    return writer_.get();
  }

  static std::string DigestText(const std::string& item) { return DigestOf(item).ToString(); }

  metrics::Registry registry_;
  std::shared_ptr<rest::RESTClient> client_;
  std::string namespace_;
  std::unique_ptr<WorkloadWriter> writer_;
};

TEST_F(ReloaderIntegration, EditsRollTheWorkloadsThatAskForIt) {
  CreateWorkloads();
  const auto reloader = StartOperator();
  Patch<core::ConfigMap>("app-config", R"({"data":{"key":"updated"}})");
  // From the published vectors of the original.
  const std::string updated = "6b3093988321555757cc9b88a5f2d59101a0261c";
  EXPECT_TRUE(AwaitVariable<apps::Deployment>("web", kConfigVariable, updated));
  EXPECT_TRUE(AwaitVariable<apps::DaemonSet>("agent", kConfigVariable, updated));
  EXPECT_EQ(Generation<apps::StatefulSet>("db"), 1);

  Patch<core::Secret>("app-secret", R"({"stringData":{"key":"new"}})");
  EXPECT_TRUE(AwaitVariable<apps::StatefulSet>("db", kSecretVariable, DigestText("key=new")));
  EXPECT_TRUE(AwaitVariable<apps::DaemonSet>("agent", kSecretVariable, DigestText("key=new")));
  EXPECT_FALSE(Variable<apps::Deployment>("web", kSecretVariable));
  EXPECT_EQ(Generation<apps::Deployment>("bystander"), 1);

  const auto web = Client<apps::Deployment>().Get("web");
  ASSERT_TRUE(web);
  bool managed = false;
  for (const auto& entry : web->metadata.managed_fields) {
    managed = managed || entry.manager == "Reloader";
  }
  EXPECT_TRUE(managed);
}

TEST_F(ReloaderIntegration, BothSourcesEditedTogetherAreOneRollout) {
  CreateWorkloads();
  // The window ends when the operator does, which is when both edits have arrived.
  auto reloader = StartOperator(std::chrono::hours(1));
  Patch<core::ConfigMap>("app-config", R"({"data":{"key":"new"}})");
  Patch<core::Secret>("app-secret", R"({"stringData":{"key":"new"}})");
  ASSERT_TRUE(AwaitChanges("configmaps", 1));
  ASSERT_TRUE(AwaitChanges("secrets", 1));
  reloader.reset();
  EXPECT_TRUE(AwaitVariable<apps::DaemonSet>("agent", kConfigVariable, DigestText("key=new")));
  EXPECT_TRUE(AwaitVariable<apps::DaemonSet>("agent", kSecretVariable, DigestText("key=new")));
  EXPECT_EQ(Generation<apps::DaemonSet>("agent"), 2);
}

TEST_F(ReloaderIntegration, ARestartRollsOnlyWhatChangedMeanwhile) {
  CreateWorkloads();
  auto reloader = StartOperator();
  // Nothing was ever rolled; what the workloads run with is on record all the same.
  ASSERT_TRUE(AwaitBaseline<apps::Deployment>("web", "configmap/app-config", "key=old"));
  ASSERT_TRUE(AwaitBaseline<apps::DaemonSet>("agent", "secret/app-secret", "key=old"));
  ASSERT_TRUE(AwaitBaseline<apps::StatefulSet>("db", "secret/app-secret", "key=old"));
  reloader.reset();
  EXPECT_EQ(Generation<apps::DaemonSet>("agent"), 1) << "recording rolled it";
  EXPECT_FALSE(Variable<apps::Deployment>("web", kConfigVariable));

  Patch<core::ConfigMap>("app-config", R"({"data":{"key":"new"}})");
  // A copy carries the original's annotation; its own pods start with the new data.
  auto copy = Client<apps::Deployment>().Get("web");
  ASSERT_TRUE(copy);
  api::meta::v1::ObjectMeta fresh;
  fresh.name = "copy";
  fresh.annotations = copy->metadata.annotations;
  copy->metadata = fresh;
  Create(*copy);
  reloader = StartOperator();
  EXPECT_TRUE(AwaitVariable<apps::Deployment>("web", kConfigVariable, DigestText("key=new")));
  EXPECT_TRUE(AwaitVariable<apps::DaemonSet>("agent", kConfigVariable, DigestText("key=new")));
  EXPECT_TRUE(AwaitBaseline<apps::Deployment>("copy", "configmap/app-config", "key=new"));
  EXPECT_FALSE(Variable<apps::Deployment>("copy", kConfigVariable));
  reloader.reset();

  const auto before = Client<apps::Deployment>().Get("web");
  for (int restart = 0; restart < 2; ++restart) {
    reloader = StartOperator();
    reloader.reset();  // with all that was due written
  }
  const auto after = Client<apps::Deployment>().Get("web");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->metadata.resource_version, after->metadata.resource_version);
  EXPECT_EQ(Generation<apps::DaemonSet>("agent"), 2);
  EXPECT_EQ(Generation<apps::StatefulSet>("db"), 1);
}

TEST_F(ReloaderIntegration, ATakeoverRollsNothingTwice) {
  CreateWorkloads();
  // The second one watches all along, as a standby with warm caches; both write in turns.
  const auto first = StartOperator();
  const auto second = StartOperator();
  ASSERT_TRUE(AwaitBaseline<apps::DaemonSet>("agent", "configmap/app-config", "key=old"));
  for (const std::string value : {"1", "2", "3"}) {
    Patch<core::ConfigMap>("app-config", R"({"data":{"key":")" + value + R"("}})");
    ASSERT_TRUE(AwaitBaseline<apps::DaemonSet>("agent", "configmap/app-config", "key=" + value));
    ASSERT_TRUE(AwaitBaseline<apps::Deployment>("web", "configmap/app-config", "key=" + value));
  }
  EXPECT_EQ(Generation<apps::DaemonSet>("agent"), 4);
  EXPECT_EQ(Variable<apps::DaemonSet>("agent", kConfigVariable), DigestText("key=3"));
}

TEST_F(ReloaderIntegration, SourcesThatComeAndGoRollWhenAsked) {
  DecisionRules rules;
  rules.reload_on_create = true;
  rules.reload_on_delete = true;
  auto deployment = Workload<apps::Deployment>("web");
  deployment.metadata.annotations["reloader.stakater.com/auto"] = "true";
  auto& from = deployment.spec.template_.spec.containers[0].env_from.emplace_back();
  from.config_map_ref.emplace().local_object_reference.name = "late";
  Create(deployment);
  auto reloader = StartOperator(milliseconds(100), rules);
  ASSERT_TRUE(Await([&] { return Baseline("web").find("configmap/late=-") != std::string::npos; }));
  reloader.reset();
  core::ConfigMap late;
  late.metadata.name = "late";
  late.data["key"] = "x";
  Create(late);
  reloader = StartOperator(milliseconds(100), rules);
  ASSERT_TRUE(
      AwaitVariable<apps::Deployment>("web", "STAKATER_LATE_CONFIGMAP", DigestText("key=x")));
  ASSERT_TRUE(Client<core::ConfigMap>().Delete("late"));
  EXPECT_TRUE(Await(
      [&] { return !Variable<apps::Deployment>("web", "STAKATER_LATE_CONFIGMAP").has_value(); }));
}

/// The program, as a child process.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    const std::string path = Environment("KUBEXX_BIN_DIR") + "/kubexx-reloader";
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    started_ = posix_spawn(&pid_, path.c_str(), nullptr, nullptr, argv.data(), environ) == 0;
  }
  ~Program() {
    if (started_ && !status_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool started() const { return started_; }
  pid_t pid() const { return pid_; }
  void Send(int signal_number) const { kill(pid_, signal_number); }
  /// Waits for its end; the exit status, or nothing when a signal ended it.
  std::optional<int> AwaitExit() {
    int status = 0;
    waitpid(pid_, &status, 0);
    status_ = status;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

 private:
  pid_t pid_ = 0;
  bool started_ = false;
  std::optional<int> status_;
};

TEST_F(ReloaderIntegration, TheProgramStopsCleanlyOnSigterm) {
  if (Environment("KUBEXX_BIN_DIR").empty()) {
    FAIL() << "KUBEXX_BIN_DIR is not set; run these tests with: hack/test --integration";
  }
  // A rollout tells that the program is up. Data that change after the workload was made need one;
  // those that were there a second before do not, whatever the variable says.
  auto deployment = Workload<apps::Deployment>("web");
  deployment.metadata.annotations["configmap.reloader.stakater.com/reload"] = "app-config";
  deployment.spec.template_.spec.containers[0].env.push_back(
      {.name = kConfigVariable, .value = "before"});
  Create(deployment);
  Patch<core::ConfigMap>("app-config", R"({"data":{"key":"new"}})");
  Program program({"--kubeconfig=" + Environment("KUBEXX_TEST_KUBECONFIG"),
                   "--namespaces=" + namespace_, "--metrics-addr=127.0.0.1:0"});
  ASSERT_TRUE(program.started());
  ASSERT_TRUE(AwaitVariable<apps::Deployment>("web", kConfigVariable, DigestText("key=new")));
  const auto begin = steady_clock::now();
  program.Send(SIGTERM);
  EXPECT_EQ(program.AwaitExit(), 0);
  EXPECT_LT(steady_clock::now() - begin, seconds(15)) << "it has waited for the grace of 20 s";
}

#if !KX_SANITIZED  // their free() wipes nothing

/// How often `text` is in the memory of a process.
std::size_t Occurrences(pid_t pid, const std::string& text) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream maps(folder + "/maps");
  std::ifstream memory(folder + "/mem", std::ios::binary);
  std::size_t found = 0;
  std::size_t readable = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char mode = '-';
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %c", &begin, &end, &mode) != 3 ||
        mode != 'r' || line.ends_with("]") != line.ends_with("[heap]")) {
      continue;
    }
    std::string bytes(end - begin, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(begin));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    readable += static_cast<std::size_t>(memory.gcount());
    for (auto at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
      ++found;
    }
  }
  EXPECT_GT(readable, std::size_t{1} << 20) << "the memory cannot be read";
  return found;
}

// cpprestsdk moves what it has not handed over yet to the front of a connection's buffer, and what
// was behind stays there until a later response overwrites it or the connection ends. Nothing else
// may hold a value.
TEST_F(ReloaderIntegration, SecretValuesDoNotStayInTheMemoryOfTheProgram) {
  constexpr std::size_t kBufferOfAConnection = 64 * 1024;
  ASSERT_FALSE(Environment("KUBEXX_BIN_DIR").empty());
  const std::string canary = "canary-" + namespace_;
  const std::string listed = canary + "-listed";
  std::string value;
  while (value.size() < 8192) {
    value += listed;
  }
  for (int i = 0; i < 100; ++i) {
    core::Secret secret;
    secret.metadata.name = "canary-" + std::to_string(i);
    secret.data["key"] = apimachinery::Bytes(value);
    Create(secret);
  }
  auto stateful_set = Workload<apps::StatefulSet>("db");
  stateful_set.metadata.annotations["secret.reloader.stakater.com/reload"] = "app-secret";
  Create(stateful_set);
  Program program({"--kubeconfig=" + Environment("KUBEXX_TEST_KUBECONFIG"),
                   "--namespaces=" + namespace_, "--metrics-addr=127.0.0.1:0"});
  ASSERT_TRUE(program.started());
  ASSERT_TRUE(AwaitBaseline<apps::StatefulSet>("db", "secret/app-secret", "key=old"));
  EXPECT_LE(Occurrences(program.pid(), listed) * listed.size(), kBufferOfAConnection)
      << "of " << 100 * value.size() << " bytes";
  Patch<core::Secret>("app-secret", R"({"stringData":{"key":")" + canary + R"(-watched"}})");
  ASSERT_TRUE(AwaitVariable<apps::StatefulSet>("db", kSecretVariable,
                                               DigestText("key=" + canary + "-watched")));
  EXPECT_EQ(Occurrences(program.pid(), canary + "-watched"), 0U);
}

#endif

TEST_F(ReloaderIntegration, TheProgramRefusesWhatItCannotDo) {
  if (Environment("KUBEXX_BIN_DIR").empty()) {
    FAIL() << "KUBEXX_BIN_DIR is not set; run these tests with: hack/test --integration";
  }
  for (const char* argument : {"--enable-ha", "--no-such-flag", "--resource-label-selector=???",
                               "--kubeconfig=/dev/null/none", "--metrics-addr=nowhere"}) {
    Program program({argument});
    ASSERT_TRUE(program.started());
    EXPECT_EQ(program.AwaitExit(), 1) << argument;
  }
}

}  // namespace
}  // namespace kubexx::reloader
