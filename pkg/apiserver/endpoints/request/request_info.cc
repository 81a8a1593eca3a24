#include "kubexx/apiserver/endpoints/request/request_info.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// With `strict`, it returns nothing for a bad escape.
std::optional<std::string> Decode(std::string_view text, bool plus_is_space, bool strict) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high >= 0 && low >= 0) {
        decoded.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
      if (strict) {
        return std::nullopt;
      }
    }
    decoded.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
  }
  return decoded;
}

/// Returns the decoded segments without the slashes at both ends. Returns nothing for a bad escape
/// and for an empty segment, except for an empty namespace, which means all namespaces.
std::optional<std::vector<std::string>> Segments(std::string_view path) {
  if (path.starts_with('/')) {
    path.remove_prefix(1);
  }
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path.ends_with('/')) {
    return std::nullopt;
  }
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    auto segment = DecodePath(path.substr(0, slash));
    if (!segment || (slash == 0 && (segments.empty() || segments.back() != "namespaces"))) {
      return std::nullopt;
    }
    segments.push_back(std::move(*segment));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

std::string VerbOf(std::string_view method, const RequestInfo& info, const Query& query,
                   bool watch_path) {
  if (method == "POST") {
    return "create";
  }
  if (method == "PUT") {
    return "update";
  }
  if (method == "PATCH") {
    return "patch";
  }
  if (method == "DELETE") {
    return info.name.empty() ? "deletecollection" : "delete";
  }
  if (method != "GET" && method != "HEAD") {
    return {};
  }
  if (watch_path || (info.name.empty() && BoolParam(query, "watch"))) {
    return "watch";
  }
  return info.name.empty() ? "list" : "get";
}

/// Reads the names and the subresource from the segments after the version.
void ReadSegments(const std::vector<std::string>& segments, std::size_t at, RequestInfo& info) {
  const std::size_t left = segments.size() - at;
  if (left >= 2 && segments[at] == "namespaces") {
    const bool of_namespace =
        !segments[at + 1].empty() && (left == 2 || (left == 3 && (segments[at + 2] == "status" ||
                                                                  segments[at + 2] == "finalize")));
    info.namespace_ = segments[at + 1];
    info.is_namespace = of_namespace;
    if (!of_namespace) {
      at += 2;
    }
  }
  info.resource = at < segments.size() ? segments[at] : "";
  info.name = at + 1 < segments.size() ? segments[at + 1] : "";
  for (std::size_t i = at + 2; i < segments.size(); ++i) {
    info.subresource += (info.subresource.empty() ? "" : "/") + segments[i];
  }
}

/// Passes the decoded names and values to `take`, in their order.
void ForEachParameter(std::string_view query,
                      base::FunctionRef<void(std::string name, std::string value)> take) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    const std::size_t equals = std::min(part.find('='), part.size());
    if (!part.empty()) {
      take(*Decode(part.substr(0, equals), true, false),
           *Decode(part.substr(std::min(equals + 1, part.size())), true, false));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

/// A longer timeout makes no difference, and would not fit into a point of time.
constexpr std::chrono::seconds kLongestTimeout = std::chrono::hours(24 * 366);

}  // namespace

Query ParseQuery(std::string_view query) {
  Query parsed;
  ForEachParameter(query, [&parsed](std::string name, std::string value) {
    parsed.emplace(std::move(name), std::move(value));
  });
  return parsed;
}

std::vector<std::string> ParamValues(std::string_view query, std::string_view name) {
  std::vector<std::string> values;
  ForEachParameter(query, [&](const std::string& given, std::string value) {
    if (given == name) {
      values.push_back(std::move(value));
    }
  });
  return values;
}

std::optional<std::string> DecodePath(std::string_view path) { return Decode(path, false, true); }

std::string_view Param(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

bool BoolParam(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found != query.end() && found->second != "0" && base::ToLower(found->second) != "false";
}

Result<std::int64_t> NumberParam(const Query& query, std::string_view name) {
  const auto found = query.find(name);
  if (found == query.end()) {
    return 0;
  }
  const std::string_view given = found->second;
  std::string_view digits = given;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = !digits.empty() && end == digits.data() + digits.size() &&
                     (digits == given || digits.front() != '-');
  if (whole && error == std::errc()) {
    return value;
  }
  const bool large = whole && error == std::errc::result_out_of_range;
  return Fail(Reason::kBadRequest, "strconv.ParseInt: parsing " + codec::JsonTree(given).ToJson() +
                                       (large ? ": value out of range" : ": invalid syntax"));
}

std::optional<RequestInfo> ParseResourcePath(std::string_view method, std::string_view path,
                                             const Query& query) {
  const auto segments = Segments(path);
  if (!segments || segments->size() < 2) {
    return std::nullopt;
  }
  RequestInfo info;
  std::size_t at = 0;
  if (segments->front() == "api") {
    info.version = (*segments)[1];
    at = 2;
  } else if (segments->front() == "apis" && segments->size() >= 3) {
    info.group = (*segments)[1];
    info.version = (*segments)[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  // The old form of watches, /api/v1/watch/pods.
  const bool watch_path = at < segments->size() && (*segments)[at] == "watch";
  at += watch_path ? 1 : 0;
  // `Segments` accepts an empty segment after any "namespaces", but it is a namespace only at the
  // beginning of the path.
  const auto empty = std::ranges::find(*segments, "");
  if (empty != segments->end() &&
      (empty != segments->begin() + static_cast<std::ptrdiff_t>(at) + 1 ||
       std::find(empty + 1, segments->end(), "") != segments->end())) {
    return std::nullopt;
  }
  ReadSegments(*segments, at, info);
  info.verb = VerbOf(method, info, query, watch_path);
  return info;
}

Result<apimachinery::ListOptions> ListOptionsOf(const Query& query) {
  apimachinery::ListOptions options;
  options.label_selector = Param(query, "labelSelector");
  options.field_selector = Param(query, "fieldSelector");
  options.resource_version = Param(query, "resourceVersion");
  options.resource_version_match = Param(query, "resourceVersionMatch");
  options.continue_ = Param(query, "continue");
  options.allow_watch_bookmarks = BoolParam(query, "allowWatchBookmarks");
  if (query.contains("sendInitialEvents")) {
    options.send_initial_events = BoolParam(query, "sendInitialEvents");
  }
  KX_ASSIGN_OR_RETURN(options.limit, NumberParam(query, "limit"));
  options.limit = std::max<std::int64_t>(options.limit, 0);  // A negative limit means no limit.
  KX_ASSIGN_OR_RETURN(const std::int64_t seconds, NumberParam(query, "timeoutSeconds"));
  options.timeout = std::min(std::chrono::seconds(seconds), kLongestTimeout);
  return options;
}

Result<std::int64_t> RevisionParam(std::string_view text) {
  std::int64_t value = 0;
  if (text.empty()) {
    return value;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Fail(Reason::kBadRequest, "invalid number \"" + std::string(text) + "\"");
  }
  return value;
}

}  // namespace kubexx::apiserver
