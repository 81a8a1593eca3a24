#include "kubexx/apiserver/server/server_identity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

class ServerIdentityTest : public ::testing::Test {
 protected:
  ServerIdentity Keep(const std::vector<std::string>& names = {"localhost"}) {
    auto kept = KeepIdentity(*storage_, names, clock_, {});
    EXPECT_TRUE(kept);
    return kept ? std::move(*kept) : ServerIdentity();
  }
  base::testing::FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = *storage::NewMemoryStorage({});
};

TEST_F(ServerIdentityTest, ItStaysTheSame) {
  const ServerIdentity first = Keep();
  EXPECT_TRUE(http::CheckKeyPair(first.certificate));
  EXPECT_FALSE(first.token.empty());
  clock_.Advance(std::chrono::hours(24 * 30));
  const ServerIdentity second = Keep();
  EXPECT_EQ(second.certificate, first.certificate);
  EXPECT_EQ(second.token, first.token);
}

TEST_F(ServerIdentityTest, TheCertificateIsOfTheNamesAndNeverOver) {
  const ServerIdentity first = Keep();
  const ServerIdentity other = Keep({"localhost", "10.0.0.1"});
  EXPECT_NE(other.certificate, first.certificate);
  EXPECT_EQ(other.token, first.token);
  clock_.Advance(std::chrono::hours(24 * 340));
  const ServerIdentity later = Keep({"localhost", "10.0.0.1"});
  EXPECT_NE(later.certificate, other.certificate);
  EXPECT_TRUE(http::CheckKeyPair(later.certificate));
  EXPECT_EQ(later.token, first.token);
}

TEST_F(ServerIdentityTest, WhatCannotBeReadIsAnError) {
  ASSERT_TRUE(storage_->Create("/kubexx/server-identity", "{}", {}));
  const auto kept = KeepIdentity(*storage_, {"localhost"}, clock_, {});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().reason, apimachinery::Reason::kInternalError);
}

}  // namespace
}  // namespace kubexx::apiserver
