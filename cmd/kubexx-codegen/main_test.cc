// The program itself, as its users run it.

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kubexx/base/testing/places/places.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx {
namespace {

using ::testing::HasSubstr;

struct CodegenOutcome {
  int code = -1;
  std::string out{};
  std::string err{};
};

std::string Content(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class KubexxCodegen : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // The arguments contain no characters that are special to the shell.
  CodegenOutcome Run(const std::string& arguments) const {
    return Execute(codegen_ + " " + arguments);
  }
  CodegenOutcome Execute(const std::string& command) const {
    const int status =
        std::system((command + " > " + Path("out.txt") + " 2> " + Path("err.txt")).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Content(Path("out.txt")),
            Content(Path("err.txt"))};
  }

  const std::string codegen_ = base::testing::ProgramBesideThis("kubexx-codegen").string();
  const std::string website_ =
      (base::testing::SourceTree() / "examples/website-controller/website.yaml").string();
  const std::string gadget_ = (base::testing::SourceTree() / "test/crds/gadget.h").string();
  const base::testing::TemporaryFolder folder_;
};

TEST_F(KubexxCodegen, WritesTheFilesOfEachDefinition) {
  const CodegenOutcome run = Run("--out " + Path("new/folder") + " " + website_);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("wrote " + Path("new/folder/website_v1.gen.cc")));
  EXPECT_THAT(Content(Path("new/folder/website_v1.gen.h")),
              HasSubstr("namespace example_com::v1 {"));
  const CodegenOutcome other = Run("--out " + Path("new/folder") + " --namespace web " + website_);
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(Content(Path("new/folder/website_v1.gen.h")), HasSubstr("namespace web {"));
}

TEST_F(KubexxCodegen, VerifiesWithoutWriting) {
  const std::string arguments = "--out " + Path("verified") + " " + website_;
  EXPECT_EQ(Run("--verify " + arguments).code, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("verified")));
  ASSERT_EQ(Run(arguments).code, 0);
  EXPECT_EQ(Run("--verify " + arguments).code, 0);
  std::ofstream(Path("verified/website_v1.gen.h"), std::ios::app) << "\n";
  const CodegenOutcome stale = Run("--verify " + arguments);
  EXPECT_EQ(stale.code, 1);
  EXPECT_THAT(stale.err, HasSubstr("out of date"));
  EXPECT_THAT(stale.err, HasSubstr("website_v1.gen.h"));
}

TEST_F(KubexxCodegen, SaysWhatIsWrong) {
  const CodegenOutcome none = Run("");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("no files are given"));
  EXPECT_EQ(Run("--rubbish").code, 2);
  const CodegenOutcome missing = Run(Path("missing.yaml"));
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.yaml: No such file"));
  std::ofstream(Path("other.yaml")) << "kind: Other\n";
  const CodegenOutcome other = Run(Path("other.yaml"));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("other.yaml: there is no CustomResourceDefinition"));
  const CodegenOutcome twice = Run("--out " + Path("twice") + " " + website_ + " " + website_);
  EXPECT_EQ(twice.code, 1);
  EXPECT_THAT(twice.err, HasSubstr("two resources would be written to website_v1.gen.h"));
  std::ofstream(Path("file")) << "x";
  EXPECT_EQ(Run("--out " + Path("file/folder") + " " + website_).code, 1);
}

TEST_F(KubexxCodegen, RefusesTwoOfOneName) {
  const auto definition = [](const std::string& kind, const std::string& versions) {
    std::string text =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: " +
        kind +
        ".example.com}\nspec:\n  group: example.com\n"
        "  names: {kind: " +
        kind + ", plural: x}\n  scope: Cluster\n  versions:\n";
    for (const char version : versions) {
      text +=
          std::string("  - {name: v") + version +
          ", served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: "
          "{status: {type: object, properties: {a: {type: string}}}}}}}\n";
    }
    return text;
  };
  std::ofstream(Path("versions.yaml")) << definition("Pool", "12");
  std::ofstream(Path("kinds.yaml")) << definition("Pool", "1") << "---\n"
                                    << definition("PoolStatus", "1");
  const std::string out = "--out " + Path("out") + " ";
  const CodegenOutcome versions = Run(out + "--namespace web " + Path("versions.yaml"));
  EXPECT_EQ(versions.code, 1);
  EXPECT_THAT(
      versions.err,
      HasSubstr("versions.yaml: Pool of example.com/v1 and Pool of example.com/v2 would both "
                "define web::Pool; without --namespace each has a namespace of its own"));
  const CodegenOutcome kinds = Run(out + "--namespace web " + Path("kinds.yaml"));
  EXPECT_EQ(kinds.code, 1);
  EXPECT_THAT(kinds.err, HasSubstr("would both define web::PoolStatus; put them into two files"));
  EXPECT_EQ(Run(out + Path("kinds.yaml")).code, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
  EXPECT_EQ(Run(out + Path("versions.yaml")).code, 0);
}

TEST_F(KubexxCodegen, RefusesWhatIsNoNamespace) {
  for (const char* const wrong : {"my-web", "web::class", "a:b", "::web"}) {
    const CodegenOutcome run =
        Run("--out " + Path("out") + " --namespace " + wrong + " " + website_);
    EXPECT_EQ(run.code, 2) << wrong;
    EXPECT_THAT(run.err,
                HasSubstr(std::string("--namespace '") + wrong + "' is not a C++ namespace"));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(KubexxCodegen, NamesTheFolderThatIsNoFile) {
  std::filesystem::create_directories(Path("crds"));
  const CodegenOutcome run = Run(website_ + " " + Path("crds"));
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr(Path("crds") + " is a folder"));
}

TEST_F(KubexxCodegen, WritesTheDefinitionAndTheTablesOfAHeader) {
  std::filesystem::create_directories(Path("src"));
  std::filesystem::copy(gadget_, Path("src/gadget.h"));
  const std::string arguments =
      "--out " + Path("gen/code") + " --crds " + Path("crds") + " " + Path("src/gadget.h");
  EXPECT_EQ(Run("--verify " + arguments).code, 1);
  const CodegenOutcome run = Run(arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("wrote " + Path("crds/test.example.com_gadgets.yaml")));
  EXPECT_THAT(Content(Path("gen/code/gadget_v1.gen.h")),
              HasSubstr("#include \"../../src/gadget.h\"\n"));
  EXPECT_THAT(Content(Path("gen/code/gadget_v1.gen.cc")),
              HasSubstr("#include \"gadget_v1.gen.h\""));
  EXPECT_EQ(Run("--verify " + arguments).code, 0);
  std::ofstream(Path("crds/test.example.com_gadgets.yaml"), std::ios::app) << "\n";
  EXPECT_THAT(Run("--verify " + arguments).err, HasSubstr("test.example.com_gadgets.yaml"));
  // A definition beside it, and the code of both in one folder.
  EXPECT_EQ(Run(arguments + " " + website_).code, 0);
}

TEST_F(KubexxCodegen, WritesNothingOfAHeaderThatItDoesNotUnderstand) {
  std::ofstream(Path("a.h")) << "// +groupName=a.b\nnamespace a::v1 {\n"
                                "// +kubebuilder:object:root=yes\nstruct A {};\n}\n";
  const CodegenOutcome run = Run("--out " + Path("out") + " " + website_ + " " + Path("a.h"));
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err,
              HasSubstr("kubexx-codegen: " + Path("a.h") + ":3: +kubebuilder:object:root"));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
  EXPECT_EQ(Run("--out " + Path("out") + " " + gadget_ + " " + gadget_).code, 1);
}

TEST_F(KubexxCodegen, IncludesTheHeaderFromWhereALinkLeads) {
  std::filesystem::create_directories(Path("src"));
  std::filesystem::create_directories(Path("far/away/real"));
  std::filesystem::create_directory_symlink(Path("far/away/real"), Path("out"));
  std::filesystem::copy(gadget_, Path("src/gadget.h"));
  ASSERT_EQ(Run("--out " + Path("out") + " " + Path("src/gadget.h")).code, 0);
  EXPECT_THAT(Content(Path("far/away/real/gadget_v1.gen.h")),
              HasSubstr("#include \"../../../src/gadget.h\"\n"));
  ASSERT_EQ(Run("--out " + Path("out/new") + " " + Path("src/gadget.h")).code, 0);
  EXPECT_THAT(Content(Path("far/away/real/new/gadget_v1.gen.h")),
              HasSubstr("#include \"../../../../src/gadget.h\"\n"));
  // A link that changes nothing keeps its name.
  std::filesystem::create_directory_symlink(Path("src"), Path("link"));
  ASSERT_EQ(Run("--out " + Path("beside") + " " + Path("link/gadget.h")).code, 0);
  EXPECT_THAT(Content(Path("beside/gadget_v1.gen.h")),
              HasSubstr("#include \"../link/gadget.h\"\n"));
}

TEST_F(KubexxCodegen, WritesNothingWhenAFileIsInThePlaceOfAFolder) {
  std::ofstream(Path("file")) << "x";
  for (const char* const crds : {"file", "file/folder"}) {
    const CodegenOutcome run =
        Run("--out " + Path("out") + " --crds " + Path(crds) + " " + gadget_);
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, HasSubstr("kubexx-codegen: " + Path("file") + " is no folder"));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(KubexxCodegen, WarnsOfFieldsThatAreNotStored) {
  const auto write = [this](const std::string& version, const std::string& marker,
                            const std::string& members) {
    std::ofstream(Path(version + ".h"))
        << "// +groupName=a.b\nnamespace a::" + version + " {\nstruct Spec {" + members +
               "};\n// +kubebuilder:object:root=true\n" + marker +
               "struct A {\n  ObjectMeta metadata;\n  Spec spec;\n};\n}\n";
  };
  write("v1", "// +kubebuilder:storageversion\n", "bool x;");
  write("v2", "", "bool x; bool y; bool z;");
  const CodegenOutcome run = Run("--out " + Path("out") + " " + Path("v1.h") + " " + Path("v2.h"));
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "kubexx-codegen: warning: " + Path("v2.h") +
                         ":5: v2 has fields that the stored version v1 lacks, and the API server "
                         "drops them in each write: spec.y, spec.z\n");
  EXPECT_THAT(Content(Path("out/a.b_as.yaml")), HasSubstr("name: v2"));
}

TEST_F(KubexxCodegen, FlagsOfTheOtherDirectionAreWrongUsage) {
  const CodegenOutcome space = Run("--namespace web " + gadget_);
  EXPECT_EQ(space.code, 2);
  EXPECT_THAT(space.err, HasSubstr("--namespace is for definitions"));
  const CodegenOutcome crds = Run("--crds x " + website_);
  EXPECT_EQ(crds.code, 2);
  EXPECT_THAT(crds.err, HasSubstr("--crds is for headers"));
}

TEST_F(KubexxCodegen, TheTreeHasItsFilesAndNoOthers) {
  const std::filesystem::path tree = base::testing::SourceTree();
  for (const char* const folder :
       {"pkg/kubernetes/testing", "pkg/reloadpolicy", "examples", "helm/kubexx-reloader/crds",
        "cmd/kubexx-codegen", "test/headers", "test/crds"}) {
    std::filesystem::create_directories(folder_ / folder);
    std::filesystem::copy(tree / folder, folder_ / folder,
                          std::filesystem::copy_options::recursive);
  }
  const std::string script = (tree / "hack/codegen.d/crds").string() + " ";
  const std::string arguments = folder_.path() + " " + codegen_;
  EXPECT_EQ(Execute(script + arguments + " --verify").code, 0);

  const std::string gone = "pkg/reloadpolicy/gone_v1.gen.cc";
  std::filesystem::copy(folder_ / "pkg/reloadpolicy/reloadpolicy_v1alpha1.gen.cc", folder_ / gone);
  std::filesystem::remove(folder_ / "examples/website-controller/website_v1.gen.h");
  // Another generator's.
  std::ofstream(Path("pkg/kubernetes/testing/other.gen.h")) << "// Generated by codegen.\n";
  const CodegenOutcome stale = Execute(script + arguments + " --verify");
  EXPECT_EQ(stale.code, 1);
  EXPECT_THAT(stale.err, HasSubstr("not written any more: " + gone));
  EXPECT_THAT(stale.err, HasSubstr("out of date: examples/website-controller/website_v1.gen.h"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / gone));

  EXPECT_EQ(Execute(script + arguments).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / gone));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "pkg/kubernetes/testing/other.gen.h"));
  EXPECT_EQ(Execute(script + arguments + " --verify").code, 0);
}

TEST_F(KubexxCodegen, TellsItsFlags) {
  const CodegenOutcome help = Run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("--namespace"));
}

}  // namespace
}  // namespace kubexx
