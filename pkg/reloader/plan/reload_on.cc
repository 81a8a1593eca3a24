#include "kubexx/reloader/plan/reload_on.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

constexpr std::size_t kShownItemBytes = 100;

/// "KIND/NAME", split at the first slash.
struct NamedItem {
  std::string_view kind{};
  std::string_view name{};
  bool has_kind = false;
};

NamedItem SplitItem(std::string_view item) {
  const std::size_t slash = item.find('/');
  if (slash == std::string_view::npos) {
    return {.name = item};
  }
  return {.kind = TrimSpace(item.substr(0, slash)),
          .name = TrimSpace(item.substr(slash + 1)),
          .has_kind = true};
}

bool IsTypeCalled(SourceType type, std::string_view kind) {
  const SourceTypeNames names = NamesOf(type);
  const std::string lower = base::ToLower(kind);
  return lower == names.lower || lower == names.plural;
}

std::optional<SourceType> TypeOfItem(std::string_view kind) {
  for (const SourceType type : AllSourceTypes()) {
    if (IsTypeCalled(type, kind)) {
      return type;
    }
  }
  return std::nullopt;
}

/// What is wrong with an item that is not empty; empty when nothing is.
std::string WrongWith(std::string_view item, base::FunctionRef<bool(SourceType)> ignores) {
  const NamedItem named = SplitItem(item);
  if (!named.has_kind || named.kind.empty()) {
    return "it names no kind: write KIND/NAME, such as Certificate/web-tls";
  }
  const auto type = TypeOfItem(named.kind);
  if (type && !IsDescribed(*type)) {
    return "sources of this kind belong in another annotation: see "
           "configmap.reloader.stakater.com/reload and secret.reloader.stakater.com/reload";
  }
  if (type && !ignores(*type)) {
    return named.name.empty() ? "it names no object: write KIND/NAME" : "";
  }
  std::string known;
  for (const SourceType each : AllSourceTypes()) {
    if (IsDescribed(each) && !ignores(each)) {
      known.append(known.empty() ? "" : ", ").append(NamesOf(each).kind);
    }
  }
  return "the operator knows no kind of sources that is called so; --source-kinds describes " +
         (known.empty() ? std::string("none") : known);
}

}  // namespace

std::optional<std::string> ReloadListIn(std::string_view reload_on, SourceType type) {
  std::optional<std::string> list;
  AnyItem(reload_on, [&](std::string_view item) {
    const NamedItem named = SplitItem(item);
    if (named.has_kind && !named.name.empty() && IsTypeCalled(type, named.kind)) {
      if (list) {
        list->append(",");
      } else {
        list.emplace();
      }
      list->append(named.name);
    }
    return false;
  });
  return list;
}

std::vector<BadItem> BadItemsIn(std::string_view reload_on,
                                base::FunctionRef<bool(SourceType)> ignores) {
  std::vector<BadItem> bad_items;
  AnyItem(reload_on, [&](std::string_view item) {
    std::string error = item.empty() ? std::string() : WrongWith(item, ignores);
    if (!error.empty()) {
      const bool is_long = item.size() > kShownItemBytes;
      BadItem bad{
          .item = std::string(kReloadOn) + ": \"" +
                  (is_long ? base::CutUtf8(item, kShownItemBytes) + "..." : std::string(item)) +
                  "\"",
          .error = std::move(error),
          .what = BadItem::What::kValue};
      if (std::ranges::find(bad_items, bad) == bad_items.end()) {
        bad_items.push_back(std::move(bad));
      }
    }
    return false;
  });
  return bad_items;
}

}  // namespace kubexx::reloader
