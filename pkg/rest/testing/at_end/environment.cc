// Linked into the test programs whose packages are marked NETWORK, so that none of them can forget
// it.
#include <gtest/gtest.h>

#include "kubexx/rest/testing/network_threads.h"

namespace {

class DrainEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override { kubexx::rest::testing::DrainNetworkThreads(); }
};

[[maybe_unused]] const ::testing::Environment* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new DrainEnvironment());

}  // namespace
