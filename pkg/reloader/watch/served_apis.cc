#include "kubexx/reloader/watch/served_apis.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kGroups = "/apis";

// No list of what a server has is longer.
constexpr std::size_t kMaxDiscovery = 4 << 20;

std::string PathOf(const apimachinery::ResourceInfo& resource) {
  return std::string(kGroups) + "/" + resource.ApiVersion();
}

// Those who ask about different groups do so at once. They share the connections of lists and
// watches: of those for single requests as many as there were questions at once would stay open.
Result<std::string> Download(const std::shared_ptr<rest::RESTClient>& client,
                             const std::string& path, const std::stop_token& stop) {
  std::string body;
  rest::Request request = client->Get();
  KX_RETURN_IF_ERROR(request.AbsPath(path).Stream(
      [](const rest::Request::StreamHead&) -> Result<void> { return {}; },
      [&body](std::string_view piece) -> Result<void> {
        if (piece.size() > kMaxDiscovery - body.size()) {
          return Fail(Reason::kMalformed, "the response is larger than 4 MiB");
        }
        body += piece;
        return {};
      },
      stop));
  return body;
}

bool IsNotFound(const Result<std::set<std::string, std::less<>>>& answer) {
  return !answer && answer.error().reason == Reason::kNotFound;
}

}  // namespace

ServedApis::ServedApis(std::shared_ptr<rest::RESTClient> client, base::Clock& clock)
    : client_(std::move(client)), clock_(clock) {}

ServedApis::~ServedApis() = default;

Result<ServedApis::Names> ServedApis::Fetch(const std::string& path,
                                            const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(const std::string body, Download(client_, path, stop));
  KX_ASSIGN_OR_RETURN(const codec::JsonTree document, codec::JsonTree::Parse(body));
  const bool is_of_groups = path == kGroups;
  const std::string field = is_of_groups ? "groups" : "resources";
  const codec::JsonTree* list = document.Find(field);
  // No server answers like this, so the answer does not come from an API server. One without
  // groups is none either, while a version may have lost its resources.
  if (list == nullptr || (is_of_groups && list->elements().empty())) {
    return Fail(apimachinery::Malformed(field, "is missing"));
  }
  Names names;
  for (const codec::JsonTree& each : list->elements()) {
    if (!is_of_groups) {
      names.emplace(each.TextAt("name"));
    } else if (const codec::JsonTree* versions = each.Find("versions")) {
      for (const codec::JsonTree& version : versions->elements()) {
        names.insert(std::string(each.TextAt("name")) + "/" +
                     std::string(version.TextAt("version")));
      }
    }
  }
  return names;
}

Result<ServedApis::Names> ServedApis::Ask(const std::string& path, base::Duration max_age,
                                          const std::stop_token& stop) {
  const base::TimePoint now = clock_.Now();
  {
    const base::MutexLock lock(mu_);
    Document& document = documents_[path];
    while (true) {
      const bool is_fact = document.answer && (*document.answer || IsNotFound(*document.answer));
      // A request that failed says nothing of the next one. But who has waited for it does not wait
      // for another: it may have taken as long as a request may, and many may have waited.
      const base::Duration age = now - (is_fact ? document.asked_at : document.answered_at);
      if (document.answer && age <= (is_fact ? max_age : std::min<base::Duration>(max_age, kNow))) {
        return *document.answer;
      }
      if (stop.stop_requested()) {
        return Fail(Reason::kCancelled, "stopped");
      }
      if (!document.is_asking) {
        break;
      }
      clock_.WaitUntil(mu_, answered_, stop, base::TimePoint::max());
    }
    document.is_asking = true;
  }
  const base::TimePoint asked_at = clock_.Now();
  Result<Names> answer = Fetch(path, stop);
  const base::MutexLock lock(mu_);
  Document& document = documents_[path];
  document.is_asking = false;
  if (answer || !stop.stop_requested()) {  // who stops says nothing of the server
    document.answer = answer;
    document.asked_at = asked_at;
    document.answered_at = clock_.Now();
  }
  answered_.notify_all();
  return answer;
}

bool ServedApis::WasMissing(const std::string& path) const {
  const base::MutexLock lock(mu_);
  const auto found = documents_.find(path);
  return found != documents_.end() && found->second.answer && IsNotFound(*found->second.answer);
}

Result<bool> ServedApis::Has(const apimachinery::ResourceInfo& resource, base::Duration max_age,
                             const std::stop_token& stop) {
  const std::string path = PathOf(resource);
  // The list of groups alone is not believed: that of a server that is starting may have gaps where
  // the version itself says that the server is not ready.
  if (WasMissing(path) && LacksGroup(resource, max_age, stop)) {
    return false;
  }
  const Result<Names> resources = Ask(path, max_age, stop);
  if (IsNotFound(resources)) {
    return false;
  }
  KX_RETURN_IF_ERROR(resources);
  return resources->contains(resource.plural);
}

bool ServedApis::LacksGroup(const apimachinery::ResourceInfo& resource, base::Duration max_age,
                            const std::stop_token& stop) {
  const Result<Names> groups = Ask(std::string(kGroups), max_age, stop);
  return groups && !groups->contains(resource.ApiVersion());
}

}  // namespace kubexx::reloader
