// Linked into the test programs whose packages are marked NETWORK, so that none of them can forget
// it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kubexx/rest/internal/transport/transport.h"
#include "kubexx/rest/testing/network_threads.h"

namespace {

class DrainEnvironment final : public ::testing::Environment {
 public:
  // With this in the environment the tests of single requests are tests of the other engine.
  void SetUp() override {
    if (std::getenv("KUBEXX_TEST_STREAMS") != nullptr) {
      kubexx::rest::internal::SendEverythingAsStreamsForTest(true);
    }
  }
  void TearDown() override { kubexx::rest::testing::DrainNetworkThreads(); }
};

[[maybe_unused]] const ::testing::Environment* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new DrainEnvironment());

}  // namespace
