#include "kubexx/apimachinery/fields.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace kubexx::apimachinery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FieldSelectorTest, ReadsTheThreeOperators) {
  const auto selector = FieldSelector::Parse("metadata.name=a,status.phase!=Running,x==y,");
  ASSERT_TRUE(selector) << selector.error().ToString();
  EXPECT_THAT(selector->requirements(),
              ElementsAre(FieldRequirement{"metadata.name", "a", true},
                          FieldRequirement{"status.phase", "Running", false},
                          FieldRequirement{"x", "y", true}));
  EXPECT_EQ(selector->ToString(), "metadata.name=a,status.phase!=Running,x=y");
  EXPECT_EQ(selector->Exactly("metadata.name"), "a");
  EXPECT_EQ(selector->Exactly("status.phase"), "") << "that is not one value";
}

TEST(FieldSelectorTest, EscapedCharactersOfAValueStayWhatTheyAre) {
  const auto selector = FieldSelector::FromMap({{"image", R"(a=b,c\d)"}});
  EXPECT_EQ(selector.ToString(), R"(image=a\=b\,c\\d)");
  EXPECT_EQ(FieldSelector::Parse(selector.ToString()).value(), selector);
}

TEST(FieldSelectorTest, AMissingFieldHasTheEmptyValue) {
  const auto selector = FieldSelector::Parse("a=,b!=1").value();
  EXPECT_TRUE(selector.requirements()[0].Admits(""));
  EXPECT_FALSE(selector.requirements()[0].Admits("1"));
  EXPECT_TRUE(selector.requirements()[1].Admits(""));
  EXPECT_FALSE(selector.requirements()[1].Admits("1"));
}

TEST(FieldSelectorTest, RefusesWhatIsNoSelectorAndNamesTheTerm) {
  EXPECT_TRUE(FieldSelector::Parse("").value().empty());
  for (const auto& [text, part] :
       std::vector<std::pair<const char*, const char*>>{{"a=b,name", "\"name\" has no '='"},
                                                        {"=b", "\"=b\" has no '='"},
                                                        {"a=b=c", "unescaped character"},
                                                        {R"(a=b\c)", R"(escape sequence: \c)"}}) {
    const auto selector = FieldSelector::Parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().reason, Reason::kBadRequest);
    EXPECT_THAT(selector.error().message, HasSubstr(part));
  }
}

}  // namespace
}  // namespace kubexx::apimachinery
