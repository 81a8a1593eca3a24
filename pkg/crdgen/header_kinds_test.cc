#include "kubexx/crdgen/header_kinds.h"

#include <gmock/gmock.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "kubexx/crdgen/emit.h"

namespace kubexx::crdgen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kHead = "// +groupName=example.com\nnamespace example_com::v1 {\n";
constexpr const char* kRootMarkers = "// +kubebuilder:object:root=true\n";

std::string RootWith(const std::string& members, const std::string& markers = "") {
  return kRootMarkers + markers + "struct Job2 {\n  ObjectMeta metadata;\n" + members + "};\n}\n";
}

/// A header whose kind has these members, with more declarations before it.
std::string HeaderWith(const std::string& members, const std::string& before = "") {
  return kHead + before + RootWith(members);
}

apimachinery::Result<std::vector<HeaderKind>> Read(const std::string& text) {
  return ReadKinds(std::vector<HeaderText>{{.path = "a.h", .include = "a.h", .text = text}});
}

HeaderKind KindFrom(const std::string& text) {
  auto kinds = Read(text);
  EXPECT_TRUE(kinds) << kinds.error().ToString();
  return kinds && !kinds->empty() ? std::move(kinds->front()) : HeaderKind();
}

std::string YamlFrom(const std::string& text) { return KindFrom(text).definition; }

/// The message of the error that a header is.
std::string ErrorFrom(const std::string& text) {
  const auto kinds = Read(text);
  EXPECT_FALSE(kinds) << text;
  return kinds ? std::string() : kinds.error().message;
}

struct Wrong {
  const char* name;
  std::string text;
  const char* error;
};

std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.name; }

std::string NameOfWrong(const ::testing::TestParamInfo<Wrong>& info) { return info.param.name; }

class WrongHeaderTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongHeaderTest, IsRefusedWithTheLineAndAHint) {
  EXPECT_THAT(ErrorFrom(GetParam().text), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Constructs, WrongHeaderTest,
    ::testing::Values(
        Wrong{"Enum", HeaderWith("", "enum class Tier { kGold };\n"),
              "a.h:3: an enum is not supported: write 'using Name = std::string;' with "
              "+kubebuilder:validation:Enum="},
        Wrong{"EnumInStruct", HeaderWith("enum X { a };"), "a.h:6: 'enum' is not supported in a"},
        Wrong{"Function", HeaderWith("int Size() const;"), "a.h:6: 'int' is not supported"},
        Wrong{"FunctionOfText", HeaderWith("std::string Name() const;"),
              "a.h:6: a function is not supported in a struct: write a free function"},
        Wrong{"FreeFunction", HeaderWith("", "inline int F() { return 1; }\n"),
              "a.h:3: 'inline' is not supported here: a header of types may contain includes"},
        Wrong{"ConstexprFunction", HeaderWith("", "constexpr int F() { return 1; }\n"),
              "a.h:3: a function is not supported here"},
        Wrong{"Constructor", HeaderWith("Job2();"), "has no constructors"},
        Wrong{"Destructor", HeaderWith("~Job2();"), "has no constructors and no destructor"},
        Wrong{"Base", HeaderWith("", "struct A : B {};\n"),
              "a.h:3: a base is not supported: write its members into the struct"},
        Wrong{"Class", HeaderWith("", "class A {};\n"), "a.h:3: 'class' is not supported here"},
        Wrong{"Template", HeaderWith("", "template <class T> struct A {};\n"),
              "a.h:3: 'template' is not supported here"},
        Wrong{"Nested", HeaderWith("struct B { bool a; };"), "put the struct before this one"},
        Wrong{"Static", HeaderWith("static int x;"), "put the constant outside of the struct"},
        Wrong{"Const", HeaderWith("const bool x{};"), "cannot be const"},
        Wrong{"Private", HeaderWith("private: bool x;"), "has no private members"},
        Wrong{"Pointer", HeaderWith("std::string* x;"),
              "pointers and references are not supported: write std::optional<std::string>"},
        Wrong{"Array", HeaderWith("bool x[3];"), "there should be ';' or an initialiser"},
        Wrong{"BitField", HeaderWith("bool x : 1;"), "there should be ';' or an initialiser"},
        Wrong{"TwoMembers", HeaderWith("bool x, y;"), "there should be ';' or an initialiser"},
        Wrong{"TwoInitialised", HeaderWith("std::int32_t a = 1, b = 2;"), "only one member may be"},
        Wrong{"TwoBraced", HeaderWith("bool a{}, b{};"), "only one member may be"},
        Wrong{"OwnComparison", HeaderWith("bool operator==(const Job2& o) const { return true; }"),
              "may have only 'bool operator==(const T&) const = default;'"},
        Wrong{"Attribute", HeaderWith("[[deprecated]] bool x;"), "'[' is not supported"},
        Wrong{"Condition", "#if X\n" + HeaderWith(""), "a.h:1: #if is not supported"},
        Wrong{"OtherMacro", "#define X 1\n" + HeaderWith(""), "a.h:1: #define is not supported"},
        Wrong{"Backslash", HeaderWith("// x\\\nbool y;"), "a.h:6: a line that ends with a backs"},
        Wrong{"RawString", HeaderWith("std::string x = R\"(a)\";"), "literal with a prefix"},
        Wrong{"OpenString", HeaderWith("std::string x = \"a;"), "does not end in its line"},
        Wrong{"OpenComment", HeaderWith("/* "), "a.h:6: the comment does not end"},
        Wrong{"OpenNamespace", "namespace a { struct B { bool x; };", "the namespace does not end"},
        Wrong{"NotUtf8", HeaderWith("// \xff"), "a.h:6: the line is not text in UTF-8"},
        Wrong{"Zero", HeaderWith("bool x;\n") + std::string("\0\xff", 2),
              "a.h:9: the line is not text in UTF-8"},
        Wrong{"FinalWithBase", HeaderWith("", "struct A final : B {};\n"),
              "a.h:3: a base is not supported"},
        Wrong{"TwoNamespaces", "namespace a { struct B {}; } namespace b { struct C {}; }",
              "all types must be in one namespace, which is a"},
        Wrong{"NoNamespace", "struct A {};", "types must be in a namespace"},
        Wrong{"NamespaceStd", "namespace std { struct A {}; }", "which is not std"},
        Wrong{"SmallName", HeaderWith("", "struct a {};\n"), "begins with a capital letter"},
        Wrong{"SameName", HeaderWith("", "struct A {}; struct A {};\n"), "A is there twice"},
        Wrong{"NoSemicolon", HeaderWith("bool x = 1"), "a.h:6: there is no ';' at the end"}),
    NameOfWrong);

INSTANTIATE_TEST_SUITE_P(
    Types, WrongHeaderTest,
    ::testing::Values(
        Wrong{"Int", HeaderWith("int x;"), "write std::int32_t or std::int64_t"},
        Wrong{"Unsigned", HeaderWith("unsigned long x;"), "the API has no unsigned numbers"},
        Wrong{
            "Uint32", HeaderWith("std::uint32_t x;"),
            "std::uint32_t is not supported: write std::int64_t, with +kubebuilder:validation:Mi"},
        Wrong{"Float", HeaderWith("float x;"), "write double"},
        Wrong{"Set", HeaderWith("std::set<std::string> x;"),
              "write std::vector, with +listType=set"},
        Wrong{"UniquePtr", HeaderWith("std::unique_ptr<A> x;"), "write kubexx::apimachinery::Box"},
        Wrong{"Unknown", HeaderWith("Other x;"), "a.h:6: the type Other is unknown"},
        Wrong{"VectorOfBool", HeaderWith("std::vector<bool> x;"),
              "write std::vector<kubexx::apimachinery::Bool>"},
        Wrong{"Bool", HeaderWith("kubexx::apimachinery::Bool x;"),
              "apimachinery::Bool is for lists"},
        Wrong{"ListOfLists", HeaderWith("std::vector<std::vector<std::string>> x;"),
              "a std::vector as an element of a list or map is not supported"},
        Wrong{"ListOfOptionals", HeaderWith("std::vector<std::optional<std::string>> x;"),
              "a std::optional as an element of a list or map is not supported"},
        Wrong{"MapOfInts", HeaderWith("std::map<std::int32_t, bool> x;"),
              "keys of a map are std::"},
        Wrong{"ThreeOptionals", HeaderWith("std::optional<std::optional<std::optional<bool>>> x;"),
              "one std::optional "
              "too many"},
        Wrong{"BoxOfText", HeaderWith("kubexx::apimachinery::Box<std::string> x;"),
              "a Box is for a struct; write std::optional"},
        Wrong{"OptionalAlias", HeaderWith("A x;", "using A = std::optional<bool>;\n"),
              "a.h:3: an alias must not be optional"},
        Wrong{"AliasOfItself", HeaderWith("A x;", "using A = A;\n"), "too many aliases of aliases"},
        Wrong{"Arguments", HeaderWith("std::vector x;"), "std::vector has 1 argument"},
        Wrong{"Recursive", HeaderWith("A x;", "struct A { std::vector<A> in; };\n"),
              "a.h:3: A contains itself"},
        Wrong{"PlainStructOptional", HeaderWith("// +optional\nA x;", "struct A { bool b; };\n"),
              "JSON cannot leave out x when it is not set"},
        Wrong{"PlainBytes", HeaderWith("kubexx::apimachinery::Bytes x;"),
              "with +required above it"},
        Wrong{"NoPlaceForNull", HeaderWith("// +nullable\nstd::string x;"), "no place for null"},
        Wrong{"NotNullable", HeaderWith("std::optional<std::optional<bool>> x;"), "no +nullable"},
        Wrong{"RequiredOptional", HeaderWith("// +required\n// +optional\nbool x;"),
              "x cannot be required and optional"},
        Wrong{"DefaultThatHidesZero",
              HeaderWith("// +optional\n// +kubebuilder:default=true\nbool x = true;"),
              "the server puts the default in its place"},
        Wrong{"DefaultInJsonThatHidesZero",
              HeaderWith("// +optional\n// +default=true\nbool x = true;"),
              "the server puts the default in its place"},
        Wrong{"MemberName", HeaderWith("bool podIP;"),
              "a.h:6: the name in JSON of podIP would be 'podIP', and a field of that name has a "
              "member pod_ip: call it so, or write '// +jsonName=podIP' above it"},
        Wrong{"MemberOfLetters", HeaderWith("bool x_y_z;"),
              "would be 'xYZ', and a field of that name has a member x_yz: call it so"},
        Wrong{"MemberWithNumber", HeaderWith("bool ipv_4;"),
              "would be 'ipv4', and a field of that name has a member ipv4: call it so"},
        Wrong{"MemberNotReserved", HeaderWith("bool std_;"),
              "would be 'std', and a field of that name has a member std: call it so"},
        Wrong{"Pair", HeaderWith("std::pair<std::string, std::string> x;"),
              "std::pair is not supported: write a struct with two members"},
        Wrong{"OtherNamespace", HeaderWith("com::v1::A x;", "struct A { bool b; };\n"),
              "the type com::v1::A is unknown"},
        Wrong{"SameField", HeaderWith("bool a_b;\n// +jsonName=aB\nbool c;"),
              "a.h:8: there is a field aB already"},
        Wrong{"ApiVersion", HeaderWith("std::string api_version;"), "a field apiVersion already"}),
    NameOfWrong);

/// A member that JSON may leave out, with an initialiser that would be read then.
Wrong WithInitialiser(const char* name, const std::string& member, const std::string& marker = "") {
  return {
      name,
      HeaderWith(marker + "\n" + member, "using Names = std::vector<std::string>; struct A {};\n"),
      "a.h:8: x may be missing, and its initialiser would be read instead: write 'x{}'"};
}

INSTANTIATE_TEST_SUITE_P(
    Initialisers, WrongHeaderTest,
    ::testing::Values(
        WithInitialiser("OptionalBool", "std::optional<bool> x = true;"),
        WithInitialiser("OptionalFalse", "std::optional<bool> x = false;"),
        WithInitialiser("OptionalZero", "std::optional<std::int32_t> x{0};"),
        WithInitialiser("OptionalText", "std::optional<std::string> x = \"\";"),
        WithInitialiser("OptionalOfEmptyText", "std::optional<std::string> x{std::string{}};"),
        WithInitialiser("OptionalList", "std::optional<Names> x = Names{};"),
        WithInitialiser("OptionalMap",
                        "std::optional<std::map<std::string, bool>> x = {{{\"a\", true}}};"),
        WithInitialiser("OptionalStruct", "std::optional<A> x = A{};"),
        WithInitialiser("Box", "kubexx::apimachinery::Box<A> x = A();"),
        WithInitialiser("Nullable", "std::optional<std::optional<bool>> x = true;", "// +nullable"),
        WithInitialiser("Bool", "bool x = true;", "// +optional"),
        WithInitialiser("Number", "std::int32_t x = -10;", "// +optional"),
        WithInitialiser("Text", "std::string x{\"a\"};", "// +optional"),
        WithInitialiser("Constant", "std::string x = kA;", "// +optional"),
        WithInitialiser("List", "Names x{\"\"};", "// +optional"),
        WithInitialiser("ListOfZero", "std::vector<std::int32_t> x{0};", "// +optional"),
        WithInitialiser("Map", "std::map<std::string, bool> x{{\"a\", true}};", "// +optional"),
        Wrong{"PlainStruct",
              HeaderWith("A x{.b = true};", "struct A { std::optional<bool> b; };\n"),
              "a.h:7: the initialiser of x would be read where fields of it are missing: write "
              "'x{}', and initialise the members of A"},
        Wrong{"PlainCondition", HeaderWith("Condition x{.type = \"A\"};"),
              "initialise the members of Condition"},
        Wrong{"Metadata",
              std::string(kHead) + kRootMarkers +
                  "struct B {\nObjectMeta metadata{.name = \"a\"};\n};\n}\n",
              "a.h:5: the metadata must have no initialiser other than {}"}),
    NameOfWrong);

INSTANTIATE_TEST_SUITE_P(
    Kinds, WrongHeaderTest,
    ::testing::Values(
        Wrong{"NoRoot", std::string(kHead) + "struct A {};\n}\n",
              "there is no struct with +kubebuilder:object:root=true"},
        Wrong{"TwoRoots", HeaderWith("", "// +kubebuilder:object:root=true\nstruct A {};\n"),
              "a header has one kind, which is A; put Job2 into a header of its own"},
        Wrong{"NoGroup", "namespace a::v1 {\n" + RootWith(""), "// +groupName=example.com"},
        Wrong{"BadGroup", "// +groupName=Example\nnamespace a::v1 {\n" + RootWith(""),
              "a.h:1: 'Example' is not a group"},
        Wrong{"NoVersion", "// +groupName=a.b\nnamespace a {\n" + RootWith(""),
              "the version is missing: write '// +versionName=v1' above the namespace"},
        Wrong{"BadVersion", "// +versionName=V1\n" + HeaderWith(""), "'V1' is not a version"},
        Wrong{"NoMetadata", std::string(kHead) + kRootMarkers + "struct A { bool x; };\n}\n",
              "the first member of A must be 'kubexx::api::meta::v1::ObjectMeta metadata;'"},
        Wrong{"NoStatus", kHead + RootWith("", "// +kubebuilder:subresource:status\n"),
              "a.h:4: +kubebuilder:subresource:status needs a member 'status'"},
        Wrong{"RootOnly", HeaderWith("", "// +kubebuilder:storageversion\nstruct A {};\n"),
              "belongs above the struct with +kubebuilder:object:root=true"},
        Wrong{"Scope", kHead + RootWith("", "// +kubebuilder:resource:scope=Global\n"),
              "neither Namespaced nor Cluster"},
        Wrong{"Path", kHead + RootWith("", "// +kubebuilder:resource:path=Jobs\n"),
              "has the name 'Jobs', which is not made of small letters"},
        Wrong{"ColumnType",
              kHead + RootWith("",
                               "// +kubebuilder:printcolumn:name=a,type=text,"
                               "JSONPath=.a\n"),
              "has the type 'text'"},
        Wrong{"ColumnPath",
              kHead + RootWith("",
                               "// +kubebuilder:printcolumn:name=a,type=string,"
                               "JSONPath=a\n"),
              "has the path 'a', which does not begin with '.'"},
        Wrong{"Unserved", kHead + RootWith("", "// +kubebuilder:unservedversion\n"),
              "no version of Job2 is served"},
        Wrong{"NameInUse", HeaderWith("", "struct Job2Tables {};\n"),
              "a.h:3: Job2Tables is a name that the generated code needs"},
        Wrong{"ConstantInUse", HeaderWith("", "inline constexpr int kJob2Resource = 1;\n"),
              "kJob2Resource is a name that the generated code needs"}),
    NameOfWrong);

INSTANTIATE_TEST_SUITE_P(
    Markers, WrongHeaderTest,
    ::testing::Values(
        Wrong{"Stray", HeaderWith("bool x;\n// +optional\n"),
              "a.h:7: +optional stands above nothing"},
        Wrong{"Behind", HeaderWith("bool x;  // +optional\n"), "a.h:6: a marker belongs above"},
        Wrong{"DescriptionBehind", HeaderWith("bool x;  ///< It.\n"),
              "a description belongs above"},
        Wrong{"BlockBehind", HeaderWith("bool x;  /**< It. */\n"),
              "a.h:6: a description belongs above"},
        Wrong{"Block", HeaderWith("/* \n * +optional\n */\nbool x;"),
              "a.h:7: a marker has a comment"},
        Wrong{"MinimumOfText", HeaderWith("// +kubebuilder:validation:Minimum=1\nstd::string x;"),
              "a.h:6: +kubebuilder:validation:Minimum is for numbers"},
        Wrong{"FractionOfInteger", HeaderWith("// +kubebuilder:validation:Maximum=1.5\nint32_t x;"),
              "of an integer must be an integer"},
        Wrong{"LengthOfNumber", HeaderWith("// +kubebuilder:validation:MinLength=1\ndouble x;"),
              "is for texts"},
        Wrong{"ItemsOfNumber", HeaderWith("// +kubebuilder:validation:items:Minimum=1\ndouble x;"),
              "+kubebuilder:validation:items:Minimum is for lists"},
        Wrong{"EnumOfIntegers", HeaderWith("// +kubebuilder:validation:Enum=1;2\nstd::string x;"),
              "does not fit: 1 is not a text; put it in quotation marks"},
        Wrong{"SaidTwice",
              HeaderWith("// +kubebuilder:validation:MaxLength=1\nA x;",
                         "// +kubebuilder:validation:MaxLength=2\nusing A = std::string;\n"),
              "a.h:8: +kubebuilder:validation:MaxLength is said twice, here and by the type"},
        Wrong{"TwoMarkers",
              HeaderWith("// +kubebuilder:validation:MaxLength=1\n"
                         "// +kubebuilder:validation:MaxLength=2\nstd::string x;"),
              "a.h:7: +kubebuilder:validation:MaxLength is there twice"},
        Wrong{"Default", HeaderWith("// +kubebuilder:default=many\nstd::int32_t x;"),
              "does not fit: \"many\" is not an integer"},
        Wrong{"DefaultOfEnum",
              HeaderWith("// +kubebuilder:validation:Enum=a;b\n"
                         "// +kubebuilder:default=c\nstd::string x;"),
              "is not one of the values of"},
        Wrong{"DefaultField",
              HeaderWith("// +kubebuilder:default={c: 1}\nA x;", "struct A { std::int32_t b; };\n"),
              "there is no field 'c'"},
        Wrong{"UniqueItems",
              HeaderWith("// +kubebuilder:validation:UniqueItems=true\n"
                         "std::vector<std::string> x;"),
              "write +listType=set"},
        Wrong{"ListType", HeaderWith("// +listType=list\nstd::vector<std::string> x;"),
              "must be map, set or atomic"},
        Wrong{"NoMapKey",
              HeaderWith("// +listType=map\nstd::vector<A> x;", "struct A { std::string b; };\n"),
              "+listType=map needs +listMapKey=..."},
        Wrong{"OtherMapKey",
              HeaderWith("// +listType=map\n// +listMapKey=c\nstd::vector<A> x;",
                         "struct A { std::string b; };\n"),
              "names the field 'c', which the elements of the list do not have"},
        Wrong{"OptionalMapKey",
              HeaderWith("// +listType=map\n// +listMapKey=b\nstd::vector<A> x;",
                         "struct A { std::optional<std::string> b; };\n"),
              "must be required, or have a default"},
        Wrong{"SetOfStructs",
              HeaderWith("// +listType=set\nstd::vector<A> x;", "struct A { std::string b; };\n"),
              "the structs of a set need +structType=atomic"},
        Wrong{"PatternOfQuantity", HeaderWith("// +kubebuilder:validation:Pattern=a\nQuantity x;"),
              "is said twice"},
        Wrong{"Preserve",
              HeaderWith("// +kubebuilder:pruning:PreserveUnknownFields\nA x;",
                         "struct A { bool b; };\n"),
              "another member has no place for fields that are not known"},
        Wrong{"Type", HeaderWith("// +kubebuilder:validation:Type=integer\nstd::string x;"),
              "the type of the member says what it is"},
        Wrong{"Reason",
              HeaderWith("// +kubebuilder:validation:XValidation:rule=a,reason=b\nbool x;"),
              "has a reason that is not FieldValueRequired"}),
    NameOfWrong);

TEST(HeaderKindsTest, NamesComeFromTheKind) {
  EXPECT_THAT(YamlFrom(HeaderWith("")),
              AllOf(HasSubstr("  name: job2s.example.com\n"), HasSubstr("    listKind: Job2List\n"),
                    HasSubstr("    singular: job2\n"), HasSubstr("  scope: Namespaced\n"),
                    HasSubstr("    storage: true\n"), Not(HasSubstr("status"))));
  const auto plural = [](const std::string& kind) {
    return KindFrom(kHead + std::string(kRootMarkers) + "struct " + kind +
                    " { ObjectMeta metadata; };}")
        .definition_file;
  };
  EXPECT_EQ(plural("Policy"), "example.com_policies.yaml");
  EXPECT_EQ(plural("Gateway"), "example.com_gateways.yaml");
  EXPECT_EQ(plural("Class"), "example.com_classes.yaml");
  EXPECT_EQ(plural("Batch"), "example.com_batches.yaml");
}

TEST(HeaderKindsTest, CommentsBecomeDescriptions) {
  EXPECT_THAT(
      YamlFrom(HeaderWith("/// One.\n/// NOLINTNEXTLINE(x)\n///\n///\n// Two.\n"
                          "/// TO"
                          "DO(me): three\n/// ---\n/// Four.\nbool a;\n"
                          "/// Not this.\n\nbool b;\nbool c;  // Nor this.\n//! d.\nbool d;")),
      AllOf(HasSubstr("          a:\n            description: |-\n              One.\n\n"
                      "              Two.\n            type: boolean\n"),
            HasSubstr("          b:\n            type: boolean\n"),
            HasSubstr("          c:\n            type: boolean\n"),
            HasSubstr("          d:\n            description: d.\n")));
}

TEST(HeaderKindsTest, BlockCommentsAreDescriptions) {
  EXPECT_THAT(
      YamlFrom(HeaderWith("/** One. */\nbool a;\n"
                          "/**\n * Two.\r\n *\n *   - three\n **/\n// +optional\nbool b;\n"
                          "/* Four\n   five. */\n/// Six.\nbool c;\n"
                          "/** Not this. */\n\nbool d; /* Nor this. */\nbool e;\n/*!Seven*/\n"
                          "bool f;\n/**/\nbool g;")),
      AllOf(HasSubstr("          a:\n            description: One.\n"),
            HasSubstr("          b:\n            description: |-\n              Two.\n\n"
                      "                - three\n            type: boolean\n"),
            HasSubstr("          c:\n            description: |-\n              Four\n"
                      "              five.\n              Six.\n            type: boolean\n"),
            HasSubstr("          d:\n            type: boolean\n          e:\n"
                      "            type: boolean\n"),
            HasSubstr("          f:\n            description: Seven\n"),
            HasSubstr("          g:\n            type: boolean\n")));
}

TEST(HeaderKindsTest, InitialisersThatAreNeverReadAreFree) {
  // Without a value, in each way to say it.
  YamlFrom(
      HeaderWith("std::optional<bool> a{};\nstd::optional<bool> b = {};\n"
                 "std::optional<bool> c = std::nullopt;\nstd::optional<bool> d{nullopt};\n"
                 "std::optional<std::map<std::string, bool>> e =\n"
                 "    ::std::optional<std::map<std::string, bool>>();\n"
                 "Box<A> f = nullptr;\nA g = A{};\nA h{};\n",
                 "struct A { bool b = true; };\n"));
  YamlFrom(
      HeaderWith("// +optional\nbool a = false;\n// +optional\nbool b{0};\n"
                 "// +optional\nstd::int64_t c = -0L;\n// +optional\ndouble d = 0.0;\n"
                 "// +optional\nstd::string e = \"\";\n// +optional\nstd::string f{};\n"
                 "// +optional\nstd::string g = std::string();\n"
                 "// +optional\nstd::vector<std::string> h = {};\n"));
  // JSON has these always.
  YamlFrom(
      HeaderWith("bool a = true;\nstd::string b{kB};\nstd::vector<std::string> c{\"a\"};\n"
                 "// +required\nstd::optional<bool> d = true;\n"));
  // What the server fills in is never missing either.
  YamlFrom(
      HeaderWith("// +kubebuilder:default=true\nbool a = true;\n"
                 "// +kubebuilder:default=true\nstd::optional<bool> b = true;\n"
                 "// +default=3\nstd::optional<std::int32_t> c = 3;\n"));
}

TEST(HeaderKindsTest, TypesAreKnownByTheirLastNames) {
  for (const char* const type :
       {"Quantity", "apimachinery::Quantity", "kubexx::apimachinery::Quantity",
        "::kubexx::apimachinery::Quantity"}) {
    const HeaderKind kind = KindFrom(HeaderWith(std::string(type) + " x;"));
    ASSERT_EQ(kind.versions.size(), 1U) << type;
    EXPECT_THAT(SourceOf(kind.versions[0].version, "a"),
                HasSubstr("static_assert(std::is_same_v<decltype(Job2::x), "
                          "::kubexx::apimachinery::Quantity>);"))
        << type;
  }
  EXPECT_THAT(YamlFrom(HeaderWith("int32_t x;")), HasSubstr("format: int32"));
}

TEST(HeaderKindsTest, TypesOfTheHeaderMayHaveTheirNamespace) {
  EXPECT_THAT(YamlFrom("\xef\xbb\xbf" +
                       HeaderWith("::example_com::v1::A x;\nstd::vector<example_com::v1::A> w;\n"
                                  "v1::Name z;",
                                  "struct A final { bool b; };\nusing Name = std::string;\n")),
              AllOf(HasSubstr("          x:\n            properties:\n              b:\n"),
                    HasSubstr("          w:\n            items:\n              properties:\n"),
                    HasSubstr("          z:\n            type: string\n")));
}

TEST(HeaderKindsTest, AStructOfTheHeaderGoesBeforeOneOfTheLibrary) {
  EXPECT_THAT(YamlFrom(HeaderWith("Time x;", "struct Time { bool b; };\n")),
              HasSubstr("          x:\n            properties:\n              b:\n"));
}

TEST(HeaderKindsTest, TheCodeIncludesTheHeaderAndHasNoStructs) {
  const HeaderKind kind = KindFrom(HeaderWith("std::optional<A> x;", "struct A { bool b; };\n"));
  ASSERT_EQ(kind.versions.size(), 1U);
  EXPECT_EQ(kind.versions[0].namespace_, "example_com::v1");
  const Version& version = kind.versions[0].version;
  EXPECT_EQ(FileNameOf(version), "job2_v1.gen");
  EXPECT_THAT(HeaderOf(version, "example_com::v1"),
              AllOf(HasSubstr("#include \"a.h\"\n"), Not(HasSubstr("struct ")),
                    HasSubstr("SchemaOf<::example_com::v1::A>();"),
                    HasSubstr("ResourceOf<::example_com::v1::Job2>()")));
  EXPECT_THAT(
      SourceOf(version, "example_com::v1"),
      AllOf(HasSubstr("static_assert(std::is_same_v<decltype(Job2::x), std::optional<A>>);"),
            HasSubstr("&kASchema, &::kubexx::codec::kContainerOps<std::optional<A>>},"),
            Not(HasSubstr("Job2::Job2()"))));
}

TEST(HeaderKindsTest, WhatAHeaderMayContainBesidesIsSkipped) {
  EXPECT_THAT(
      YamlFrom("#ifndef X_H_\n#define X_H_\n#include <string>\n#pragma once\n"
               "// +groupName=a.b\n// +versionName=v3\nnamespace a { namespace b {\n"
               "namespace k = kubexx;\nusing namespace k;\nusing kubexx::Quantity;\n"
               "struct Forward;\nstatic_assert(sizeof(int) == 4, \"a{\");\n"
               "inline constexpr std::string_view kA = \"}\", kB{\"b\"};\n"
               "/* A comment. */\n" +
               RootWith("std::string x{\"};\"};\nstd::int32_t z = -1;\n"
                        "friend bool operator==(const Job2&, const Job2&) = default;\n") +
               ";}\n#endif  // X_H_\n"),
      AllOf(HasSubstr("name: v3"), HasSubstr("          x:\n"), HasSubstr("          z:\n")));
}

TEST(HeaderKindsTest, HeadersOfOneKindAreItsVersions) {
  const auto header = [](const std::string& version, const std::string& markers) {
    return HeaderText{
        .path = version + ".h",
        .include = version + ".h",
        .text = "// +groupName=a.b\nnamespace a::" + version + " {\n" + RootWith("", markers)};
  };
  const auto read = [](std::vector<HeaderText> headers) { return ReadKinds(headers); };
  const auto error = [&read](std::vector<HeaderText> headers) {
    const auto kinds = read(std::move(headers));
    return kinds ? std::string() : kinds.error().message;
  };
  const std::string stored = "// +kubebuilder:storageversion\n";
  const auto kinds = read({header("v2", stored), header("v1", "")});
  ASSERT_TRUE(kinds) << kinds.error().ToString();
  ASSERT_EQ(kinds->size(), 1U);
  EXPECT_EQ(kinds->at(0).versions.size(), 2U);
  const std::string& yaml = kinds->at(0).definition;
  EXPECT_LT(yaml.find("name: v1\n"), yaml.find("name: v2\n"));
  EXPECT_THAT(yaml, AllOf(HasSubstr("storage: false"), HasSubstr("storage: true")));

  EXPECT_THAT(error({header("v1", ""), header("v2", "")}),
              HasSubstr("v1.h:4: Job2 has 2 versions: exactly one of them needs "
                        "+kubebuilder:storageversion, and 0 have it"));
  EXPECT_THAT(error({header("v1", ""), header("v1", "")}),
              HasSubstr("another header has Job2 of a.b/v1, too"));
  EXPECT_THAT(error({header("v1", stored), header("v2", "// +kubebuilder:resource:path=others\n")}),
              HasSubstr("v2.h:5: +kubebuilder:resource must say the same of all versions of Job2"));
}

/// Headers of a kind, each with its version, markers of the object, structs and members.
std::vector<HeaderText> VersionsOf(
    std::initializer_list<std::array<std::string, 4>> versions_of_a_kind) {
  std::vector<HeaderText> headers;
  for (const auto& [version, markers, structs, members] : versions_of_a_kind) {
    headers.push_back({.path = version + ".h",
                       .include = version + ".h",
                       .text = "// +groupName=a.b\nnamespace a::" + version + " {\n" + structs +
                               "\n" + RootWith(members, markers)});
  }
  return headers;
}

constexpr const char* kStored = "// +kubebuilder:storageversion\n";

TEST(HeaderKindsTest, FieldsThatTheStoredVersionLacksAreNamed) {
  const auto warnings = [](const std::string& markers, const std::string& structs,
                           const std::string& members, const std::string& stored_structs,
                           const std::string& stored_members) {
    const auto kinds = ReadKinds(VersionsOf(
        {{"v1", kStored, stored_structs, stored_members}, {"v2", markers, structs, members}}));
    EXPECT_TRUE(kinds) << kinds.error().ToString();
    return kinds ? kinds->at(0).warnings : std::vector<std::string>();
  };
  const std::string inner = "struct A { bool b; bool c; }; ";
  const std::string members =
      "std::vector<A> list; std::map<std::string, A> map; std::optional<A> one; JsonValue json;\n";
  EXPECT_THAT(warnings("", inner, members + "bool more;\n", "struct A { bool b; };",
                       "std::vector<A> list; std::map<std::string, A> map; A one;"
                       "std::map<std::string, bool> json;"),
              ElementsAre("v2.h:5: v2 has fields that the stored version v1 lacks, and the API "
                          "server drops them in each write: list[*].c, map[*].c, more, one.c"));
  EXPECT_THAT(warnings("", inner, "JsonValue one;", inner, "A one;"),
              ElementsAre(HasSubstr("in each write: one.*")));
  EXPECT_THAT(warnings("", inner, "std::map<std::string, bool> one;", inner, "A one;"),
              ElementsAre(HasSubstr("in each write: one[*]")));
  EXPECT_THAT(warnings("", inner, members, inner, members), IsEmpty());
  EXPECT_THAT(warnings("", inner, "A one;", inner, "JsonValue one; bool more;"), IsEmpty());
  EXPECT_THAT(warnings("// +kubebuilder:unservedversion\n", inner, members, "", ""), IsEmpty());
}

TEST(HeaderKindsTest, SelectableFieldsAreSharedOnlyWithTheSchema) {
  const std::string by_x = "// +kubebuilder:selectablefield:JSONPath=.x\n";
  const std::string by_y = "// +kubebuilder:selectablefield:JSONPath=.y\n";
  const auto error = [](const std::string& markers, const std::string& other_markers,
                        const std::string& other_members) {
    const auto kinds = ReadKinds(VersionsOf({{"v1", kStored + markers, "", "bool x; bool y;"},
                                             {"v2", other_markers, "", other_members}}));
    return kinds ? std::string() : kinds.error().message;
  };
  EXPECT_EQ(error(by_x, by_x, "bool x; bool y;"), "");
  EXPECT_EQ(error(by_x, by_x + by_y, "bool x; bool y; bool z;"), "");
  EXPECT_EQ(error(by_x, "", "bool x;"), "");
  EXPECT_THAT(error(by_x, by_x, "bool x;"),
              HasSubstr("v1.h:6: +kubebuilder:selectablefield must not say the same of all "
                        "versions, as their schemas differ"));
  EXPECT_THAT(error("", by_x, "bool x; bool y;"),
              HasSubstr("v2.h:5: +kubebuilder:selectablefield must say the same of all versions"));
}

TEST(HeaderKindsTest, AStructThatMultipliesItselfIsRefused) {
  std::string structs = "struct S0 { bool a; };\n";
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "S" + std::to_string(i - 1);
    structs += "struct S" + std::to_string(i) + " { " + inner + " a; " + inner + " b; };\n";
  }
  EXPECT_THAT(ErrorFrom(HeaderWith("S39 x;", structs)), HasSubstr("larger than the 1.5 MiB"));
}

TEST(HeaderKindsTest, StructsDoNotNestTooDeeply) {
  std::string structs = "struct S0 { bool a; };\n";
  std::string members;
  for (int i = 1; i < 200; ++i) {
    structs += "struct S" + std::to_string(i) + " { S" + std::to_string(i - 1) + " a; };\n";
    members += "S" + std::to_string(i) + " m" + std::to_string(i) + ";\n";
  }
  EXPECT_THAT(ErrorFrom(HeaderWith("S199 x;", structs)), HasSubstr("nest too deeply"));
  // Each after those that are in it.
  EXPECT_THAT(ErrorFrom(HeaderWith(members, structs)), HasSubstr("nest too deeply"));
}

TEST(HeaderKindsTest, RulesOfAMemberComeBeforeThoseOfItsType) {
  const std::string yaml =
      YamlFrom(HeaderWith("// +kubebuilder:validation:XValidation:rule=\"r1\"\n"
                          "// +kubebuilder:validation:XValidation:rule=\"r2\"\nA x;",
                          "// +kubebuilder:validation:XValidation:rule=\"r3\"\n"
                          "struct A { bool b; };\n"));
  EXPECT_LT(yaml.find("rule: r1"), yaml.find("rule: r2"));
  EXPECT_LT(yaml.find("rule: r2"), yaml.find("rule: r3"));
}

}  // namespace
}  // namespace kubexx::crdgen
