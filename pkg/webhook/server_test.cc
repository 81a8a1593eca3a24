#include "kubexx/webhook/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::webhook {
namespace {

using api::core::v1::ConfigMap;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kReview =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1",)"
    R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}}})";

/// Sends a request over TLS and returns the whole answer.
std::string Send(std::uint16_t port, const std::string& request) {
  using Context = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* c) { SSL_CTX_free(c); })>;
  using Chain = std::unique_ptr<BIO, decltype([](BIO* b) { BIO_free_all(b); })>;
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Chain bio(BIO_new_ssl_connect(context.get()));
  BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  EXPECT_EQ(BIO_write(bio.get(), request.data(), static_cast<int>(request.size())),
            static_cast<int>(request.size()));
  std::string answer;
  std::array<char, 4096> buffer{};
  int size = 0;
  while ((size = BIO_read(bio.get(), buffer.data(), buffer.size())) > 0) {
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

std::string HeaderFor(const std::string& path, std::size_t body_bytes) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
         "Content-Type: application/json\r\nContent-Length: " +
         std::to_string(body_bytes) + "\r\n\r\n";
}

std::string Post(std::uint16_t port, const std::string& path, const std::string& body) {
  return Send(port, HeaderFor(path, body.size()) + body);
}

TEST(WebhookServerTest, DoesNotReadWhatIsSentToPathsThatItDoesNotHave) {
  Server server({.address = "127.0.0.1:0"});
  server.HandleRaw("/secret", [](const Call&) { return Response::Allowed(); });
  ASSERT_TRUE(server.Start());
  // The body does not come, so that only a server that does not wait for it can answer.
  EXPECT_THAT(Send(server.port(), HeaderFor("/guessed", 5'000'000)), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Post(server.port(), "/secret", kReview), StartsWith("HTTP/1.1 200 "));
}

TEST(WebhookServerTest, AnswersAndCounts) {
  const logging::testing::Capture capture;
  metrics::Registry registry;
  Server server({.address = "127.0.0.1:0", .max_body_bytes = 1024, .registry = &registry});
  server.Handle<ConfigMap>("/mutate", [](Review<ConfigMap>& review) {
    review.object.data["k"] = "v";
    return Response::Allowed();
  });
  server.HandleRaw("/throws",
                   [](const Call&) -> Response { throw std::runtime_error("private detail"); });
  const auto started = server.Start();
  ASSERT_TRUE(started) << started.error().ToString();

  EXPECT_THAT(Post(server.port(), "/mutate?timeout=10s", kReview),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("allowed":true)"),
                    HasSubstr(R"("patchType":"JSONPatch")")));
  EXPECT_THAT(Post(server.port(), "/mutate", "nonsense"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Post(server.port(), "/mutate", std::string(2000, ' ')), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Post(server.port(), "/other", kReview), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Post(server.port(), "/throws", kReview),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("allowed":false)"),
                    HasSubstr(R"("code":500)"), Not(HasSubstr("private detail"))));
  EXPECT_EQ(capture.Count("private detail"), 1U);
  server.Stop();

  EXPECT_THAT(
      registry.Serialize(),
      AllOf(HasSubstr(
                "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/mutate\"} 1\n"),
            HasSubstr(
                "controller_runtime_webhook_requests_total{code=\"400\",webhook=\"/mutate\"} 1\n"),
            HasSubstr(
                "controller_runtime_webhook_requests_total{code=\"413\",webhook=\"/mutate\"} 1\n"),
            HasSubstr("controller_runtime_webhook_latency_seconds_count{webhook=\"/mutate\"} 3\n"),
            HasSubstr("controller_runtime_webhook_requests_in_flight{webhook=\"/mutate\"} 0\n"),
            HasSubstr("controller_runtime_webhook_panics_total 1\n")));
}

TEST(WebhookServerTest, MetricsAndLogDoNotTellAPathThatHasAName) {
  const logging::testing::Capture capture;
  metrics::Registry registry;
  Server server({.address = "127.0.0.1:0", .registry = &registry});
  server.HandleRaw(
      "/mutate/1a2b3c", [](const Call&) -> Response { throw std::runtime_error("no"); }, "mutate");
  ASSERT_TRUE(server.Start());
  EXPECT_THAT(Post(server.port(), "/mutate/1a2b3c", kReview), StartsWith("HTTP/1.1 200 "));
  server.Stop();
  EXPECT_THAT(
      registry.Serialize(),
      AllOf(HasSubstr(
                "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"mutate\"} 1\n"),
            Not(HasSubstr("1a2b3c"))));
  EXPECT_EQ(capture.Count("webhook=mutate"), 1U);
  EXPECT_EQ(capture.Count("1a2b3c"), 0U);
}

TEST(WebhookServerTest, EachKindOfReviewHasALimitOfItsOwn) {
  Server server({.address = "127.0.0.1:0", .max_body_bytes = 3000, .max_conversion_bytes = 2000});
  server.HandleRaw("/mutate", [](const Call&) { return Response::Allowed(); });
  server.HandleRawConversion("/convert", [](std::string_view object, const std::string&) {
    return apimachinery::Result<std::string>(std::string(object));
  });
  ASSERT_TRUE(server.Start());
  const std::string body(2500, ' ');
  EXPECT_THAT(Post(server.port(), "/mutate", body), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Post(server.port(), "/convert", body),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("limit is 2000")));
}

// The limit of conversions is a multiple of that of reviews, and one of the other kind holds memory
// until it has arrived.
TEST(WebhookServerTest, ABodyThatIsTooLongForItsPathIsNotRead) {
  metrics::Registry registry;
  Server server({.address = "127.0.0.1:0", .registry = &registry});
  server.HandleRaw("/mutate", [](const Call&) { return Response::Allowed(); });
  server.HandleRawConversion("/convert", [](std::string_view object, const std::string&) {
    return apimachinery::Result<std::string>(std::string(object));
  });
  ASSERT_TRUE(server.Start());
  // Neither body comes, so that only a server that does not wait for it can answer.
  EXPECT_THAT(Send(server.port(), HeaderFor("/mutate", 8 << 20)),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("limit is 7340032")));
  EXPECT_THAT(Send(server.port(),
                   "POST /mutate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n800000\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("limit is 7340032")));
  for (const char* path : {"/mutate", "/convert"}) {
    EXPECT_THAT(Send(server.port(), HeaderFor(path, 200 << 20)), StartsWith("HTTP/1.1 413 "));
  }
  EXPECT_THAT(Post(server.port(), "/mutate", kReview), StartsWith("HTTP/1.1 200 "));
  server.Stop();
  EXPECT_THAT(registry.Serialize(),
              HasSubstr("controller_runtime_webhook_requests_total{code=\"413\","
                        "webhook=\"/mutate\"} 2\n"));
}

TEST(WebhookServerTest, ConvertsObjectsAndSurvivesAFunctionThatThrows) {
  constexpr const char* kConversion =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1",)"
      R"("desiredAPIVersion":"example.com/v2","objects":[{"kind":"Site"}]}})";
  const logging::testing::Capture capture;
  metrics::Registry registry;
  Server server({.address = "127.0.0.1:0", .registry = &registry});
  server.HandleRawConversion("/convert", [](std::string_view object, const std::string& version) {
    return apimachinery::Result<std::string>("{\"was\":" + std::string(object) + ",\"is\":\"" +
                                             version + "\"}");
  });
  server.HandleRawConversion(
      "/throws", [](std::string_view, const std::string&) -> apimachinery::Result<std::string> {
        throw std::runtime_error("private detail");
      });
  ASSERT_TRUE(server.Start());
  EXPECT_THAT(Post(server.port(), "/convert", kConversion),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr(R"({"was":{"kind":"Site"},"is":"example.com/v2"})")));
  // As much as a list of some thousand objects, of which kube-apiserver asks at once.
  EXPECT_THAT(Post(server.port(), "/convert", kConversion + std::string(9 << 20, ' ')),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Post(server.port(), "/throws", kConversion),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("status":"Failure")"),
                    Not(HasSubstr("private detail"))));
  EXPECT_EQ(capture.Count("private detail"), 1U);
  EXPECT_THAT(registry.Serialize(), HasSubstr("controller_runtime_webhook_panics_total 1\n"));
}

TEST(WebhookServerTest, AHandlerMayWaitForWhatNeedsAnotherHandler) {
  Server server({.address = "127.0.0.1:0", .handler_threads = 1});
  server.HandleRaw("/inner", [](const Call&) { return Response::Allowed(); });
  server.HandleRaw("/outer", [&server](const Call&) {
    return Post(server.port(), "/inner", kReview).contains("\"allowed\":true")
               ? Response::Allowed()
               : Response::Denied("nobody has asked the other");
  });
  ASSERT_TRUE(server.Start());
  EXPECT_THAT(Post(server.port(), "/outer", kReview), HasSubstr("\"allowed\":true"));
}

}  // namespace
}  // namespace kubexx::webhook
