// The program itself, as its users run it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "kubexx/api/testing/round_trip_kinds.gen.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/base/sanitizers.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx {
namespace {

using apimachinery::ReadFile;
using codec::testing::CanonicalJson;
using ::testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string out{};
  std::string err{};
};

class KubexxConvert : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  // The arguments contain no characters that are special to the shell.
  Outcome Convert(const std::string& arguments, const std::string& input = "") const {
    std::ofstream(Path("in"), std::ios::binary) << input;
    const std::string command = convert_ + " " + arguments + " < " + Path("in") + " > " +
                                Path("out") + " 2> " + Path("err");
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(Path("out")).value_or(""),
            ReadFile(Path("err")).value_or("")};
  }

  const std::string convert_ = base::testing::ProgramBesideThis("kubexx-convert").string();
  const base::testing::TemporaryFolder directory_;
};

std::string Testdata(std::string_view file) {
  const auto content = ReadFile(std::string(KUBEXX_TESTDATA) + "/" + std::string(file));
  EXPECT_TRUE(content.has_value()) << "no test data: hack/testdata says why";
  return content.value_or("");
}

TEST_F(KubexxConvert, TurnsEveryKindFromYamlIntoTheProtobufOfUpstream) {
  for (const api::RoundTripKind& kind : api::kRoundTripKinds) {
    const std::string file(kind.file);
    // A WatchEvent does not name its own type.
    const std::string type =
        kind.kind == "WatchEvent"
            ? " --type " + std::string(kind.api_version) + "/" + std::string(kind.kind)
            : "";
    const Outcome run = Convert("--from yaml --to protobuf" + type, Testdata(file + ".yaml"));
    ASSERT_EQ(run.code, 0) << file << ": " << run.err;
    EXPECT_EQ(run.out, Testdata(file + ".pb")) << file;
  }
}

TEST_F(KubexxConvert, TurnsProtobufIntoTheJsonAndYamlOfUpstream) {
  for (const std::string file :
       {"core.v1.Pod", "apps.v1.Deployment", "core.v1.Secret", "batch.v1.CronJob"}) {
    const Outcome json = Convert("", Testdata(file + ".pb"));
    ASSERT_EQ(json.code, 0) << json.err;
    EXPECT_EQ(CanonicalJson(json.out), CanonicalJson(Testdata(file + ".json")));
    const Outcome yaml = Convert("--to yaml", Testdata(file + ".pb"));
    ASSERT_EQ(yaml.code, 0) << yaml.err;
    EXPECT_EQ(yaml.out, Testdata(file + ".yaml"));
  }
}

TEST_F(KubexxConvert, ReadsAndWritesFiles) {
  std::ofstream(Path("a.yaml")) << "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  ASSERT_EQ(
      Convert("--input " + Path("a.yaml") + " --output " + Path("a.pb") + " --to protobuf").code,
      0);
  const Outcome back = Convert("--compact --input " + Path("a.pb"));
  EXPECT_EQ(back.out,
            "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n");
  const Outcome missing = Convert("--input " + Path("missing"));
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("cannot read"));
  EXPECT_EQ(Convert("--output " + Path("missing/x"), "{}").code, 1);
}

TEST_F(KubexxConvert, ErrorsNameTheField) {
  const Outcome run = Convert(
      "",
      R"({"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"ports":[{"containerPort":"x"}]}]}})");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err,
            "kubexx-convert: spec.containers[0].ports[0].containerPort: expected an integer\n");
}

TEST_F(KubexxConvert, WrongUsageIsExitCodeTwo) {
  for (const std::string arguments :
       {"--to auto", "--from xml", "--bogus", "--completion tcsh", "stray"}) {
    const Outcome run = Convert(arguments, "{}");
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_NE(run.err, "") << arguments;
  }
}

#if !KX_SANITIZED  // which needs more memory than there is
TEST_F(KubexxConvert, MoreInputThanThereIsMemoryIsExitCodeOne) {
  const std::string command = "head -c 700000000 /dev/zero | (ulimit -v 500000; exec " + convert_ +
                              ") > " + Path("out") + " 2> " + Path("err");
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(ReadFile(Path("err")).value_or(""), HasSubstr("kubexx-convert: "));
}
#endif

TEST_F(KubexxConvert, HelpsAndCompletes) {
  const Outcome help = Convert("--help");
  EXPECT_EQ(help.code, 0);
  for (const std::string text : {"--from", "--to", "--type", "--compact", "Exit codes", "etcd"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  const Outcome completion = Convert("--completion bash");
  EXPECT_EQ(completion.code, 0);
  std::ofstream(Path("completion"))
      << completion.out
      << "COMP_WORDS=(kubexx-convert --to p); COMP_CWORD=2; _kubexx_convert_complete\n"
      << "echo \"${COMPREPLY[@]}\"\n";
  const std::string command = "bash " + Path("completion") + " > " + Path("completed");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(ReadFile(Path("completed")), "protobuf\n");
}

}  // namespace
}  // namespace kubexx
