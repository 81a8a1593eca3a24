// Requests to a whole API server without its network: blocks that a line "---" ends, each with the
// line "METHOD TARGET", the line with the Content-Type, and the body. No answer may be an internal
// error, and what is a Status must say the code of its response.

#include <memory>
#include <string>

#include "fuzz.h"
#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx {
namespace {

constexpr std::string_view kEnd = "\n---\n";

std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return taken;
}

http::Request RequestOf(std::string_view block) {
  http::Request request;
  std::string_view target = TakeUntil(block, "\n");
  request.method = TakeUntil(target, " ");
  request.path = TakeUntil(target, "?");
  request.query = target;
  request.headers = {{"Content-Type", std::string(TakeUntil(block, "\n"))}};
  request.body = block;
  return request;
}

void Check(const http::Response& response) {
  fuzz::Require(response.status >= 100 && response.status != 500);
  if (response.status < 400 || response.content_type != "application/json") {
    return;
  }
  const auto status = codec::JsonTree::Parse(response.body);
  fuzz::Require(status.has_value());
  fuzz::Require(status->TextAt("kind") != "Status" ||
                status->Find("code")->AsInt() == response.status);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto storage = apiserver::storage::NewMemoryStorage({});
  fuzz::Require(storage.has_value());
  apiserver::Api api(**storage, {});
  fuzz::Require(api.Bootstrap({}).has_value());
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (int i = 0; i < 8 && !rest.empty(); ++i) {
    const http::Request request = RequestOf(TakeUntil(rest, kEnd));
    // A cache is a thread, which would make runs slow and differ.
    if (request.query.find("watch") == std::string::npos &&
        request.query.find("resourceVersion") == std::string::npos) {
      Check(api.Handle(request));
    }
  }
  return 0;
}

}  // namespace kubexx
