#include "faults/cluster.h"

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "kubexx/apimachinery/status.h"

namespace kubexx::faults {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Programs of Kubernetes may have to be built first.
constexpr std::chrono::minutes kUpLimit(40);
constexpr std::chrono::minutes kStartLimit(4);
constexpr int kTries = 3;

const char* NameOf(Cluster::Part part) {
  return part == Cluster::Part::kServer ? "apiserver" : "etcd";
}

/// Of a line "name=number" in a file; 0 when there is none.
int NumberIn(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + "=")) {
      return std::atoi(line.c_str() + name.size() + 1);
    }
  }
  return 0;
}

/// A process has the mark of its cluster in its environment: an id may have been given to another
/// one since.
bool IsOf(const std::string& folder, pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry == "KUBEXX_CLUSTER_PROCESS=" + folder) {
      return true;
    }
  }
  return false;
}

}  // namespace

Command Cluster::CommandOf(const std::string& command) const {
  return {.words = {settings_.script, "--name", settings_.name, command},
          .environment = {{"KUBEXX_APISERVER_ARGS", "--storage-media-type=application/json"}},
          .log = settings_.log};
}

Result<void> Cluster::Up() {
  if (!RunCommand(CommandOf("down"), kStartLimit) || !RunCommand(CommandOf("up"), kUpLimit)) {
    return Fail(Reason::kUnavailable, "no cluster comes up: see " + settings_.log);
  }
  server_port_ = NumberIn(settings_.folder + "/settings", "apiserver_port");
  etcd_port_ = NumberIn(settings_.folder + "/settings", "etcd_port");
  if (server_port_ <= 0 || etcd_port_ <= 0) {
    return Fail(Reason::kInvalidConfig, "no ports are in " + settings_.folder + "/settings");
  }
  return {};
}

void Cluster::Down() {
  starting_.Kill();
  RunCommand(CommandOf("down"), kStartLimit);
}

void Cluster::Send(Part part, int signal) const {
  std::ifstream file(settings_.folder + "/" + NameOf(part) + ".pid");
  pid_t pid = 0;
  if (file >> pid && pid > 0 && IsOf(settings_.folder, pid)) {
    ::kill(pid, signal);
  }
}

void Cluster::StartAgain(Part part) {
  starting_.Kill();
  Send(part, SIGKILL);
  starting_.Start(CommandOf(std::string("start-") + NameOf(part)));
}

Result<void> Cluster::Heal() {
  starting_.Kill();
  for (int i = 0; i < kTries; ++i) {
    Send(Part::kEtcd, SIGCONT);
    Send(Part::kServer, SIGCONT);
    if (RunCommand(CommandOf("start-etcd"), kStartLimit) &&
        RunCommand(CommandOf("start-apiserver"), kStartLimit)) {
      return {};
    }
    Send(Part::kServer, SIGKILL);
  }
  return Fail(Reason::kUnavailable, "the cluster does not come up again: see " + settings_.log);
}

}  // namespace kubexx::faults
