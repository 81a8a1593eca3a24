// Options of a deletion that are of another type than they should be.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class DeleteOptionsTest : public testing::ApiFixture {
 protected:
  const std::string maps_ = "/api/v1/namespaces/default/configmaps";
};

// As with kube-apiserver. Whoever misspells what is to hold a deletion up does not lose anything.
TEST_F(DeleteOptionsTest, NothingIsDeletedWithOptionsThatCannotBeRead) {
  ASSERT_EQ(Do("POST", maps_, R"({"metadata":{"name":"a"}})").status, 201);
  for (const std::string& target : {maps_, maps_ + "/a"}) {
    for (const char* const query : {"abc", "1.5", "%221%22", "%7B%7D", ""}) {
      EXPECT_EQ(Do("DELETE", target + "?gracePeriodSeconds=" + query).status, 400) << query;
    }
    for (const char* const body :
         {R"({"gracePeriodSeconds":"abc"})", R"({"dryRun":"All"})", R"({"preconditions":"x"})",
          R"({"preconditions":{"uid":1}})", R"({"propagationPolicy":1})",
          R"({"orphanDependents":"no"})", R"({"kind":"Secret","apiVersion":"v1"})", "[]", "7"}) {
      EXPECT_EQ(Do("DELETE", target, body).status, 400) << body;
    }
  }
  EXPECT_EQ(Do("GET", maps_ + "/a").status, 200);
  EXPECT_EQ(Do("DELETE", maps_ + "/a?gracePeriodSeconds=0").status, 200);
  ASSERT_EQ(Do("POST", maps_, R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(Do("DELETE", maps_ + "/a", "null").status, 200) << "options that say nothing";
}

// As with kube-apiserver: what is given and is not false holds.
TEST_F(DeleteOptionsTest, DependentsAreOrphanedInWhateverWayThatIsSaid) {
  const auto finalizers_after = [this](const std::string& query, const std::string& body = {}) {
    EXPECT_EQ(Do("POST", maps_, R"({"metadata":{"name":"a","finalizers":["x/y"]}})").status, 201);
    EXPECT_EQ(Do("DELETE", maps_ + "/a" + query, body).status, 200) << query;
    const std::string after = At(Json(Do("GET", maps_ + "/a")), {"metadata", "finalizers"});
    EXPECT_EQ(Do("PATCH", maps_ + "/a", R"({"metadata":{"finalizers":null}})", kMergePatch).status,
              200);
    return after;
  };
  for (const char* const query : {"?orphanDependents=true", "?orphanDependents=True",
                                  "?orphanDependents=1", "?orphanDependents="}) {
    EXPECT_EQ(finalizers_after(query), R"(["x/y","orphan"])") << query;
  }
  for (const char* const query : {"?orphanDependents=False", "?orphanDependents=0", ""}) {
    EXPECT_EQ(finalizers_after(query), R"(["x/y"])") << query;
  }
  EXPECT_EQ(finalizers_after("", R"({"orphanDependents":null,"propagationPolicy":"Orphan"})"),
            R"(["x/y","orphan"])");
  ASSERT_EQ(Do("POST", maps_, R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(Do("DELETE", maps_ + "/a?gracePeriodSeconds=+05").status, 400) << "a blank, decoded";
  EXPECT_EQ(Do("DELETE", maps_ + "/a?gracePeriodSeconds=%2B05").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
