#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kStatuses = "/api/v1/componentstatuses";

class ComponentStatusTest : public testing::ApiFixture {};

TEST_F(ComponentStatusTest, TellsOfTheStoreAndOfWhatIsNotThere) {
  const http::Response listed = Do("GET", kStatuses);
  ASSERT_EQ(listed.status, 200) << listed.body;
  const codec::JsonTree list = Json(listed);
  EXPECT_EQ(At(list, {"kind"}), "ComponentStatusList");
  ASSERT_EQ(list.At({"items"})->size(), 3U);
  EXPECT_THAT(listed.headers,
              Contains(Pair("Warning", R"(299 - "v1 ComponentStatus is deprecated in v1.19+")")));
  const codec::JsonTree store = Json(Do("GET", std::string(kStatuses) + "/etcd-0"));
  EXPECT_EQ(At(store, {"conditions"}), R"([{"type":"Healthy","status":"True","message":"ok"}])");
  for (const char* name : {"/scheduler", "/controller-manager"}) {
    const codec::JsonTree absent = Json(Do("GET", std::string(kStatuses) + name));
    EXPECT_THAT(At(absent, {"conditions"}),
                HasSubstr(R"({"type":"Healthy","status":"False","message":"there is none)"));
  }
  EXPECT_EQ(Json(Do("GET", std::string(kStatuses) + "?fieldSelector=metadata.name=x"))
                .At({"items"})
                ->size(),
            0U);
}

TEST_F(ComponentStatusTest, IsOnlyRead) {
  EXPECT_EQ(Do("GET", std::string(kStatuses) + "/x").status, 404);
  EXPECT_EQ(Do("POST", kStatuses, R"({"metadata":{"name":"x"}})").status, 405);
  EXPECT_EQ(Do("DELETE", std::string(kStatuses) + "/etcd-0").status, 405);
  EXPECT_EQ(Do("GET", std::string(kStatuses) + "?watch=1").status, 405);
}

}  // namespace
}  // namespace kubexx::apiserver
