#include "kubexx/apiserver/endpoints/discovery/health.h"

#include <gmock/gmock.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;

/// A storage whose health the test sets.
class SickStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  storage::StorageHealth CheckHealth(base::Duration /*timeout*/,
                                     std::stop_token /*stop*/) override {
    return health;
  }
  storage::StorageHealth health{};
};

ApiOptions WithProbe() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,1\nprobe-token,probe,2,system:monitoring\n");
  options.rbac = true;
  return options;
}

class HealthTest : public ::testing::Test {
 protected:
  HealthTest()
      : memory_(*storage::NewMemoryStorage({})), storage_(*memory_), api_(storage_, WithProbe()) {
    EXPECT_TRUE(api_.Bootstrap({}));
  }

  http::Response Get(const std::string& target, const std::string& user = {}) {
    std::vector<std::pair<std::string, std::string>> headers;
    if (!user.empty()) {
      headers.emplace_back("Authorization", "Bearer " + user + "-token");
    }
    return testing::Ask(api_, "GET", target, {}, {}, std::move(headers));
  }
  /// Makes the store unwritable, or even unreadable.
  void Break(bool reads) {
    storage_.health.writes = Fail(Reason::kInternalError, "no room on /secret/place");
    storage_.health.reads = reads ? storage_.health.writes : apimachinery::Result<void>();
    api_.LookAfterStore();
  }

  std::unique_ptr<storage::MemoryStorage> memory_;
  SickStorage storage_;
  Api api_;
};

TEST_F(HealthTest, PagesNameTheirChecks) {
  EXPECT_EQ(Get("/readyz").body, "ok");
  EXPECT_EQ(Get("/readyz?verbose").body,
            "[+]ping ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n");
  EXPECT_EQ(Get("/livez?verbose=1").body, "[+]ping ok\n[+]etcd ok\nlivez check passed\n");
  EXPECT_EQ(Get("/healthz?verbose&exclude=etcd").body,
            "[+]ping ok\n[+]etcd excluded: ok\nhealthz check passed\n");
  EXPECT_EQ(Get("/healthz?exclude=etcd&exclude=x&exclude=y&verbose").body,
            "[+]ping ok\n[+]etcd excluded: ok\nwarn: to be excluded, but not there: 2\n"
            "healthz check passed\n");
}

TEST_F(HealthTest, AStoreThatTakesNoWritesIsNotReadyAndLives) {
  Break(false);
  const http::Response ready = Get("/readyz");
  EXPECT_EQ(ready.status, 500);
  EXPECT_EQ(ready.body,
            "[+]ping ok\n[-]etcd failed: reason withheld\n"
            "[-]etcd-readiness failed: reason withheld\nreadyz check failed\n");
  EXPECT_EQ(Get("/healthz").status, 500);
  EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_EQ(Get("/readyz?exclude=etcd").status, 500);
  EXPECT_EQ(Get("/readyz?exclude=etcd&exclude=etcd-readiness").body, "ok");
  storage_.health = {};
  EXPECT_EQ(Get("/readyz").status, 500) << "nobody has looked yet";
  api_.LookAfterStore();
  EXPECT_EQ(Get("/readyz").status, 200);
}

TEST_F(HealthTest, AStoreThatIsGoneFailsEveryPage) {
  Break(true);
  for (const char* const page : {"/healthz", "/livez", "/readyz"}) {
    EXPECT_EQ(Get(page).status, 500) << page;
    EXPECT_EQ(Get(std::string(page) + "/ping", "admin").status, 200) << page;
  }
}

TEST_F(HealthTest, ReasonsAreForThoseWhoMayKnow) {
  Break(false);
  for (const char* const check : {"/readyz/etcd", "/readyz/etcd-readiness", "/healthz/etcd"}) {
    EXPECT_EQ(Get(check).status, 401) << check;
    EXPECT_EQ(Get(check, "jane").status, 403) << check;
    for (const char* const user : {"admin", "probe"}) {
      const http::Response told = Get(check, user);
      EXPECT_EQ(told.status, 500) << check;
      EXPECT_EQ(told.body, "internal server error: no room on /secret/place\n");
    }
  }
  EXPECT_EQ(Get("/livez/etcd", "admin").body, "ok");
  EXPECT_EQ(Get("/readyz?verbose", "jane").body.find("secret"), std::string::npos);
}

TEST_F(HealthTest, WhatIsNoCheckIsNotFound) {
  for (const char* const path : {"/readyz/", "/readyz/none", "/livez/etcd-readiness",
                                 "/healthz/etcd-readiness", "/healthz/ping/", "/healthzz"}) {
    EXPECT_EQ(Get(path, "admin").status, 404) << path;
  }
}

TEST_F(HealthTest, OfALongQueryNothingIsRead) {
  const std::string much(2000, 'x');
  EXPECT_EQ(Get("/readyz?verbose&exclude=" + much).body, "ok");
}

TEST_F(HealthTest, AStopIsNoNewsOfTheStore) {
  std::stop_source stop;
  stop.request_stop();
  storage_.health.writes = Fail(Reason::kCancelled, "stopped");
  api_.LookAfterStore(stop.get_token());
  EXPECT_EQ(Get("/readyz").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
