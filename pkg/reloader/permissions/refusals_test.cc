#include "kubexx/reloader/permissions/refusals.h"

#include <gmock/gmock.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Optional;

const Status kForbidden(Reason::kForbidden, "secrets is forbidden", 403);

class RefusalsTest : public testing::Test {
 protected:
  RefusalsTest() { server_->Put({"ns", "a"}, "1"); }

  void List() {
    (void)followed_->List({}, [](cache::Object&&) { return Result<void>(); }, {});
  }
  /// Watches until the watch is refused, has brought its first event, or `stop` is requested.
  void Watch(std::stop_source stop = {}) {
    ListOptions options;
    options.resource_version = from_;
    (void)followed_->Watch(
        options,
        [&stop](cache::WatchEvent&&) {
          stop.request_stop();
          return Result<void>();
        },
        stop.get_token());
  }
  double Shown(const std::string& verb) {
    (void)registry_.Serialize();
    return registry_.Gauge("kubexx_reloader_refused", "", {{"resource", "secrets"}, {"verb", verb}})
        .Value();
  }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<cache::testing::FakeSource> server_ =
      std::make_shared<cache::testing::FakeSource>();
  Refusals refusals_{&registry_, clock_};
  std::shared_ptr<cache::ListerWatcher> followed_ = refusals_.Follow(server_, "secrets", "ns");
  std::string from_ = "0";
};

TEST_F(RefusalsTest, AllIsWellWhileNothingIsRefused) {
  List();
  server_->FailLists(Status(Reason::kUnavailable, "busy", 503));
  List();
  clock_.Advance(seconds(60));
  EXPECT_FALSE(refusals_.Problem());
  EXPECT_EQ(Shown("list"), 0);
}

TEST_F(RefusalsTest, WhatIsNotServedAnyMoreHoldsNothingBack) {
  followed_ = refusals_.Follow(server_, "reloadpolicies", "", Refusals::Need::kBrake);
  server_->FailLists(kForbidden);
  List();
  EXPECT_TRUE(refusals_.Problem());
  server_->FailLists(Status(Reason::kNotFound, "the server has no such resource", 404));
  List();
  EXPECT_FALSE(refusals_.Problem());
  EXPECT_FALSE(refusals_.MissingParts());
}

// An expired token is no missing right, and no role helps.
TEST_F(RefusalsTest, CredentialsThatAreNotAcceptedAreNotSaidToLackARight) {
  server_->FailLists(Status(Reason::kUnauthorized, "Unauthorized", 401), 2);
  List();
  clock_.Advance(seconds(10));
  List();
  EXPECT_THAT(
      refusals_.Problem(),
      Optional(std::string("cannot list secrets in namespace ns, as the API server does not "
                           "accept the operator's credentials: Unauthorized")));
}

TEST_F(RefusalsTest, ARefusalIsAProblemWhenItLasts) {
  server_->FailLists(kForbidden, 2);
  List();
  EXPECT_EQ(Shown("list"), 1);
  EXPECT_FALSE(refusals_.Problem()) << "a server that starts also says so";
  clock_.Advance(seconds(10));
  List();
  EXPECT_THAT(refusals_.Problem(),
              Optional(HasSubstr("may not list secrets in namespace ns: secrets is forbidden")));
  List();
  EXPECT_FALSE(refusals_.Problem());
  EXPECT_EQ(Shown("list"), 0);
}

TEST_F(RefusalsTest, AListThatSucceedsDoesNotHideARefusedWatch) {
  server_->FailWatches(kForbidden);
  Watch();
  List();
  clock_.Advance(seconds(10));
  EXPECT_THAT(refusals_.Problem(), Optional(HasSubstr("may not watch secrets")));
  EXPECT_EQ(Shown("watch"), 1);
  EXPECT_EQ(Shown("list"), 0);
  Watch();  // this brings an event
  EXPECT_FALSE(refusals_.Problem());
}

TEST_F(RefusalsTest, AnErrorOfAnotherKindEndsNoRefusal) {
  server_->FailWatches(kForbidden);
  Watch();
  server_->FailWatches(Status(Reason::kUnavailable, "busy", 503));
  Watch();
  clock_.Advance(seconds(10));
  EXPECT_TRUE(refusals_.Problem());
}

TEST_F(RefusalsTest, AWatchThatGoesOnIsPermitted) {
  server_->FailWatches(kForbidden);
  Watch();
  from_ = server_->resource_version();
  clock_.Advance(seconds(10));
  std::stop_source stop;
  std::jthread watch([&] { Watch(stop); });
  server_->AwaitWatches(2);
  server_->AwaitCaughtUp();
  EXPECT_TRUE(refusals_.Problem()) << "it may be refused yet";
  clock_.Advance(seconds(2));
  EXPECT_FALSE(refusals_.Problem());
  stop.request_stop();
  watch.join();
  EXPECT_FALSE(refusals_.Problem());
}

TEST_F(RefusalsTest, WhatIsOnlyWantedIsShownAndNoProblem) {
  const auto wanted = refusals_.Follow(server_, "reloadpolicies", "", Refusals::Need::kWanted);
  server_->FailLists(kForbidden);
  (void)wanted->List({}, [](cache::Object&&) { return Result<void>(); }, {});
  clock_.Advance(seconds(60));
  EXPECT_FALSE(refusals_.Problem());
  (void)registry_.Serialize();
  EXPECT_EQ(
      registry_
          .Gauge("kubexx_reloader_refused", "", {{"resource", "reloadpolicies"}, {"verb", "list"}})
          .Value(),
      1);
}

TEST_F(RefusalsTest, BrakesThatMayNotBeReadCountAtOnceWhereTheyHold) {
  const auto list = [this](const std::shared_ptr<cache::ListerWatcher>& list_watch, bool refused) {
    if (refused) {
      server_->FailLists(kForbidden);
    }
    (void)list_watch->List({}, [](cache::Object&&) { return Result<void>(); }, {});
  };
  const auto one = refusals_.Follow(server_, "reloadpolicies", "one", Refusals::Need::kBrake);
  const auto two = refusals_.Follow(server_, "reloadpolicies", "two", Refusals::Need::kBrake);
  list(one, true);
  list(two, false);
  EXPECT_FALSE(refusals_.Problem()) << "the other namespace goes on";
  EXPECT_THAT(refusals_.MissingParts(),
              Optional(HasSubstr("may not list reloadpolicies in namespace one")));
  list(two, true);
  EXPECT_THAT(refusals_.Problem(), Optional(HasSubstr("reloadpolicies in namespace one")));
  list(one, false);
  list(two, false);
  EXPECT_FALSE(refusals_.Problem());
  const auto all = refusals_.Follow(server_, "clusterreloadpolicies", "", Refusals::Need::kBrake);
  list(all, true);
  EXPECT_THAT(refusals_.Problem(), Optional(HasSubstr("may not list clusterreloadpolicies: ")));
}

class RefusedPartsTest : public RefusalsTest {
 protected:
  void ListPart(const std::shared_ptr<cache::testing::FakeSource>& server,
                const std::shared_ptr<cache::ListerWatcher>& part, bool refused) {
    if (refused) {
      server->FailLists(kForbidden);
    }
    (void)part->List({}, [](cache::Object&&) { return Result<void>(); }, {});
  }
  double Unavailable(const std::string& ns) {
    (void)registry_.Serialize();
    return registry_
        .Gauge("kubexx_reloader_unavailable", "",
               {{"resource", "configmaps"}, {"watched_namespace", ns}})
        .Value();
  }

  std::shared_ptr<cache::testing::FakeSource> one_ = std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::testing::FakeSource> two_ = std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::ListerWatcher> part_one_ =
      refusals_.Follow(one_, "configmaps", "one", Refusals::Need::kPart);
  std::shared_ptr<cache::ListerWatcher> part_two_ =
      refusals_.Follow(two_, "configmaps", "two", Refusals::Need::kPart);
};

TEST_F(RefusedPartsTest, OnePartThatIsRefusedIsToldAndIsNoProblem) {
  ListPart(one_, part_one_, false);
  ListPart(two_, part_two_, true);
  EXPECT_FALSE(refusals_.MissingParts()) << "a server that starts also says so";
  clock_.Advance(seconds(10));
  EXPECT_FALSE(refusals_.Problem());
  EXPECT_THAT(refusals_.MissingParts(),
              Optional(HasSubstr("may not list configmaps in namespace two")));
  EXPECT_EQ(Unavailable("two"), 1);
  EXPECT_THAT(
      registry_.Serialize(),
      testing::Not(HasSubstr(
          R"(kubexx_reloader_unavailable{resource="configmaps",watched_namespace="one"})")));
  ListPart(two_, part_two_, false);
  EXPECT_FALSE(refusals_.MissingParts());
  EXPECT_EQ(Unavailable("two"), 0);
}

TEST_F(RefusedPartsTest, WhenAllPartsAreRefusedNothingWorks) {
  ListPart(one_, part_one_, true);
  ListPart(two_, part_two_, true);
  clock_.Advance(seconds(10));
  EXPECT_THAT(refusals_.Problem(), Optional(HasSubstr("may not list configmaps in namespace one")));
  EXPECT_THAT(refusals_.MissingParts(), Optional(HasSubstr("; and 1 more")));
}

TEST_F(RefusedPartsTest, AResourceThatIsNotServedIsNoWorkThatIsDone) {
  ListPart(one_, part_one_, true);
  two_->FailLists(Status(Reason::kNotFound, "the server has no such resource", 404));
  ListPart(two_, part_two_, false);
  clock_.Advance(seconds(10));
  EXPECT_THAT(refusals_.Problem(), Optional(HasSubstr("may not list configmaps in namespace one")));
  ListPart(two_, part_two_, false);
  EXPECT_FALSE(refusals_.Problem()) << "it is installed";
  two_->FailLists(Status(Reason::kNotFound, "the server has no such resource", 404));
  ListPart(two_, part_two_, false);
  ListPart(one_, part_one_, false);
  EXPECT_FALSE(refusals_.Problem());
}

}  // namespace
}  // namespace kubexx::reloader
