#include "faults/replica.h"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include "faults/rights.h"
#include "kubexx/base/clock.h"

namespace kubexx::faults {
namespace {

/// On SIGTERM writes that are due are made, and Leases given back.
constexpr std::chrono::seconds kEndLimit(30);

void WriteKubeconfig(const std::string& path, const Cluster& cluster, int port) {
  std::ofstream(path) << R"({"apiVersion":"v1","kind":"Config","current-context":"c",)"
                      << R"("clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:)"
                      << port << R"(","certificate-authority":")" << cluster.PathOf("ca.crt")
                      << R"("}}],"users":[{"name":"u","user":{"client-certificate":")"
                      << cluster.PathOf("admin.crt") << R"(","client-key":")"
                      << cluster.PathOf("admin.key") << R"(","as":")" << kOperatorUser
                      << R"("}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]})"
                      << "\n";
}

}  // namespace

Replica::Replica(Settings settings, const Cluster& cluster)
    : settings_(std::move(settings)), cluster_(cluster), proxy_(cluster.server_port()) {
  WriteKubeconfig(settings_.folder + "/" + settings_.name + ".kubeconfig", cluster_, proxy_.port());
}

void Replica::Start(const std::vector<std::string>& arguments) {
  arguments_ = arguments;
  StartAgain();
}

void Replica::StartAgain() {
  wanted_ = true;
  if (process_.started()) {
    return;
  }
  const std::string name = settings_.name + "." + std::to_string(++generation_);
  std::vector<std::string> words = {
      settings_.program, "--kubeconfig=" + settings_.folder + "/" + settings_.name + ".kubeconfig",
      "--metrics-addr=127.0.0.1:0"};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  process_.Start(
      {.words = std::move(words),
       .environment = {{"POD_NAME", "operator-" + name}, {"POD_NAMESPACE", kOperatorSpace}},
       .log = log()});
  terminating_ = false;
  settings_.tell("operator " + name + " begins");
}

void Replica::Kill() {
  wanted_ = false;
  process_.Kill();
}

void Replica::Terminate() {
  wanted_ = false;
  // A second signal may come when the operator has ended its work, and ends it as it ends any
  // program.
  if (!terminating_) {
    terminating_ = true;
    process_.Send(SIGTERM);
  }
}

bool Replica::Stop() {
  Terminate();
  process_.Send(SIGCONT);
  if (!process_.started()) {
    return true;
  }
  const std::optional<int> status = process_.AwaitEnd(kEndLimit);
  process_.Kill();
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_SUCCESS;
}

void Replica::StandStill(bool on) { process_.Send(on ? SIGSTOP : SIGCONT); }

std::string Replica::Look() {
  if (!process_.started()) {
    if (wanted_ && base::Clock::Real().Now() >= rest_until_) {
      StartAgain();
    }
    return {};
  }
  const std::optional<int> status = process_.AwaitEnd(std::chrono::milliseconds(0));
  if (!status) {
    return {};
  }
  const bool exited = WIFEXITED(*status);
  const std::string how = exited ? "status " + std::to_string(WEXITSTATUS(*status))
                                 : "signal " + std::to_string(WTERMSIG(*status));
  settings_.tell("operator " + settings_.name + "." + std::to_string(generation_) +
                 " has ended with " + how);
  if (!terminating_) {
    ++ended_by_itself_;
    rest_until_ = base::Clock::Real().Now() + kRest;
  }
  // One that has not begun yet does not know what to do about SIGTERM.
  return exited || WTERMSIG(*status) == SIGTERM
             ? ""
             : "an operator ended with " + how + ": see " + log();
}

}  // namespace kubexx::faults
