// Leader election between processes over a Lease of a real API server.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/kubernetes/coordination_v1.gen.h"

extern char** environ;

namespace kubexx::integration {
namespace {

using api::coordination::v1::Lease;

/// Of those that lose it. A candidate renews within two thirds of it, and asks after two
/// fifteenths.
int ShortLease() { return 3 * Slowness(); }
/// Of those that hand it over.
int LongLease() { return 150 * Slowness(); }

struct Line {
  std::int64_t at = 0;
  std::string what{};
};

/// The program candidate, with its output in a file. Killed at the end if it still runs.
class Candidate {
 public:
  Candidate(const std::string& namespace_, std::string identity, int lease_seconds)
      : identity_(std::move(identity)) {
    const char* programs = std::getenv("KUBEXX_BIN_DIR");
    const std::string program = std::string(programs == nullptr ? "." : programs) + "/candidate";
    path_ = std::filesystem::temp_directory_path() / (namespace_ + "-" + identity_ + ".log");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, path_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    std::string lease = "lease";
    std::string ns = namespace_;
    std::string program_copy = program;
    std::string duration = std::to_string(lease_seconds);
    char* const arguments[] = {program_copy.data(), ns.data(),       lease.data(),
                               identity_.data(),    duration.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, program.c_str(), &files, nullptr, arguments, environ), 0)
        << "cannot run " << program;
    posix_spawn_file_actions_destroy(&files);
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  ~Candidate() {
    End(SIGKILL);
    std::filesystem::remove(path_);
  }

  /// Sends a signal and waits for the end. The exit code, or nothing when a signal ended it.
  std::optional<int> End(int signal) {
    if (pid_ <= 0) {
      return std::nullopt;
    }
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? std::optional<int>(WEXITSTATUS(status)) : std::nullopt;
  }

  std::vector<Line> Output() const {
    std::vector<Line> lines;
    std::ifstream file(path_);
    Line line;
    while (file >> line.at >> line.what) {
      lines.push_back(line);
    }
    return lines;
  }
  /// The first and last times of a line, 0 when there is none.
  std::int64_t First(const std::string& what) const {
    for (const Line& line : Output()) {
      if (line.what == what) {
        return line.at;
      }
    }
    return 0;
  }
  std::int64_t Last(const std::string& what) const {
    std::int64_t at = 0;
    for (const Line& line : Output()) {
      at = line.what == what ? line.at : at;
    }
    return at;
  }
  bool Leads() const { return First("leading") != 0; }

 private:
  std::string identity_;
  std::filesystem::path path_;
  pid_t pid_ = 0;
};

class LeaderElectionTest : public ClusterTest {
 protected:
  Lease Stored() const {
    const auto lease =
        kubernetes::Clientset(client_).CoordinationV1().Leases(namespace_).Get("lease");
    EXPECT_TRUE(lease) << lease.error().ToString();
    return lease.value_or(Lease());
  }
};

TEST_F(LeaderElectionTest, AStandbyTakesOverAtOnceWhenTheLeaderIsTerminated) {
  // A standby asks for the first time after 20 s at the soonest: what is sooner, the watch has
  // done.
  Candidate a(namespace_, "a", LongLease());
  ASSERT_TRUE(Await([&] { return a.Leads(); }));
  EXPECT_EQ(Stored().spec.holder_identity, "a");
  EXPECT_EQ(Stored().spec.lease_duration_seconds, LongLease());
  Candidate b(namespace_, "b", LongLease());
  ASSERT_TRUE(Await([&] { return b.First("sees-a") != 0; }));
  ASSERT_FALSE(b.Leads());
  EXPECT_EQ(a.End(SIGTERM), 0);
  ASSERT_TRUE(Await([&] { return b.Leads(); }));
  EXPECT_GT(b.First("leading"), a.Last("leading")) << "both led";
  EXPECT_GT(b.First("started"), a.Last("stopped")) << "the work of both ran";
  const double gap = static_cast<double>(b.First("started") - a.Last("stopped")) / 1e9;
  RecordProperty("hand_over_seconds", std::to_string(gap));
  std::printf("hand-over took %.3f s\n", gap);
  EXPECT_LT(gap, LongLease() * 2 / 15.0) << "the standby waited for a poll or the end of the lease";
  EXPECT_EQ(Stored().spec.holder_identity, "b");
  EXPECT_EQ(Stored().spec.lease_transitions, 1);
  EXPECT_EQ(b.End(SIGTERM), 0);
  EXPECT_EQ(Stored().spec.holder_identity, "") << "released, with nobody to take it";
}

TEST_F(LeaderElectionTest, AStandbyTakesOverAfterTheLeaseWhenTheLeaderIsKilled) {
  Candidate a(namespace_, "a", ShortLease());
  ASSERT_TRUE(Await([&] { return a.Leads(); }));
  Candidate b(namespace_, "b", ShortLease());
  ASSERT_TRUE(Await([&] { return b.First("sees-a") != 0; }));
  ASSERT_FALSE(b.Leads());
  a.End(SIGKILL);
  ASSERT_TRUE(Await([&] { return b.Leads(); }));
  EXPECT_GT(b.First("leading"), a.Last("leading"));
  const double gap = static_cast<double>(b.First("started") - a.Last("leading")) / 1e9;
  std::printf("take-over took %.3f s\n", gap);
  // The leader may lead for two thirds of the lease after it has renewed it last.
  EXPECT_GT(gap, ShortLease() / 3.0) << "the lease was not respected";
  EXPECT_EQ(Stored().spec.lease_transitions, 1);
}

TEST_F(LeaderElectionTest, NobodyLeadsWhileTheServerIsDownLongerThanTheLease) {
  if (!CanRestartApiServer()) {
    FAIL() << "KUBEXX_CLUSTER is not set";
  }
  Candidate a(namespace_, "a", ShortLease());
  ASSERT_TRUE(Await([&] { return a.Leads(); }));
  Candidate b(namespace_, "b", ShortLease());
  KillApiServer();
  ASSERT_TRUE(Await([&] { return a.First("stopped") != 0; })) << "it has to give up";
  StartApiServer();
  ASSERT_TRUE(Await([&] { return b.Leads(); }));
  EXPECT_GT(b.First("leading"), a.Last("leading"));
  EXPECT_EQ(Stored().spec.holder_identity, "b");
  EXPECT_EQ(a.End(SIGTERM), 1) << "a lost lease is an error";
}

}  // namespace
}  // namespace kubexx::integration
