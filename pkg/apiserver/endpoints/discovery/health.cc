#include "kubexx/apiserver/endpoints/discovery/health.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/request/request_info.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using storage::StorageHealth;

/// Anybody may send such a query, and the network's thread answers it.
constexpr std::size_t kMaxHealthQuery = 1024;

Result<void> CheckPing(const StorageHealth& /*store*/) { return {}; }
Result<void> CheckReads(const StorageHealth& store) { return store.reads; }
Result<void> CheckWrites(const StorageHealth& store) { return store.writes; }

struct NamedCheck {
  std::string_view name;
  Result<void> (*check)(const StorageHealth& store);
};

constexpr NamedCheck kPing{.name = "ping", .check = CheckPing};
constexpr NamedCheck kEtcd{.name = "etcd", .check = CheckWrites};

struct HealthPage {
  std::string_view name;
  std::vector<NamedCheck> checks;
};

/// Returns the pages in the order in which they are listed.
const std::array<HealthPage, 3>& Pages() {
  static const std::array<HealthPage, 3> pages{
      HealthPage{.name = "healthz", .checks = {kPing, kEtcd}},
      HealthPage{.name = "livez", .checks = {kPing, {.name = "etcd", .check = CheckReads}}},
      HealthPage{.name = "readyz",
                 .checks = {kPing, kEtcd, {.name = "etcd-readiness", .check = CheckWrites}}}};
  return pages;
}

/// Returns the page that has the path, or that the path is below of. Null when there is none.
const HealthPage* PageOf(std::string_view path) {
  path.remove_prefix(path.starts_with('/') ? 1 : path.size());
  const auto* const found =
      std::ranges::find(Pages(), path.substr(0, path.find('/')), &HealthPage::name);
  return found == Pages().end() ? nullptr : found;
}

http::Response HealthText(int status, std::string text) {
  return {.status = status,
          .body = std::move(text),
          .headers = {{"X-Content-Type-Options", "nosniff"}}};
}

}  // namespace

void HealthPages::Look(const std::stop_token& stop) {
  StorageHealth now = storage_.CheckHealth(kInterval, stop);
  if (stop.stop_requested()) {
    return;  // The check only says that the server has to stop.
  }
  const base::MutexLock lock(mu_);
  store_ = std::move(now);
}

bool HealthPages::IsPage(std::string_view path) {
  const HealthPage* const page = PageOf(path);
  return page != nullptr && path.size() == 1 + page->name.size();
}

http::Response HealthPages::Page(const http::Request& request) const {
  const HealthPage* const page = PageOf(request.path);
  StorageHealth store;
  {
    const base::MutexLock lock(mu_);
    store = store_;
  }
  const std::string_view query =
      request.query.size() > kMaxHealthQuery ? std::string_view() : request.query;
  std::vector<std::string> excluded = ParamValues(query, "exclude");
  std::string lines;
  bool healthy = true;
  for (const auto& [name, check] : page->checks) {
    if (std::erase(excluded, name) > 0) {
      lines += "[+]" + std::string(name) + " excluded: ok\n";
    } else if (check(store)) {
      lines += "[+]" + std::string(name) + " ok\n";
    } else {
      lines += "[-]" + std::string(name) + " failed: reason withheld\n";
      healthy = false;
    }
  }
  if (!excluded.empty()) {
    lines += "warn: to be excluded, but not there: " + std::to_string(excluded.size()) + "\n";
  }
  const std::string name(page->name);
  if (!healthy) {
    return HealthText(500, lines + name + " check failed\n");
  }
  const bool verbose = !ParamValues(query, "verbose").empty();
  return HealthText(200, verbose ? lines + name + " check passed\n" : "ok");
}

std::optional<http::Response> HealthPages::Check(std::string_view path) const {
  const HealthPage* const page = PageOf(path);
  if (page == nullptr || IsPage(path)) {
    return std::nullopt;
  }
  const std::string_view name = path.substr(page->name.size() + 2);
  const auto found = std::ranges::find(page->checks, name, &NamedCheck::name);
  if (found == page->checks.end()) {
    return std::nullopt;
  }
  StorageHealth store;
  {
    const base::MutexLock lock(mu_);
    store = store_;
  }
  const Result<void> result = found->check(store);
  return result ? HealthText(200, "ok")
                : HealthText(500, "internal server error: " + result.error().message + "\n");
}

}  // namespace kubexx::apiserver
