#include "kubexx/apiserver/object/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;

TEST(VerbsTest, EachNameIsThatOfItsVerb) {
  EXPECT_EQ(VerbOf("create"), Verb::kCreate);
  EXPECT_EQ(VerbOf("deletecollection"), Verb::kDeleteCollection);
  EXPECT_EQ(VerbOf("watch"), Verb::kWatch);
  EXPECT_EQ(VerbOf("connect"), std::nullopt);
}

TEST(VerbsTest, ASetTellsItsVerbsInAlphabeticalOrder) {
  constexpr Verbs kSome{Verb::kUpdate, Verb::kGet, Verb::kPatch};
  EXPECT_TRUE(kSome.Has(Verb::kPatch));
  EXPECT_FALSE(kSome.Has(Verb::kCreate));
  EXPECT_THAT(kSome.Names(), ElementsAre("get", "patch", "update"));
  EXPECT_EQ(kSome, kReadAndWritten);
  EXPECT_EQ(kAllVerbs.Names().size(), 8U);
  EXPECT_TRUE(Verbs().Names().empty());
}

}  // namespace
}  // namespace kubexx::apiserver
