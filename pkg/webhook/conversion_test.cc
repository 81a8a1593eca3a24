#include "kubexx/webhook/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "kubexx/api/autoscaling/v1/resources.gen.h"
#include "kubexx/api/autoscaling/v1/types.gen.h"
#include "kubexx/api/autoscaling/v2/resources.gen.h"
#include "kubexx/api/autoscaling/v2/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/webhook/internal/conversion_review.h"

namespace kubexx::webhook {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using One = api::autoscaling::v1::HorizontalPodAutoscaler;
using Two = api::autoscaling::v2::HorizontalPodAutoscaler;

constexpr const char* kPercentage = "example.com/percentage";

/// Keeps the percentage, which Two has elsewhere, in an annotation.
Conversion<Two> BothWays() {
  Conversion<Two> conversion;
  conversion.Version<One>(
      [](const One& from, Two& to) {
        to.spec.max_replicas = from.spec.max_replicas;
        if (from.spec.target_cpu_utilization_percentage) {
          to.metadata.annotations[kPercentage] =
              std::to_string(*from.spec.target_cpu_utilization_percentage);
        }
      },
      [](const Two& from, One& to) -> Result<void> {
        if (from.spec.max_replicas > 100) {
          return Fail(Reason::kInvalid, "v1 has no more than 100 replicas");
        }
        to.spec.max_replicas = from.spec.max_replicas;
        const auto kept = from.metadata.annotations.find(kPercentage);
        if (kept != from.metadata.annotations.end()) {
          to.spec.target_cpu_utilization_percentage = std::stoi(kept->second);
          to.metadata.annotations.erase(kPercentage);
        }
        return {};
      });
  return conversion;
}

constexpr const char* kOne =
    R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":)"
    R"({"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{"maxReplicas":4,)"
    R"("targetCPUUtilizationPercentage":60,"scaleTargetRef":{"kind":"Deployment","name":"d"}}})";

http::Response Ask(const RawConversion& convert, std::string body,
                   const std::string& type = "application/json") {
  http::Request request;
  request.method = "POST";
  request.headers.emplace_back("Content-Type", type);
  request.body = std::move(body);
  return internal::RespondConverted(request, convert);
}

std::string ConversionOf(const std::string& objects,
                         const std::string& version = "autoscaling/v2") {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":)"
         R"({"uid":"r1","desiredAPIVersion":")" +
         version + R"(","objects":[)" + objects + "]}}";
}

TEST(ConversionTest, GoesToTheHubAndBackWithTheMetadata) {
  const Conversion<Two> conversion = BothWays();
  const auto up = conversion.Convert(kOne, "autoscaling/v2");
  ASSERT_TRUE(up) << up.error().ToString();
  const auto two = codec::DecodeJson<Two>(*up);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->metadata.uid, "u");
  EXPECT_EQ(two->metadata.resource_version, "7");
  EXPECT_EQ(two->metadata.annotations.at(kPercentage), "60");
  EXPECT_EQ(two->spec.max_replicas, 4);
  const auto down = conversion.Convert(*up, "autoscaling/v1");
  ASSERT_TRUE(down) << down.error().ToString();
  const auto one = codec::DecodeJson<One>(*down);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->spec.target_cpu_utilization_percentage, 60);
  EXPECT_TRUE(one->metadata.annotations.empty());
  EXPECT_EQ(conversion.Convert(kOne, "autoscaling/v1").value(), kOne) << "it is of that version";
}

TEST(ConversionTest, SaysWhichVersionItDoesNotKnow) {
  const Conversion<Two> conversion = BothWays();
  EXPECT_THAT(conversion.Convert(kOne, "autoscaling/v9").error().message,
              AllOf(HasSubstr("the wanted version \"autoscaling/v9\""),
                    HasSubstr("autoscaling/v2, autoscaling/v1")));
  EXPECT_THAT(conversion.Convert(R"({"apiVersion":"v1"})", "autoscaling/v1").error().message,
              HasSubstr("the object's version \"v1\""));
  EXPECT_THAT(conversion.Convert("{}", "autoscaling/v1").error().message,
              HasSubstr("the object's version \"\""));
  EXPECT_THAT(conversion.Convert("[", "autoscaling/v1").error().message, HasSubstr("no JSON"));
  EXPECT_THAT(
      conversion
          .Convert(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler",)"
                   R"("spec":{"maxReplicas":"many"}})",
                   "autoscaling/v2")
          .error()
          .message,
      AllOf(HasSubstr("no HorizontalPodAutoscaler of autoscaling/v1"), HasSubstr("maxReplicas")));
}

TEST(ConversionTest, AnotherKindOfTheGroupIsRefused) {
  const Conversion<Two> conversion = BothWays();
  for (const char* const version : {"autoscaling/v1", "autoscaling/v2"}) {
    const auto converted = conversion.Convert(
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"}})", version);
    ASSERT_FALSE(converted) << *converted;
    EXPECT_EQ(converted.error().reason, Reason::kBadRequest);
    EXPECT_THAT(converted.error().message,
                HasSubstr("of the kind \"Scale\", and this webhook converts HorizontalPod"));
  }
}

TEST(ConversionReviewTest, ConvertsAllObjects) {
  const Conversion<Two> conversion = BothWays();
  const auto response =
      Ask([&](auto object, const auto& version) { return conversion.Convert(object, version); },
          ConversionOf(std::string(kOne) + "," + kOne));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, AllOf(HasSubstr(R"("kind":"ConversionReview")"),
                                   HasSubstr(R"("apiVersion":"apiextensions.k8s.io/v1")"),
                                   HasSubstr(R"("uid":"r1")"), HasSubstr(R"("status":"Success")"),
                                   HasSubstr(R"("apiVersion":"autoscaling/v2")")));
}

TEST(ConversionReviewTest, FailsAsAWholeAndNamesTheObject) {
  const Conversion<Two> conversion = BothWays();
  const std::string large =
      R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":)"
      R"({"name":"large","namespace":"ns"},"spec":{"maxReplicas":200}})";
  const auto response =
      Ask([&](auto object, const auto& version) { return conversion.Convert(object, version); },
          ConversionOf(std::string(kOne) + "," + large, "autoscaling/v1"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body,
              AllOf(HasSubstr(R"("status":"Failure")"),
                    HasSubstr("convert ns/large to autoscaling/v1: v1 has no more than 100"),
                    Not(HasSubstr("maxReplicas"))));
}

TEST(ConversionReviewTest, RefusesWhatIsNoReview) {
  const RawConversion never = [](auto, const auto&) -> Result<std::string> {
    throw std::logic_error("nothing to convert");
  };
  EXPECT_EQ(Ask(never, "{}", "text/plain").status, 415);
  EXPECT_EQ(Ask(never, "nonsense").status, 400);
  EXPECT_EQ(Ask(never, "{}").status, 400);
  EXPECT_EQ(Ask(never, R"({"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview",)"
                       R"("request":{"uid":"u"}})")
                .status,
            400);
  EXPECT_EQ(Ask(never, ConversionOf("")).status, 200) << "no objects are no error";
}

}  // namespace
}  // namespace kubexx::webhook
