/// @file
/// Small helpers of tests that talk to a FakeServer.
#ifndef KUBEXX_REST_TESTING_CLIENT_H_
#define KUBEXX_REST_TESTING_CLIENT_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::rest::testing {

/// A resource to ask a FakeServer for.
inline constexpr apimachinery::ResourceInfo kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};
/// Another resource.
inline constexpr apimachinery::ResourceInfo kDeployments{"apps", "v1", "Deployment", "deployments",
                                                         true};
/// A resource that is not namespaced.
inline constexpr apimachinery::ResourceInfo kNodes{"", "v1", "Node", "nodes", false};

/// Makes a client of `url` without a rate limit. Aborts the test program when that fails.
std::shared_ptr<RESTClient> NewClient(const std::string& url, RESTClient::Options options = {});
/// Options with this clock and without limits on connecting and on responses, so that only the
/// test's own deadlines remain.
RESTClient::Options WithoutDeadlines(base::Clock& clock);
/// Makes a client with this config, without a rate limit unless the config has one. Aborts as
/// NewClient does.
std::shared_ptr<RESTClient> ClientFor(Config config, RESTClient::Options options = {});

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_CLIENT_H_
