#include "kubexx/otlp/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/text/trim.h"
#include "kubexx/rest/url.h"

#ifndef KUBEXX_VERSION
#define KUBEXX_VERSION "dev"
#endif

namespace kubexx::otlp {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Of numbers. As milliseconds these are eleven days.
constexpr std::int64_t kMost = 1'000'000'000;

constexpr std::string_view kWantsPairs =
    "must be name=value,name=value, with special characters escaped by %";

// A value, and the name of the variable that it is from.
struct Variable {
  std::string name{};
  std::string value{};
};

Error BadVariable(const std::string& name, const std::string& why) {
  return Fail(Reason::kInvalidConfig, name + ": " + why);
}

Variable NamedVariable(const Environment& environment, std::string name) {
  std::string value = environment(name.c_str());
  return {.name = std::move(name), .value = std::move(value)};
}

// One whose value is a word of a list, for which case does not matter.
Variable WordVariable(Variable variable) {
  variable.value = base::ToLower(variable.value);
  return variable;
}

// The variable for traces, or otherwise that for all signals.
Variable OtlpVariable(const Environment& environment, const std::string& what) {
  Variable own = NamedVariable(environment, "OTEL_EXPORTER_OTLP_TRACES_" + what);
  return own.value.empty() ? NamedVariable(environment, "OTEL_EXPORTER_OTLP_" + what) : own;
}

// "a=b,c=d" with percent-encoded values, as W3C Baggage has it.
Result<Pairs> ParsePairs(const Variable& variable) {
  Pairs out;
  std::string_view left = variable.value;
  while (!left.empty()) {
    const std::size_t comma = std::min(left.find(','), left.size());
    const std::string_view pair = base::Trim(left.substr(0, comma));
    left.remove_prefix(std::min(comma + 1, left.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : rest::PercentDecode(base::Trim(pair.substr(equals + 1)));
    const std::string_view name = base::Trim(pair.substr(0, equals));
    if (!value || name.empty()) {
      // Headers may be credentials, so nothing of them is shown.
      return BadVariable(variable.name, std::string(kWantsPairs));
    }
    out.emplace_back(name, *value);
  }
  return out;
}

Result<std::int64_t> ParseCount(const Variable& variable, std::int64_t otherwise,
                                std::int64_t least) {
  if (variable.value.empty()) {
    return otherwise;
  }
  std::int64_t number = 0;
  const char* const end = variable.value.data() + variable.value.size();
  const auto [at, error] = std::from_chars(variable.value.data(), end, number);
  if (error != std::errc() || at != end || number < least || number > kMost) {
    return BadVariable(variable.name, "\"" + variable.value + "\" must be a whole number from " +
                                          std::to_string(least) + " to " + std::to_string(kMost));
  }
  return number;
}

// OpenTelemetry's "Timeout": milliseconds, of which 0 is no limit.
Result<std::chrono::milliseconds> ParseLimit(const Variable& variable,
                                             std::chrono::milliseconds otherwise) {
  KX_ASSIGN_OR_RETURN(const std::int64_t number, ParseCount(variable, otherwise.count(), 0));
  return std::chrono::milliseconds(number == 0 ? kMost : number);
}

Result<void> ReadUrl(const Environment& environment, const ProgramSettings& program,
                     Settings& out) {
  const std::string own = environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (program.endpoint.empty() && !own.empty()) {
    out.url = own;
    return {};
  }
  std::string base =
      program.endpoint.empty() ? environment("OTEL_EXPORTER_OTLP_ENDPOINT") : program.endpoint;
  if (base.empty()) {
    return {};
  }
  if (!base.starts_with("http://") && !base.starts_with("https://")) {
    return BadVariable(program.endpoint.empty() ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "the endpoint",
                       "must begin with http:// or https://");
  }
  while (base.ends_with('/')) {
    base.pop_back();
  }
  out.url = base + "/v1/traces";
  return {};
}

Result<void> ReadExporter(const Environment& environment, Settings& out) {
  if (const Variable protocol = WordVariable(OtlpVariable(environment, "PROTOCOL"));
      !protocol.value.empty() && protocol.value != "http/protobuf") {
    return BadVariable(protocol.name, "\"" + protocol.value +
                                          "\" is not supported; use http/protobuf, for which "
                                          "collectors listen on port 4318");
  }
  const Variable compression = WordVariable(OtlpVariable(environment, "COMPRESSION"));
  if (!compression.value.empty() && compression.value != "gzip" && compression.value != "none") {
    return BadVariable(compression.name,
                       "\"" + compression.value + "\" is not supported; use gzip or none");
  }
  out.gzip = compression.value == "gzip";
  KX_ASSIGN_OR_RETURN(out.headers, ParsePairs(OtlpVariable(environment, "HEADERS")));
  KX_ASSIGN_OR_RETURN(out.timeout, ParseLimit(OtlpVariable(environment, "TIMEOUT"), out.timeout));
  out.tls.ca_file = OtlpVariable(environment, "CERTIFICATE").value;
  out.tls.cert_file = OtlpVariable(environment, "CLIENT_CERTIFICATE").value;
  out.tls.key_file = OtlpVariable(environment, "CLIENT_KEY").value;
  return {};
}

Result<void> ReadBatches(const Environment& environment, Settings& out) {
  auto& batches = out.batches;
  KX_ASSIGN_OR_RETURN(
      const std::int64_t delay,
      ParseCount(NamedVariable(environment, "OTEL_BSP_SCHEDULE_DELAY"),
                 std::chrono::duration_cast<std::chrono::milliseconds>(batches.delay).count(), 0));
  batches.delay = std::chrono::milliseconds(delay);
  KX_ASSIGN_OR_RETURN(
      out.export_timeout,
      ParseLimit(NamedVariable(environment, "OTEL_BSP_EXPORT_TIMEOUT"), out.export_timeout));
  KX_ASSIGN_OR_RETURN(const std::int64_t queue,
                      ParseCount(NamedVariable(environment, "OTEL_BSP_MAX_QUEUE_SIZE"),
                                 static_cast<std::int64_t>(batches.max_queue), 1));
  batches.max_queue = static_cast<std::size_t>(queue);
  const Variable size = NamedVariable(environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE");
  KX_ASSIGN_OR_RETURN(
      const std::int64_t batch,
      ParseCount(size, std::min(static_cast<std::int64_t>(batches.max_batch), queue), 1));
  if (batch > queue) {
    return BadVariable(size.name, "must not be more than OTEL_BSP_MAX_QUEUE_SIZE, which is " +
                                      std::to_string(queue));
  }
  batches.max_batch = static_cast<std::size_t>(batch);
  return {};
}

void SetAttribute(Resource& resource, const std::string& name, tracing::AttributeValue value,
                  bool replace) {
  const auto found = std::ranges::find(resource, name, [](const auto& each) { return each.first; });
  if (found == resource.end()) {
    resource.emplace_back(name, std::move(value));
  } else if (replace) {
    found->second = std::move(value);
  }
}

Result<void> ReadResource(const Environment& environment, const ProgramSettings& program,
                          Settings& out) {
  const Variable variable = NamedVariable(environment, "OTEL_RESOURCE_ATTRIBUTES");
  KX_ASSIGN_OR_RETURN(const Pairs pairs, ParsePairs(variable));
  Resource& resource = out.resource;
  for (const auto& [escaped, value] : pairs) {
    const auto name = rest::PercentDecode(escaped);
    if (!name) {
      return BadVariable(variable.name, std::string(kWantsPairs));
    }
    SetAttribute(resource, *name, value, true);  // the last one counts, as in Go
  }
  if (const std::string name = environment("OTEL_SERVICE_NAME"); !name.empty()) {
    SetAttribute(resource, "service.name", name, true);
  }
  SetAttribute(resource, "service.name",
               program.service_name.empty() ? "unknown_service" : program.service_name, false);
  if (!program.service_version.empty()) {
    SetAttribute(resource, "service.version", program.service_version, false);
  }
  SetAttribute(resource, "host.name", base::HostName(), false);
  SetAttribute(resource, "process.pid", std::int64_t{::getpid()}, false);
  SetAttribute(resource, "telemetry.sdk.name", "kubexx", true);
  SetAttribute(resource, "telemetry.sdk.language", "cpp", true);
  SetAttribute(resource, "telemetry.sdk.version", KUBEXX_VERSION, true);
  return {};
}

}  // namespace

Result<std::optional<Settings>> SettingsFrom(const Environment& as_it_is,
                                             const ProgramSettings& program) {
  const Environment environment = [&as_it_is](const char* name) {
    return std::string(base::Trim(as_it_is(name)));
  };
  if (base::ToLower(environment("OTEL_SDK_DISABLED")) == "true") {
    return std::optional<Settings>();
  }
  if (const Variable exporter = WordVariable(NamedVariable(environment, "OTEL_TRACES_EXPORTER"));
      !exporter.value.empty() && exporter.value != "otlp") {
    if (exporter.value == "none") {
      return std::optional<Settings>();
    }
    return BadVariable(exporter.name,
                       "\"" + exporter.value + "\" is not supported; use otlp or none");
  }
  Settings out;
  KX_ASSIGN_OR_RETURN(out.sampler,
                      tracing::ParseSampler(base::ToLower(environment("OTEL_TRACES_SAMPLER")),
                                            environment("OTEL_TRACES_SAMPLER_ARG")));
  if (const std::string propagators = environment("OTEL_PROPAGATORS"); !propagators.empty()) {
    out.propagate = base::ToLower(propagators).find("tracecontext") != std::string::npos;
  }
  KX_RETURN_IF_ERROR(ReadUrl(environment, program, out));
  KX_RETURN_IF_ERROR(ReadExporter(environment, out));
  KX_RETURN_IF_ERROR(ReadBatches(environment, out));
  KX_RETURN_IF_ERROR(ReadResource(environment, program, out));
  return std::optional(std::move(out));
}

Result<std::optional<Settings>> SettingsFromEnvironment(const ProgramSettings& program) {
  return SettingsFrom(
      [](const char* name) {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): at start-up
        return value == nullptr ? std::string() : std::string(value);
      },
      program);
}

}  // namespace kubexx::otlp
