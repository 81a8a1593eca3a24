#include "kubexx/flags/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::flags {
namespace {

using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class FlagSetTest : public ::testing::Test {
 protected:
  FlagSetTest() {
    flags_.AddString("log-level", "Least level to log.", &level_);
    flags_.AddBool("enable-ha", "Elect a leader.", &ha_);
    flags_.AddBool("on", "On by default.", &on_);
    flags_.AddStringBool("is-Argo-Rollouts", "Handle rollouts.", &argo_);
    flags_.AddInt("workers", "Workers.", &workers_);
    flags_.AddDuration("settle", "Settle window.", &settle_);
    flags_.AddList("namespaces", "Namespaces.", &namespaces_);
  }

  apimachinery::Result<ParseOutcome> Parse(const std::vector<std::string>& words) {
    std::vector<const char*> argv{"prog"};
    for (const std::string& word : words) {
      argv.push_back(word.c_str());
    }
    return flags_.Parse(static_cast<int>(argv.size()), argv.data());
  }
  void ParseOk(const std::vector<std::string>& words) {
    const auto outcome = Parse(words);
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_FALSE(outcome->exit);
  }
  std::string ErrorOf(const std::vector<std::string>& words) {
    const auto outcome = Parse(words);
    if (outcome) {
      return "no error";
    }
    EXPECT_EQ(outcome.error().reason, Reason::kInvalidConfig);
    return outcome.error().message;
  }

  FlagSet flags_{"prog", "Does things.", "1.2.3"};
  std::string level_ = "info";
  bool ha_ = false;
  bool on_ = true;
  bool argo_ = false;
  std::int64_t workers_ = 2;
  base::Duration settle_ = std::chrono::milliseconds(100);
  std::vector<std::string> namespaces_{"a", "b"};
};

TEST_F(FlagSetTest, DefaultsStay) {
  ParseOk({});
  EXPECT_EQ(level_, "info");
  EXPECT_TRUE(on_);
  EXPECT_THAT(namespaces_, ElementsAre("a", "b"));
}

TEST_F(FlagSetTest, BothFormsOfValues) {
  ParseOk({"--log-level=debug", "--workers", "7", "--settle=1m30s"});
  EXPECT_EQ(level_, "debug");
  EXPECT_EQ(workers_, 7);
  EXPECT_EQ(settle_, std::chrono::seconds(90));
}

TEST_F(FlagSetTest, ValuesMayBeEmptyOrLookLikeFlags) {
  ParseOk({"--log-level="});
  EXPECT_EQ(level_, "");
  ParseOk({"--log-level", ""});
  EXPECT_EQ(level_, "");
  ParseOk({"--log-level", "--enable-ha"});
  EXPECT_EQ(level_, "--enable-ha");
  EXPECT_FALSE(ha_);
  ParseOk({"--log-level=a=b", "--workers", "-3"});
  EXPECT_EQ(level_, "a=b");
  EXPECT_EQ(workers_, -3);
}

TEST_F(FlagSetTest, BoolsAsInGo) {
  ParseOk({"--enable-ha", "--on=false"});
  EXPECT_TRUE(ha_);
  EXPECT_FALSE(on_);
  for (const char* text : {"1", "t", "T", "TRUE", "true", "True"}) {
    ha_ = false;
    ParseOk({std::string("--enable-ha=") + text});
    EXPECT_TRUE(ha_) << text;
  }
  for (const char* text : {"0", "f", "F", "FALSE", "false", "False"}) {
    ParseOk({std::string("--enable-ha=") + text});
    EXPECT_FALSE(ha_) << text;
  }
  EXPECT_EQ(ErrorOf({"--enable-ha=yes"}),
            "invalid value \"yes\" of flag --enable-ha: it is neither true nor false");
  EXPECT_EQ(ErrorOf({"--enable-ha", "false"}), "unexpected argument \"false\"");
}

TEST_F(FlagSetTest, StringBoolsNeedTheirValue) {
  ParseOk({"--is-Argo-Rollouts", "true"});
  EXPECT_TRUE(argo_);
  ParseOk({"--is-Argo-Rollouts=false"});
  EXPECT_FALSE(argo_);
  EXPECT_EQ(ErrorOf({"--is-Argo-Rollouts"}), "flag needs a value: --is-Argo-Rollouts");
}

TEST_F(FlagSetTest, LastScalarWins) {
  ParseOk({"--workers=1", "--workers=5"});
  EXPECT_EQ(workers_, 5);
}

TEST_F(FlagSetTest, FirstListReplacesTheDefaultAndOthersAppend) {
  ParseOk({"--namespaces=x,y", "--namespaces", "\"with,comma\",\"a \"\"quote\"\"\""});
  EXPECT_THAT(namespaces_, ElementsAre("x", "y", "with,comma", "a \"quote\""));
}

TEST_F(FlagSetTest, EmptyListIsEmpty) {
  ParseOk({"--namespaces="});
  EXPECT_THAT(namespaces_, IsEmpty());
}

TEST_F(FlagSetTest, EmptyFieldsAreKept) {
  ParseOk({"--namespaces=a,,b,"});
  EXPECT_THAT(namespaces_, ElementsAre("a", "", "b", ""));
}

TEST_F(FlagSetTest, BadListsAreRefused) {
  EXPECT_THAT(ErrorOf({"--namespaces=\"a"}), HasSubstr("a quote is not closed"));
  EXPECT_THAT(ErrorOf({"--namespaces=\"a\"b"}), HasSubstr("there must be a comma"));
  EXPECT_THAT(ErrorOf({"--namespaces=a\"b"}), HasSubstr("inside an unquoted value"));
  EXPECT_THAT(ErrorOf({"--namespaces=a\nb"}), HasSubstr("a line ends"));
}

TEST_F(FlagSetTest, BadNumbersAndDurationsAreRefused) {
  for (const char* text : {"", "x", "1x", "1.5", " 1", "--1", "9223372036854775808", "0x", "-"}) {
    EXPECT_THAT(ErrorOf({std::string("--workers=") + text}), StartsWith("invalid value ")) << text;
  }
  for (const char* text : {"", "5", "1 s", "s", "1y"}) {
    EXPECT_THAT(ErrorOf({std::string("--settle=") + text}), StartsWith("invalid value ")) << text;
  }
  ParseOk({"--workers=0x1F"});
  EXPECT_EQ(workers_, 31);
  ParseOk({"--workers=9223372036854775807"});
  ParseOk({"--workers=-9223372036854775807"});
}

// As strconv.ParseInt(text, 0, 64), with which Go's pflag reads them.
TEST_F(FlagSetTest, IntegersHaveTheBasesOfGo) {
  const std::vector<std::pair<std::string, std::int64_t>> numbers = {
      {"0", 0},
      {"007", 7},
      {"010", 8},
      {"0o17", 15},
      {"0O17", 15},
      {"0b101", 5},
      {"0B1", 1},
      {"0x1f", 31},
      {"-0x10", -16},
      {"+0b11", 3},
      {"1_000", 1000},
      {"0x_1f", 31},
      {"0xab_cd", 43981},
      {"0_7", 7},
      {"0b_1", 1},
      {"-1_0", -10},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()}};
  for (const auto& [text, number] : numbers) {
    ParseOk({"--workers=" + text});
    EXPECT_EQ(workers_, number) << text;
  }
  for (const char* text : {"08",
                           "0o8",
                           "0b2",
                           "0xg",
                           "0o",
                           "0b",
                           "0x_",
                           "_1",
                           "1_",
                           "1__0",
                           "0_",
                           "0x1__f",
                           "_0x1",
                           "0_x1",
                           "-_1",
                           "1_x",
                           "0b-1",
                           "+-1",
                           "-9223372036854775809",
                           "0x8000000000000000"}) {
    EXPECT_THAT(ErrorOf({std::string("--workers=") + text}), StartsWith("invalid value ")) << text;
  }
}

TEST_F(FlagSetTest, HelpAndVersionMayBeFalse) {
  ParseOk({"--help=false", "--version=0", "--workers=3"});
  EXPECT_EQ(workers_, 3) << "what follows counts";
  for (const char* word : {"--help=true", "--version=1", "-h=true"}) {
    const auto outcome = Parse({word});
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_TRUE(outcome->exit) << word;
  }
  EXPECT_EQ(ErrorOf({"--help=maybe"}),
            "invalid value \"maybe\" of flag --help: it is neither true nor false");
}

TEST_F(FlagSetTest, UnknownFlagsAreRefused) {
  EXPECT_EQ(ErrorOf({"--nope=1"}), "unknown flag: --nope");
  EXPECT_EQ(ErrorOf({"--Enable-HA"}), "unknown flag: --Enable-HA");
  EXPECT_EQ(ErrorOf({"--enable"}), "unknown flag: --enable") << "no abbreviations";
  EXPECT_EQ(ErrorOf({"-x"}), "unknown flag: -x");
  EXPECT_EQ(ErrorOf({"-workers=1"}), "unknown flag: -workers");
  EXPECT_EQ(ErrorOf({"--=1"}), "unknown flag: --");
  EXPECT_EQ(ErrorOf({"---workers=1"}), "unknown flag: ---workers");
}

TEST_F(FlagSetTest, ArgumentsAreTakenOnlyWhereAllowed) {
  EXPECT_EQ(ErrorOf({"file"}), "unexpected argument \"file\"");
  EXPECT_EQ(ErrorOf({"--", "--workers=1"}), "unexpected argument \"--workers=1\"");
  std::vector<std::string> files;
  flags_.AllowArguments("[file...]", &files);
  ParseOk({"a", "--workers=3", "-", "--", "--workers=9", "--"});
  EXPECT_THAT(files, ElementsAre("a", "-", "--workers=9", "--"));
  EXPECT_EQ(workers_, 3);
}

TEST_F(FlagSetTest, CustomFlagsMayRefuse) {
  std::vector<std::string> seen;
  flags_.AddCustom("color", "A color.", "color", "",
                   [&](std::string_view value) -> apimachinery::Result<void> {
                     if (value == "bad") {
                       return apimachinery::Fail(Reason::kInvalidConfig, "not a color");
                     }
                     seen.emplace_back(value);
                     return {};
                   });
  ParseOk({"--color=red", "--color", "blue"});
  EXPECT_THAT(seen, ElementsAre("red", "blue"));
  EXPECT_EQ(ErrorOf({"--color=bad"}), "invalid value \"bad\" of flag --color: not a color");
}

TEST_F(FlagSetTest, HelpShowsFlagsTypesAndDefaults) {
  for (const char* word : {"--help", "-h"}) {
    const auto outcome = Parse({word, "--nope"});
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->exit);
    EXPECT_EQ(
        outcome->text,
        "Does things.\n\nUsage:\n  prog [flags]\n\nFlags:\n"
        "      --completion shell              Write a completion script for bash, zsh or fish.\n"
        "      --enable-ha                     Elect a leader.\n"
        "  -h, --help                          Show this help.\n"
        "      --is-Argo-Rollouts true|false   Handle rollouts. (default false)\n"
        "      --log-level string              Least level to log. (default \"info\")\n"
        "      --namespaces strings            Namespaces. (default [a,b])\n"
        "      --on                            On by default. (default true)\n"
        "      --settle duration               Settle window. (default 100ms)\n"
        "      --version                       Show the version.\n"
        "      --workers int                   Workers. (default 2)\n");
  }
}

TEST_F(FlagSetTest, VersionIsShown) {
  const auto outcome = Parse({"--version"});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->exit);
  EXPECT_EQ(outcome->text, "prog 1.2.3\n");
}

TEST(FlagSetVersionTest, NoVersionNoFlag) {
  FlagSet flags("prog", "x");
  const char* argv[] = {"prog", "--version"};
  EXPECT_FALSE(flags.Parse(2, argv));
}

TEST_F(FlagSetTest, ExitCodesForMain) {
  const auto code = [this](const char* word, int error_code) {
    const char* argv[] = {"prog", word};
    return flags_.ParseOrExitCode(2, argv, error_code);
  };
  EXPECT_EQ(code("--workers=1", 1), std::nullopt);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(code("--nope", 1), 1);
  EXPECT_EQ(code("--nope", 2), 2);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              StartsWith("prog: unknown flag: --nope\nSee prog --help for its usage.\n"));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(code("--version", 1), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "prog 1.2.3\n");
}

TEST_F(FlagSetTest, NoProgramNameIsHarmless) { EXPECT_TRUE(flags_.Parse(0, nullptr)); }

TEST_F(FlagSetTest, TellsWhatWasGiven) {
  ParseOk({"--workers", "2", "--enable-ha", "--namespaces=a,b", "--workers=3"});
  using Flag = std::pair<std::string, std::string>;
  EXPECT_THAT(flags_.given(), ElementsAre(Flag("workers", "2"), Flag("enable-ha", "true"),
                                          Flag("namespaces", "a,b"), Flag("workers", "3")));
}

TEST_F(FlagSetTest, FindsArgumentsAsParseDoes) {
  const auto found = [&](std::vector<const char*> argv) {
    argv.insert(argv.begin(), "prog");
    return flags_.FindArguments(static_cast<int>(argv.size()), argv.data());
  };
  EXPECT_THAT(found({}), IsEmpty());
  EXPECT_THAT(found({"--log-level", "explain", "a"}), ElementsAre(3));
  EXPECT_THAT(found({"--log-level=debug", "explain"}), ElementsAre(2));
  EXPECT_THAT(found({"--enable-ha", "explain", "--workers", "2", "x"}), ElementsAre(2, 5));
  EXPECT_THAT(found({"--unknown", "a", "-n", "b"}), ElementsAre(2, 4));
  EXPECT_THAT(found({"-", "--", "--workers", "2"}), ElementsAre(1, 3, 4));
  EXPECT_THAT(found({"--workers"}), IsEmpty());
  EXPECT_EQ(level_, "info");
  EXPECT_FALSE(ha_);
}

TEST(FlagChoice, TakesItsChoicesOnlyAndCompletesThem) {
  std::string format = "json";
  FlagSet flags("program", "A program.");
  flags.AddChoice("format", "How to write", {"json", "yaml"}, &format);
  EXPECT_NE(flags.Usage().find("How to write: json, yaml (default json)"), std::string::npos);
  const char* const good[] = {"program", "--format", "yaml"};
  ASSERT_TRUE(flags.Parse(3, good));
  EXPECT_EQ(format, "yaml");

  FlagSet again("program", "A program.");
  again.AddChoice("format", "How to write", {"json", "yaml"}, &format);
  const char* const bad[] = {"program", "--format=xml"};
  const auto refused = again.Parse(2, bad);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("must be one of: json, yaml"), std::string::npos)
      << refused.error().message;

  FlagSet third("program", "A program.");
  third.AddChoice("format", "How to write", {"json", "yaml"}, &format);
  const char* const completion[] = {"program", "--completion", "bash"};
  const auto script = third.Parse(3, completion);
  ASSERT_TRUE(script);
  EXPECT_NE(script->text.find("--format) COMPREPLY=($(compgen -W 'json yaml'"), std::string::npos);
}

TEST(FlagCommand, IsInTheHelpAndInCompletions) {
  std::string format = "json";
  FlagSet of_command("", "");
  of_command.AddChoice("format", "How to write", {"json", "yaml"}, &format);
  FlagSet flags("program", "A program.");
  flags.AddCommand("show", "shows it", of_command);
  EXPECT_THAT(flags.Usage(), HasSubstr("\n  show   shows it\n"));
  FlagSet of_another("", "");
  flags.AddCommand("show-all", "shows more", of_another);
  EXPECT_THAT(flags.Usage(), HasSubstr("\n  show       shows it\n  show-all   shows more\n"));
  const char* const completion[] = {"program", "--completion", "bash"};
  const auto script = flags.Parse(3, completion);
  ASSERT_TRUE(script);
  EXPECT_THAT(script->text, HasSubstr("show) flags='--completion= --format= --help'"));
  FlagSet alone("program", "A program.");
  EXPECT_EQ(alone.Usage().find("Commands"), std::string::npos);
}

TEST_F(FlagSetTest, CompletesACommandLine) {
  std::string format = "json";
  FlagSet of_command("", "");
  of_command.AddChoice("format", "How to write", {"json", "yaml"}, &format);
  flags_.AddCommand("show", "shows it", of_command);
  flags_.AddCommand("shut", "ends it", of_command);
  const auto texts = [&](const std::vector<std::string>& words) {
    std::string joined;
    for (const FlagSet::Candidate& each : flags_.Complete(words)) {
      joined += each.text + ";";
    }
    return joined;
  };
  EXPECT_EQ(texts({}), "show;shut;");
  EXPECT_EQ(texts({"sho"}), "show;");
  EXPECT_EQ(flags_.Complete({"sho"})[0].help, "shows it");
  EXPECT_EQ(texts({"--e"}), "--enable-ha;");
  EXPECT_EQ(texts({"--log-level", "x", "s"}), "show;shut;") << "the value is no command";
  EXPECT_EQ(texts({"--log-level", ""}), "") << "any text";
  EXPECT_EQ(texts({"--log-level", "show", "--f"}), "") << "the value is no command";
  EXPECT_EQ(texts({"show", "--f"}), "--format=;");
  EXPECT_EQ(texts({"show", "--format", ""}), "json;yaml;");
  EXPECT_EQ(texts({"show", "--format=y"}), "--format=yaml;");
  EXPECT_EQ(texts({"show", "s"}), "") << "one command is enough";
  EXPECT_EQ(texts({"--unknown=", "--unknown=x"}), "");
}

TEST_F(FlagSetTest, CompletionOfOtherShellsIsRefused) {
  EXPECT_EQ(ErrorOf({"--completion=tcsh"}),
            "invalid value \"tcsh\" of flag --completion: use bash, zsh or fish");
}

TEST_F(FlagSetTest, NamesOfOneLetterNeedOneDash) {
  std::int64_t verbosity = 0;
  flags_.AddInt("v", "How much is logged.", &verbosity);
  ParseOk({"-v", "3"});
  EXPECT_EQ(verbosity, 3);
  ParseOk({"-v=4"});
  EXPECT_EQ(verbosity, 4);
  ParseOk({"--v", "5"});
  EXPECT_EQ(verbosity, 5);
  EXPECT_THAT(ErrorOf({"-x"}), HasSubstr("unknown flag: -x"));
  EXPECT_THAT(ErrorOf({"-workers", "1"}), HasSubstr("unknown flag: -workers"));
}

TEST_F(FlagSetTest, UnknownFlagsAreTakenWithTheirValuesWhereTheyMayBe) {
  EXPECT_THAT(ErrorOf({"--feature=A"}), HasSubstr("unknown flag: --feature"));
  std::vector<std::string> unknown;
  flags_.AllowUnknown(&unknown);
  ParseOk({"--feature=A", "--port", "80", "-v=2", "--quiet", "--workers", "4", "--last"});
  EXPECT_THAT(unknown, ElementsAre("--feature=A", "--port 80", "-v=2", "--quiet", "--last"));
  EXPECT_EQ(workers_, 4);
  EXPECT_THAT(ErrorOf({"--workers=four"}), HasSubstr("invalid value"));
}

}  // namespace
}  // namespace kubexx::flags
