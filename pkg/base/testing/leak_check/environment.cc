// Linked into every test program, so that the check needs no line of code there.
#include <gtest/gtest.h>

#include "kubexx/base/testing/leak_check.h"

namespace {

class LeakCheckEnvironment final : public ::testing::Environment {
 public:
  void SetUp() override { kubexx::base::testing::StartLeakCheck(); }
  void TearDown() override { kubexx::base::testing::FinishLeakCheck(); }
};

[[maybe_unused]] const ::testing::Environment* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new LeakCheckEnvironment());

}  // namespace
