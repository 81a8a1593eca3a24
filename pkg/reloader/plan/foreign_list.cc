#include "kubexx/reloader/plan/foreign_list.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"

namespace kubexx::reloader {
namespace {

/// "KIND/NAMESPACE/NAME", split at the slashes.
struct ForeignItem {
  std::string_view kind{};
  std::string_view namespace_{};
  std::string_view name{};
};

std::optional<ForeignItem> SplitForeignItem(std::string_view item) {
  const std::size_t first = item.find('/');
  const std::size_t second = first == std::string_view::npos ? first : item.find('/', first + 1);
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  return ForeignItem{.kind = TrimSpace(item.substr(0, first)),
                     .namespace_ = TrimSpace(item.substr(first + 1, second - first - 1)),
                     .name = TrimSpace(item.substr(second + 1))};
}

std::optional<SourceType> ForeignTypeCalled(std::string_view kind) {
  const std::string lower = base::ToLower(kind);
  for (const SourceType type : {SourceType::kConfigMap, SourceType::kSecret}) {
    if (lower == NamesOf(type).lower || lower == NamesOf(type).plural) {
      return type;
    }
  }
  return std::nullopt;
}

/// The list of `type` that names sources of the own namespace.
std::string OwnListOf(SourceType type) { return std::string(AnnotationKeys().Reload(type)); }

/// What is wrong with an item; empty: nothing.
std::string FaultOfItem(const std::optional<ForeignItem>& item,
                        const std::optional<SourceType>& type, std::string_view namespace_) {
  if (!item) {
    return "write KIND/NAMESPACE/NAME, such as ConfigMap/shared/settings";
  }
  if (!type) {
    return "only a ConfigMap or a Secret of another namespace can be named";
  }
  if (!apimachinery::IsDnsLabel(item->namespace_)) {
    return "it names no namespace: write KIND/NAMESPACE/NAME; patterns are not possible here";
  }
  if (!apimachinery::IsDnsSubdomain(item->name)) {
    return "it names no object: write KIND/NAMESPACE/NAME; patterns are not possible here";
  }
  if (item->namespace_ == namespace_) {
    return "it is of the workload's own namespace: name it in " + OwnListOf(*type);
  }
  return "";
}

/// The item with its annotation, as messages show it.
std::string ShownForeignItem(std::string_view item) {
  constexpr std::size_t kShownBytes = 100;
  return std::string(kReloadOnOtherNamespaces) + ": \"" +
         (item.size() > kShownBytes ? base::CutUtf8(item, kShownBytes) + "..."
                                    : std::string(item)) +
         "\"";
}

const std::string* ForeignTextOf(const Workload& workload) {
  const std::string* own = Find(workload.annotations, kReloadOnOtherNamespaces);
  return own != nullptr ? own : Find(workload.template_annotations, kReloadOnOtherNamespaces);
}

}  // namespace

ForeignList ForeignListIn(std::string_view text, std::string_view namespace_) {
  ForeignList list;
  std::size_t items = 0;
  AnyItem(text, [&](std::string_view item) {
    if (item.empty()) {
      return false;
    }
    if (++items > ForeignList::kMaxItems) {
      list.bad_items.push_back(
          {.item = std::string(kReloadOnOtherNamespaces),
           .error =
               "only the first " + std::to_string(ForeignList::kMaxItems) + " of its items count",
           .what = BadItem::What::kValue});
      return true;
    }
    const auto parts = SplitForeignItem(item);
    const auto type = parts ? ForeignTypeCalled(parts->kind) : std::nullopt;
    std::string fault = FaultOfItem(parts, type, namespace_);
    if (fault.empty()) {
      list.sources.insert(
          ForeignId(*type, {std::string(parts->namespace_), std::string(parts->name)}, namespace_));
      return false;
    }
    BadItem bad{
        .item = ShownForeignItem(item), .error = std::move(fault), .what = BadItem::What::kValue};
    if (std::ranges::find(list.bad_items, bad) == list.bad_items.end()) {
      list.bad_items.push_back(std::move(bad));
    }
    return false;
  });
  return list;
}

std::set<SourceId> ForeignSourcesOf(const Workload& workload, const AnnotationKeys& keys) {
  const std::string* text = keys.other_namespaces ? ForeignTextOf(workload) : nullptr;
  return text == nullptr ? std::set<SourceId>()
                         : ForeignListIn(*text, workload.id.key.namespace_).sources;
}

bool NamesForeignSource(const Workload& workload, const AnnotationKeys& keys,
                        const SourceId& source) {
  const std::string* text = keys.other_namespaces ? ForeignTextOf(workload) : nullptr;
  if (text == nullptr || !IsForeign(source)) {
    return false;
  }
  const std::string name = ObjectKeyOf(source).name;
  std::size_t items = 0;
  bool is_named = false;
  AnyItem(*text, [&](std::string_view item) {
    if (!item.empty() && ++items > ForeignList::kMaxItems) {
      return true;
    }
    // A plan asks for each source, so most items are of another one.
    if (item.ends_with(name)) {
      is_named = ForeignListIn(item, workload.id.key.namespace_).sources.contains(source);
    }
    return is_named;
  });
  return is_named;
}

std::vector<BadItem> BadForeignItems(const Workload& workload, const AnnotationKeys& keys) {
  const std::string* text = keys.other_namespaces ? ForeignTextOf(workload) : nullptr;
  return text == nullptr ? std::vector<BadItem>()
                         : ForeignListIn(*text, workload.id.key.namespace_).bad_items;
}

bool NamesForeign(const Workload& workload) { return ForeignTextOf(workload) != nullptr; }

BadItem NotAvailable(const SourceId& id) {
  const std::string kind(NamesOf(id.type).kind);
  return {.item = ShownForeignItem(kind + "/" + id.key.name),
          .error = "the operator sees no such " + kind +
                   " for this namespace: to roll workloads of " + id.key.namespace_ +
                   " it has to exist, in a namespace that the operator watches, "
                   "and to name " +
                   id.key.namespace_ + " in its annotation " + std::string(kAllowedNamespaces),
          .what = BadItem::What::kSource};
}

}  // namespace kubexx::reloader
