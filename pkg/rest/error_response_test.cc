#include "kubexx/rest/error_response.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using ::testing::HasSubstr;

constexpr const char* kInvalid =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
  "message":"Deployment.apps \"a\" is invalid","reason":"Invalid","details":{"name":"a","group":"apps","kind":"Deployment",
  "uid":"u-1","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.selector"}],
  "retryAfterSeconds":4},"code":422})";

void ExpectInvalid(const apimachinery::Status& status) {
  EXPECT_EQ(status.reason, Reason::kInvalid);
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.message, "Deployment.apps \"a\" is invalid");
  EXPECT_EQ(status.details.name, "a");
  EXPECT_EQ(status.details.group, "apps");
  EXPECT_EQ(status.details.kind, "Deployment");
  EXPECT_EQ(status.details.uid, "u-1");
  EXPECT_EQ(status.details.retry_after, std::chrono::seconds(4));
  ASSERT_EQ(status.details.causes.size(), 1U);
  EXPECT_EQ(status.details.causes[0],
            (apimachinery::StatusCause{"FieldValueRequired", "Required value", "spec.selector"}));
}

TEST(ErrorResponseTest, ReadsStatusFromJsonAndProtobuf) {
  ExpectInvalid(StatusOfResponse(422, "application/json", "", kInvalid));
  const auto typed = codec::DecodeJson<api::meta::v1::Status>(kInvalid);
  ASSERT_TRUE(typed);
  std::string enveloped;
  codec::WriteEnvelope("v1", "Status", codec::EncodeProtobuf(*typed), enveloped);
  ExpectInvalid(StatusOfResponse(422, "application/vnd.kubernetes.protobuf", "", enveloped));
  const auto bare = DecodeStatus(codec::Encoding::kProtobuf, codec::EncodeProtobuf(*typed));
  ASSERT_TRUE(bare);
  ExpectInvalid(*bare);
}

TEST(ErrorResponseTest, KeepsAReasonThatItDoesNotKnow) {
  const auto status = StatusOfResponse(
      418, "application/json", "",
      R"({"kind":"Status","apiVersion":"v1","message":"m","reason":"Teapot","code":418})");
  EXPECT_EQ(status.reason, Reason::kUnknown);
  EXPECT_EQ(status.ToString(), "Teapot: m");
}

TEST(ErrorResponseTest, RefusesAnotherKindAsStatus) {
  std::string enveloped;
  codec::WriteEnvelope("v1", "Pod", "", enveloped);
  EXPECT_FALSE(DecodeStatus(codec::Encoding::kProtobuf, enveloped));
  EXPECT_FALSE(DecodeStatus(codec::Encoding::kJson, R"({"kind":"Pod","apiVersion":"v1"})"));
  EXPECT_FALSE(DecodeStatus(codec::Encoding::kJson, "{"));
}

TEST(ErrorResponseTest, UnknownReasonFollowsTheCode) {
  const auto status = StatusOfResponse(
      404, "application/json", "",
      R"({"kind":"Status","apiVersion":"v1","message":"m","reason":"New","code":404})");
  EXPECT_EQ(status.reason, Reason::kNotFound);
  EXPECT_EQ(status.message, "m");
  EXPECT_FALSE(apimachinery::HasStatusCause(status, apimachinery::kUnexpectedResponseCause));
}

struct CodeCase {
  int code;
  Reason reason;
};

TEST(ErrorResponseTest, BodiesThatAreNoStatusGiveReasonByCode) {
  for (const CodeCase c :
       {CodeCase{400, Reason::kBadRequest}, CodeCase{401, Reason::kUnauthorized},
        CodeCase{403, Reason::kForbidden}, CodeCase{404, Reason::kNotFound},
        CodeCase{405, Reason::kMethodNotAllowed}, CodeCase{406, Reason::kNotAcceptable},
        CodeCase{409, Reason::kConflict}, CodeCase{410, Reason::kGone},
        CodeCase{413, Reason::kRequestEntityTooLarge}, CodeCase{415, Reason::kUnsupportedMediaType},
        CodeCase{422, Reason::kInvalid}, CodeCase{429, Reason::kTooManyRequests},
        CodeCase{500, Reason::kInternalError}, CodeCase{502, Reason::kInternalError},
        CodeCase{503, Reason::kServiceUnavailable}, CodeCase{504, Reason::kTimeout},
        CodeCase{302, Reason::kUnknown}}) {
    const auto status = StatusOfResponse(c.code, "text/plain", "", "some <b>text</b>\r\n");
    EXPECT_EQ(status.reason, c.reason) << c.code;
    EXPECT_EQ(status.code, c.code);
    EXPECT_EQ(status.message, "the server answered with HTTP status " + std::to_string(c.code) +
                                  ": some <b>text</b>");
    EXPECT_TRUE(apimachinery::HasStatusCause(status, apimachinery::kUnexpectedResponseCause));
  }
}

TEST(ErrorResponseTest, OddBodiesGiveAPlainStatus) {
  for (const std::string body :
       {"", "{", "[]", "null", "{\"kind\":\"Status\"}", "{\"code\":\"x\"}", "\xff\xfe"}) {
    for (const std::string type :
         {"application/json", "application/vnd.kubernetes.protobuf", "text/html", ""}) {
      const auto status = StatusOfResponse(503, type, "", body);
      EXPECT_EQ(status.reason, Reason::kServiceUnavailable) << type << " " << body;
      EXPECT_EQ(status.code, 503);
      EXPECT_THAT(status.message, HasSubstr("HTTP status 503"));
    }
  }
}

TEST(ErrorResponseTest, CutsLongTextsBetweenCharacters) {
  std::string body;
  while (body.size() < 3 * kMaxErrorText) {
    body += "x\xc3\xa9";  // no character ends at an even position
  }
  const auto status = StatusOfResponse(500, "text/plain", "", body);
  const std::string text = status.message.substr(status.message.find(": ") + 2);
  EXPECT_LE(text.size(), kMaxErrorText);
  EXPECT_GE(text.size(), kMaxErrorText - 3);
  EXPECT_TRUE(text.ends_with('x') || text.ends_with("\xc3\xa9"));
}

TEST(ErrorResponseTest, ControlCharactersDoNotReachTheMessage) {
  const auto status = StatusOfResponse(500, "text/plain", "", std::string("a\nb\x1b[31mc\0d", 11));
  EXPECT_TRUE(status.message.ends_with(": a b [31mc d")) << status.message;
}

TEST(ErrorResponseTest, RetryAfterComesFromTheHeaderWhenTheBodyHasNone) {
  EXPECT_EQ(StatusOfResponse(429, "text/plain", "9", "").details.retry_after,
            std::chrono::seconds(9));
  EXPECT_EQ(StatusOfResponse(422, "application/json", "9", kInvalid).details.retry_after,
            std::chrono::seconds(4));
  for (const char* bad :
       {"", "x", "1.5", "-3", "+3", " 3", "3 ", "99999999999", "Wed, 21 Oct 2026 07:28:00 GMT"}) {
    EXPECT_FALSE(ParseRetryAfter(bad)) << bad;
  }
  EXPECT_EQ(ParseRetryAfter("0"), std::chrono::seconds(0));
}

}  // namespace
}  // namespace kubexx::rest::internal
