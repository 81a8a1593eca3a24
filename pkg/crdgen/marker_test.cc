#include "kubexx/crdgen/marker.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::crdgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text, MarkerPlaces place) {
  const auto marker = ReadMarker(text, place, "a.h", 7);
  EXPECT_FALSE(marker) << text;
  return marker ? std::string() : marker.error().message;
}

Marker MarkerFrom(const std::string& text, MarkerPlaces place) {
  auto marker = ReadMarker(text, place, "a.h", 7);
  EXPECT_TRUE(marker) << text << ": " << marker.error().message;
  return marker ? std::move(*marker) : Marker{.rule = nullptr};
}

/// What the value of a marker is in JSON.
std::string ValueFrom(const std::string& text) {
  const Marker marker = MarkerFrom(text, kOnMember);
  return marker.rule == nullptr ? std::string() : marker.Find("")->ToJson();
}

TEST(MarkerTest, ValuesAreWrittenAsForControllerGen) {
  const std::string set = "+kubebuilder:default=";
  EXPECT_EQ(ValueFrom(set + "3"), "3");
  EXPECT_EQ(ValueFrom(set + "-1.5"), "-1.5");
  EXPECT_EQ(ValueFrom(set + "true"), "true");
  EXPECT_EQ(ValueFrom(set + "two words"), R"("two words")");
  EXPECT_EQ(ValueFrom(set + "100Mi"), R"("100Mi")");
  EXPECT_EQ(ValueFrom(set + "a:b"), R"("a:b")");
  EXPECT_EQ(ValueFrom(set + R"("")"), R"("")");
  EXPECT_EQ(ValueFrom(set + R"("a,\"b\"\t\\d\u00e9\x41")"), R"("a,\"b\"\t\\déA")");
  EXPECT_EQ(ValueFrom(set + R"(`^\d;,}$`)"), R"("^\\d;,}$")");
  EXPECT_EQ(ValueFrom(set + "{}"), "{}");
  EXPECT_EQ(ValueFrom(set + "{1, 2}"), "[1,2]");
  EXPECT_EQ(ValueFrom(set + "a;b"), R"(["a","b"])");
  EXPECT_EQ(ValueFrom(set + R"({{a, b}, {c: {"d e": true}}})"),
            R"([["a","b"],{"c":{"d e":true}}])");
  EXPECT_EQ(ValueFrom(R"(+default={"a": [1, null]})"), R"({"a":[1,null]})");
  EXPECT_EQ(ValueFrom(R"(+kubebuilder:validation:Enum=a;"b c";3)"), R"(["a","b c",3])");
}

TEST(MarkerTest, ArgumentsHaveNames) {
  const Marker marker = MarkerFrom(
      R"(+kubebuilder:resource:path=jobs,shortName=j;jb,categories={all, "my things"},scope=Cluster)",
      kOnStruct);
  EXPECT_EQ(marker.name(), "kubebuilder:resource");
  EXPECT_EQ(marker.line, 7U);
  EXPECT_EQ(marker.Text("path"), "jobs");
  EXPECT_EQ(marker.Text("scope"), "Cluster");
  EXPECT_EQ(marker.Text("singular"), "");
  EXPECT_THAT(marker.Texts("shortName"), ElementsAre("j", "jb"));
  EXPECT_THAT(marker.Texts("categories"), ElementsAre("all", "my things"));
  EXPECT_EQ(MarkerFrom("+kubebuilder:resource", kOnStruct).arguments.size(), 0U);
  EXPECT_TRUE(MarkerFrom("+kubebuilder:validation:items:Minimum=1", kOnAlias).is_for_items);
}

TEST(MarkerTest, WrongOnesSayWhatWouldBeRight) {
  struct Case {
    const char* text;
    MarkerPlaces place;
    const char* error;
  };
  for (const Case& wrong : std::initializer_list<Case>{
           {"+kubebuilder:validation:Minimun=1", kOnMember,
            "a.h:7: the marker +kubebuilder:validation:Minimun is unknown; is "
            "+kubebuilder:validation:Minimum meant?"},
           {"+Minimum=1", kOnMember, "is +kubebuilder:validation:Minimum meant?"},
           {"+kubebuilder:printcolum:name=a", kOnStruct, "is +kubebuilder:printcolumn meant?"},
           {"+listtype=map", kOnMember, "is +listType meant?"},
           {"+ optional", kOnMember, "is +optional meant?"},
           {"+1 more", kOnMember, "a comment that is none must not begin with '+'"},
           {"+kubebuilder:rbac:groups=apps", kOnStruct, "+kubebuilder:rbac:groups is unknown"},
           {"+kubebuilder:validation:items:Required", kOnMember, "is unknown"},
           {"+optional=true", kOnMember, "+optional has no value"},
           {"+nullable", kOnStruct, "+nullable belongs above a member"},
           {"+groupName=a.b", kOnStruct, "+groupName belongs above the namespace"},
           {"+kubebuilder:validation:Minimum", kOnMember, "needs a value"},
           {"+kubebuilder:validation:Minimum=few", kOnMember, "'few' is not a number"},
           {"+kubebuilder:validation:MinLength=-1", kOnMember, "'-1' is negative"},
           {"+kubebuilder:validation:MinLength=1.5", kOnMember, "'1.5' is not an integer"},
           {"+kubebuilder:object:root=yes", kOnStruct, "'yes' is neither true nor false"},
           {"+kubebuilder:validation:Pattern=^a{1,2}$", kOnMember,
            "',2}$' is too much; put the value in quotation marks"},
           {"+kubebuilder:validation:Pattern=\"^\\d$\"", kOnMember, "write \\\\ for a backslash"},
           {"+kubebuilder:validation:Pattern=\"a", kOnMember,
            "the text does not end with \" in this line"},
           {"+kubebuilder:validation:Pattern='a'", kOnMember, "in quotation marks or in backquot"},
           {"+kubebuilder:default=", kOnMember, "there is no value"},
           {"+kubebuilder:default={a: 1", kOnMember, "ends with '}'"},
           {"+kubebuilder:default={a: 1, b}", kOnMember, "'b' has no ':'"},
           {"+kubebuilder:default={a: 1, a: 2}", kOnMember, "'a' is there twice"},
           {"+default=text", kOnMember, "the value is not JSON"},
           {"+kubebuilder:resource:name=jobs", kOnStruct,
            "has no argument 'name'; there are path, singular, shortName, categories, scope"},
           {"+kubebuilder:resource:path=a,path=b", kOnStruct, "has path twice"},
           {"+kubebuilder:resource=jobs", kOnStruct, "+kubebuilder:resource:path=..."},
           {"+kubebuilder:resource:path=a,scope", kOnStruct, "scope has no '='"},
           {"+kubebuilder:resource:categories={1}", kOnStruct, "'1' is not a text"},
           {"+kubebuilder:printcolumn:name=a,type=string", kOnStruct, "needs JSONPath=..."}}) {
    EXPECT_THAT(ErrorOf(wrong.text, wrong.place), HasSubstr(wrong.error));
  }
  EXPECT_THAT(ErrorOf("+kubebuilder:default=" + std::string(40, '{'), kOnMember),
              HasSubstr("nests too deeply"));
  EXPECT_THAT(ErrorOf("+kubebuilder:default=" + std::string(20000, 'a'), kOnMember),
              HasSubstr("too long"));
}

}  // namespace
}  // namespace kubexx::crdgen
