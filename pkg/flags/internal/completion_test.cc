#include "kubexx/flags/internal/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::flags::internal {
namespace {

using ::testing::HasSubstr;

const std::vector<CompletionFlag> kFlags = {{"enable-ha", "Elect a leader.", false},
                                            {"log-level", "It's [a] \"level\":\nany $(x).", true}};

std::string RunBash(const std::string& script) {
  const base::testing::TemporaryFolder folder;
  const std::string path = folder.Write("script", script);
  std::string output;
  FILE* const pipe = ::popen(("bash " + path + " 2>&1").c_str(), "r");
  std::array<char, 256> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    output += buffer.data();
  }
  EXPECT_EQ(::pclose(pipe), 0) << output;
  return output;
}

std::string BashCompletes(const std::string& word) {
  return RunBash("set -u\n" + CompletionScript("bash", "kubexx-x", kFlags) +
                 "COMP_WORDS=(kubexx-x '" + word +
                 "'); COMP_CWORD=1; _kubexx_x_complete; echo \"${COMPREPLY[*]-}\"\n");
}

TEST(CompletionTest, BashCompletesFlags) {
  EXPECT_EQ(BashCompletes("--e"), "--enable-ha\n");
  EXPECT_EQ(BashCompletes("--l"), "--log-level=\n");
  EXPECT_EQ(BashCompletes("--"), "--enable-ha --log-level=\n");
  EXPECT_EQ(BashCompletes("--zzz"), "\n");
}

TEST(CompletionTest, ZshEscapesHelp) {
  EXPECT_EQ(CompletionScript("zsh", "kubexx-x", kFlags),
            "#compdef kubexx-x\n# zsh completion of kubexx-x\n_arguments \\\n"
            "  '*--enable-ha[Elect a leader.]' \\\n"
            "  '*--log-level=[It'\\''s \\[a\\] \"level\"\\: any $(x).]:value:_files' \\\n"
            "  '*:file:_files'\n");
}

TEST(CompletionTest, FishEscapesHelp) {
  EXPECT_EQ(CompletionScript("fish", "kubexx-x", kFlags),
            "# fish completion of kubexx-x\n"
            "complete -c kubexx-x -l enable-ha -d 'Elect a leader.'\n"
            "complete -c kubexx-x -l log-level -r -d 'It\\'s [a] \"level\": any $(x).'\n");
}

TEST(CompletionTest, OtherShellsHaveNone) { EXPECT_EQ(CompletionScript("sh", "x", kFlags), ""); }

}  // namespace
}  // namespace kubexx::flags::internal
