#include "kubexx/reloader/ui/page_server.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/ui/link_access.h"
#include "kubexx/reloader/ui/page_files.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kSinceParameter = "since=";

// The server itself forbids to guess types and to keep answers.
/// No script, style or request but those of the page itself, and no frame around it.
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

http::Response WithPageHeaders(http::Response response) {
  for (const auto& [name, value] :
       {std::pair("Content-Security-Policy", kContentSecurityPolicy),
        std::pair("X-Frame-Options", "DENY"), std::pair("Referrer-Policy", "no-referrer"),
        std::pair("Cross-Origin-Opener-Policy", "same-origin"),
        std::pair("Cross-Origin-Resource-Policy", "same-origin")}) {
    response.headers.emplace_back(name, value);
  }
  return response;
}

http::Response AnswerOf(const Result<std::string>& json) {
  if (json) {
    return {.content_type = "application/json", .body = *json};
  }
  const int status = json.error().reason == Reason::kNotFound ? 404 : 502;
  return {.status = status, .body = json.error().message + "\n"};
}

/// Kind, namespace and name, which are all that is asked for. They never need an escape.
struct Named {
  std::string_view kind{};
  apimachinery::ObjectKey key{};
};

std::optional<Named> NamedIn(std::string_view query) {
  const std::size_t first = query.find('/');
  const std::size_t second = first == std::string_view::npos ? first : query.find('/', first + 1);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '/' || c == ':';
  };
  if (second == std::string_view::npos || !std::ranges::all_of(query, is_plain)) {
    return std::nullopt;
  }
  Named named{query.substr(0, first),
              {std::string(query.substr(first + 1, second - first - 1)),
               std::string(query.substr(second + 1))}};
  return named.key.namespace_.empty() || named.key.name.empty() ? std::nullopt
                                                                : std::optional(std::move(named));
}

http::Response BadName() {
  return {.status = 400, .body = "KIND/NAMESPACE/NAME of a known kind is needed.\n"};
}

}  // namespace

PageServer::PageServer(EventStreams& streams, PageAccess& access, Options options)
    : streams_(streams), access_(access), options_(std::move(options)), server_(ServerOptions()) {
  server_.HandleAtOnce("/live",
                       [](const http::Request&) { return http::Response{.body = "ok\n"}; });
  server_.HandleOthers(
      [this](const http::Request& request) { return WithPageHeaders(Answer(request)); });
}

PageServer::~PageServer() { Stop(); }

http::Server::Options PageServer::ServerOptions() {
  http::Server::Options server;
  server.address = options_.address;
  server.max_connections = options_.max_connections;
  // Handlers ask the API server.
  server.handler_threads = 2;
  server.tls = options_.tls;
  // Strangers cannot use up the connections of those who are in.
  server.admit = [this](const http::Request& header) { return access_.ClientOf(header); };
  server.on_listening = [this]() -> Result<void> {
    access_.SetPort(server_.port());
    return {};
  };
  return server;
}

Result<void> PageServer::Start() {
  if (!options_.may_be_reached && !options_.tls && !IsLoopbackAddress(options_.address)) {
    return Fail(Reason::kInvalidConfig,
                "other machines can reach the address " + options_.address +
                    "; everybody on the way to them could read what the page shows. Use a loopback "
                    "address such as 127.0.0.1:0, TLS with --tls-cert-file, or permit it with "
                    "--allow-other-machines");
  }
  return server_.Start();
}

void PageServer::Stop() { server_.Stop(); }

http::Response PageServer::Answer(const http::Request& request) {
  if (auto refusal = access_.Answer(request)) {
    return *std::move(refusal);
  }
  if (request.path == "/events") {
    return Events(request);
  }
  if (request.path == "/workload") {
    return Workload(request);
  }
  if (request.path == "/source") {
    return Source(request);
  }
  const std::string_view path = request.path == "/" ? std::string_view("index.html")
                                                    : std::string_view(request.path).substr(1);
  const auto files = PageFiles();
  const auto file = std::ranges::find(files, path, &PageFile::path);
  if (file == files.end()) {
    return {.status = 404, .body = "There is no such page.\n"};
  }
  return {.content_type = std::string(ContentTypeOf(path)), .body = std::string(file->bytes)};
}

http::Response PageServer::Events(const http::Request& request) {
  // A browser sends the header when it connects again by itself; a page that does so has only the
  // address.
  std::string_view last_event_id = request.Header("Last-Event-ID");
  if (last_event_id.empty() && request.query.starts_with(kSinceParameter)) {
    last_event_id = std::string_view(request.query).substr(kSinceParameter.size());
  }
  auto stream = request.method == "GET" ? streams_.Open(access_.ClientOf(request).value_or(""),
                                                        last_event_id, access_.stream_age())
                                        : nullptr;
  if (stream == nullptr) {
    return {.status = 503,
            .body = "Too many pages are open; close one of them.\n",
            .headers = {{"Retry-After", "5"}}};
  }
  return {.content_type = "text/event-stream", .stream = std::move(stream)};
}

http::Response PageServer::Workload(const http::Request& request) const {
  const auto named = NamedIn(request.query);
  const auto kind = named ? ParseWorkloadKind(named->kind) : std::nullopt;
  return kind ? AnswerOf(options_.workload({*kind, named->key}, request.stop)) : BadName();
}

http::Response PageServer::Source(const http::Request& request) const {
  const auto named = NamedIn(request.query);
  if (!named) {
    return BadName();
  }
  const auto type = TypeCalled(&SourceTypeNames::kind, named->kind);
  return type ? AnswerOf(options_.source({*type, named->key}, request.stop)) : BadName();
}

}  // namespace kubexx::reloader
