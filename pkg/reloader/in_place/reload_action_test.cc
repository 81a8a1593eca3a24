#include "kubexx/reloader/in_place/reload_action.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string WhyNot(std::string_view text) {
  const auto action = ParseReloadAction(text);
  return action ? "it is accepted" : action.error().message;
}

TEST(ReloadActionTest, ASignalIsSentByAShellInTheContainer) {
  const auto action = ParseReloadAction(" signal:HUP ");
  ASSERT_TRUE(action) << action.error().ToString();
  EXPECT_EQ(action->kind, ReloadAction::Kind::kSignal);
  EXPECT_THAT(action->command, ElementsAre("sh", "-c", HasSubstr("; kill -s HUP 1")));
  EXPECT_EQ(action->text, "signal:HUP");
}

/// The exit code of what the shell `shell` would do in a container whose process 1 has this status;
/// 42 when it would send the signal.
int EndOfSignal(const std::string& shell, const std::string& signal, const std::string& status) {
  const base::testing::TemporaryFolder folder;
  const std::string path =
      status.empty() ? folder.path() + "/none" : folder.Write("status", status);
  std::string script = ParseReloadAction("signal:" + signal)->command[2];
  const auto replace = [&](const std::string& text, const std::string& by) {
    const std::size_t at = script.find(text);
    ASSERT_NE(at, std::string::npos) << script;
    script.replace(at, text.size(), by);
  };
  replace("/proc/1/status", path);
  replace("kill -s " + signal + " 1", "exit 42");
  FILE* const pipe =
      ::popen((shell + " " + folder.Write("script", script) + " 2>/dev/null").c_str(), "r");
  return WEXITSTATUS(::pclose(pipe));
}

TEST(ReloadActionTest, ASignalThatProcessOneWouldNotNoticeIsNotSent) {
  const auto status = [](const std::string& blocked, const std::string& caught) {
    return "Name:\tnginx\nSigQ:\t0/1\nSigBlk:\t" + blocked +
           "\nSigIgn:\tffffffffffffffff\nSigCgt:\t" + caught + "\nCapInh:\t0\n";
  };
  const std::string none(16, '0');
  for (const char* shell : {"sh", "bash"}) {
    EXPECT_EQ(EndOfSignal(shell, "HUP", status(none, "0000000000010002")), kSignalIsLost) << shell;
    EXPECT_EQ(EndOfSignal(shell, "HUP", status(none, "fffffffe7ffbfeff")), 42) << shell;
    EXPECT_EQ(EndOfSignal(shell, "USR1", status(none, "0000000000000200")), 42) << shell;
    EXPECT_EQ(EndOfSignal(shell, "USR1", status(none, "0000000000000201")), 42) << shell;
    EXPECT_EQ(EndOfSignal(shell, "USR2", status(none, "0000000000000200")), kSignalIsLost);
    EXPECT_EQ(EndOfSignal(shell, "WINCH", status(none, "0000000008000000")), 42) << shell;
    EXPECT_EQ(EndOfSignal(shell, "WINCH", status(none, "fffffffff7ffffff")), kSignalIsLost);
    EXPECT_EQ(EndOfSignal(shell, "HUP", status("0000000000000001", none)), 42)
        << "it waits for signals, as an init does";
    EXPECT_EQ(EndOfSignal(shell, "HUP", "Name:\tnginx\n"), 42) << "nothing tells";
    EXPECT_EQ(EndOfSignal(shell, "HUP", ""), 42) << "it may not be read";
  }
}

TEST(ReloadActionTest, ASignalThatEndsProgramsIsRefused) {
  EXPECT_THAT(WhyNot("signal:KILL"), HasSubstr("HUP, USR1, USR2 and WINCH"));
  EXPECT_THAT(WhyNot("signal:TERM"), HasSubstr("HUP, USR1, USR2 and WINCH"));
  EXPECT_THAT(WhyNot("signal:HUP 1; rm"), HasSubstr("HUP, USR1, USR2 and WINCH"));
}

TEST(ReloadActionTest, ACommandIsSplitIntoWordsAndQuotationMarksKeepThemTogether) {
  const auto action = ParseReloadAction(R"(exec:nginx  -s reload)");
  ASSERT_TRUE(action) << action.error().ToString();
  EXPECT_THAT(action->command, ElementsAre("nginx", "-s", "reload"));
  const auto quoted = ParseReloadAction(R"x(exec:sh -c 'kill -USR1 "$(cat /run/p)"' "" a"b c")x");
  ASSERT_TRUE(quoted) << quoted.error().ToString();
  EXPECT_THAT(quoted->command,
              ElementsAre("sh", "-c", R"x(kill -USR1 "$(cat /run/p)")x", "", "ab c"));
  EXPECT_THAT(WhyNot("exec:sh -c 'kill"), HasSubstr("not closed"));
  EXPECT_THAT(WhyNot("exec: "), HasSubstr("empty"));
  EXPECT_THAT(WhyNot("exec:\"\" a"), HasSubstr("empty"));
}

TEST(ReloadActionTest, ARequestHasAMethodAPortAndAPath) {
  const auto action = ParseReloadAction("http:POST :9090/-/reload?now=1");
  ASSERT_TRUE(action) << action.error().ToString();
  EXPECT_EQ(action->kind, ReloadAction::Kind::kHttp);
  EXPECT_EQ(action->method, "POST");
  EXPECT_EQ(action->port, 9090);
  EXPECT_EQ(action->path, "/-/reload?now=1");
  EXPECT_TRUE(action->command.empty());
  EXPECT_THAT(WhyNot("http:DELETE :80/"), HasSubstr("GET, POST and PUT"));
  EXPECT_THAT(WhyNot("http:POST"), HasSubstr("GET, POST and PUT"));
  EXPECT_THAT(WhyNot("http:POST 80/"), HasSubstr("port and a path"));
  for (const char* where : {":0/", ":65536/", ":80", ":x/", ":/x", ":-1/"}) {
    EXPECT_THAT(WhyNot(std::string("http:POST ") + where), HasSubstr("between 1 and 65535"))
        << where;
  }
  for (const char* path : {"/a b", "/a#b", "/../x", "/\xc3\xa4"}) {
    EXPECT_THAT(WhyNot(std::string("http:POST :80") + path), HasSubstr("printable ASCII")) << path;
  }
}

TEST(ReloadActionTest, AnythingElseIsRefusedWithAReason) {
  EXPECT_THAT(WhyNot(""), HasSubstr("signal:, exec: or http:"));
  EXPECT_THAT(WhyNot("restart"), HasSubstr("signal:, exec: or http:"));
  EXPECT_THAT(WhyNot("exec:a\nb"), HasSubstr("control character"));
  EXPECT_THAT(WhyNot("exec:" + std::string(3000, 'x')), HasSubstr("longer than"));
}

TEST(ReloadActionTest, TheAnnotationsNameTheActionAndTheContainer) {
  EXPECT_EQ(*ReloadActionOf({}), std::nullopt);
  EXPECT_EQ(*ReloadActionOf({{std::string(kReloadContainer), "app"}}), std::nullopt);
  const auto action = ReloadActionOf(
      {{std::string(kReloadInPlace), "signal:HUP"}, {std::string(kReloadContainer), "app"}});
  ASSERT_TRUE(action);
  ASSERT_TRUE(*action);
  EXPECT_EQ(ShownAction(**action), "signal:HUP in container app");
  EXPECT_FALSE(ReloadActionOf(
      {{std::string(kReloadInPlace), "signal:HUP"}, {std::string(kReloadContainer), "a/b"}}));
  EXPECT_FALSE(ReloadActionOf({{std::string(kReloadInPlace), "signal:"}}));
}

TEST(ReloadActionTest, TheAnnotationsSayWhatFollowsARefusal) {
  const auto keeps = [](const std::string& value) -> apimachinery::Result<bool> {
    KX_ASSIGN_OR_RETURN(const auto action,
                        ReloadActionOf({{std::string(kReloadInPlace), "exec:a"},
                                        {std::string(kReloadOnRefusal), value}}));
    return action->keeps_refused;
  };
  EXPECT_TRUE(*keeps("keep"));
  EXPECT_FALSE(*keeps("roll"));
  ASSERT_FALSE(keeps("Keep"));
  EXPECT_EQ(keeps("Keep").error().message,
            "reloader.kubexx.io/reload-in-place-on-refusal must be roll or keep");
}

}  // namespace
}  // namespace kubexx::reloader
