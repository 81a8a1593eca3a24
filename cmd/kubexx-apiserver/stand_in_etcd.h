/// @file
/// The program `etcd` beside our kube-apiserver: envtest starts one and waits until it is healthy.
/// It stores nothing. Our kube-apiserver asks the etcd that it is given whether it is this program,
/// and then keeps the objects in its own memory.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/server.h"

namespace kubexx::cmd {

/// The flags of etcd that this program honours.
struct StandInEtcdSettings {
  std::vector<std::string> client_urls{"http://localhost:2379"};
  std::vector<std::string> unknown{};  ///< flags of etcd that have no effect here
};

/// Answers /health and /version at each of the client URLs. Returns kInvalidConfig for a URL that
/// is not of the form http://host:port.
apimachinery::Result<std::vector<std::unique_ptr<http::Server>>> ServeStandInEtcd(
    const StandInEtcdSettings& settings);

/// Whether a stand-in etcd answers at the URL. False also when nothing answers; the etcd client
/// then reports what is wrong. May wait for seconds.
bool IsStandInEtcd(const std::string& url, const std::stop_token& stop);

/// The main function of the program: serves until SIGTERM or SIGINT. Returns the exit code.
int RunStandInEtcd(int argc, const char* const* argv);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_STAND_IN_ETCD_H_
