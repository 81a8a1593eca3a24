#include "kubexx/apiserver/cacher/shared_text.h"

#include <gtest/gtest.h>

namespace kubexx::apiserver {
namespace {

std::string Fields(int n) {
  return R"({"f:data":{".":{},"f:}\"{":{},"f:key)" + std::to_string(n) +
         R"(":{}},"f:metadata":{"f:labels":{"f:app":{}}}})";
}
std::string Object(const std::string& name, int n) {
  return R"({"metadata":{"name":")" + name + R"(","managedFields":[{"manager":"a","fieldsV1":)" +
         Fields(n) + R"(},{"fieldsV1":{}},{"fieldsV1":)" + Fields(n + 1) +
         R"(,"subresource":"status"}]},"data":{"x":"\"fieldsV1\":{"}})";
}

TEST(SharedTextTest, TextsAreAsTheyWere) {
  TextPool pool;
  for (const std::string& text :
       {Object("a", 1), std::string("{}"), std::string(R"({"fieldsV1":{)"), std::string(),
        R"({"fieldsV1":)" + Fields(1) + "}"}) {
    const SharedText shared(text, pool);
    EXPECT_EQ(shared.ToString(), text);
    EXPECT_EQ(shared.size(), text.size());
    EXPECT_EQ(SharedText(text).ToString(), text);
  }
}

TEST(SharedTextTest, FieldsAreKeptOnce) {
  TextPool pool;
  std::vector<SharedText> texts;
  for (int i = 0; i < 100; ++i) {
    texts.emplace_back(Object("object-" + std::to_string(i), 1), pool);
  }
  EXPECT_EQ(pool.size(), 2U);
  EXPECT_EQ(texts[57].ToString(), Object("object-57", 1));
}

TEST(SharedTextTest, FieldsThatNobodyHasAreDropped) {
  TextPool pool;
  const SharedText kept(Object("kept", 1), pool);
  for (int i = 0; i < 10000; ++i) {
    const SharedText gone(Object("gone", 10 * i), pool);
  }
  EXPECT_LT(pool.size(), 1000U);
  EXPECT_EQ(kept.ToString(), Object("kept", 1));
}

}  // namespace
}  // namespace kubexx::apiserver
