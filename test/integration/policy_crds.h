/// @file
/// The CRDs of reload policies on the API server of the integration tests.
#ifndef KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_
#define KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cluster_fixture.h"
#include "crd_file.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::integration {

/// Installs them from the chart and waits until they are served. They stay: tests that run beside
/// each other share them.
inline void InstallPolicyCrds(const std::shared_ptr<rest::RESTClient>& client) {
  for (const char* plural : {"reloadpolicies", "clusterreloadpolicies"}) {
    InstallCrd(client, "helm/kubexx-reloader/crds/kubexx.io_" + std::string(plural) + ".yaml");
    if (testing::Test::HasFatalFailure()) {
      return;
    }
  }
  ASSERT_TRUE(Await([&] {
    return kubernetes::ResourceClient<reloadpolicy::v1alpha1::ReloadPolicy>(client, "default")
        .List()
        .has_value();
  }));
}

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_
