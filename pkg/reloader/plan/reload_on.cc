#include "kubexx/reloader/plan/reload_on.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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

/// The types by what they are called, in small letters. Annotations may be long and the kinds many:
/// each item is looked up once.
class TypesByName {
 public:
  TypesByName() {
    for (const SourceType type : AllSourceTypes()) {
      const SourceTypeNames names = NamesOf(type);
      types_.emplace(names.lower, type);
      types_.emplace(names.plural, type);
    }
  }
  std::optional<SourceType> Find(std::string_view kind) const {
    const auto found = types_.find(base::ToLower(kind));
    return found == types_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string_view, SourceType> types_;
};

/// What is wrong with an item.
enum class ItemFault : std::uint8_t { kNone, kNoKind, kNoObject, kOfOtherAnnotation, kUnknownKind };

/// What is wrong with an item that is not empty.
ItemFault FaultOf(std::string_view item, const TypesByName& types,
                  base::FunctionRef<bool(SourceType)> ignores) {
  const NamedItem named = SplitItem(item);
  if (!named.has_kind || named.kind.empty()) {
    return ItemFault::kNoKind;
  }
  const auto type = types.Find(named.kind);
  if (type && !IsDescribed(*type)) {
    return ItemFault::kOfOtherAnnotation;
  }
  if (!type || ignores(*type)) {
    return ItemFault::kUnknownKind;
  }
  return named.name.empty() ? ItemFault::kNoObject : ItemFault::kNone;
}

std::string TextOfFault(ItemFault fault, base::FunctionRef<bool(SourceType)> ignores) {
  switch (fault) {
    case ItemFault::kNone:
      return "";
    case ItemFault::kNoKind:
      return "it names no kind: write KIND/NAME, such as Certificate/web-tls";
    case ItemFault::kNoObject:
      return "it names no object: write KIND/NAME";
    case ItemFault::kOfOtherAnnotation:
      return "sources of this kind belong in another annotation: see "
             "configmap.reloader.stakater.com/reload and secret.reloader.stakater.com/reload";
    case ItemFault::kUnknownKind:
      break;
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

void AppendItem(std::string_view name, std::string& list) {
  list.append(list.empty() ? "" : ",").append(name);
}

/// The item with its annotation, as messages show it.
std::string ItemOfReloadOn(std::string_view item) {
  const bool is_long = item.size() > kShownItemBytes;
  return std::string(kReloadOn) + ": \"" +
         (is_long ? base::CutUtf8(item, kShownItemBytes) + "..." : std::string(item)) + "\"";
}

}  // namespace

std::map<SourceType, std::string> ReloadListsIn(std::string_view reload_on) {
  const TypesByName types;
  std::map<SourceType, std::string> lists;
  AnyItem(reload_on, [&](std::string_view item) {
    const NamedItem named = SplitItem(item);
    const auto type = named.has_kind && !named.name.empty() ? types.Find(named.kind) : std::nullopt;
    if (type && IsDescribed(*type)) {
      AppendItem(named.name, lists[*type]);
    }
    return false;
  });
  return lists;
}

std::optional<std::string> ReloadListIn(std::string_view reload_on, SourceType type) {
  const SourceTypeNames names = NamesOf(type);
  std::string list;
  AnyItem(reload_on, [&](std::string_view item) {
    const NamedItem named = SplitItem(item);
    const std::string kind = base::ToLower(named.kind);
    if (named.has_kind && !named.name.empty() && (kind == names.lower || kind == names.plural)) {
      AppendItem(named.name, list);
    }
    return false;
  });
  return list.empty() ? std::nullopt : std::optional(std::move(list));
}

std::vector<BadItem> BadItemsIn(std::string_view reload_on,
                                base::FunctionRef<bool(SourceType)> ignores) {
  const TypesByName types;
  std::vector<BadItem> bad_items;
  std::set<std::pair<std::string_view, ItemFault>> told;
  std::size_t more = 0;
  AnyItem(reload_on, [&](std::string_view item) {
    const ItemFault fault = item.empty() ? ItemFault::kNone : FaultOf(item, types, ignores);
    if (fault == ItemFault::kNone) {
      return false;
    }
    // Items may be repeated thousands of times, and a text for each of them is work.
    if (!told.emplace(item, fault).second) {
      return false;
    }
    if (bad_items.size() == kMaxShownBadItems) {
      ++more;
      return false;
    }
    BadItem bad{.item = ItemOfReloadOn(item),
                .error = TextOfFault(fault, ignores),
                .what = BadItem::What::kValue};
    if (std::ranges::find(bad_items, bad) == bad_items.end()) {
      bad_items.push_back(std::move(bad));
    }
    return false;
  });
  if (more > 0) {
    bad_items.push_back({.item = std::string(kReloadOn),
                         .error = "and " + std::to_string(more) + " more of its items are wrong",
                         .what = BadItem::What::kValue});
  }
  return bad_items;
}

}  // namespace kubexx::reloader
