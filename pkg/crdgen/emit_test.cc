#include "kubexx/crdgen/emit.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kubexx/base/testing/places/places.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Reason;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadTreeFile(const std::string& path) {
  std::ifstream in(base::testing::SourceTree() / path);
  EXPECT_TRUE(in.is_open()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A definition of the kind Job2 with these properties of its spec, in YAML's short form.
std::string Definition(const std::string& properties, const std::string& more = "") {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
         "metadata: {name: jobs.example.com}\n"
         "spec:\n  group: example.com\n  names: {kind: Job2, plural: jobs}\n  scope: Cluster\n"
         "  versions:\n  - name: v1\n    served: true\n    storage: true\n" +
         more +
         "    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n"
         "          spec: {type: object, properties: {" +
         properties + "}}\n";
}

std::string HeaderFor(const std::string& properties) {
  const auto versions = ReadDefinitions(Definition(properties));
  EXPECT_TRUE(versions) << versions.error().ToString();
  return versions ? HeaderOf(versions->front(), "jobs") : std::string();
}

TEST(EmitTest, WhatIsCommittedIsWhatIsWritten) {
  const auto versions = ReadDefinitions(ReadTreeFile("examples/website-controller/website.yaml"));
  ASSERT_TRUE(versions) << versions.error().ToString();
  ASSERT_EQ(versions->size(), 1U);
  const Version& website = versions->front();
  EXPECT_EQ(NamespaceOf(website), "example_com::v1");
  EXPECT_EQ(FileNameOf(website), "website_v1.gen");
  const std::string path = "examples/website-controller/" + FileNameOf(website);
  EXPECT_EQ(HeaderOf(website, NamespaceOf(website)), ReadTreeFile(path + ".h"));
  EXPECT_EQ(SourceOf(website, NamespaceOf(website)), ReadTreeFile(path + ".cc"));
}

TEST(EmitTest, DescriptionsBecomeComments) {
  const std::string header = HeaderFor(
      R"(a: {type: string, description: "How it is\n\ncalled\\"}, b: {type: string, description: ")" +
      std::string(40, 'x') + " " + std::string(40, 'y') + " " + std::string(40, 'z') + "\"}");
  EXPECT_THAT(header, HasSubstr("  /// How it is\n  ///\n  /// called\n"
                                "  std::optional<std::string> a{};\n"));
  EXPECT_THAT(header, HasSubstr("  /// " + std::string(40, 'x') + " " + std::string(40, 'y') +
                                "\n  /// " + std::string(40, 'z') + "\n"));
}

TEST(EmitTest, ValuesOfEnumerationsBecomeConstants) {
  const std::string header =
      HeaderFor(R"(mode: {type: string, enum: [Fast, "very-slow", "", "a\"b"], description: How.},
                   list: {type: array, items: {type: string, enum: [x, X]}})");
  EXPECT_THAT(header, HasSubstr("  /// How.\n  /// Values: kJob2SpecModeFast, "));
  EXPECT_THAT(header, HasSubstr("/// Values of Job2Spec::mode.\n"
                                "inline constexpr char kJob2SpecModeFast[] = \"Fast\";\n"
                                "inline constexpr char kJob2SpecModeVerySlow[] = \"very-slow\";\n"
                                "inline constexpr char kJob2SpecModeEmpty[] = \"\";\n"
                                "inline constexpr char kJob2SpecModeAB[] = \"a\\\"b\";\n"));
  EXPECT_THAT(header, HasSubstr("kJob2SpecListItemX[] = \"x\";\n"
                                "inline constexpr char kJob2SpecListItemX_2[] = \"X\";\n"));
}

TEST(EmitTest, ManyValuesOfOneNameAreNumbered) {
  // As many as take minutes when each looks through those before it.
  std::string values;
  for (int i = 0; i < 60000; ++i) {
    values += (i == 0 ? "'" : ",'") + std::string(static_cast<std::size_t>(i % 200), '-') + "+" +
              std::string(static_cast<std::size_t>(i / 200), '*') + "'";
  }
  const std::string header = HeaderFor("a: {type: string, enum: [" + values + "]}");
  EXPECT_THAT(header.substr(0, 4000), HasSubstr("Values: kJob2SpecAValue, kJob2SpecAValue_2,"));
  EXPECT_THAT(header, HasSubstr(" kJob2SpecAValue_60000[] = \"---"));
}

TEST(EmitTest, TextIsNotTurnedAround) {
  const std::string header = HeaderFor(
      "a: {type: string, enum: [\"x\u202ey\"], description: \"How \u2067it\u2069 \u202bis\"}");
  EXPECT_THAT(header, HasSubstr("  /// How it is\n"));
  EXPECT_THAT(header, HasSubstr("= \"x\\342\\200\\256y\";"));
}

TEST(EmitTest, NamesThatTheGeneratorMakesAreTaken) {
  std::string definition = Definition("");
  definition.replace(
      definition.find("          spec:"), std::string::npos,
      "          tables: {type: object, properties: {a: {type: string}}}\n"
      "          \"\": {type: string, enum: [resource, schema, fields, tablesSchema]}\n"
      "          errno: {type: string}\n");
  const auto versions = ReadDefinitions(definition);
  ASSERT_TRUE(versions) << versions.error().ToString();
  const std::string header = HeaderOf(versions->front(), "jobs");
  EXPECT_THAT(header, HasSubstr("struct Job2Tables2 {"));
  EXPECT_THAT(header, HasSubstr("char kJob2Resource_2[] = \"resource\""));
  EXPECT_THAT(header, HasSubstr("char kJob2Schema_2[] = \"schema\""));
  EXPECT_THAT(header, HasSubstr("char kJob2Fields_2[] = \"fields\""));
  EXPECT_THAT(header, HasSubstr("  std::optional<std::string> errno_;"));
  EXPECT_THAT(SourceOf(versions->front(), "jobs"), HasSubstr("\nstruct Job2Tables {\n"));
  for (const char* const name : {"Job2", "Job2Tables", "Job2Tables2", "kJob2Resource",
                                 "kJob2Schema", "kJob2Tables2Fields", "kJob2Schema_2"}) {
    EXPECT_TRUE(versions->front().names.contains(name)) << name;
  }
}

TEST(EmitTest, TheLibraryIsFoundFromAnyNamespace) {
  const auto versions =
      ReadDefinitions(Definition("a: {type: array, items: {type: boolean}}, b: {type: object, "
                                 "properties: {c: {type: string}}}"));
  ASSERT_TRUE(versions) << versions.error().ToString();
  const std::string code =
      HeaderOf(versions->front(), "a::kubexx") + SourceOf(versions->front(), "a::kubexx");
  for (std::size_t at = code.find("kubexx::"); at != std::string::npos;
       at = code.find("kubexx::", at + 1)) {
    const std::string before = code.substr(at - 10, 10);
    EXPECT_TRUE(before.ends_with("::") || before == "namespace ") << code.substr(at - 20, 60);
  }
}

TEST(EmitTest, ConditionsAreThoseOfKubernetes) {
  const std::string fields =
      "type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: "
      "string}, lastTransitionTime: {type: string, format: date-time}";
  const auto list = [](const std::string& properties,
                       const std::string& required =
                           "type, status, reason, message, lastTransitionTime") {
    return "conditions: {type: array, items: {type: object, required: [" + required +
           "], properties: {" + properties + "}}}";
  };
  const auto versions = ReadDefinitions(
      Definition(list(fields + ", observedGeneration: {type: integer, format: int64}")));
  ASSERT_TRUE(versions) << versions.error().ToString();
  EXPECT_THAT(HeaderOf(versions->front(), "jobs"),
              AllOf(HasSubstr("  std::optional<std::vector<::kubexx::api::meta::v1::Condition>> "
                              "conditions;\n"),
                    Not(HasSubstr("ConditionsItem"))));
  EXPECT_THAT(SourceOf(versions->front(), "jobs"),
              HasSubstr("&::kubexx::api::meta::v1::internal::kConditionSchema"));
  EXPECT_THAT(HeaderFor(list(fields)), HasSubstr("<::kubexx::api::meta::v1::Condition>"));
  // One field more or less is a type of its own: nothing of it may get lost.
  const auto own = HasSubstr("  std::optional<std::vector<Job2SpecConditionsItem>> conditions;\n");
  EXPECT_THAT(HeaderFor(list(fields + ", severity: {type: string}")), own);
  EXPECT_THAT(HeaderFor(list("type: {type: string}, status: {type: string}")), own);
  // So is one with other types, or with fields that may be missing.
  EXPECT_THAT(HeaderFor(list(fields + ", observedGeneration: {type: string}")), own);
  EXPECT_THAT(HeaderFor(list(fields, "type, status, lastTransitionTime")), own);
  std::string other = fields;
  other.replace(other.find("status: {type: string"), 21, "status: {type: boolean");
  EXPECT_THAT(HeaderFor(list(other)), own);
  other = fields;
  other.replace(other.find("reason: {type: string"), 21, "reason: {type: string, nullable: true");
  EXPECT_THAT(HeaderFor(list(other)), own);
}

TEST(EmitTest, TypesHoldWhatTheirPropertiesMay) {
  const std::string header = HeaderFor(
      R"(i: {type: integer}, j: {type: integer, format: int32}, "n": {type: number}, b: {type: boolean},
         t: {type: string, format: date-time}, "y": {type: string, format: byte}, q: {x-kubernetes-int-or-string: true},
         bs: {type: array, items: {type: boolean}}, m: {type: object, additionalProperties: {type: integer}},
         o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}},
         qu: {anyOf: [{type: integer}, {type: string}], pattern: '^([KMGTPE]i)?$', x-kubernetes-int-or-string: true},
         qs: {type: object, additionalProperties: {pattern: '^([KMGTPE]i)?$', x-kubernetes-int-or-string: true}},
         ni: {type: array, items: {type: string, nullable: true}},
         mo: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}})");
  for (const char* const member :
       {"std::optional<std::int64_t> i;", "std::optional<std::int32_t> j;",
        "std::optional<double> n;", "std::optional<bool> b;",
        "std::optional<::kubexx::apimachinery::DateTime> t;",
        "std::optional<::kubexx::apimachinery::Bytes> y;",
        "std::optional<::kubexx::apimachinery::IntOrString> q;",
        "std::optional<::kubexx::apimachinery::Quantity> qu;",
        "std::optional<std::map<std::string, ::kubexx::apimachinery::Quantity>> qs;",
        "std::optional<std::vector<::kubexx::apimachinery::JsonValue>> ni;",
        "std::optional<std::vector<::kubexx::apimachinery::Bool>> bs;",
        "std::optional<std::map<std::string, std::int64_t>> m;",
        "std::optional<::kubexx::apimachinery::JsonValue> o;",
        "std::optional<std::map<std::string, Job2SpecMoValue>> mo;"}) {
    EXPECT_THAT(header, HasSubstr(std::string("  ") + member + "\n"));
  }
}

TEST(EmitTest, AbsenceNullAndEmptinessAreToldApart) {
  std::string definition = Definition(
      R"(l: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: string}},
         nl: {type: array, nullable: true, items: {type: string}}, ns: {type: string, nullable: true},
         np: {type: object, nullable: true, properties: {a: {type: string}}},
         na: {nullable: true, x-kubernetes-preserve-unknown-fields: true},
         rl: {type: array, items: {type: string}}, rm: {type: object, additionalProperties: {type: string}},
         rnl: {type: array, nullable: true, items: {type: string}}, rns: {type: string, nullable: true})");
  definition.insert(definition.find("properties: {l:"), "required: [rl, rm, rnl, rns], ");
  const auto versions = ReadDefinitions(definition);
  ASSERT_TRUE(versions) << versions.error().ToString();
  const std::string header = HeaderOf(versions->front(), "jobs");
  for (const char* const member :
       {"std::optional<std::vector<std::string>> l;",
        "std::optional<std::map<std::string, std::string>> m;",
        "std::optional<std::optional<std::vector<std::string>>> nl;",
        "std::optional<std::optional<std::string>> ns;",
        "std::optional<::kubexx::apimachinery::Box<Job2SpecNp>> np;",
        "std::optional<::kubexx::apimachinery::JsonValue> na;", "std::vector<std::string> rl;",
        "std::map<std::string, std::string> rm;", "std::optional<std::vector<std::string>> rnl;",
        "std::optional<std::string> rns;"}) {
    EXPECT_THAT(header, HasSubstr(std::string("  ") + member + "\n"));
  }
}

TEST(EmitTest, NamesThatJsonEscapesAreMarked) {
  const auto versions = ReadDefinitions(Definition(
      R"('say "hi"': {type: string}, plain: {type: string}, "z\0z": {type: string, nullable: true})"));
  ASSERT_TRUE(versions) << versions.error().ToString();
  const std::string source = SourceOf(versions->front(), "jobs");
  EXPECT_THAT(source, HasSubstr("{\"say \\\"hi\\\"\", 0, ::kubexx::codec::Kind::kString, "
                                "::kubexx::codec::Cardinality::kOptional,\n     "
                                "::kubexx::codec::kOmitEmpty | ::kubexx::codec::kEscapedName,"));
  EXPECT_THAT(source, HasSubstr("{{\"z\\000z\", 3}, 0, "));
  EXPECT_THAT(source, HasSubstr("     ::kubexx::codec::kOmitEmpty | ::kubexx::codec::kKeepNull | "
                                "::kubexx::codec::kEscapedName,"));
  EXPECT_THAT(source, HasSubstr("     ::kubexx::codec::kOmitEmpty, offsetof(Job2Spec, plain)"));
}

TEST(EmitTest, NamesThatCollideAreToldApart) {
  const std::string header = HeaderFor(
      R"(maxSurge: {type: object, properties: {a: {type: string}}}, max-surge: {type: object, properties: {b: {type: string}}})");
  EXPECT_THAT(header,
              AllOf(HasSubstr("struct Job2SpecMaxSurge {"), HasSubstr("struct Job2SpecMaxSurge2 {"),
                    HasSubstr(" max_surge{};"), HasSubstr(" max_surge_2{};")));
}

TEST(EmitTest, AKindWithoutStatusSaysSo) {
  const auto without = ReadDefinitions(Definition(""));
  const auto with = ReadDefinitions(Definition("", "    subresources: {status: {}}\n"));
  ASSERT_TRUE(without && with);
  EXPECT_THAT(HeaderOf(without->front(), "jobs"), HasSubstr("kHasStatus<::jobs::Job2> = false"));
  EXPECT_THAT(HeaderOf(with->front(), "jobs"), Not(HasSubstr("kHasStatus")));
}

TEST(EmitTest, NoStructHasTheNameOfAMacro) {
  std::string definition = Definition("");
  definition.replace(definition.find("Job2"), 4, "E");
  definition += "          OF: {type: object, properties: {a: {type: string}}}\n";
  const auto versions = ReadDefinitions(definition);
  ASSERT_TRUE(versions) << versions.error().ToString();
  EXPECT_THAT(HeaderOf(versions->front(), "jobs"), HasSubstr("struct EOF_ {"));
}

TEST(EmitTest, ItemsOfAListAreRead) {
  const std::string item = Definition("");
  std::string list = "apiVersion: v1\nkind: List\nitems:\n";
  for (std::size_t at = 0; at < item.size();) {
    const std::size_t end = item.find('\n', at);
    list += (at == 0 ? "- " : "  ") + item.substr(at, end - at) + "\n";
    at = end == std::string::npos ? item.size() : end + 1;
  }
  const auto versions = ReadDefinitions(list);
  ASSERT_TRUE(versions) << versions.error().ToString();
  EXPECT_EQ(versions->size(), 1U);
}

TEST(EmitTest, WhatIsNoDefinitionIsRefused) {
  const auto refused = [](const std::string& text) {
    const auto versions = ReadDefinitions(text);
    EXPECT_FALSE(versions) << text;
    return versions ? std::string() : versions.error().message;
  };
  EXPECT_THAT(refused("a: b"), HasSubstr("there is no CustomResourceDefinition"));
  EXPECT_THAT(refused("{"), Not(HasSubstr("there is no")));
  EXPECT_THAT(refused("apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition"),
              HasSubstr("is not of apiextensions.k8s.io/v1"));
  std::string definition = Definition("");
  definition.replace(definition.find("Job2"), 4, "\"J b{}\"");
  EXPECT_THAT(refused(definition), HasSubstr("'J b{}' is not a valid name of a C++ type"));
  definition = Definition("");
  definition.erase(definition.find("    schema:"));
  EXPECT_THAT(refused(definition), HasSubstr("jobs.example.com v1 has no schema"));
  definition = Definition("");
  definition.replace(definition.find("served: true"), 12, "served: false");
  EXPECT_THAT(refused(definition), HasSubstr("that is served"));
  definition = Definition("");
  definition.insert(definition.find("        type: object"),
                    "        x-kubernetes-preserve-unknown-fields: true\n");
  EXPECT_THAT(refused(definition), HasSubstr("jobs.example.com v1: the server keeps fields"));
  const auto several = ReadDefinitions("kind: Other\n---\n" + Definition("") + "---\na: b\n");
  ASSERT_TRUE(several) << several.error().ToString();
  EXPECT_EQ(several->size(), 1U);
}

}  // namespace
}  // namespace kubexx::crdgen
