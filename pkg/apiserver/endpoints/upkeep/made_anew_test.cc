// A deletion that is not as fast as others: what was made anew meanwhile is not its own.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using ::testing::HasSubstr;

/// A storage that does something once, before it lists what is below a prefix.
class InterruptedStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  void Before(std::string prefix, std::function<void()> action) {
    prefix_ = std::move(prefix);
    action_ = std::move(action);
  }

  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    if (prefix == prefix_ && action_) {
      std::exchange(action_, nullptr)();
    }
    return ForwardingStorage::GetList(prefix, options, sink, std::move(stop));
  }

 private:
  std::string prefix_{};
  std::function<void()> action_{};
};

/// Two servers of one store, the first of which is slow.
class MadeAnewTest : public ::testing::Test {
 protected:
  MadeAnewTest() {
    EXPECT_TRUE(slow_.Bootstrap({}));
    EXPECT_TRUE(other_.Bootstrap({}));
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  InterruptedStorage interrupted_{*memory_};
  Api slow_{interrupted_, {}};
  Api other_{*memory_, {}};
};

constexpr const char* kAnewNamespace = R"({"metadata":{"name":"team"}})";
constexpr const char* kAnewMaps = "/api/v1/namespaces/team/configmaps";

TEST_F(MadeAnewTest, ANamespaceIsNotEmptied) {
  ASSERT_EQ(testing::Ask(slow_, "POST", "/api/v1/namespaces", kAnewNamespace).status, 201);
  ASSERT_EQ(
      testing::Ask(slow_, "POST", kAnewMaps, R"({"metadata":{"name":"m"},"data":{"a":"old"}})")
          .status,
      201);
  interrupted_.Before("/registry/configmaps/team/", [this] {
    // Somebody ends the namespace without emptying it.
    EXPECT_EQ(testing::Ask(other_, "DELETE", std::string(kAnewMaps) + "/m").status, 200);
    EXPECT_EQ(
        testing::Ask(other_, "PUT", "/api/v1/namespaces/team/finalize", kAnewNamespace).status,
        200);
    EXPECT_EQ(testing::Ask(other_, "POST", "/api/v1/namespaces", kAnewNamespace).status, 201);
    for (const char* const name : {"m", "n"}) {
      EXPECT_EQ(
          testing::Ask(other_, "POST", kAnewMaps,
                       R"({"metadata":{"name":")" + std::string(name) + R"("},"data":{"a":"new"}})")
              .status,
          201);
    }
  });
  EXPECT_EQ(testing::Ask(slow_, "DELETE", "/api/v1/namespaces/team").status, 200);
  slow_.Tick();
  slow_.Reap();
  for (const char* const name : {"/m", "/n"}) {
    EXPECT_THAT(testing::Ask(other_, "GET", kAnewMaps + std::string(name)).body,
                HasSubstr(R"("a":"new")"));
  }
  EXPECT_THAT(testing::Ask(other_, "GET", "/api/v1/namespaces/team").body, HasSubstr("Active"));
}

TEST_F(MadeAnewTest, ADefinitionKeepsItsObjects) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string definition = definitions + "/nuts.example.com";
  const std::string nuts = "/apis/example.com/v1/namespaces/default/nuts";
  const auto define = [&](Api& api) {
    return testing::Ask(api, "POST", definitions, R"({"metadata":{"name":"nuts.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"nuts","kind":"Nut"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
        .status;
  };
  const auto make = [&](Api& api) {
    return testing::Ask(api, "POST", nuts,
                        R"({"apiVersion":"example.com/v1","kind":"Nut","metadata":{"name":"n"}})")
        .status;
  };
  ASSERT_EQ(define(slow_), 201);
  ASSERT_EQ(make(slow_), 201);
  interrupted_.Before("/registry/example.com/nuts/", [&] {
    ASSERT_TRUE(memory_->Delete("/registry/example.com/nuts/default/n", 0, {}));
    EXPECT_EQ(testing::Ask(other_, "PATCH", definition, R"({"metadata":{"finalizers":null}})",
                           "application/merge-patch+json")
                  .status,
              200);
    EXPECT_EQ(define(other_), 201);
    EXPECT_EQ(make(other_), 201);
  });
  EXPECT_EQ(testing::Ask(slow_, "DELETE", definition).status, 200);
  slow_.Tick();
  slow_.Reap();
  EXPECT_EQ(testing::Ask(other_, "GET", nuts + "/n").status, 200);
  EXPECT_EQ(testing::Ask(other_, "GET", definition).status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
