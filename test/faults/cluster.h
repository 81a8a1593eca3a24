/// @file
/// The real API server and etcd of a run.
#ifndef KUBEXX_TEST_FAULTS_CLUSTER_H_
#define KUBEXX_TEST_FAULTS_CLUSTER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "faults/child_process.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::faults {

/// A cluster that hack/cluster makes, of kube-apiserver and etcd alone; objects are stored as JSON.
/// It is taken away with this object. Not thread-safe; all calls on one thread, which stays.
class Cluster {
 public:
  struct Settings {
    std::string script{};  ///< hack/cluster
    std::string name{};
    std::string folder{};  ///< in which hack/cluster keeps it
    std::string log{};     ///< of the script
  };
  enum class Part : std::uint8_t { kServer, kEtcd };

  explicit Cluster(Settings settings) : settings_(std::move(settings)) {}
  ~Cluster() { Down(); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Blocks until it serves.
  apimachinery::Result<void> Up();
  void Down();
  /// To its process, if there is one.
  void Send(Part part, int signal) const;
  /// Kills what is left of it, and starts it again; does not wait until it serves.
  void StartAgain(Part part);
  /// Blocks until both run and serve, whatever was done to them.
  apimachinery::Result<void> Heal();

  int server_port() const { return server_port_; }
  int etcd_port() const { return etcd_port_; }
  std::string kubeconfig() const { return settings_.folder + "/kubeconfig"; }
  /// A file of its certificates and keys, such as "ca.crt".
  std::string PathOf(const std::string& file) const { return settings_.folder + "/pki/" + file; }

 private:
  Command CommandOf(const std::string& command) const;

  const Settings settings_;
  int server_port_ = 0;
  int etcd_port_ = 0;
  ChildProcess starting_{};  ///< the script
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_CLUSTER_H_
