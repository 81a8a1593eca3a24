#include "kubexx/apiserver/schema/definition.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/schema/custom_version.h"
#include "kubexx/apiserver/schema/formats.h"
#include "kubexx/apiserver/schema/json_path.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/apiserver/schema/structural.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

JsonTree Tree(std::string_view json) {
  auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree ? std::move(*tree) : JsonTree();
}

std::vector<std::string> Text(const std::vector<StatusCause>& causes) {
  std::vector<std::string> problems;
  for (const StatusCause& cause : causes) {
    problems.push_back(cause.field + ": " + cause.message);
  }
  return problems;
}

std::vector<std::string> Structural(std::string_view json) {
  std::vector<StatusCause> causes;
  CauseList list(causes);
  Budget work;
  DefinitionBudget budget(work);
  CheckStructural(Tree(json), "s", budget, list);
  return Text(causes);
}

constexpr const char* kGood = R"({
  "metadata":{"name":"widgets.example.com"},
  "spec":{"group":"example.com","scope":"Namespaced","conversion":{"strategy":"None"},
    "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object"}}}},
      "subresources":{"status":{},"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}},
      "additionalPrinterColumns":[{"name":"N","type":"integer","jsonPath":".spec.n"}]}]}})";

std::vector<std::string> Problems(const JsonTree& definition) {
  std::vector<StatusCause> causes;
  Budget budget;
  CheckDefinition(definition, budget, causes);
  return Text(causes);
}

TEST(CheckDefinition, TakesAGoodOne) { EXPECT_THAT(Problems(Tree(kGood)), IsEmpty()); }

TEST(CheckDefinition, NamesWhatIsWrong) {
  const auto with = [](std::initializer_list<std::string_view> path, JsonTree value) {
    JsonTree definition = Tree(kGood);
    *definition.At(std::span(path.begin(), path.size())) = std::move(value);
    return Problems(definition);
  };
  EXPECT_THAT(with({"metadata", "name"}, "other"),
              ElementsAre("metadata.name: Invalid value: \"other\": must be "
                          "spec.names.plural+\".\"+spec.group"));
  EXPECT_THAT(with({"spec", "scope"}, "Both"),
              ElementsAre("spec.scope: Unsupported value: \"Both\": supported values: \"Cluster\", "
                          "\"Namespaced\""));
  EXPECT_THAT(with({"spec", "names", "kind"}, "Wid get"),
              Contains(StartsWith("spec.names.kind: Invalid value")));
  EXPECT_THAT(
      with({"spec", "versions", "0", "storage"}, false),
      ElementsAre(::testing::EndsWith("must have exactly one version marked as storage version")));
  EXPECT_THAT(with({"spec", "versions"}, JsonTree::Array()),
              ElementsAre("spec.versions: Required value: must have at least one version"));
  EXPECT_THAT(with({"spec", "versions", "0", "schema"}, JsonTree::Object()),
              ElementsAre("spec.versions[0].schema.openAPIV3Schema: Required value"));
  EXPECT_THAT(
      with({"spec", "versions", "0", "additionalPrinterColumns", "0", "jsonPath"}, "spec.n"),
      ElementsAre(
          StartsWith("spec.versions[0].additionalPrinterColumns[0].jsonPath: Invalid value")));
  EXPECT_THAT(
      with({"spec", "versions", "0", "subresources", "scale", "specReplicasPath"}, ".status.n"),
      ElementsAre("spec.versions[0].subresources.scale.specReplicasPath: Invalid value: "
                  "\".status.n\": should be a json path under .spec"));
}

TEST(CheckDefinition, SomeFieldsCannotChange) {
  JsonTree changed = Tree(kGood);
  changed["spec"]["scope"] = "Cluster";
  changed["spec"]["versions"].elements()[0]["name"] = "v2";
  JsonTree before = Tree(kGood);
  before["status"]["storedVersions"].Append("v1");
  before["status"]["conditions"] = Tree(R"([{"type":"Established","status":"True"}])");
  std::vector<StatusCause> causes;
  CheckDefinitionChange(before, changed, causes);
  EXPECT_THAT(
      Text(causes),
      ElementsAre("spec.scope: Invalid value: \"Cluster\": field is immutable",
                  StartsWith("status.storedVersions[0]: Invalid value: \"v1\": missing from "
                             "spec.versions")));
}

// Nothing is stored under them yet.
TEST(CheckDefinition, KindAndScopeMayChangeUntilTheyAreServed) {
  JsonTree changed = Tree(kGood);
  changed["spec"]["scope"] = "Cluster";
  changed["spec"]["names"]["kind"] = "Other";
  changed["spec"]["group"] = "example.org";
  JsonTree before = Tree(kGood);
  before["status"]["conditions"] = Tree(R"([{"type":"Established","status":"False"}])");
  std::vector<StatusCause> causes;
  CheckDefinitionChange(before, changed, causes);
  EXPECT_THAT(Text(causes),
              ElementsAre("spec.group: Invalid value: \"example.org\": field is immutable"));
}

TEST(CheckDefinition, WarnsOfRulesThatAreNotEvaluated) {
  JsonTree definition = Tree(kGood);
  EXPECT_THAT(DefinitionWarnings(definition), IsEmpty());
  JsonTree& spec = definition["spec"]["versions"]
                       .elements()[0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  JsonTree rule = JsonTree::Object();
  rule["rule"] = "true";
  spec["x-kubernetes-validations"].Append(rule);
  EXPECT_THAT(DefinitionWarnings(definition), ElementsAre(StartsWith("x-kubernetes-validations")));
}

TEST(CheckStructural, WantsTypesEverywhere) {
  EXPECT_THAT(
      Structural(R"({"properties":{"a":{},"b":{"type":"array"},"c":{"type":"array","items":{}}}})"),
      ElementsAre(
          "s.type: Required value: must not be empty at the root",
          "s.properties[a].type: Required value: must not be empty for specified object fields",
          "s.properties[b].items: Required value: must be specified",
          "s.properties[c].items.type: Required value: must not be empty for specified array "
          "items"));
  EXPECT_THAT(Structural(R"({"type":"string"})"),
              ElementsAre("s.type: Invalid value: \"string\": must be object at the root"));
  EXPECT_THAT(Structural(R"({"type":"object","properties":{"a":{"type":"text"}}})"),
              ElementsAre(StartsWith("s.properties[a].type: Unsupported value: \"text\"")));
  EXPECT_THAT(Structural(R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
                             "anyOf":[{"type":"integer"},{"type":"string"}]},
                             "b":{"x-kubernetes-preserve-unknown-fields":true}}})"),
              IsEmpty());
}

TEST(CheckStructural, RefusesWhatHasNoPlace) {
  EXPECT_THAT(Structural(R"({"type":"object","additionalProperties":{"type":"string"}})"),
              ElementsAre("s.additionalProperties: Forbidden: must not be used at the root"));
  EXPECT_THAT(
      Structural(R"({"type":"object","properties":{"a":{"type":"object",
                             "properties":{"b":{"type":"string"}},"additionalProperties":{"type":"string"}}}})"),
      ElementsAre("s.properties[a].additionalProperties: Forbidden: additionalProperties and "
                  "properties are mutual exclusive"));
  EXPECT_THAT(
      Structural(R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})"),
      ElementsAre(StartsWith("s.properties[a].pattern: Invalid value: \"(\": must be a valid "
                             "regular expression")));
  EXPECT_THAT(
      Structural(
          R"({"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}})"),
      ElementsAre(StartsWith("s.properties[a].uniqueItems: Forbidden")));
  EXPECT_THAT(
      Structural(
          R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})"),
      ElementsAre(StartsWith("s.properties[metadata]: Forbidden")));
}

/// A schema whose properties have these patterns.
std::string PatternsOf(int first, int end, const std::string& text) {
  std::string properties;
  for (int i = first; i < end; ++i) {
    properties += (i == first ? "" : ",") + std::string("\"p") + std::to_string(i) +
                  R"(":{"type":"string","pattern":")" + text + std::to_string(i) + "\"}";
  }
  return R"({"type":"object","properties":{)" + properties + "}}";
}

// Each may be short and yet as large as an expression may be: what compiles all of them before it
// refuses them would be at it for minutes.
TEST(CheckStructural, PatternsAreCountedBeforeTheyAreCompiled) {
  std::string large;
  for (int i = 0; i < 30; ++i) {
    large += "a{1000}";
  }
  EXPECT_THAT(Structural(PatternsOf(0, 2'000, large)),
              ElementsAre(StartsWith("s: Forbidden: the patterns of the schema are too large")));
  std::string larger;
  for (int i = 0; i < 100; ++i) {
    larger += "a{1000}";
  }
  EXPECT_THAT(Structural(PatternsOf(0, 2'000, larger)),
              ::testing::AllOf(::testing::SizeIs(::testing::Lt(20U)),
                               Contains(HasSubstr("the patterns of the schema are too large"))));
}

TEST(CheckStructural, PatternsThatAreNoneCountToo) {
  EXPECT_THAT(Structural(PatternsOf(0, 2'000, "(")),
              ::testing::AllOf(::testing::SizeIs(101),
                               Contains(HasSubstr("the patterns of the schema are too large"))));
}

TEST(CheckStructural, APatternMayComeOften) {
  std::string properties;
  for (int i = 0; i < 3'000; ++i) {
    properties += (i == 0 ? "" : ",") + std::string("\"p") + std::to_string(i) +
                  R"(":{"type":"string","pattern":"^[a-z]{1,100}$"})";
  }
  EXPECT_THAT(Structural(R"({"type":"object","properties":{)" + properties + "}}"), IsEmpty());
}

TEST(CheckDefinition, PatternsAreCountedOverAllVersions) {
  JsonTree definition = Tree(kGood);
  const JsonTree version = definition["spec"]["versions"].elements()[0];
  const auto with = [&](const std::string& name, int first, int end) {
    JsonTree one = version;
    one["name"] = name;
    one["storage"] = name == "v1";
    one["schema"]["openAPIV3Schema"] = Tree(PatternsOf(first, end, "a"));
    return one;
  };
  const auto problems = [&](int first, int end) {
    definition["spec"]["versions"] = JsonTree::Array({with("v1", 0, 600), with("v2", first, end)});
    return Problems(definition);
  };
  EXPECT_THAT(problems(0, 600), IsEmpty());
  EXPECT_THAT(problems(600, 1'200),
              ElementsAre(StartsWith("spec.versions[1].schema.openAPIV3Schema: Forbidden: the "
                                     "patterns of the schema are too large")));
}

// Parsing the rest of the schema for each default would take time by the square of the levels.
TEST(CheckStructural, DefaultsMayStandOnEachLevel) {
  std::string schema = PatternsOf(0, 500, "a");
  for (int i = 0; i < 100; ++i) {
    schema = R"({"type":"object","default":{},"properties":{"a":)" + schema + "}}";
  }
  EXPECT_THAT(Structural(R"({"type":"object","properties":{"a":)" + schema + "}}"), IsEmpty());
  EXPECT_THAT(
      Structural(
          R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"c":{"type":"string","default":1}}}}}}}})"),
      ElementsAre(
          StartsWith("s.properties[a].properties[b].items.properties[c].default: Invalid value")));
}

TEST(CheckDefinition, DeprecationWarningsAreForDeprecatedVersions) {
  const auto problems = [](bool deprecated, const std::string& warning) {
    JsonTree definition = Tree(kGood);
    JsonTree& version = definition["spec"]["versions"].elements()[0];
    version["deprecated"] = deprecated;
    version["deprecationWarning"] = warning;
    return Problems(definition);
  };
  EXPECT_THAT(problems(true, "do not use it"), IsEmpty());
  EXPECT_THAT(problems(true, std::string(256, 'x')), IsEmpty());
  const std::string path = "spec.versions[0].deprecationWarning: Invalid value: ";
  EXPECT_THAT(problems(false, "x"),
              ElementsAre(path + "\"x\": can only be set for deprecated versions"));
  EXPECT_THAT(problems(true, ""), ElementsAre(path + "\"\": must not be an empty string"));
  EXPECT_THAT(problems(true, std::string(257, 'x')),
              ElementsAre(::testing::EndsWith(": must be <= 256 characters long")));
  EXPECT_THAT(problems(true, "a\nb"),
              ElementsAre(HasSubstr("must only contain printable UTF-8 characters")));
}

TEST(CheckDefinition, SelectableFieldsAreThoseOfTheSchema) {
  const auto problems = [](std::initializer_list<const char*> paths) {
    JsonTree definition = Tree(kGood);
    JsonTree& version = definition["spec"]["versions"].elements()[0];
    version["schema"]["openAPIV3Schema"] = Tree(R"({"type":"object","properties":{
        "metadata":{"type":"object","properties":{"name":{"type":"string"}}},
        "spec":{"type":"object","properties":{"color":{"type":"string"},"on":{"type":"boolean"},
          "n":{"type":"integer"},"f":{"type":"number"},"o":{"type":"object"},
          "l":{"type":"array","items":{"type":"string"}}}}}})");
    for (const char* const path : paths) {
      JsonTree field = JsonTree::Object();
      field["jsonPath"] = path;
      version["selectableFields"].Append(std::move(field));
    }
    return Problems(definition);
  };
  const std::string first = "spec.versions[0].selectableFields[0].jsonPath: ";
  EXPECT_THAT(problems({".spec.color", ".spec.on", ".spec.n"}), IsEmpty());
  EXPECT_THAT(problems({""}), ElementsAre(first + "Required value"));
  for (const char* const path : {"spec.color", ".spec.missing", ".spec.l[0]"}) {
    EXPECT_THAT(problems({path}), ElementsAre(HasSubstr("is an invalid path"))) << path;
  }
  for (const char* const path : {".spec.f", ".spec.o", ".spec.l"}) {
    EXPECT_THAT(problems({path}),
                ElementsAre(HasSubstr("must point to a field of type string, boolean or integer")))
        << path;
  }
  EXPECT_THAT(problems({".metadata.name"}),
              ElementsAre(HasSubstr("must not point to fields in metadata")));
  EXPECT_THAT(problems({".spec.n", ".spec.n"}),
              ElementsAre("spec.versions[0].selectableFields[1].jsonPath: Duplicate value: "
                          "\".spec.n\""));
}

TEST(CheckDefinition, SelectableFieldsAreSharedOnlyWithTheSchema) {
  const auto problems = [](std::string_view second_fields, std::string_view second_schema) {
    JsonTree definition = Tree(kGood);
    JsonTree& versions = definition["spec"]["versions"];
    JsonTree first = versions.elements()[0];
    first["schema"]["openAPIV3Schema"] =
        Tree(R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}})");
    first["selectableFields"] = Tree(R"([{"jsonPath":".a"}])");
    JsonTree second = first;
    second["name"] = "v2";
    second["storage"] = false;
    second["selectableFields"] = Tree(second_fields);
    second["schema"]["openAPIV3Schema"] = Tree(second_schema);
    versions = JsonTree::Array();
    versions.Append(std::move(first));
    versions.Append(std::move(second));
    return Problems(definition);
  };
  const char* const kSame =
      R"({"type":"object","properties":{"b":{"type":"string","nullable":false},"a":{"type":"string"}}})";
  const char* const kOther = R"({"type":"object","properties":{"a":{"type":"string"}}})";
  EXPECT_THAT(problems(R"([{"jsonPath":".a"}])", kSame), IsEmpty());
  EXPECT_THAT(problems(R"([{"jsonPath":".a"}])", kOther),
              ElementsAre("spec.selectableFields: Invalid value: \"\": may only be set when "
                          "validations.schema is included"));
  EXPECT_THAT(problems("[]", kOther), IsEmpty());
  EXPECT_THAT(problems("[]", kSame),
              ElementsAre("spec.versions[0].selectableFields: Invalid value: \"\": may only be set "
                          "when `version.schema.openAPIV3Schema` is not included"));
}

TEST(CheckStructural, JunctorsOnlyCheck) {
  EXPECT_THAT(
      Structural(R"({"type":"object","properties":{"a":{"type":"string"}},
                     "anyOf":[{"properties":{"a":{"type":"string"},"b":{"minLength":1}}},{"required":["a"]}]})"),
      ElementsAre(
          "s.anyOf[0].properties[a].type: Forbidden: must be empty to be structural",
          "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"));
}

TEST(CheckStructural, DefaultsMustFit) {
  EXPECT_THAT(
      Structural(R"({"type":"object","properties":{"a":{"type":"integer","default":"x"}}})"),
      ElementsAre(StartsWith("s.properties[a].default: Invalid value: \"string\"")));
  EXPECT_THAT(
      Structural(R"({"type":"object","properties":{"a":{"type":"object","default":{"x":1}}}})"),
      ElementsAre(
          "s.properties[a].default: Invalid value: {\"x\":1}: must not have unknown fields"));
}

TEST(CheckStructural, MapsNeedKeys) {
  EXPECT_THAT(
      Structural(
          R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map",
                             "items":{"type":"object"}}}})"),
      ElementsAre("s.properties[a].x-kubernetes-list-map-keys: Required value: must not be "
                  "empty if x-kubernetes-list-type is map"));
}

TEST(JsonPath, LooksAtNoMoreThanItMay) {
  const auto path = JsonPath::Parse(".a[*]");
  ASSERT_TRUE(path);
  const JsonTree root = *JsonTree::Parse(R"({"a":[1,2,3]})");
  std::size_t budget = 7;
  EXPECT_EQ(path->FindWithin(root, budget).size(), 3U);
  EXPECT_EQ(budget, 1U);
  budget = 5;
  EXPECT_TRUE(path->FindWithin(root, budget).empty());
  EXPECT_EQ(budget, 0U);
}

TEST(JsonPath, FollowsMembersIndicesAndFilters) {
  const JsonTree root = Tree(R"({"spec":{"n":3,"l":["a","b"],"a.b":{"c":1}},
    "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other","status":"False"}]}})");
  const auto found = [&](std::string_view path) {
    const auto parsed = JsonPath::Parse(path);
    EXPECT_TRUE(parsed) << path;
    std::string text;
    for (const JsonTree* const one : parsed->Find(root)) {
      text += one->ToJson() + ";";
    }
    return text;
  };
  EXPECT_EQ(found(".spec.n"), "3;");
  EXPECT_EQ(found(".spec.l[1]"), "\"b\";");
  EXPECT_EQ(found(".spec.l[*]"), "\"a\";\"b\";");
  EXPECT_EQ(found(".spec['a.b'].c"), "1;");
  EXPECT_EQ(found(".spec.a\\.b.c"), "1;");
  EXPECT_EQ(found(R"(.status.conditions[?(@.type=="Ready")].status)"), "\"True\";");
  EXPECT_EQ(found(R"(.status.conditions[?(@.type != 'Ready')].status)"), "\"False\";");
  EXPECT_EQ(found(".spec.nothing.here"), "");
  for (const char* const bad : {"", "spec", ".", ".spec..n", ".spec[", ".spec[?(x)]", ".l[a]"}) {
    EXPECT_FALSE(JsonPath::Parse(bad)) << bad;
  }
  EXPECT_THAT(*JsonPath::Parse(".spec.replicas")->Members(), ElementsAre("spec", "replicas"));
  EXPECT_FALSE(JsonPath::Parse(".spec.l[0]")->Members());
}

TEST(CustomVersion, IsReadFromItsDefinition) {
  const JsonTree definition = Tree(kGood);
  const JsonTree& version = definition.At({"spec", "versions"})->elements()[0];
  const CustomVersionRef read = ReadVersion(version, "v1");
  EXPECT_NE(read->schema, nullptr);
  EXPECT_EQ(read->columns.size(), 1U);
  EXPECT_THAT(read->scale.spec_replicas, ElementsAre("spec", "n"));
  EXPECT_EQ(read, ReadVersion(version, "v1"));
  EXPECT_NE(read, ReadVersion(version, "v2"));
  EXPECT_NE(read, CustomVersionRef());
  EXPECT_EQ(ReadVersion(JsonTree::Object(), "v1")->columns.at(0).name, "Age");
}

struct FormatCase {
  const char* format;
  const char* good;
  const char* bad;
};
TEST(HasFormat, KnowsItsFormats) {
  const FormatCase cases[] = {
      {"date-time", "2026-01-02T03:04:05Z", "2026-01-02"},
      {"date", "2026-01-02", "2026-13-02"},
      {"duration", "1h30m", "1 hour"},
      {"byte", "aGk=", "a"},
      {"uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"},
      {"uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
      {"ipv4", "10.0.0.1", "10.0.0"},
      {"ipv6", "::1", "1"},
      {"cidr", "10.0.0.0/8", "10.0.0.0/33"},
      {"mac", "00:11:22:33:44:55", "00:11"},
      {"hostname", "a.example.com", "-a"},
      {"email", "a@example.com", "a"},
      {"uri", "https://example.com/x", "example"},
      {"hexcolor", "#fff", "#ff"},
      {"k8s-short-name", "a-b", "a.b"},
      {"k8s-long-name", "a.b", "a_b"},
  };
  for (const FormatCase& one : cases) {
    EXPECT_TRUE(HasFormat(one.format, one.good)) << one.format;
    EXPECT_FALSE(HasFormat(one.format, one.bad)) << one.format;
  }
}

TEST(CheckApproval, KubernetesOwnGroupsNeedOne) {
  const auto definition = [](std::string_view group, const char* approval) {
    JsonTree tree = JsonTree::Object();
    tree["spec"]["group"] = group;
    if (approval != nullptr) {
      tree["metadata"]["annotations"]["api-approved.kubernetes.io"] = approval;
    }
    return tree;
  };
  const auto problems = [](const JsonTree* before, const JsonTree& after) {
    std::vector<StatusCause> causes;
    CheckApproval(before, after, causes);
    return Text(causes);
  };
  for (const char* const group : {"k8s.io", "x.k8s.io", "kubernetes.io", "x.kubernetes.io"}) {
    EXPECT_THAT(problems(nullptr, definition(group, nullptr)),
                ElementsAre(HasSubstr("metadata.annotations[api-approved.kubernetes.io]: Required "
                                      "value: protected groups must have approval annotation")));
    for (const char* const bad : {"yes", "https://", "/a", "://a"}) {
      EXPECT_THAT(problems(nullptr, definition(group, bad)),
                  ElementsAre(HasSubstr("with either a URL or a reason")))
          << bad;
    }
    for (const char* const good : {"unapproved, a test", "https://github.com/a/pull/1"}) {
      EXPECT_THAT(problems(nullptr, definition(group, good)), IsEmpty());
    }
  }
  EXPECT_THAT(problems(nullptr, definition("myk8s.io", nullptr)), IsEmpty());
  const JsonTree old = definition("x.k8s.io", nullptr);
  EXPECT_THAT(problems(&old, old), IsEmpty()) << "what is there stays";
  const JsonTree good = definition("x.k8s.io", "unapproved");
  EXPECT_THAT(problems(&good, old), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace kubexx::apiserver::schema
