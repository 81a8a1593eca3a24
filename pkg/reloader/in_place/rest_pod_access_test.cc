#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using remotecommand::testing::ServerConnection;
using remotecommand::testing::WebSocketServer;
using testing::ElementsAre;
using testing::HasSubstr;

const apimachinery::ObjectKey kAccessedPod{"ns", "web-0"};

/// A pod as JSON; `owner`: kind, name and UID of its controller, separated by commas.
std::string PodJson(const std::string& name, const std::string& kind, const std::string& owner,
                    const std::string& more = {}, const std::string& status = "Running") {
  return R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ns","uid":"u-)" + name +
         R"(","labels":{"app":"web","pod-template-hash":"5f"},"ownerReferences":[{"kind":")" +
         kind + R"(","name":")" + owner + R"(","uid":"uid-of-)" + owner +
         R"(","apiVersion":"apps/v1","controller":true}])" + more + R"(},"status":{"phase":")" +
         status + R"("}})";
}

/// An API server with a workload "web", its pods, and a source.
class RestPodAccessTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  std::string Answer(const std::string& target) const {
    if (target.contains("/deployments/") || target.contains("/statefulsets/")) {
      return std::string(R"({"kind":")") +
             (target.contains("/deployments/") ? "Deployment" : "StatefulSet") +
             R"(","metadata":{"name":"web","namespace":"ns","uid":"uid-of-web"},"spec":{"selector":)"
             R"({"matchLabels":{"app":"web"},"matchExpressions":[)"
             R"({"key":"tier","operator":"In","values":["a","b"]},)"
             R"({"key":"old","operator":"DoesNotExist"}]}}})";
    }
    if (target.contains("/configmaps")) {
      return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[)"
             R"({"metadata":{"name":"c"},)"
             R"("data":{"a":"abc"},"binaryData":{"b":"YWJj"}}]})";
    }
    if (target.contains("/secrets")) {
      return R"({"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[]})";
    }
    std::string items;
    for (const std::string& pod : list_) {
      items += (items.empty() ? "" : ",") + pod;
    }
    return target.contains("/pods?")
               ? R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + items + "]}"
               : PodJson("web-0", "StatefulSet", "web");
  }
  std::vector<std::string> NamesOf(const WorkloadId& workload, const std::string& uid) {
    const auto pods = access_->PodsOf(workload, uid, {});
    std::vector<std::string> names;
    if (!pods) {
      return {pods.error().ToString()};
    }
    for (const auto& pod : *pods) {
      names.push_back(pod.metadata.name);
    }
    return names;
  }

  std::vector<std::string> list_;
  int code_ = 200;
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        connection.Respond(code_, "application/json", Answer(request.target));
      }};
  std::unique_ptr<PodAccess> access_ = NewPodAccess(server_.client());
};

TEST_F(RestPodAccessTest, PodsOfADeploymentAreThoseOfItsReplicaSets) {
  list_ = {PodJson("a", "ReplicaSet", "web-5f"), PodJson("b", "ReplicaSet", "other-5f"),
           PodJson("c", "Job", "web-5f"),
           PodJson("d", "ReplicaSet", "web-5f", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"),
           PodJson("e", "ReplicaSet", "web-5f", "", "Succeeded")};
  EXPECT_THAT(NamesOf({WorkloadKind::kDeployment, {"ns", "web"}}, "uid-of-web"), ElementsAre("a"));
  EXPECT_THAT(
      server_.targets().back(),
      HasSubstr(
          "/api/v1/namespaces/ns/pods?labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb%29%2C%21old"));
}

TEST_F(RestPodAccessTest, PodsOfAStatefulSetAreItsOwn) {
  list_ = {PodJson("a", "StatefulSet", "web"), PodJson("b", "StatefulSet", "other")};
  EXPECT_THAT(NamesOf({WorkloadKind::kStatefulSet, {"ns", "web"}}, "uid-of-web"), ElementsAre("a"));
}

TEST_F(RestPodAccessTest, AWorkloadThatWasMadeAnewHasOtherPods) {
  EXPECT_THAT(NamesOf({WorkloadKind::kStatefulSet, {"ns", "web"}}, "uid-before"),
              ElementsAre(HasSubstr("was made anew")));
}

TEST_F(RestPodAccessTest, TheKubeletIsAskedByAnAnnotationOfThatPod) {
  ASSERT_TRUE(access_->WantFiles(kAccessedPod, "u0", "2026-01-01T00:00:00.000000Z", {}));
  EXPECT_EQ(server_.last().method, "PATCH");
  EXPECT_EQ(server_.last().body,
            R"({"metadata":{"uid":"u0","annotations":{"reloader.kubexx.io/files-wanted-at":)"
            R"("2026-01-01T00:00:00.000000Z"}}})");
}

TEST_F(RestPodAccessTest, SourcesAreHashed) {
  const auto hashes = access_->HashesOf({SourceType::kConfigMap, {"ns", "c"}}, {});
  ASSERT_TRUE(hashes) << hashes.error().ToString();
  ASSERT_TRUE(*hashes);
  EXPECT_EQ(**hashes, (KeyHashes{{"a", Sha256Of("abc")}, {"b", Sha256Of("abc")}}));
  EXPECT_EQ(*access_->HashesOf({SourceType::kSecret, {"ns", "s"}}, {}), std::nullopt);
}

TEST_F(RestPodAccessTest, ARequestGoesThroughTheProxyOfPods) {
  const ReloadAction action = *ParseReloadAction("http:POST :9090/-/reload?now=1&dry=");
  ASSERT_TRUE(access_->RunAction(kAccessedPod, "app", action, {}));
  EXPECT_EQ(server_.last().method, "POST");
  EXPECT_EQ(server_.last().target,
            "/api/v1/namespaces/ns/pods/web-0:9090/proxy/-/reload?now=1&dry=");
}

TEST_F(RestPodAccessTest, AnAnswerOfAnErrorIsTheStatusAndNothingElse) {
  code_ = 500;
  const auto done =
      access_->RunAction(kAccessedPod, "app", *ParseReloadAction("http:GET :80/"), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the answer has the status 500");
  EXPECT_EQ(server_.targets().size(), 1U) << "it is not repeated";
}

TEST_F(RestPodAccessTest, SomeStatusesSayThatTheProgramRefusesTheData) {
  for (const auto& [code, reason] : {std::pair{400, Reason::kBadRequest},
                                     {422, Reason::kBadRequest},
                                     {500, Reason::kBadRequest},
                                     {404, Reason::kInvalid},
                                     {405, Reason::kInvalid},
                                     {503, Reason::kInvalid}}) {
    code_ = code;
    const auto done =
        access_->RunAction(kAccessedPod, "app", *ParseReloadAction("http:GET :80/"), {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, reason) << code;
  }
}

// A webhook that fails, or an etcd that has no leader, would let pods stay until the next change.
TEST_F(RestPodAccessTest, AnErrorOfTheApiServerIsNoRefusalOfTheProgram) {
  struct Case {
    int code;
    std::string message;
    Reason reason;
  };
  for (const auto& [code, message, reason] :
       {Case{400, "failed calling webhook", Reason::kInvalid},
        Case{409, "failed calling webhook", Reason::kInvalid},
        Case{429, "too many requests", Reason::kUnavailable},
        Case{500, "etcdserver: no leader", Reason::kUnavailable},
        Case{503, "apiserver is shutting down", Reason::kUnavailable},
        Case{503, "error trying to reach service: connection refused", Reason::kInvalid}}) {
    rest::testing::Recorder server([&code, &message](rest::testing::FakeConnection& connection,
                                                     const rest::testing::FakeRequest&) {
      connection.Respond(code, "application/json",
                         R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                         R"("message":")" +
                             message + R"(","code":)" + std::to_string(code) + "}");
    });
    const auto done = NewPodAccess(server.client())
                          ->RunAction(kAccessedPod, "app", *ParseReloadAction("http:GET :80/"), {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, reason) << message;
    EXPECT_EQ(done.error().message,
              "the API server answers with the status " + std::to_string(code));
  }
}

// What a program answers may look like anything, and may be secret.
TEST_F(RestPodAccessTest, WhatAPodAnswersIsNotRepeatedWhereItLooksLikeAMissingRight) {
  rest::testing::Recorder server(
      [](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest&) {
        connection.Respond(
            403, "application/json",
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":403,)"
            R"("reason":"Forbidden","message":"it is forbidden: User \"hunter2\" cannot log in"})");
      });
  const auto done = NewPodAccess(server.client())
                        ->RunAction(kAccessedPod, "app", *ParseReloadAction("http:GET :80/"), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::kForbidden);
  EXPECT_THAT(done.error().ToString(), testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(done.error().message, HasSubstr("pods/proxy"));
}

TEST_F(RestPodAccessTest, AnAnswerOfAnySizeIsNotKept) {
  const std::string mebibyte(std::size_t{1} << 20, 'x');
  constexpr int kMoreThanAResponseMayHave = 257;
  rest::testing::Recorder server(
      [&](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest&) {
        connection.RespondChunked(200, "text/plain");
        for (int i = 0; i < kMoreThanAResponseMayHave; ++i) {
          connection.WriteChunk(mebibyte);
        }
        connection.EndChunks();
      });
  const auto access = NewPodAccess(server.client());
  const auto done = access->RunAction(kAccessedPod, "app", *ParseReloadAction("http:GET :80/"), {});
  EXPECT_TRUE(done) << done.error().ToString();
}

/// An API server that runs commands.
class RestPodExecTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void Serve(const std::string& output, const std::string& status) {
    server_ = std::make_unique<WebSocketServer>(
        WebSocketServer::Options{.script = [output, status](ServerConnection& connection) {
          connection.Write("\1" + output);
          connection.Write("\3" + status);
          connection.Close(1000);
        }});
    access_ = NewPodAccess(rest::testing::NewClient(server_->Url()));
  }
  std::unique_ptr<WebSocketServer> server_;
  std::unique_ptr<PodAccess> access_;
};

constexpr char kEndedWell[] = R"({"metadata":{},"status":"Success"})";
std::string EndedWith(const std::string& code) {
  return R"({"metadata":{},"status":"Failure","message":"command terminated with exit code )" +
         code + R"(","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode",)" +
         R"("message":")" + code + R"("}]}})";
}

TEST_F(RestPodExecTest, ALookHasTheOutput) {
  Serve("hash  /config/key\n", kEndedWell);
  const auto end = access_->Look(kAccessedPod, "app", {"sha256sum", "--", "/config/key"}, {});
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(end->code, 0);
  EXPECT_EQ(end->output, "hash  /config/key\n");
  EXPECT_EQ(server_->last_target(),
            "/api/v1/namespaces/ns/pods/web-0/exec?container=app&stdout=true&command=sha256sum&"
            "command=--&command=%2Fconfig%2Fkey");
}

TEST_F(RestPodExecTest, ACommandThatFailsTellsItsExitCodeAndNotItsOutput) {
  Serve("a secret", EndedWith("3"));
  const auto looked = access_->Look(kAccessedPod, "app", {"ls"}, {});
  ASSERT_TRUE(looked);
  EXPECT_EQ(looked->code, 3);
  const auto done = access_->RunAction(kAccessedPod, "app", *ParseReloadAction("exec:a"), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::kBadRequest) << "the program refuses the data";
  EXPECT_EQ(done.error().message, "its exit code is 3");
  const auto sent = access_->RunAction(kAccessedPod, "app", *ParseReloadAction("signal:HUP"), {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().reason, Reason::kInvalid) << "a shell cannot send the signal";
}

TEST_F(RestPodExecTest, ACommandThatIsNotThereOrIsKilledRefusesNothing) {
  for (const char* code : {"126", "127", "137"}) {
    Serve("", EndedWith(code));
    const auto done = access_->RunAction(kAccessedPod, "app", *ParseReloadAction("exec:a"), {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason, Reason::kInvalid) << code;
  }
}

// It would be tried again for two minutes.
TEST_F(RestPodExecTest, ARuntimeThatHasNoExitCodeForAMissingProgramIsUnderstood) {
  for (const auto& [message, reason] :
       {std::pair{R"(exec: \"sha256sum\": executable file not found in $PATH: unknown)",
                  Reason::kInvalid},
        {"stat sha256sum: no such file or directory", Reason::kInvalid},
        {R"(exec: \"/bin/sha256sum\": stat /bin/sha256sum: no such file or directory: unknown)",
         Reason::kInvalid},
        {"executable file `sha256sum` not found in $PATH: No such file or directory",
         Reason::kInvalid},
        {"cannot exec in a stopped container", Reason::kInternalError}}) {
    Serve("", R"({"metadata":{},"status":"Failure","reason":"InternalError","code":500,"message":)"
              R"("Internal error occurred: error executing command in container: )" +
                  std::string(message) + R"("})");
    const auto end = access_->Look(kAccessedPod, "app", {"sha256sum"}, {});
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().reason, reason) << end.error().ToString();
    if (reason == Reason::kInvalid) {
      EXPECT_EQ(end.error().message, "container app has no sha256sum");
    }
  }
}

// Each of these rolled the workload, at the first look, while a node's runtime began anew.
TEST_F(RestPodExecTest, ARuntimeThatIsNotThereIsNoMissingProgram) {
  for (
      const char* message :
      {R"(rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while )"
       R"(dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\")",
       R"(failed to exec in container: dial unix /run/containerd/s/1f: connect: no such file or )"
       R"(directory: unavailable)",
       R"(failed to create exec \"1f\": exec: \"runc\": executable file not found in $PATH)",
       "rpc error: code = Unavailable desc = an executable sha256sum: no such file or directory",
       "open /proc/77/not-sha256sum: no such file or directory"}) {
    Serve("", R"({"metadata":{},"status":"Failure","reason":"InternalError","code":500,"message":)"
              R"("Internal error occurred: error executing command in container: )" +
                  std::string(message) + R"("})");
    const auto end = access_->Look(kAccessedPod, "app", {"sha256sum"}, {});
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().reason, Reason::kInternalError) << end.error().ToString();
  }
}

TEST_F(RestPodExecTest, ASignalThatWouldBeLostIsNotSentAndTheErrorSaysSo) {
  Serve("", EndedWith("79"));
  const auto done = access_->RunAction(kAccessedPod, "app", *ParseReloadAction("signal:HUP"), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "process 1 of container app does not handle this signal, so it would be lost");
  const auto ran = access_->RunAction(kAccessedPod, "app", *ParseReloadAction("exec:a"), {});
  EXPECT_EQ(ran.error().message, "its exit code is 79") << "a program may end as it likes";
}

TEST_F(RestPodExecTest, AnActionThatEndsWellIsDone) {
  Serve("whatever it prints", kEndedWell);
  EXPECT_TRUE(
      access_->RunAction(kAccessedPod, "app", *ParseReloadAction("exec:nginx -s reload"), {}));
  EXPECT_EQ(server_->last_target(),
            "/api/v1/namespaces/ns/pods/web-0/exec?container=app&stdout=true&command=nginx&"
            "command=-s&command=reload");
}

}  // namespace
}  // namespace kubexx::reloader
