#include "kubexx/certrotator/internal/rotation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace kubexx::certrotator::internal {
namespace {

using apimachinery::Bytes;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

const base::WallTime kStart = base::WallTime() + days(20000);

Plan TestPlan() {
  return {.names = {"web.tools.svc", "10.0.0.1"},
          .lifetime = days(365),
          .renew_before = days(90),
          .trust_delay = minutes(5)};
}

Held FirstHeld() {
  Held held;
  EXPECT_TRUE(Advance(held, TestPlan(), kStart, std::nullopt).value());
  return held;
}

TEST(RotationTest, ThereIsNothingToDoForALongTime) {
  Held held = FirstHeld();
  EXPECT_TRUE(http::CheckKeyPair(held.current));
  EXPECT_TRUE(http::IsFor(held.current, "web.tools.svc"));
  EXPECT_TRUE(http::IsFor(held.current, "10.0.0.1"));
  const Held before = held;
  EXPECT_FALSE(Advance(held, TestPlan(), kStart + days(275), std::nullopt).value());
  EXPECT_EQ(held, before);
}

TEST(RotationTest, TheNextIsServedOnlyWhenAllHaveTrustedItForAWhile) {
  Held held = FirstHeld();
  const std::string old = held.current.certificate;
  base::WallTime now = kStart + days(276);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  ASSERT_TRUE(held.next);
  const std::string next = held.next->certificate;
  EXPECT_EQ(held.current.certificate, old);
  EXPECT_EQ(Bundle(held, now), old + next);
  EXPECT_FALSE(Advance(held, TestPlan(), now, std::nullopt).value()) << "nobody knows";
  EXPECT_FALSE(Advance(held, TestPlan(), now, false).value());
  ASSERT_TRUE(Advance(held, TestPlan(), now, true).value());
  EXPECT_EQ(held.trusted_since, now);
  now += minutes(4);
  EXPECT_FALSE(Advance(held, TestPlan(), now, true).value());
  ASSERT_TRUE(Advance(held, TestPlan(), now, false).value()) << "somebody took it away";
  EXPECT_FALSE(held.trusted_since);
  now += minutes(1);
  ASSERT_TRUE(Advance(held, TestPlan(), now, true).value());
  now += minutes(4);
  EXPECT_FALSE(Advance(held, TestPlan(), now, true).value());
  now += minutes(1);
  ASSERT_TRUE(Advance(held, TestPlan(), now, true).value());
  EXPECT_EQ(held.current.certificate, next);
  EXPECT_FALSE(held.next);
  EXPECT_FALSE(held.trusted_since);
  EXPECT_EQ(Bundle(held, now), next + old) << "other replicas may still serve the old one";
  EXPECT_EQ(Bundle(held, kStart + days(366)), next);
}

TEST(RotationTest, WhatCannotBeUsedIsReplacedAtOnce) {
  for (const char* const how :
       {"expired", "no key", "no certificate", "another's key", "other names", "not yet"}) {
    Held held = FirstHeld();
    const Held before = held;
    Plan plan = TestPlan();
    base::WallTime now = kStart + hours(1);
    if (how == std::string("expired")) {
      now = kStart + days(365);
    } else if (how == std::string("no key")) {
      held.current.key = Bytes();
    } else if (how == std::string("no certificate")) {
      held.current.certificate = "nonsense";
    } else if (how == std::string("another's key")) {
      held.current.key = FirstHeld().current.key;
    } else if (how == std::string("other names")) {
      plan.names = {"other.tools.svc"};
    } else {
      now = kStart - hours(2);
    }
    ASSERT_TRUE(Advance(held, plan, now, std::nullopt).value()) << how;
    EXPECT_NE(held.current, before.current) << how;
    EXPECT_TRUE(http::CheckKeyPair(held.current)) << how;
    EXPECT_TRUE(http::IsFor(held.current, plan.names.front())) << how;
    EXPECT_FALSE(Advance(held, plan, now, std::nullopt).value()) << how;
  }
}

TEST(RotationTest, WhatOtherReplicasMayStillServeStaysTrusted) {
  Held held = FirstHeld();
  const std::string old = held.current.certificate;
  base::WallTime now = kStart + hours(1);
  held.current.key = Bytes();
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  EXPECT_EQ(Bundle(held, now), held.current.certificate + old);
  EXPECT_EQ(Bundle(held, kStart + days(365)), held.current.certificate);
  held.current.certificate = "nonsense";
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  EXPECT_EQ(Bundle(held, now), held.current.certificate);
}

TEST(RotationTest, ALackingNameIsNoReasonToServeWhatNobodyKnows) {
  Held held = FirstHeld();
  const http::KeyPair old = held.current;
  base::WallTime now = kStart + hours(1);
  Plan plan = TestPlan();
  plan.names.emplace_back("further.example.com");
  ASSERT_TRUE(Advance(held, plan, now, std::nullopt).value());
  EXPECT_EQ(held.current, old);
  ASSERT_TRUE(held.next);
  EXPECT_TRUE(http::IsFor(*held.next, "further.example.com"));
  ASSERT_TRUE(Advance(held, plan, now, true).value());
  now += minutes(5);
  ASSERT_TRUE(Advance(held, plan, now, true).value());
  EXPECT_TRUE(http::IsFor(held.current, "further.example.com"));
  EXPECT_FALSE(Advance(held, plan, now, true).value());
}

TEST(RotationTest, CertificatesInTheBundleBeginInLinesOfTheirOwn) {
  Held held = FirstHeld();
  const base::WallTime now = kStart + days(300);
  held.current.certificate.pop_back();  // as an editor may have written it
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  ASSERT_TRUE(held.next);
  EXPECT_EQ(Bundle(held, now), held.current.certificate + "\n" + held.next->certificate);
}

TEST(RotationTest, ANextOneWithoutAFurtherNameIsMadeAnew) {
  Held held = FirstHeld();
  const base::WallTime now = kStart + days(300);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  Plan plan = TestPlan();
  plan.names.emplace_back("web.example.com");
  ASSERT_TRUE(Advance(held, plan, now, std::nullopt).value());
  ASSERT_TRUE(held.next);
  EXPECT_TRUE(http::IsFor(*held.next, "web.example.com"));
}

TEST(RotationTest, ANextOneSavesTheDay) {
  Held held = FirstHeld();
  base::WallTime now = kStart + days(300);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  const http::KeyPair next = *held.next;
  now = kStart + days(365);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  EXPECT_EQ(held.current, next) << "the configurations may trust it already";
}

TEST(RotationTest, ABadNextOneIsMadeAnew) {
  Held held = FirstHeld();
  const base::WallTime now = kStart + days(300);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  held.next->key = Bytes(std::string("nonsense"));
  held.trusted_since = now;
  ASSERT_TRUE(Advance(held, TestPlan(), now + hours(1), true).value());
  ASSERT_TRUE(held.next);
  EXPECT_TRUE(http::CheckKeyPair(*held.next));
  EXPECT_FALSE(held.trusted_since);
}

TEST(RotationTest, ATimeInTheFutureIsSetAnew) {
  Held held = FirstHeld();
  const base::WallTime now = kStart + days(300);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  held.trusted_since = now + days(50);
  ASSERT_TRUE(Advance(held, TestPlan(), now, true).value());
  EXPECT_EQ(held.trusted_since, now) << "otherwise the next one would not be served in time";
}

TEST(RotationTest, TheSecretHoldsAllOfItAndKeepsWhatOthersWrote) {
  Held held = FirstHeld();
  const base::WallTime now = kStart + days(300);
  api::core::v1::Secret secret;
  secret.data["ca.crt"] = Bytes(std::string("another's"));
  secret.metadata.annotations["a"] = "b";
  Write(held, secret);
  EXPECT_EQ(Read(secret), held);
  ASSERT_TRUE(Advance(held, TestPlan(), now, std::nullopt).value());
  ASSERT_TRUE(Advance(held, TestPlan(), now, true).value());
  Write(held, secret);
  EXPECT_EQ(Read(secret), held);
  ASSERT_TRUE(Advance(held, TestPlan(), now + minutes(5), true).value());
  Write(held, secret);
  EXPECT_EQ(Read(secret), held);
  EXPECT_EQ(secret.data.count("next.key"), 0U);
  EXPECT_EQ(secret.data.count("previous.crt"), 1U);
  EXPECT_EQ(secret.data.at("ca.crt").view(), "another's");
  EXPECT_EQ(secret.metadata.annotations.at("a"), "b");
  EXPECT_EQ(Read(api::core::v1::Secret()), Held());
}

}  // namespace
}  // namespace kubexx::certrotator::internal
