#include "kubexx/apiserver/server/server_identity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

class ServerIdentityTest : public ::testing::Test {
 protected:
  ServerIdentity Keep() {
    auto kept = KeepIdentity(*storage_, clock_, {});
    EXPECT_TRUE(kept);
    return kept ? std::move(*kept) : ServerIdentity();
  }
  base::testing::FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = *storage::NewMemoryStorage({});
};

TEST_F(ServerIdentityTest, ItStaysTheSame) {
  const ServerIdentity first = Keep();
  EXPECT_TRUE(http::CheckKeyPair(first.authority));
  EXPECT_FALSE(first.token.empty());
  clock_.Advance(std::chrono::hours(24 * 365 * 20));
  const ServerIdentity second = Keep();
  EXPECT_EQ(second.authority, first.authority);
  EXPECT_EQ(second.token, first.token);
}

TEST_F(ServerIdentityTest, ServersWithoutAnAuthorityGetOneAndKeepTheToken) {
  ASSERT_TRUE(storage_->Create("/kubexx/server-identity",
                               R"({"token":"t","certificate":"c","key":"k","made":1})", {}));
  const ServerIdentity kept = Keep();
  EXPECT_EQ(kept.token.view(), "t");
  EXPECT_TRUE(http::CheckKeyPair(kept.authority));
  EXPECT_EQ(Keep().authority, kept.authority);
}

TEST_F(ServerIdentityTest, WhatCannotBeReadIsAnError) {
  ASSERT_TRUE(storage_->Create("/kubexx/server-identity", "{}", {}));
  const auto kept = KeepIdentity(*storage_, clock_, {});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().reason, apimachinery::Reason::kInternalError);
}

}  // namespace
}  // namespace kubexx::apiserver
