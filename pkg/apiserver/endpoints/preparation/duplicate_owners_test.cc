#include "kubexx/apiserver/endpoints/preparation/duplicate_owners.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOwner = R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"})";
constexpr const char* kOther =
    R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true})";
constexpr const char* kAsSent = "ownerReferences contains duplicate entries; API server dedups";
constexpr const char* kAfter =
    "ownerReferences contains duplicate entries after mutating admission";

class DuplicateOwnersTest : public testing::WebhookFixture {
 protected:
  static std::string MapOwnedBy(const std::string& owners) {
    return R"({"metadata":{"name":"x","ownerReferences":[)" + owners + "]}}";
  }
  static std::size_t Owners(const http::Response& response) {
    const JsonTree object = Json(response);
    const JsonTree* const owners = object.At({"metadata", "ownerReferences"});
    return owners == nullptr ? 0 : owners->elements().size();
  }
  const std::string map_ = std::string(kConfigMaps) + "/x";
};

TEST_F(DuplicateOwnersTest, OneOfEqualOwnersIsKept) {
  const std::string both = std::string(kOwner) + "," + kOwner;
  const http::Response made = Do("POST", kConfigMaps, MapOwnedBy(both));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Owners(made), 1U);
  EXPECT_THAT(WarningsOf(made), ElementsAre(HasSubstr(kAsSent)));
  EXPECT_THAT(WarningsOf(made), ElementsAre(HasSubstr("duplicate UID(s) observed: u")));
  const http::Response updated = Do("PUT", map_, MapOwnedBy(both));
  EXPECT_EQ(Owners(updated), 1U);
  EXPECT_THAT(WarningsOf(updated), ElementsAre(HasSubstr(kAsSent)));
  const http::Response patched = Do("PATCH", map_, MapOwnedBy(both), kMergePatch);
  EXPECT_EQ(Owners(patched), 1U);
  EXPECT_THAT(WarningsOf(patched), ElementsAre(HasSubstr(kAfter)));
}

TEST_F(DuplicateOwnersTest, OwnersThatDifferStay) {
  const http::Response made =
      Do("POST", kConfigMaps, MapOwnedBy(std::string(kOwner) + "," + kOther));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Owners(made), 2U);
  EXPECT_THAT(WarningsOf(made), IsEmpty());
}

TEST_F(DuplicateOwnersTest, AWebhookDoesNotAddThemEither) {
  Configure(kMutating, "m", {Hook("a.b.c")});
  hooks_->Handle(Url("a.b.c"), [](const JsonTree&) {
    return FakeWebhooks::Patch(R"([{"op":"add","path":"/metadata/ownerReferences/-","value":)" +
                               std::string(kOwner) + "}]");
  });
  const http::Response made = Do("POST", kConfigMaps, MapOwnedBy(kOwner));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Owners(made), 1U);
  EXPECT_THAT(WarningsOf(made), ElementsAre(HasSubstr(kAfter)));
}

}  // namespace
}  // namespace kubexx::apiserver
