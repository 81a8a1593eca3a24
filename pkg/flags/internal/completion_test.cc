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

const std::vector<CompletionCommand> kCommands = {
    {"explain", "Tells why.", {{"output", "How.", true, {"json", "text"}}}},
    {"clean-up", "It's away.", {{"templates", "Also these.", false}}}};

std::string BashCompletesLast(const std::string& words, int index) {
  return RunBash("set -u\ncd /proc/self/ns\n" +
                 CompletionScript("bash", "kubexx-x", kFlags, kCommands) + "COMP_WORDS=(kubexx-x " +
                 words + "); COMP_CWORD=" + std::to_string(index) +
                 "; _kubexx_x_complete; echo \"${COMPREPLY[*]-}\"\n");
}

TEST(CompletionTest, BashCompletesCommandsAndTheirFlags) {
  EXPECT_EQ(BashCompletesLast("ex", 1), "explain\n");
  EXPECT_EQ(BashCompletesLast("--log-level x cl", 3), "clean-up\n");
  EXPECT_EQ(BashCompletesLast("--", 1), "--enable-ha --log-level=\n");
  EXPECT_EQ(BashCompletesLast("clean-up --", 2), "--templates\n");
  EXPECT_EQ(BashCompletesLast("--enable-ha explain --", 3), "--output=\n");
  EXPECT_EQ(BashCompletesLast("explain --output = j", 4), "json\n");
  EXPECT_EQ(BashCompletesLast("clean-up ex", 2), "\n") << "one command is enough";
}

TEST(CompletionTest, ZshCompletesCommandsAndTheirFlags) {
  EXPECT_EQ(CompletionScript("zsh", "kubexx-x", {kFlags.front()}, kCommands),
            "#compdef kubexx-x\n# zsh completion of kubexx-x\n"
            "case \"${words[(r)(explain|clean-up)]}\" in\n"
            "  explain) _arguments \\\n"
            "    '*--output=[How.]:value:(json text)' \\\n"
            "    '*:file:_files' ;;\n"
            "  clean-up) _arguments \\\n"
            "    '*--templates[Also these.]' \\\n"
            "    '*:file:_files' ;;\n"
            "  *) _arguments \\\n"
            "    '*--enable-ha[Elect a leader.]' \\\n"
            "    '1:command:(explain clean-up)' \\\n"
            "    '*:file:_files' ;;\n"
            "esac\n");
}

TEST(CompletionTest, FishCompletesCommandsAndTheirFlags) {
  EXPECT_EQ(CompletionScript("fish", "kubexx-x", {kFlags.front()}, {kCommands.back()}),
            "# fish completion of kubexx-x\n"
            "complete -c kubexx-x -n '__fish_use_subcommand' -a clean-up -d 'It\\'s away.'\n"
            "complete -c kubexx-x -n '__fish_seen_subcommand_from clean-up' -l templates "
            "-d 'Also these.'\n"
            "complete -c kubexx-x -n 'not __fish_seen_subcommand_from clean-up' -l enable-ha "
            "-d 'Elect a leader.'\n");
}

TEST(CompletionTest, OtherShellsHaveNone) { EXPECT_EQ(CompletionScript("sh", "x", kFlags), ""); }

}  // namespace
}  // namespace kubexx::flags::internal
