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

// A value, and the name of the variable that it is from.
struct Variable {
  std::string name{};
  std::string value{};
};

Error BadVariable(const std::string& name, const std::string& why) {
  return Fail(Reason::kInvalidConfig, name + ": " + why);
}

// The variable for traces, or otherwise that for all signals.
Variable OtlpVariable(const Environment& environment, const std::string& what) {
  Variable own{.name = "OTEL_EXPORTER_OTLP_TRACES_" + what};
  own.value = environment(own.name.c_str());
  if (!own.value.empty()) {
    return own;
  }
  Variable all{.name = "OTEL_EXPORTER_OTLP_" + what};
  all.value = environment(all.name.c_str());
  return all;
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
      return BadVariable(variable.name,
                         "must be name=value,name=value, with special characters escaped by %");
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
  constexpr std::int64_t kMost = 1'000'000'000;
  if (error != std::errc() || at != end || number < least || number > kMost) {
    return BadVariable(variable.name, "\"" + variable.value + "\" must be a whole number from " +
                                          std::to_string(least) + " to " + std::to_string(kMost));
  }
  return number;
}

Variable NamedVariable(const Environment& environment, const char* name) {
  return {.name = name, .value = environment(name)};
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
  if (const Variable protocol = OtlpVariable(environment, "PROTOCOL");
      !protocol.value.empty() && protocol.value != "http/protobuf") {
    return BadVariable(protocol.name, "\"" + protocol.value +
                                          "\" is not supported; use http/protobuf, for which "
                                          "collectors listen on port 4318");
  }
  const Variable compression = OtlpVariable(environment, "COMPRESSION");
  if (!compression.value.empty() && compression.value != "gzip" && compression.value != "none") {
    return BadVariable(compression.name,
                       "\"" + compression.value + "\" is not supported; use gzip or none");
  }
  out.gzip = compression.value == "gzip";
  KX_ASSIGN_OR_RETURN(out.headers, ParsePairs(OtlpVariable(environment, "HEADERS")));
  KX_ASSIGN_OR_RETURN(const std::int64_t timeout,
                      ParseCount(OtlpVariable(environment, "TIMEOUT"), out.timeout.count(), 1));
  out.timeout = std::chrono::milliseconds(timeout);
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
  KX_ASSIGN_OR_RETURN(const std::int64_t limit,
                      ParseCount(NamedVariable(environment, "OTEL_BSP_EXPORT_TIMEOUT"),
                                 out.export_timeout.count(), 1));
  out.export_timeout = std::chrono::milliseconds(limit);
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

void SetAttribute(Resource& resource, const std::string& name, const std::string& value,
                  bool replace) {
  const auto found = std::ranges::find(resource, name, [](const auto& each) { return each.first; });
  if (found == resource.end()) {
    resource.emplace_back(name, value);
  } else if (replace) {
    found->second = value;
  }
}

Result<void> ReadResource(const Environment& environment, const ProgramSettings& program,
                          Settings& out) {
  KX_ASSIGN_OR_RETURN(out.resource,
                      ParsePairs(NamedVariable(environment, "OTEL_RESOURCE_ATTRIBUTES")));
  Resource& resource = out.resource;
  if (const std::string name = environment("OTEL_SERVICE_NAME"); !name.empty()) {
    SetAttribute(resource, "service.name", name, true);
  }
  SetAttribute(resource, "service.name",
               program.service_name.empty() ? "unknown_service" : program.service_name, false);
  if (!program.service_version.empty()) {
    SetAttribute(resource, "service.version", program.service_version, false);
  }
  SetAttribute(resource, "host.name", base::HostName(), false);
  SetAttribute(resource, "process.pid", std::to_string(::getpid()), false);
  SetAttribute(resource, "telemetry.sdk.name", "kubexx", true);
  SetAttribute(resource, "telemetry.sdk.language", "cpp", true);
  SetAttribute(resource, "telemetry.sdk.version", KUBEXX_VERSION, true);
  return {};
}

}  // namespace

Result<std::optional<Settings>> SettingsFrom(const Environment& environment,
                                             const ProgramSettings& program) {
  if (base::ToLower(environment("OTEL_SDK_DISABLED")) == "true") {
    return std::optional<Settings>();
  }
  if (const std::string exporter = environment("OTEL_TRACES_EXPORTER");
      !exporter.empty() && exporter != "otlp") {
    if (exporter == "none") {
      return std::optional<Settings>();
    }
    return BadVariable("OTEL_TRACES_EXPORTER",
                       "\"" + exporter + "\" is not supported; use otlp or none");
  }
  Settings out;
  KX_ASSIGN_OR_RETURN(out.sampler, tracing::ParseSampler(environment("OTEL_TRACES_SAMPLER"),
                                                         environment("OTEL_TRACES_SAMPLER_ARG")));
  if (const std::string propagators = environment("OTEL_PROPAGATORS"); !propagators.empty()) {
    out.propagate = propagators.find("tracecontext") != std::string::npos;
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
