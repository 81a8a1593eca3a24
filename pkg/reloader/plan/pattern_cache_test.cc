#include "kubexx/reloader/plan/pattern_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/reloader/plan/pattern_list.h"

namespace kubexx::reloader {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// `number` items that end with their number.
std::string ItemsOf(const std::string& pattern, int number) {
  std::string list;
  for (int i = 0; i < number; ++i) {
    list += (i == 0 ? "" : ",") + pattern + std::to_string(i);
  }
  return list;
}

TEST(PatternList, NamesAndExpressionsMatch) {
  const PatternList list("app, web-.* ,,a{3}");
  EXPECT_TRUE(list.Matches("app"));
  EXPECT_TRUE(list.Matches("web-1"));
  EXPECT_TRUE(list.Matches("aaa"));
  EXPECT_FALSE(list.Matches("apps"));
  EXPECT_FALSE(list.Matches("a web-1"));
  EXPECT_THAT(list.bad_items(), IsEmpty());
}

TEST(PatternList, DollarIsTheEndOfTheText) { EXPECT_FALSE(PatternList("a.?").Matches("a\nb")); }

TEST(PatternList, RefusesAnExpressionThatNeedsTooMuchMemory) {
  const PatternList list("(.?){999}x,web-.*");
  EXPECT_FALSE(list.Matches("x"));
  EXPECT_TRUE(list.Matches("web-1")) << "the others count";
  EXPECT_THAT(list.bad_items(), ElementsAre(AllOf(Field(&BadItem::item, "(.?){999}x"),
                                                  Field(&BadItem::error, HasSubstr("64 KiB")))));
}

TEST(PatternList, TakesSoManyExpressionsAndAnyNumberOfNames) {
  const std::string list = ItemsOf("a.", 10'000) + "," + ItemsOf("name-", 5000);
  const PatternList patterns(list);
  EXPECT_TRUE(patterns.Matches("ax63"));
  EXPECT_FALSE(patterns.Matches("ax64"));
  EXPECT_TRUE(patterns.Matches("name-4999"));
  EXPECT_THAT(patterns.bad_items(),
              ElementsAre(AllOf(Field(&BadItem::item, "a.64"),
                                Field(&BadItem::error, HasSubstr("at most 64 regular")),
                                Field(&BadItem::error, HasSubstr("9935 after it")))));
}

TEST(PatternList, TakesExpressionsOfSoManyBytesTogether) {
  const std::string big(PatternList::kMaxPatternBytes - 6, 'a');
  const PatternList list("b.*,c.*,[" + big + ",d.*");
  EXPECT_TRUE(list.Matches("b1"));
  EXPECT_FALSE(list.Matches("d1"));
  EXPECT_THAT(list.bad_items(), ElementsAre(Field(&BadItem::error, HasSubstr("4096 bytes"))));
  EXPECT_LT(list.bad_items().front().item.size(), 200U);
}

TEST(PatternList, ANameTakesBoundedTimeWhateverTheExpressions) {
  const PatternList list(ItemsOf("(.?){30}x", 60) + ",web");
  EXPECT_TRUE(list.Matches("web"));
  EXPECT_LE(list.StepsFor("a"), PatternList::kMaxInstructions + 1);
  EXPECT_THAT(list.bad_items(), ElementsAre(Field(&BadItem::error, HasSubstr("instructions"))));
}

TEST(PatternCache, KeepsListsOfABoundedSize) {
  constexpr std::size_t kMax = 4 << 20;
  PatternCache cache(kMax);
  for (int i = 0; i < 100; ++i) {
    const auto list = cache.Get(ItemsOf("[a-f]{1,9}" + std::to_string(i), 40));
    EXPECT_GT(list->bytes(), 40U * 16 * 1024) << "each may take as much in use";
    EXPECT_LE(cache.bytes(), kMax);
    EXPECT_GT(cache.bytes(), 0U);
  }
}

TEST(PatternCache, KeepsNothingOfAListThatIsTooLarge) {
  PatternCache cache(1 << 10);
  EXPECT_TRUE(cache.Get("a.*")->Matches("ab"));
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(PatternCache, CompilesAListOnce) {
  PatternCache cache;
  EXPECT_EQ(cache.Get("a.*"), cache.Get("a.*"));
}

TEST(PatternCache, TellsWhatIsHereWithoutCompiling) {
  PatternCache cache;
  EXPECT_EQ(cache.GetIfHere("a.*"), nullptr);
  EXPECT_EQ(cache.compiled(), 0U);
  const auto list = cache.Get("a.*");
  EXPECT_EQ(cache.GetIfHere("a.*"), list);
  EXPECT_EQ(cache.compiled(), 1U);
}

TEST(IsQuicklyCompiled, NotWhatIsLongOrRepeatsOrNamesAClassOfUnicode) {
  EXPECT_TRUE(IsQuicklyCompiled("app-.*,web\\.v[0-9]+"));
  for (const std::string& list :
       {std::string("(.?){999}x"), std::string("\\pL\\PN.*"), ItemsOf("a.", 200)}) {
    EXPECT_FALSE(IsQuicklyCompiled(list)) << list;
  }
}

}  // namespace
}  // namespace kubexx::reloader
