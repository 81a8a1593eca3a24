#include "kubexx/codec/json_path.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kubexx::codec {
namespace {

using apimachinery::Reason;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kPodList = R"({"kind":"List","items":[
  {"metadata":{"name":"a","labels":{"kubernetes.io/hostname":"n1","z":"1","b":"2"}},
   "spec":{"containers":[{"name":"c1","image":"i:1"},{"name":"c2","image":"i:2"}],"priority":5},
   "status":{"ready":true,"load":1.5,"conditions":[{"type":"Ready","status":"True"}]}},
  {"metadata":{"name":"b","labels":{"z":"2"}},
   "spec":{"containers":[{"name":"c1","image":"i:3"}],"priority":10},
   "status":{"ready":false,"load":2,"note":null}}]})";

// What the template prints, or the error.
std::string Printed(const std::string& text, const std::string& json = kPodList,
                    const JsonPathOptions& options = {}) {
  const auto path = JsonPath::Parse(text);
  if (!path) {
    return "parse: " + path.error().message;
  }
  const auto printed = path->Print(JsonTree::Parse(json).value(), options);
  return printed ? *printed : "error: " + printed.error().message;
}

struct PathCase {
  const char* text;
  const char* printed;
  const char* json = kPodList;
};

TEST(JsonPathTest, PrintsAsKubectlDoes) {
  for (const PathCase& each : std::vector<PathCase>{
           {"hello", "hello"},
           {"{.kind}", "List"},
           {"{ .kind }!", "List!"},
           {"{$.kind}{@.kind}", "ListList"},
           {"{.items[*].metadata.name}", "a b"},
           {"{.items[0].spec.containers[*].image}", "i:1 i:2"},
           {"{.items[-1].metadata.name}", "b"},
           {"{.items[0].spec.containers[1:].name}", "c2"},
           {"{.items[0].spec.containers[0:2:2].name}", "c1"},
           {"{.items[0,1].metadata.name}", "a b"},
           {"{.items[0].metadata['name','labels'].z}", "1"},
           {R"({.items[0].metadata.labels.kubernetes\.io/hostname})", "n1"},
           {R"({.items[0].metadata.labels['kubernetes\.io/hostname']})", "n1"},
           {R"({.items[?(@.metadata.name=="b")].spec.priority})", "10"},
           {R"({.items[?(@.metadata.name!="b")].spec.priority})", "5"},
           {"{.items[?(@.spec.priority>5)].metadata.name}", "b"},
           {"{.items[?(@.spec.priority>=5)].metadata.name}", "a b"},
           {"{.items[?(@.status.load<2)].metadata.name}", "a"},
           {"{.items[?(@.status.ready==true)].metadata.name}", "a"},
           {"{.items[?(@.status.conditions)].metadata.name}", "a"},
           {R"({.items[*].status.conditions[?(@.type=="Ready")].status})", "True"},
           {"{..image}", "i:1 i:2 i:3"},
           {"{...image}", "i:1 i:2 i:3"},
           {"{.items[0].status.*}", R"(true 1.5 [{"status":"True","type":"Ready"}])"},
           {"{.items[0].metadata.labels}", R"({"b":"2","kubernetes.io/hostname":"n1","z":"1"})"},
           {"{.items[1].status.note}", "null"},
           {"{.items[1].none}-{.none.of.it}", "-"},
           {R"({range .items[*]}{.metadata.name}{"\t"}{.spec.priority}{"\n"}{end}.)",
            "a\t5\nb\t10\n."},
           {"{range .items[*]}{range .spec.containers[*]}{.name} {end}; {end}", "c1 c2 ; c1 ; "},
           {"{range .none[*]}x{end}y", "y"},
           {R"({"{"}{'it\'s'}{"\u00e9\x41"})",
            "{it's\xc3\xa9"
            "A"},
           {"{[?(@<5)]}", "2 3", "[2,6,3,7]"},
           {"{..}", "[1,2,3]", "[1,2,3]"},
           {"{[0]}", "1e+21", "[1000000000000000000000]"},
           {"{[*]}", "1.5 0.0001 1e-05 -2", "[1.50,0.0001,0.00001,-2.0]"},
           {"{[0:0]}", "", "[]"},
           {"{[*]}", "", "[]"},
           {"", ""},
       }) {
    EXPECT_EQ(Printed(each.text, each.json), each.printed) << each.text;
  }
}

// What `kubectl label --local -f pod.json x=y -o jsonpath=...` of version 1.32 has printed.
TEST(JsonPathTest, PrintsWhatKubectlHasPrinted) {
  constexpr const char* kPod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"z":"1","b":"2","x":"y"},)"
      R"("annotations":{"a.b/c":"dotted"}},"spec":{"priority":5,"containers":[{"name":"c1",)"
      R"("image":"i:1","ports":[{"containerPort":80},{"containerPort":81}]},)"
      R"({"name":"c2","image":"i:2"}]}})";
  for (const PathCase& each : std::vector<PathCase>{
           {"{.metadata.labels}", R"({"b":"2","x":"y","z":"1"})"},
           {"{range .spec.containers[*]}{range .ports[*]}{.containerPort} {end};{end}.",
            "80 81 ;;."},
           {R"({.metadata.annotations.a\.b/c}{.metadata.annotations['a\.b/c']})", "dotteddotted"},
           {R"({.spec.priority}{"\t"}{1.50}{true})", "5\t1.5true"},
           {R"({.spec.containers[?(@.name=="c3")].image}|)", "|"},
           {"{.spec.containers[*].ports[*].containerPort}", "80 81"},
           {"{.spec.containers[?(@.ports[0].containerPort>79)].name}", "c1"},
           {R"({.spec.containers[?(@.name<"c2")].name})", "c1"},
           {"{.spec.containers[0].ports}", R"([{"containerPort":80},{"containerPort":81}])"},
       }) {
    EXPECT_EQ(Printed(each.text, kPod), each.printed) << each.text;
  }
}

TEST(JsonPathTest, SaysWhatIsWrongWithATemplate) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, const char*>>{
           {"{.a", "unclosed action"},
           {"{hello}", "unrecognized identifier"},
           {"{.a[}", "unterminated array"},
           {"{.a[x]}", "invalid array index"},
           {"{.a[1:2:3:4]}", "invalid array index"},
           {"{.a[99999999999999999999]}", "invalid array index"},
           {"{.a[?(@.b<>1)]}", "unrecognized filter operator"},
           {"{.a[?(@.b==1]}", "unterminated filter"},
           {"{....a}", "multiple recursive descent"},
           {R"({"a\q"})", "invalid escape"},
           {"{range .a}x", "without an end"},
           {"{end}", "nothing to end"},
           {"{.a#b[0]}{#}", "unrecognized character"},
           {"{1.2.3}", "cannot parse number"},
           {std::string(70000, 'x'), "too long"}}) {
    const auto path = JsonPath::Parse(text);
    ASSERT_FALSE(path) << text.substr(0, 40);
    EXPECT_EQ(path.error().reason, Reason::kBadRequest);
    EXPECT_THAT(path.error().message, HasSubstr(part));
  }
}

TEST(JsonPathTest, SaysWhatIsWrongWithTheValues) {
  EXPECT_THAT(Printed("{.kind[0]}"), HasSubstr("not an array"));
  EXPECT_THAT(Printed("{.items[2]}"), HasSubstr("out of bounds: index 2, length 2"));
  EXPECT_THAT(Printed("{.items[-3]}"), HasSubstr("out of bounds"));
  EXPECT_THAT(Printed("{.items[0:3]}"), HasSubstr("out of bounds"));
  EXPECT_THAT(Printed("{.items[1:0]}"), HasSubstr("greater than ending index"));
  EXPECT_THAT(Printed("{.items[::0]}"), HasSubstr("step must be > 0"));
  EXPECT_THAT(Printed("{.kind[?(@.a)]}"), HasSubstr("cannot be filtered"));
  EXPECT_THAT(Printed(R"({.items[?(@.spec.priority=="5")]})"), HasSubstr("incompatible types"));
  EXPECT_THAT(Printed(R"({.items[?(@.spec.containers[*].name=="c1")]})"),
              HasSubstr("one element at a time"));
  EXPECT_EQ(Printed("{.items[*].none}", kPodList, {.allow_missing_keys = false}),
            "error: JSONPath: none is not found");
  EXPECT_EQ(Printed("{.items[?(@.none)]}", kPodList, {.allow_missing_keys = false}), "");
}

TEST(JsonPathTest, WhatItLooksAtAndWritesHasALimit) {
  const std::string deep = "{..}{..}{..}";
  EXPECT_THAT(Printed(deep, kPodList, {.max_values = 20}), HasSubstr("more than 20 values"));
  EXPECT_THAT(Printed("{.items[?(@..image)]}", kPodList, {.max_values = 9}), HasSubstr("values"));
  EXPECT_THAT(Printed(deep, kPodList, {.max_bytes = 100}), HasSubstr("more than 100 bytes"));
}

TEST(JsonPathTest, WhatStepsAndAlternativesGiveHasALimit) {
  const JsonTree ten = JsonTree::Parse("[1,2,3,4,5,6,7,8,9,10]").value();
  for (const char* text :
       {"{[:]}{[:]}{[:]}{[:]}{[:]}", "{[:,:,:,:,:]}", "{[*,*,*,*,*]}", "{[::1,0:10,:10,0:,:]}",
        "{range [*]}{@}{@}{@}{@}{@}{end}", "{[?(@)]}{[?(@)]}{[?(@)]}{[?(@)]}{[?(@)]}",
        "{range [:]}a{end}{range [:]}b{end}{range [:]}c{end}"}) {
    const auto path = JsonPath::Parse(text);
    ASSERT_TRUE(path) << text << path.error().ToString();
    const auto found = path->Find(ten, {.max_values = 49});
    ASSERT_FALSE(found) << text;
    EXPECT_THAT(found.error().message, HasSubstr("more than 49 values")) << text;
    EXPECT_TRUE(path->Find(ten, {.max_values = 500})) << text;
  }
}

TEST(JsonPathTest, AHostileTemplateEndsEarly) {
  JsonTree array = JsonTree::Array();
  for (int i = 0; i < 2000; ++i) {
    array.Append(JsonTree(""));
  }
  for (const std::string alternative : {":", "*"}) {
    std::string text = "{[" + alternative;
    for (int i = 1; i < 15000; ++i) {
      text += "," + alternative;
    }
    const auto path = JsonPath::Parse(text + "]}").value();
    EXPECT_FALSE(path.Find(array)) << alternative;
    EXPECT_FALSE(path.Print(array)) << alternative;
  }
}

TEST(JsonPathTest, GivesTheValuesThemselves) {
  const JsonTree tree = JsonTree::Parse(kPodList).value();
  const auto path = JsonPath::Parse("{.items[*].spec.priority}").value();
  const auto found = path.Find(tree).value();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[1], tree.At({"items", "1", "spec", "priority"}));
}

TEST(JsonPathTest, ARelaxedPathNeedsNeitherBracesNorADot) {
  const JsonTree tree = JsonTree::Parse(kPodList).value();
  for (const char* text : {"kind", ".kind", "{kind}", "{.kind}"}) {
    EXPECT_EQ(JsonPath::ParseRelaxed(text).value().Print(tree).value(), "List") << text;
  }
  EXPECT_FALSE(JsonPath::ParseRelaxed("{.kind}{.kind}"));
}

}  // namespace
}  // namespace kubexx::codec
