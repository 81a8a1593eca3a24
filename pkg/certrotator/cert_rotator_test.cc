#include "kubexx/certrotator/cert_rotator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::certrotator {
namespace {

using apimachinery::Reason;
using codec::JsonTree;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::FakeServer;
using std::chrono::days;
using std::chrono::minutes;
using ::testing::HasSubstr;

/// A server that stores objects by their paths, checks resourceVersions, and applies JSON patches
/// whose operations are "test" and "add" of texts.
class SmallServer {
 public:
  std::shared_ptr<rest::RESTClient> NewClient() const {
    return rest::testing::NewClient(server_.Url());
  }
  void Put(const std::string& path, const std::string& json) {
    const base::MutexLock lock(mu_);
    StoreLocked(path, JsonTree::Parse(json).value());
  }
  std::string Get(const std::string& path) {
    const base::MutexLock lock(mu_);
    const auto found = objects_.find(path);
    return found == objects_.end() ? std::string() : found->second.ToJson();
  }
  /// The caBundle at the pointer of the object, decoded.
  std::string BundleAt(const std::string& path, const std::string& pointer) {
    const base::MutexLock lock(mu_);
    const JsonTree* const value = At(objects_.at(path), pointer);
    std::string bundle;
    EXPECT_TRUE(value == nullptr || codec::DecodeBase64(*value->AsString(), bundle));
    return bundle;
  }
  /// From now on requests to this path get the code.
  void Refuse(const std::string& path, int code) {
    const base::MutexLock lock(mu_);
    refused_[path] = code;
  }
  /// From now on the object can be read, and a write of it gets the code.
  void RefuseWrites(const std::string& path, int code) {
    const base::MutexLock lock(mu_);
    refused_writes_[path] = code;
  }
  /// Puts the object there when the next one who reads the path has read what was there before.
  void PutAfterRead(const std::string& path, const std::string& json) {
    const base::MutexLock lock(mu_);
    put_after_read_.insert_or_assign(path, JsonTree::Parse(json).value());
  }
  int writes() {
    const base::MutexLock lock(mu_);
    return writes_;
  }

 private:
  /// The object in a request's body. Only Secrets are sent whole, as protobuf.
  static JsonTree Parsed(const std::string& body) {
    const auto secret =
        codec::DecodeProtobuf<api::core::v1::Secret>(codec::ReadEnvelope(body).value().raw);
    return JsonTree::Parse(codec::EncodeJson(secret.value())).value();
  }
  static JsonTree* At(JsonTree& tree, std::string_view pointer) {
    JsonTree* at = &tree;
    while (at != nullptr && !pointer.empty()) {
      pointer.remove_prefix(1);
      const std::string name(pointer.substr(0, pointer.find('/')));
      pointer.remove_prefix(name.size());
      at = at->IsArray() ? &at->elements()[std::stoul(name)] : at->Find(name);
    }
    return at;
  }
  void StoreLocked(const std::string& path, JsonTree object) KX_REQUIRES(mu_) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    objects_.insert_or_assign(path, std::move(object));
  }
  static std::string Status(int code, const std::string& reason) {
    return R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
           R"(","message":"no","code":)" + std::to_string(code) + "}";
  }
  std::pair<int, std::string> AnswerLocked(const FakeRequest& request) KX_REQUIRES(mu_) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (const auto refused = refused_.find(path); refused != refused_.end()) {
      return {refused->second, Status(refused->second, "Forbidden")};
    }
    const auto refused_write = refused_writes_.find(path);
    if (request.method != "GET" && refused_write != refused_writes_.end()) {
      return {refused_write->second, Status(refused_write->second, "Forbidden")};
    }
    if (request.method == "POST") {
      JsonTree object = Parsed(request.body);
      const std::string full = path + "/" + std::string(object.Find("metadata")->TextAt("name"));
      if (objects_.contains(full)) {
        return {409, Status(409, "AlreadyExists")};
      }
      ++writes_;
      StoreLocked(full, std::move(object));
      return {201, objects_.at(full).ToJson()};
    }
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
      return {404, Status(404, "NotFound")};
    }
    if (request.method == "PUT") {
      JsonTree object = Parsed(request.body);
      if (object.Find("metadata")->TextAt("resourceVersion") !=
          found->second.Find("metadata")->TextAt("resourceVersion")) {
        return {409, Status(409, "Conflict")};
      }
      ++writes_;
      StoreLocked(path, std::move(object));
    } else if (request.method == "PATCH") {
      JsonTree object = found->second;
      const JsonTree patch = JsonTree::Parse(request.body).value();
      for (const JsonTree& operation : patch.elements()) {
        const std::string pointer(operation.TextAt("path"));
        const std::string parent = pointer.substr(0, pointer.rfind('/'));
        JsonTree* const at = At(object, parent);
        const std::string name = pointer.substr(parent.size() + 1);
        if (at == nullptr ||
            (operation.TextAt("op") == "test" && at->TextAt(name) != operation.TextAt("value"))) {
          return {422, Status(422, "Invalid")};
        }
        (*at)[name] = std::string(operation.TextAt("value"));
      }
      ++writes_;
      StoreLocked(path, std::move(object));
    }
    std::pair<int, std::string> answer{200, objects_.at(path).ToJson()};
    if (auto put = put_after_read_.extract(path)) {
      StoreLocked(path, std::move(put.mapped()));
    }
    return answer;
  }
  void Serve(FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      std::pair<int, std::string> answer;
      {
        const base::MutexLock lock(mu_);
        answer = AnswerLocked(*request);
      }
      connection.Respond(answer.first, "application/json", answer.second);
    }
  }

  base::Mutex mu_;
  std::map<std::string, JsonTree> objects_ KX_GUARDED_BY(mu_);
  std::map<std::string, int> refused_ KX_GUARDED_BY(mu_);
  std::map<std::string, int> refused_writes_ KX_GUARDED_BY(mu_);
  std::map<std::string, JsonTree> put_after_read_ KX_GUARDED_BY(mu_);
  int version_ KX_GUARDED_BY(mu_) = 0;
  int writes_ KX_GUARDED_BY(mu_) = 0;
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

constexpr const char* kSecret = "/api/v1/namespaces/tools/secrets/tls";
constexpr const char* kMutating =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/defaults";
constexpr const char* kValidating =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/checks";
constexpr const char* kDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sites.example.com";

class CertRotatorTest : public ::testing::Test {
 protected:
  CertRotatorTest() {
    const std::string ours =
        R"("clientConfig":{"service":{"namespace":"tools","name":"web","path":"/x"}})";
    const std::string others = R"("clientConfig":{"service":{"namespace":"tools","name":"other"}})";
    server_.Put(kMutating,
                R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
                R"("kind":"MutatingWebhookConfiguration","metadata":{"name":"defaults"},)"
                R"("webhooks":[{"name":"a.b.c",)" +
                    others + R"(},{"name":"d.e.f",)" + ours + "}]}");
    server_.Put(kValidating,
                R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
                R"("kind":"ValidatingWebhookConfiguration","metadata":{"name":"checks"},)"
                R"("webhooks":[{"name":"a.b.c",)" +
                    ours + "}]}");
    server_.Put(kDefinition,
                R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                R"("metadata":{"name":"sites.example.com"},"spec":{"conversion":{)"
                R"("strategy":"Webhook","webhook":{)" +
                    ours + "}}}}");
  }
  ~CertRotatorTest() override { Stop(); }

  CertRotator::Options Options() {
    return {.secret = {"tools", "tls"},
            .service = {"tools", "web"},
            .mutating = {"defaults"},
            .validating = {"checks", "not-installed"},
            .definitions = {"sites.example.com"},
            .clock = clock_,
            .registry = &registry_};
  }
  void Make() { rotator_ = CertRotator::New(server_.NewClient(), Options()).value(); }
  void Run() {
    thread_ = std::jthread([this](const std::stop_token& stop) { (void)rotator_->Run(stop); });
    clock_.AwaitSleepers(1);
  }
  void Stop() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }
  /// Lets so many looks happen.
  void Look(int times) {
    for (int i = 0; i < times; ++i) {
      clock_.AdvanceToSleeper(minutes(1));
      clock_.AwaitSleepers(1);
    }
  }
  std::string Bundle() { return server_.BundleAt(kMutating, "/webhooks/1/clientConfig/caBundle"); }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  SmallServer server_;
  std::unique_ptr<CertRotator> rotator_;
  std::jthread thread_;
};

TEST_F(CertRotatorTest, TheFirstCertificateComesIntoTheSecretAndOurWebhooks) {
  Make();
  const std::string certificate = rotator_->Current()->certificate;
  EXPECT_TRUE(http::IsFor(*rotator_->Current(), "web.tools.svc"));
  EXPECT_THAT(server_.Get(kSecret), HasSubstr(R"("type":"kubernetes.io/tls")"));
  Run();
  EXPECT_EQ(Bundle(), certificate);
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/0/clientConfig/caBundle"), certificate);
  EXPECT_EQ(server_.BundleAt(kDefinition, "/spec/conversion/webhook/clientConfig/caBundle"),
            certificate);
  EXPECT_EQ(server_.BundleAt(kMutating, "/webhooks/0/clientConfig/caBundle"), "")
      << "that webhook is another's";
  const int writes = server_.writes();
  Look(10);
  EXPECT_EQ(server_.writes(), writes);
  EXPECT_THAT(registry_.Serialize(),
              HasSubstr("kubexx_webhook_certificate_expiration_timestamp_seconds 1831536000"));
}

TEST_F(CertRotatorTest, ReplicasServeTheSameCertificate) {
  Make();
  const auto other = CertRotator::New(server_.NewClient(), Options()).value();
  EXPECT_EQ(*other->Current(), *rotator_->Current());
}

TEST_F(CertRotatorTest, IsRenewedWithoutAMomentOfDistrust) {
  Make();
  const auto old = rotator_->Current();
  const auto provider = rotator_->Provider();
  Run();
  clock_.Advance(days(276));
  clock_.AwaitSleepers(1);
  // Whatever is served is trusted after each look.
  std::optional<int> changed_at;
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Bundle(), HasSubstr(provider()->certificate)) << i;
    if (!changed_at && provider() != old) {
      changed_at = i;
    }
    Look(1);
  }
  ASSERT_TRUE(changed_at) << "the old one is still served";
  EXPECT_GE(*changed_at, 5) << "API servers have had no time to learn of the next one";
  EXPECT_THAT(Bundle(), HasSubstr(old->certificate)) << "another replica may still serve it";
  EXPECT_EQ(*CertRotator::New(server_.NewClient(), Options()).value()->Current(), *provider());
}

TEST_F(CertRotatorTest, ANextCertificateThatCannotBeDistributedIsNotServed) {
  const logging::testing::Capture log;
  Make();
  const auto old = rotator_->Current();
  Run();
  server_.Refuse(kValidating, 403);
  clock_.Advance(days(276));
  clock_.AwaitSleepers(1);
  Look(20);
  EXPECT_EQ(rotator_->Current(), old);
  EXPECT_GE(log.Count("could not be distributed or renewed"), 1U);
  EXPECT_THAT(registry_.Serialize(), HasSubstr("kubexx_webhook_certificate_errors_total"));
}

TEST_F(CertRotatorTest, AConfigurationThatIsMadeAnewGetsTheCertificate) {
  Make();
  Run();
  server_.Put(kValidating,
              R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
              R"("kind":"ValidatingWebhookConfiguration","metadata":{"name":"checks"},)"
              R"("webhooks":[{"name":"z.y.x","clientConfig":{"service":)"
              R"({"namespace":"tools","name":"web"},"caBundle":"b2xk"}}]})");
  Look(1);
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/0/clientConfig/caBundle"),
            rotator_->Current()->certificate);
}

TEST_F(CertRotatorTest, ASecretThatSomebodyEmptiedGetsANewCertificate) {
  Make();
  const auto old = rotator_->Current();
  Run();
  server_.Put(kSecret, R"({"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls",)"
                       R"("metadata":{"namespace":"tools","name":"tls"}})");
  Look(1);
  EXPECT_NE(*rotator_->Current(), *old);
  EXPECT_EQ(Bundle(), rotator_->Current()->certificate);
}

TEST_F(CertRotatorTest, WhatTheSecretHoldsIsServedWhileItCannotBeWritten) {
  const logging::testing::Capture log;
  Make();
  const auto old = rotator_->Current();
  server_.RefuseWrites(kSecret, 403);
  clock_.Advance(days(276));  // the next one is due
  const auto restarted = CertRotator::New(server_.NewClient(), Options());
  ASSERT_TRUE(restarted) << restarted.error().ToString();
  EXPECT_EQ(*(*restarted)->Current(), *old) << "it is valid for months";
  Run();
  EXPECT_EQ(rotator_->Current(), old);
  EXPECT_EQ(Bundle(), old->certificate) << "the configurations are to have it all the same";
  EXPECT_GE(log.Count("could not be distributed or renewed"), 1U);
  clock_.Advance(days(90));  // now it is of no use to anybody
  EXPECT_EQ(CertRotator::New(server_.NewClient(), Options()).error().reason, Reason::kForbidden);
}

TEST_F(CertRotatorTest, AFurtherNameComesByWayOfARenewal) {
  Make();
  const auto old = rotator_->Current();
  Run();
  Stop();
  CertRotator::Options more = Options();
  more.further_names = {"192.0.2.7"};
  rotator_ = CertRotator::New(server_.NewClient(), more).value();
  const auto provider = rotator_->Provider();
  Run();
  for (int i = 0; i < 12; ++i) {
    EXPECT_THAT(Bundle(), HasSubstr(provider()->certificate)) << i;
    EXPECT_TRUE(i > 4 || *provider() == *old) << i << ": nobody knows the next one yet";
    Look(1);
  }
  EXPECT_TRUE(http::IsFor(*provider(), "192.0.2.7"));
}

TEST_F(CertRotatorTest, AWebhookThatIsPointedToAnotherServerMeanwhileIsLeftAlone) {
  Make();
  server_.PutAfterRead(
      kValidating,
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",)"
      R"("metadata":{"name":"checks"},"webhooks":[{"name":"a.b.c",)"
      R"("clientConfig":{"service":{"namespace":"tools","name":"other"}}}]})");
  server_.PutAfterRead(
      kDefinition,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
      R"("metadata":{"name":"sites.example.com"},"spec":{"conversion":{"strategy":"Webhook",)"
      R"("webhook":{"clientConfig":{"url":"https://192.0.2.9/"}}}}})");
  Run();
  Look(2);
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/0/clientConfig/caBundle"), "");
  EXPECT_EQ(server_.BundleAt(kDefinition, "/spec/conversion/webhook/clientConfig/caBundle"), "");
  EXPECT_EQ(Bundle(), rotator_->Current()->certificate) << "the others do not wait for these";
}

// The operator gives its webhooks new paths at the moment in which the rotator begins.
TEST_F(CertRotatorTest, AWebhookThatGetsAnotherPathMeanwhileIsWrittenAtOnce) {
  const auto with_path = [](const std::string& path) {
    return R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
           R"("kind":"ValidatingWebhookConfiguration","metadata":{"name":"checks"},)"
           R"("webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://192.0.2.7/)" +
           path + R"("}}]})";
  };
  server_.Put(kValidating, with_path("check"));
  server_.PutAfterRead(kValidating, with_path("check/0123"));
  CertRotator::Options options = Options();
  options.url = "https://192.0.2.7";
  options.further_names = {"192.0.2.7"};
  rotator_ = CertRotator::New(server_.NewClient(), options).value();
  Run();
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/0/clientConfig/caBundle"),
            rotator_->Current()->certificate);
}

TEST_F(CertRotatorTest, AUrlIsComparedPartByPart) {
  const auto at = [](const std::string& url) {
    return R"({"name":")" + std::to_string(url.size()) + R"(.y.z","clientConfig":{"url":")" + url +
           R"("}})";
  };
  server_.Put(kValidating, R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
                           R"("kind":"ValidatingWebhookConfiguration",)"
                           R"("metadata":{"name":"checks"},"webhooks":[)" +
                               at("https://192.0.2.7") + "," + at("https://192.0.2.7/check") + "," +
                               at("https://192.0.2.77/others") + "]}");
  CertRotator::Options options = Options();
  options.url = "https://192.0.2.7";
  options.further_names = {"192.0.2.7"};
  rotator_ = CertRotator::New(server_.NewClient(), options).value();
  Run();
  const std::string ours = rotator_->Current()->certificate;
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/0/clientConfig/caBundle"), ours);
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/1/clientConfig/caBundle"), ours);
  EXPECT_EQ(server_.BundleAt(kValidating, "/webhooks/2/clientConfig/caBundle"), "");
}

TEST_F(CertRotatorTest, ErrorsOfTheStartSayWhatAndWhere) {
  server_.Refuse(kSecret, 403);
  const auto refused = CertRotator::New(server_.NewClient(), Options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kForbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("Secret tools/tls"));
  CertRotator::Options nowhere = Options();
  nowhere.service.name.clear();
  EXPECT_EQ(CertRotator::New(server_.NewClient(), nowhere).error().reason, Reason::kInvalidConfig);
  CertRotator::Options hasty = Options();
  hasty.trust_delay = std::chrono::seconds(1);
  EXPECT_EQ(CertRotator::New(server_.NewClient(), hasty).error().reason, Reason::kInvalidConfig);
  CertRotator::Options eternal = Options();
  eternal.lifetime = base::Duration::max();
  EXPECT_EQ(CertRotator::New(server_.NewClient(), eternal).error().reason, Reason::kInvalidConfig);
}

}  // namespace
}  // namespace kubexx::certrotator
