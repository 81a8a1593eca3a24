#include "kubexx/otlp/settings.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>

namespace kubexx::otlp {
namespace {

using std::chrono::milliseconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::VariantWith;
using Value = tracing::AttributeValue;
using Variables = std::map<std::string, std::string>;

apimachinery::Result<std::optional<Settings>> Read(const Variables& variables,
                                                   const ProgramSettings& program = {}) {
  return SettingsFrom(
      [&variables](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
      },
      program);
}

Settings Good(const Variables& variables, const ProgramSettings& program = {}) {
  const auto settings = Read(variables, program);
  EXPECT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings && *settings) << "tracing is off";
  return settings && *settings ? **settings : Settings();
}

std::string Bad(const Variables& variables, const ProgramSettings& program = {}) {
  const auto settings = Read(variables, program);
  EXPECT_FALSE(settings);
  EXPECT_EQ(settings.error().reason, apimachinery::Reason::kInvalidConfig);
  return settings.error().message;
}

TEST(OtlpSettingsTest, DefaultsAreThoseOfOpenTelemetry) {
  const Settings settings = Good({});
  EXPECT_EQ(settings.url, "http://localhost:4318/v1/traces");
  EXPECT_EQ(settings.timeout, milliseconds(10'000));
  EXPECT_EQ(settings.export_timeout, milliseconds(30'000));
  EXPECT_EQ(settings.sampler, tracing::Sampler());
  EXPECT_FALSE(settings.gzip);
  EXPECT_TRUE(settings.propagate);
  EXPECT_EQ(settings.batches.max_queue, 2048U);
  EXPECT_EQ(settings.batches.max_batch, 512U);
  EXPECT_EQ(settings.batches.delay, milliseconds(5000));
  EXPECT_THAT(settings.resource, Contains(Pair("service.name", Value("unknown_service"))));
  EXPECT_THAT(settings.resource, Contains(Pair("telemetry.sdk.language", Value("cpp"))));
  EXPECT_THAT(settings.headers, IsEmpty());
}

TEST(OtlpSettingsTest, TheEndpointOfAllSignalsGetsAPath) {
  const auto url = [](const Variables& variables, const std::string& flag = "") {
    return Good(variables, {.endpoint = flag}).url;
  };
  EXPECT_EQ(url({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}}), "http://c:4318/v1/traces");
  EXPECT_EQ(url({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c/otlp/"}}), "https://c/otlp/v1/traces");
  EXPECT_EQ(url({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                 {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/x"}}),
            "http://t:1/x");
  EXPECT_EQ(url({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/x"}}, "http://f:9"),
            "http://f:9/v1/traces");
  EXPECT_THAT(Bad({{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT: must begin with http://"));
  EXPECT_THAT(Bad({}, {.endpoint = "c:1"}), HasSubstr("the endpoint: must begin with http://"));
}

TEST(OtlpSettingsTest, WhatIsForTracesComesFirst) {
  const Settings settings =
      Good({{"OTEL_EXPORTER_OTLP_HEADERS", "a=1"},
            {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20x, b = c=d ,"},
            {"OTEL_EXPORTER_OTLP_TIMEOUT", "1"},
            {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2000"},
            {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
            {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
            {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca"},
            {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/cert"},
            {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key"}});
  EXPECT_THAT(settings.headers, ElementsAre(Pair("authorization", "Bearer x"), Pair("b", "c=d")));
  EXPECT_EQ(settings.timeout, milliseconds(2000));
  EXPECT_TRUE(settings.gzip);
  EXPECT_EQ(settings.tls.ca_file, "/ca");
  EXPECT_EQ(settings.tls.cert_file, "/cert");
  EXPECT_EQ(settings.tls.key_file, "/key");
}

TEST(OtlpSettingsTest, TheServicesNameHasAnOrder) {
  const auto name = [](const Variables& variables) {
    for (const auto& [key, value] : Good(variables, {.service_name = "program"}).resource) {
      if (key == "service.name") {
        return std::get<std::string>(value);
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(name({}), "program");
  EXPECT_EQ(name({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute,x=y"}}), "attribute");
  EXPECT_EQ(name({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute"},
                  {"OTEL_SERVICE_NAME", "variable"}}),
            "variable");
  EXPECT_THAT(Good({{"OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=a%2Cb"}}).resource,
              Contains(Pair("k8s.pod.name", Value("a,b"))));
}

TEST(OtlpSettingsTest, AttributesHaveOneValueEach) {
  const Resource resource =
      Good({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=a,service.name=b,x%2Cy=1"},
            {"OTEL_SERVICE_NAME", "real"}})
          .resource;
  EXPECT_THAT(
      resource,
      ElementsAre(Pair("service.name", Value("real")), Pair("x,y", Value("1")),
                  Pair("host.name", _), Pair("process.pid", VariantWith<std::int64_t>(Gt(0))),
                  Pair("telemetry.sdk.name", _), Pair("telemetry.sdk.language", _),
                  Pair("telemetry.sdk.version", _)));
  EXPECT_THAT(Bad({{"OTEL_RESOURCE_ATTRIBUTES", "a%=1"}}), HasSubstr("OTEL_RESOURCE_ATTRIBUTES"));
}

TEST(OtlpSettingsTest, AsTheSpecificationReadsThem) {
  const Settings settings = Good({{"OTEL_TRACES_EXPORTER", "OTLP"},
                                  {"OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/Protobuf "},
                                  {"OTEL_EXPORTER_OTLP_COMPRESSION", "GZip"},
                                  {"OTEL_EXPORTER_OTLP_TIMEOUT", "0"},
                                  {"OTEL_BSP_EXPORT_TIMEOUT", "0"},
                                  {"OTEL_TRACES_SAMPLER", "Always_Off"}});
  EXPECT_TRUE(settings.gzip);
  EXPECT_GE(settings.timeout, std::chrono::hours(24));
  EXPECT_GE(settings.export_timeout, std::chrono::hours(24));
  EXPECT_EQ(settings.sampler.ratio, 0);
}

TEST(OtlpSettingsTest, TracingMayBeOff) {
  for (const Variables& off :
       {Variables{{"OTEL_SDK_DISABLED", "TRUE"}}, Variables{{"OTEL_TRACES_EXPORTER", "none"}}}) {
    const auto settings = Read(off);
    ASSERT_TRUE(settings);
    EXPECT_FALSE(*settings);
  }
  EXPECT_FALSE(Good({{"OTEL_PROPAGATORS", "none"}}).propagate);
  EXPECT_TRUE(Good({{"OTEL_PROPAGATORS", "baggage,tracecontext"}}).propagate);
}

TEST(OtlpSettingsTest, BatchesAndSamplersAreRead) {
  const Settings settings = Good({{"OTEL_BSP_SCHEDULE_DELAY", "100"},
                                  {"OTEL_BSP_EXPORT_TIMEOUT", "200"},
                                  {"OTEL_BSP_MAX_QUEUE_SIZE", "30"},
                                  {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10"},
                                  {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                  {"OTEL_TRACES_SAMPLER_ARG", "0.5"}});
  EXPECT_EQ(settings.batches.delay, milliseconds(100));
  EXPECT_EQ(settings.export_timeout, milliseconds(200));
  EXPECT_EQ(settings.batches.max_queue, 30U);
  EXPECT_EQ(settings.batches.max_batch, 10U);
  EXPECT_EQ(settings.sampler, (tracing::Sampler{.parent_based = false, .ratio = 0.5}));
  EXPECT_EQ(Good({{"OTEL_BSP_MAX_QUEUE_SIZE", "30"}}).batches.max_batch, 30U);
}

TEST(OtlpSettingsTest, WhatCannotBeUsedIsNamed) {
  EXPECT_THAT(Bad({{"OTEL_TRACES_EXPORTER", "zipkin"}}), HasSubstr("use otlp or none"));
  EXPECT_THAT(
      Bad({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}),
      HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL: \"grpc\" is not supported; use http/protobuf"));
  EXPECT_THAT(Bad({{"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "br"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"));
  EXPECT_THAT(Bad({{"OTEL_TRACES_SAMPLER", "xray"}}), HasSubstr("OTEL_TRACES_SAMPLER"));
  for (const char* bad : {"-1", "0", "x", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(Bad({{"OTEL_BSP_MAX_QUEUE_SIZE", bad}}), HasSubstr("OTEL_BSP_MAX_QUEUE_SIZE: \""));
  }
  EXPECT_THAT(Bad({{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "11"}, {"OTEL_BSP_MAX_QUEUE_SIZE", "10"}}),
              HasSubstr("must not be more than OTEL_BSP_MAX_QUEUE_SIZE, which is 10"));
  for (const char* bad : {"SECRET", "=SECRET", "a=SECRET%4", "a=b,SECRET"}) {
    EXPECT_THAT(Bad({{"OTEL_EXPORTER_OTLP_HEADERS", bad}}),
                AllOf(HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: must be name=value"),
                      Not(HasSubstr("SECRET"))));
  }
}

}  // namespace
}  // namespace kubexx::otlp
