// Tests how many causes are kept, and that a small request does not get a large answer.
#include "kubexx/apiserver/endpoints/checks/field_causes.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;

TEST(FieldCausesTest, CountsThoseBeyondTheLimit) {
  FieldCauses causes;
  for (std::size_t i = 0; i < FieldCauses::kMaxCauses + 7; ++i) {
    EXPECT_EQ(causes.full(), i >= FieldCauses::kMaxCauses);
    causes.Required("f");
  }
  const auto kept = std::move(causes).Take();
  ASSERT_THAT(kept, SizeIs(FieldCauses::kMaxCauses + 1));
  EXPECT_EQ(kept.front().message, "Required value");
  EXPECT_EQ(kept.back().message, "there are 7 more errors");
}

TEST(FieldCausesTest, CutsALongText) {
  FieldCauses causes;
  causes.Invalid("f", "\"" + std::string(2 * FieldCauses::kMaxBytes, 'x') + "\"", "is long");
  EXPECT_TRUE(causes.full());
  causes.Required("g");
  const auto kept = std::move(causes).Take();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_THAT(kept.front().message,
              SizeIs(AllOf(Gt(FieldCauses::kMaxBytes - 10), Lt(FieldCauses::kMaxBytes + 10))));
}

TEST(FieldCausesTest, KeepsFewWhole) {
  FieldCauses causes;
  EXPECT_TRUE(causes.empty());
  causes.AddAll({{.reason = "r", .message = "m", .field = "f"}});
  causes.Duplicate("g", "1");
  const auto kept = std::move(causes).Take();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].message, "Duplicate value: 1");
}

/// Returns `element` `count` times, with commas in between.
std::string Repeated(std::string_view element, int count) {
  std::string list(element);
  list.reserve((element.size() + 1) * static_cast<std::size_t>(count));
  for (int i = 1; i < count; ++i) {
    list.append(",").append(element);
  }
  return list;
}

class CauseBombsTest : public testing::ApiFixture {};

// Each surplus owner is reported together with the whole list of owners.
TEST_F(CauseBombsTest, OwnersThatAllControl) {
  std::string owners;  // equal ones would count as one
  for (int i = 0; i < 1'000; ++i) {
    owners += std::string(i == 0 ? "" : ",") +
              R"({"apiVersion":"v1","kind":"P","name":"n","controller":true,"uid":")" +
              std::to_string(i) + R"("})";
  }
  const http::Response refused =
      Do("POST", "/api/v1/namespaces/default/configmaps",
         R"({"metadata":{"name":"a","ownerReferences":[)" + owners + "]}}");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, SizeIs(Lt(8U << 20)));
  EXPECT_THAT(Message(refused),
              AllOf(HasSubstr("Only one reference can have Controller set to true"),
                    HasSubstr("more errors")));
}

TEST_F(CauseBombsTest, RulesWithoutAnything) {
  const http::Response refused =
      Do("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
         R"({"metadata":{"name":"a"},"rules":[)" +
             Repeated("{}", base::testing::LargeInput(50'000)) + "]}");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, SizeIs(Lt(4U << 20)));
  EXPECT_THAT(Message(refused), HasSubstr("more errors"));
}

TEST_F(CauseBombsTest, ContainersWithoutAnything) {
  const http::Response refused = Do("POST", "/api/v1/namespaces/default/pods",
                                    R"({"metadata":{"name":"a"},"spec":{"containers":[)" +
                                        Repeated("{}", base::testing::LargeInput(50'000)) + "]}}");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, SizeIs(Lt(4U << 20)));
}

}  // namespace
}  // namespace kubexx::apiserver
