#include "kubexx/kubelet/config/http_source.h"

#include "kubexx/kubelet/config/static_pod.h"

namespace kubexx::kubelet {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

constexpr std::size_t kMaxResponse = 10 << 20;

}  // namespace

Result<std::unique_ptr<HttpSource>> HttpSource::New(Options options, PodSink sink) {
  KX_ASSIGN_OR_RETURN(
      auto client, rest::UrlClient::New(
                       {.url = options.url, .timeout = options.timeout, .clock = options.clock}));
  return std::unique_ptr<HttpSource>(
      new HttpSource(std::move(options), std::move(client), std::move(sink)));
}

HttpSource::HttpSource(Options options, std::unique_ptr<rest::UrlClient> client, PodSink sink)
    : options_(std::move(options)),
      client_(std::move(client)),
      sink_(std::move(sink)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void HttpSource::Run(const std::stop_token& stop) {
  do {
    const auto asked = Ask(stop);
    if (stop.stop_requested()) {
      return;
    }
    Report(asked);
  } while (options_.clock.SleepFor(options_.interval, stop));
}

Result<void> HttpSource::Ask(const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(auto answer, client_->Get(options_.headers, kMaxResponse, stop));
  if (answer.status != 200) {
    return Fail(Reason::kUnavailable, "HTTP status " + std::to_string(answer.status));
  }
  return last_ == answer.body ? Result<void>() : Take(std::move(answer.body));
}

Result<void> HttpSource::Take(std::string body) {
  if (body.empty()) {
    if (!last_) {
      sink_({});
      last_ = std::move(body);
    }
    return Fail(Reason::kMalformed, "the answer is empty");
  }
  KX_ASSIGN_OR_RETURN(std::vector<Pod> pods, ParseManifest(body, {.node_name = options_.node_name,
                                                                  .source = kHttpSource,
                                                                  .location = options_.url}));
  last_ = std::move(body);
  sink_(std::move(pods));
  return {};
}

// Once each, not every interval.
void HttpSource::Report(const Result<void>& asked) {
  const auto problem = asked ? std::nullopt : std::optional(asked.error());
  if (problem == problem_) {
    return;
  }
  problem_ = problem;
  ManifestProblems problems;
  if (problem) {
    // Without the query, which may be a secret.
    problems.emplace_back(options_.url.substr(0, options_.url.find_first_of("?#")), *problem);
  }
  options_.on_problems ? options_.on_problems(problems) : LogProblems(problems);
}

}  // namespace kubexx::kubelet
