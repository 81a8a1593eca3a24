#include "kubexx/codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ReadCase {
  std::string_view yaml;
  std::string_view json;
};

void PrintTo(const ReadCase& read, std::ostream* out) { *out << read.yaml; }

// Expected values: sigs.k8s.io/yaml v1.6.0, YAMLToJSON.
class YamlRead : public ::testing::TestWithParam<ReadCase> {};

TEST_P(YamlRead, GivesTheJsonOfKubectl) {
  const auto documents = YamlToJson(GetParam().yaml);
  ASSERT_TRUE(documents.has_value()) << documents.error().ToString();
  EXPECT_THAT(*documents, ElementsAre(std::string(GetParam().json)));
}

constexpr ReadCase kReads[] = {
    {"a: 1", R"({"a":1})"},
    {"a: \"1\"", R"({"a":"1"})"},
    {"a: '1'", R"({"a":"1"})"},
    {"a: [true, True, yes, on, y, false, no, OFF, n]",
     R"({"a":[true,true,true,true,true,false,false,false,false]})"},
    {"a: ['yes', \"on\", !!str yes]", R"({"a":["yes","on","yes"]})"},
    {"a: [null, ~, Null, ]", R"({"a":[null,null,null]})"},
    {"a:\nb: \"\"", R"({"a":null,"b":""})"},
    {"a: [0x1F, 0o17, 017, 0b11, 1_000, -5, +7, 08, -0]", R"({"a":[31,15,15,3,1000,-5,7,8,0]})"},
    {"a: [1.5, .5, 1e3, 1., -1.5e-7, 1e21, 6.02E+23]",
     R"({"a":[1.5,0.5,1000,1,-1.5e-7,1e+21,6.02e+23]})"},
    {"a: [18446744073709551615, 9223372036854775808]",
     R"({"a":[18446744073709551615,9223372036854775808]})"},
    {"a: [2006-01-02, 2006-01-02T15:04:05Z, 12:30, 1.2.3, 1e, 0x, 1d, .]",
     R"({"a":["2006-01-02","2006-01-02T15:04:05Z","12:30","1.2.3","1e","0x","1d","."]})"},
    {"b: 1\na: 2", R"({"a":2,"b":1})"},
    {"1: a\ntrue: b\n1.5: c", R"({"1":"a","1.5":"c","true":"b"})"},
    {"a: |\n  x\n  y\nb: >-\n  p\n  q", R"({"a":"x\ny\n","b":"p q"})"},
    {"a: &x {k: v}\nb: *x", R"({"a":{"k":"v"},"b":{"k":"v"}})"},
    {"a: &x {k: v, l: 1}\nb:\n  <<: *x\n  l: 2", R"({"a":{"k":"v","l":1},"b":{"k":"v","l":2}})"},
    {"b:\n  <<: [{k: 1}, {k: 2, m: 3}]", R"({"b":{"k":1,"m":3}})"},
    {"a: !!binary aGk=", R"({"a":"hi"})"},
    {"a: !!int \"5\"", R"({"a":5})"},
    {"a: !custom 5", R"({"a":"5"})"},
    {"{\"a\": [1, {\"b\": \"<\"}]}", R"({"a":[1,{"b":"\u003c"}]})"},
    {"a: 1\na: 2", R"({"a":2})"},
    {"\xef\xbb\xbfkey: \xc3\xa9", "{\"key\":\"\xc3\xa9\"}"},
};
constexpr auto YamlCaseName = [](const auto& test) { return std::to_string(test.index); };
INSTANTIATE_TEST_SUITE_P(Cases, YamlRead, ::testing::ValuesIn(kReads), YamlCaseName);

struct DuplicateCase {
  std::string_view yaml;
  std::vector<std::string> duplicates;
};

// Expected values: sigs.k8s.io/yaml v1.6.0, YAMLToJSONStrict.
TEST(Yaml, KeysThatAMapHasTwiceAreTold) {
  const std::vector<DuplicateCase> cases = {
      {"a: 1\nb: {a: 1}\n", {}},
      {"a: 1\na: 2\n", {"line 2: key \"a\" already set in map"}},
      {"a: 1\nb:\n  c: 1\n  c:\n    d: 1\n    d: 2\na: [1,\n 2]\n",
       {"line 6: key \"d\" already set in map", "line 5: key \"c\" already set in map",
        "line 7: key \"a\" already set in map"}},
      {"1: a\n1: b\ntrue: c\ntrue: d\n\"x\\\"\": 1\n'x\"': 2\n1.5: 1\n1.5: 3\n",
       {"line 2: key 1 already set in map", "line 4: key true already set in map",
        "line 6: key \"x\\\"\" already set in map", "line 8: key 1.5 already set in map"}},
      {"a: x\na: |\n  text\na:\n  - 1\na:\n- 1\na:\n",
       {"line 2: key \"a\" already set in map", "line 5: key \"a\" already set in map",
        "line 7: key \"a\" already set in map", "line 8: key \"a\" already set in map"}},
      {"{\"a\":{\"b\":1,\"b\":2},\n\"a\":\n{}}",
       {"line 1: key \"b\" already set in map", "line 3: key \"a\" already set in map"}},
      {"a: &x 1\na: *x\n", {"line 2: key \"a\" already set in map"}},
      {"a: 1\n---\na: 1\na: 2\n", {}},
  };
  for (const DuplicateCase& one : cases) {
    std::vector<std::string> duplicates;
    EXPECT_TRUE(YamlToJson(one.yaml, &duplicates));
    EXPECT_EQ(duplicates, one.duplicates) << one.yaml;
  }
}

TEST(Yaml, NotTooManyDuplicatesAreTold) {
  std::string yaml;
  for (int i = 0; i < 1000; ++i) {
    yaml += "a: 1\n";
  }
  std::vector<std::string> duplicates;
  EXPECT_TRUE(YamlToJson(yaml, &duplicates));
  EXPECT_EQ(duplicates.size(), 100U);
}

TEST(Yaml, AStreamHasDocuments) {
  const auto documents = YamlToJson("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n");
  ASSERT_TRUE(documents.has_value());
  EXPECT_THAT(*documents, ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(YamlToJson("# only a comment\n").value(), IsEmpty());
}

TEST(Yaml, BadInputIsAnErrorWithItsLine) {
  for (const std::string_view yaml :
       {"a: [", "a: 1\n b: 2", "a: *unknown", "a: .inf", "a: .nan", "? [a]\n: b", "~: a",
        "a: !!int x", "a: !!bool 5", "<<: 5", "<<: [5]", "a: \"x", "a: {b: }}", "\ta: 1", ",",
        "a: 1\n---\n,b", ",[ ,!]*"}) {
    const auto documents = YamlToJson(yaml);
    ASSERT_FALSE(documents.has_value()) << yaml;
    EXPECT_EQ(documents.error().reason, apimachinery::Reason::kMalformed);
  }
  EXPECT_THAT(YamlToJson("a: 1\nb: .inf").error().message, HasSubstr("line 2: "));
}

TEST(Yaml, AliasBombsAreBounded) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string from = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + from;
    for (int k = 1; k < 9; ++k) {
      bomb += "," + from;
    }
    bomb += "]\n";
  }
  const auto documents = YamlToJson(bomb);
  ASSERT_FALSE(documents.has_value());
  EXPECT_THAT(documents.error().message, HasSubstr("aliases"));
  EXPECT_FALSE(YamlToJson("a: &a [*a]").has_value());
}

/// `text` and so many aliases of it, one a line.
std::string Repeated(const std::string& text, std::size_t times) {
  std::string yaml = "- &a " + text + "\n";
  for (std::size_t i = 0; i < times; ++i) {
    yaml += "- *a\n";
  }
  return yaml;
}

TEST(Yaml, WhatIsMadeOfALargeTextIsNotMuchLarger) {
  std::string maps = "[{}";
  for (int i = 0; i < 20; ++i) {
    maps += ",{}";
  }
  // 39 MiB of JSON, whose tree would take 700 MiB.
  const auto documents = YamlToJson(Repeated(maps + "]", 600'000));
  ASSERT_FALSE(documents.has_value());
  EXPECT_THAT(documents.error().message, HasSubstr("aliases"));
}

TEST(Yaml, AFewKilobytesDoNotBecomeMegabytes) {
  EXPECT_FALSE(YamlToJson(Repeated(std::string(10'000, 'x'), 400)).has_value());
}

TEST(Yaml, HonestAliasesAreTaken) {
  const auto small = YamlToJson(Repeated(std::string(1'000, 'x'), 500));
  ASSERT_TRUE(small.has_value()) << small.error().message;
  EXPECT_GT(small->front().size(), 500'000U);
  // As large as a body may be, with what a tenth of it says three times.
  const std::string third(300'000, 'x');
  EXPECT_TRUE(YamlToJson(Repeated(third, 3) + "- " + std::string(2'500'000, 'y')).has_value());
}

TEST(Yaml, WhatIsShortInYamlIsTakenHoweverMuchThereIs) {
  std::string nulls = "[a";
  std::string maps = "[{a,b}";
  std::string items;
  std::string characters = "\"";
  while (maps.size() < 400'000) {
    nulls += ",~";
    maps += ",{a,b}";
    items += "-\n-\n-\n";
    characters += R"(\x01)";
  }
  for (const std::string& yaml : {nulls + "]", maps + "]", items, characters + "\""}) {
    const auto made = YamlToJson(yaml);
    EXPECT_TRUE(made.has_value()) << yaml.substr(0, 10) << ": " << made.error().message;
  }
}

TEST(Yaml, DepthIsBounded) {
  EXPECT_FALSE(YamlToJson(std::string(100'000, '[')).has_value());
  EXPECT_FALSE(YamlToJson(std::string(600, '[') + std::string(600, ']')).has_value());
  EXPECT_TRUE(YamlToJson(std::string(200, '[') + std::string(200, ']')).has_value());
}

TEST(Yaml, IsWrittenAsKubectlDoes) {
  const auto yaml = JsonToYaml(
      R"({"kind":"X","a":{"list":[{"b":1,"a":[[],{}]},["x",["y"]],"z"],"empty":{},"none":null},"n":-1.50,"t":true})");
  ASSERT_TRUE(yaml.has_value());
  EXPECT_EQ(*yaml,
            "a:\n"
            "  empty: {}\n"
            "  list:\n"
            "  - a:\n"
            "    - []\n"
            "    - {}\n"
            "    b: 1\n"
            "  - - x\n"
            "    - - \"y\"\n"
            "  - z\n"
            "  none: null\n"
            "kind: X\n"
            "\"n\": -1.50\n"
            "t: true\n");
  EXPECT_EQ(JsonToYaml("{}"), "{}\n");
  EXPECT_EQ(JsonToYaml("[]"), "[]\n");
  EXPECT_EQ(JsonToYaml("\"x\""), "x\n");
  EXPECT_FALSE(JsonToYaml("{").has_value());
}

TEST(Yaml, LinesAreABlock) {
  const auto yaml = JsonToYaml(R"({"a":"x\n  y\n","b":"x\ny","c":"x\n\n","d":{"e":["p\nq\n"]}})");
  ASSERT_TRUE(yaml.has_value());
  EXPECT_EQ(*yaml,
            "a: |\n  x\n    y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd:\n  e:\n  - |\n    p\n    q\n");
}

TEST(Yaml, EveryStringComesBack) {
  const std::string_view strings[] = {
      "",         " ",       "a",      "a b",        "a: b",       "a:",
      "a #b",     "#a",      "-",      "- a",        "? a",        "true",
      "yes",      "No",      "y",      "null",       "~",          "1",
      "-1",       "1.5",     "0x1f",   "017",        "08",         "1_000",
      "1e3",      ".5",      ".inf",   ".nan",       "2006-01-02", "2006-01-02T15:04:05Z",
      "12:30:45", "<<",      "=",      "*a",         "&a",         "!a",
      "|",        ">",       "'a'",    "\"a\"",      "a\"b",       "a'b",
      "\\",       "%a",      "@a",     "`a",         "[a",         "]a",
      "{a",       "}a",      ",a",     "a,b",        "a\nb",       "a\nb\n",
      "a\n\n",    "\na",     " a\nb",  "a\n b",      "a \nb",      "a\t",
      "\ta",      "a\n\tb",  "a\r\nb", "\x01",       "\x7f",       "\u0085",
      "a\u2028b", "\ufeffx", "\u00e9", "\U0001f600", "---",        "...",
      "--- a",    "a ",      "+1",     "0b11",       "0o17",       "a\n---\nb",
      "# x\ny",   "a\n# b\n"};
  std::string json = "{";
  for (const std::string_view text : strings) {
    for (const std::string_view prefix : {"", "k"}) {
      json += json.size() > 1 ? ",\"" : "\"";
      for (const char c : std::string(prefix) + std::string(text)) {
        // Escape everything that JSON or a reader might object to.
        constexpr std::string_view kHex = "0123456789abcdef";
        if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
          json += std::string("\\u00") + kHex[static_cast<unsigned char>(c) >> 4] + kHex[c & 15];
        } else {
          json += c;
        }
      }
      json += "\":0";
    }
  }
  json += "}";
  // As keys; and as values, by way of the keys' JSON.
  const auto as_keys = JsonToYaml(json);
  ASSERT_TRUE(as_keys.has_value());
  const auto keys_back = YamlToJson(*as_keys);
  ASSERT_TRUE(keys_back.has_value()) << keys_back.error().ToString() << *as_keys;
  EXPECT_EQ(testing::CanonicalJson(keys_back->at(0)), testing::CanonicalJson(json));
  std::string list = json;
  for (std::size_t at = 0; (at = list.find("\":0", at)) != std::string::npos;) {
    list.replace(at, 3, "\"");
  }
  list.front() = '[';
  list.back() = ']';
  const auto as_values = JsonToYaml(list);
  ASSERT_TRUE(as_values.has_value());
  const auto values_back = YamlToJson(*as_values);
  ASSERT_TRUE(values_back.has_value()) << values_back.error().ToString() << *as_values;
  EXPECT_EQ(testing::CanonicalJson(values_back->at(0)), testing::CanonicalJson(list));
}

TEST(Yaml, RandomBytesNeverCrash) {
  std::mt19937 random(20240603);
  constexpr std::string_view kAlphabet = "ab1:- \n\t[]{},&*!|>'\"%@#?<~.\\\xc3\xa9";
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) {
      text += kAlphabet[random() % kAlphabet.size()];
    }
    if (const auto documents = YamlToJson(text)) {
      for (const std::string& json : *documents) {
        EXPECT_TRUE(JsonToYaml(json).has_value()) << text;
      }
    }
  }
}

TEST(Yaml, ListsThatDoNotEndAreRefusedAtOnce) {
  for (const char open : {'[', '{'}) {
    EXPECT_FALSE(YamlToJson(std::string(3'000'000, open)));
  }
  EXPECT_TRUE(YamlToJson("a: \"" + std::string(90'000, '[') + "\""));
}

}  // namespace
}  // namespace kubexx::codec
