/// @file
/// The program `etcd` beside our kube-apiserver: envtest starts one and waits until it is healthy.
/// It holds nothing. Our kube-apiserver asks what it is given for an etcd, and keeps the objects in
/// its own memory when it is this.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/server.h"

namespace kubexx::cmd {

/// What etcd is told, as far as this one listens to it.
struct StandInEtcdSettings {
  std::vector<std::string> client_urls{"http://localhost:2379"};
  std::vector<std::string> unknown{};  ///< flags of etcd's that have no effect here
};

/// Answers /health and /version at each of the client URLs. kInvalidConfig for one that is no
/// http://host:port.
apimachinery::Result<std::vector<std::unique_ptr<http::Server>>> ServeStandInEtcd(
    const StandInEtcdSettings& settings);

/// Whether the URL is one of a stand-in. False for what does not answer, too: then it is for the
/// client of etcd to say what is wrong. May wait for seconds.
bool IsStandInEtcd(const std::string& url, const std::stop_token& stop);

/// The program: serves until SIGTERM or SIGINT. What to exit with.
int RunStandInEtcd(int argc, const char* const* argv);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_
