// Tests a manager whose reconcile never returns, in a process of its own, with a standby in another
// one. The API server is in this process.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/events/v1/resources.gen.h"
#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/rest_client.h"

extern char** environ;

namespace kubexx::apiserver::controllers {
namespace {

using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;
using apimachinery::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// The time from the signal, or from the loss of the Lease, to the end of the process. The grace of
// half a second and the 7 s for the steps after it are less than 8 s, however slow the machine is.
// A kubelet would kill the process after 30 s, and without its options the program would take
// longer than 20 s.
constexpr seconds kEnds(20);

constexpr char kServer[] = "KUBEXX_TEST_SERVER";
constexpr char kIdentity[] = "KUBEXX_TEST_IDENTITY";

/// The main function of a user's program, as in the documentation. Its reconcile of the ConfigMap
/// "<identity>-hangs" never returns.
int Main(const std::string& server, const std::string& identity) {
  const controller::StopSignals signals;
  controller::ManagerOptions options;
  options.graceful_shutdown_timeout = milliseconds(500);
  options.leader_election = {.lease = {"default", "stuck"},
                             // The time is longer than any delay of a renewal on a busy machine,
                             // because only the test may take the Lease away.
                             .config = {.identity = identity,
                                        .lease_duration = seconds(100),
                                        .renew_deadline = seconds(90),
                                        .retry_period = milliseconds(500)}};
  auto manager = controller::Manager::New({.host = server}, options);
  if (!manager) {
    return 2;
  }
  const auto made = controller::ControllerBuilder<ConfigMap>(**manager).Complete(
      [identity](const controller::Request& request,
                 controller::Context&) -> Result<controller::Action> {
        logging::Info("Reconciles", {{"name", request.object.name}});
        while (request.object.name == identity + "-hangs") {
          pause();
        }
        return controller::Action::Done();
      });
  if (!made) {
    return 3;
  }
  return (*manager)->Run(signals.token()) ? 0 : 1;
}

// This is not a test: the processes of the test run it.
TEST(StuckManagerProgram, DISABLED_Main) {
  const char* server = std::getenv(kServer);
  const char* identity = std::getenv(kIdentity);
  if (server != nullptr && identity != nullptr) {
    std::_Exit(Main(server, identity));
  }
}

/// One process of the program, with its log in a file. It is killed at the end if it still runs.
class Program {
 public:
  Program(const kubexx::testing::ApiServer& server, const std::string& identity)
      : log_(std::filesystem::temp_directory_path() /
             ("kubexx-stuck-" + std::to_string(getpid()) + "-" + identity)) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> texts{"stuck_manager",
                                   "--gtest_filter=StuckManagerProgram.DISABLED_Main",
                                   "--gtest_also_run_disabled_tests"};
    std::vector<std::string> settings{std::string(kServer) + "=" + server.url(),
                                      std::string(kIdentity) + "=" + identity};
    std::vector<char*> arguments;
    for (std::string& text : texts) {
      arguments.push_back(text.data());
    }
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (std::string& setting : settings) {
      environment.push_back(setting.data());
    }
    for (char** each = environ; *each != nullptr; ++each) {
      if (!std::string_view(*each).starts_with("GTEST_")) {
        environment.push_back(*each);
      }
    }
    environment.push_back(nullptr);
    EXPECT_EQ(
        posix_spawn(&pid_, "/proc/self/exe", &files, nullptr, arguments.data(), environment.data()),
        0);
    posix_spawn_file_actions_destroy(&files);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove(log_);
  }

  void Signal(int number) const { kill(pid_, number); }
  std::string Log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Said(const std::string& text) const { return Log().find(text) != std::string::npos; }
  /// Returns the exit status once the process has ended by itself. Returns nothing when it still
  /// runs or was ended by a signal.
  std::optional<int> Ended() {
    int status = 0;
    if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) {
      return std::nullopt;
    }
    pid_ = 0;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

 private:
  const std::filesystem::path log_;
  pid_t pid_ = 0;
};

class StuckManagerTest : public ::testing::Test {
 protected:
  template <class T>
  kubernetes::ResourceClient<T> Client() const {
    return {client_, "default"};
  }
  void Create(const std::string& name) const {
    ConfigMap map;
    map.metadata.name = name;
    const auto created = Client<ConfigMap>().Create(map);
    ASSERT_TRUE(created.has_value()) << created.error().ToString();
  }
  /// When the test ends its processes end, too, so a wait in vain is a failure and does not abort
  /// the test.
  static bool Await(const std::function<bool()>& condition) {
    return base::testing::HoldsSoon(condition, milliseconds(10));
  }
  /// Starts `a`, which leads and hangs, and `b`, which stands by.
  void Start() {
    Create("a-hangs");
    a_.emplace(server_, "a");
    ASSERT_TRUE(Await([this] { return a_->Said("Reconciles"); })) << a_->Log();
    b_.emplace(server_, "b");
    ASSERT_TRUE(Await([this] { return b_->Said("Waiting for the leader's Lease"); })) << b_->Log();
    EXPECT_FALSE(b_->Said("Reconciles"));
  }
  /// Returns false when the Lease has just been renewed.
  bool HolderBecomes(const std::string& holder, int duration) const {
    auto lease = Client<Lease>().Get("stuck");
    if (!lease) {
      return false;
    }
    lease->spec.holder_identity = holder;
    lease->spec.lease_duration_seconds = duration;
    return Client<Lease>().Update(*lease).has_value();
  }
  void ExpectEnd() {
    const auto begin = std::chrono::steady_clock::now();
    std::optional<int> status;
    EXPECT_TRUE(Await([&] {
      status = a_->Ended();
      return status.has_value();
    })) << "it still runs, or a signal has ended it; its log:\n"
        << a_->Log();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kEnds);
    EXPECT_EQ(status, 1);
    EXPECT_THAT(a_->Log(), HasSubstr("controller configmap (reconcile of default/a-hangs for "));
  }
  void ExpectTheStandbyLeads() {
    ASSERT_TRUE(Await([this] { return b_->Said("Reconciles"); })) << b_->Log();
    const std::string last_work = TimeOf(a_->Log(), "The process ends");
    EXPECT_NE(last_work, "");
    EXPECT_LT(last_work, TimeOf(b_->Log(), "Reconciles")) << "both worked at a time";
  }
  /// Returns the time of the first line with `text`: 2026-01-31T10:00:00.123Z.
  static std::string TimeOf(const std::string& log, const std::string& text) {
    const std::size_t begin = log.rfind("time=\"", log.find(text));
    return log.find(text) == std::string::npos || begin == std::string::npos
               ? ""
               : log.substr(begin + 6, log.find('"', begin + 6) - begin - 6);
  }

  const kubexx::testing::ApiServer server_;
  const std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New({.host = server_.url(), .qps = -1});
  std::optional<Program> a_;
  std::optional<Program> b_;
};

TEST_F(StuckManagerTest, EndsAfterItsGraceAndTheStandbyLeads) {
  Start();
  a_->Signal(SIGTERM);
  ExpectEnd();
  // It could not release the Lease, and nobody waits for the Lease's expiry here.
  ASSERT_TRUE(Await([this] { return HolderBecomes("", 1); }));
  ExpectTheStandbyLeads();
}

TEST_F(StuckManagerTest, EndsWhenItsLeaseIsLostAndSaysWhy) {
  Start();
  // The standby must not take the Lease until `a` has seen the thief.
  ASSERT_TRUE(Await([this] { return HolderBecomes("a-thief", 3600); }));
  ExpectEnd();
  EXPECT_THAT(a_->Log(), HasSubstr("the lease was lost: it was taken by a-thief"));
  ASSERT_TRUE(Await([this] { return HolderBecomes("", 1); }));
  ExpectTheStandbyLeads();
}

TEST_F(StuckManagerTest, WhoLeadsIsRecordedOnTheLease) {
  a_.emplace(server_, "a");
  EXPECT_TRUE(Await([this] {
    const auto events = Client<api::events::v1::Event>().List();
    if (!events) {
      return false;
    }
    for (const auto& event : events->items) {
      if (event.regarding.kind == "Lease" && event.note == "a became leader") {
        return true;
      }
    }
    return false;
  })) << a_->Log();
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
