// This is linked into the test programs of the packages that are marked NETWORK, so that none of
// them can forget it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kubexx/rest/internal/transport/transport.h"
#include "kubexx/rest/testing/network_threads.h"

namespace {

class DrainEnvironment final : public ::testing::Environment {
 public:
  // When this variable is in the environment, the tests of single requests test the other
  // implementation.
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
