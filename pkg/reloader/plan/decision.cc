#include "kubexx/reloader/plan/decision.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/utf8.h"
#include "kubexx/reloader/model/annotation_typos.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/plan/reload_on.h"
#include "kubexx/reloadpolicy/waves.h"

namespace kubexx::reloader {
namespace {

bool IsExcluded(const Source& source, const Workload& workload) {
  const std::string* list = Find(workload.annotations, AnnotationKeys::Exclude(source.id.type));
  return list != nullptr &&
         AnyItem(*list, [&](std::string_view item) { return item == source.id.key.name; });
}

/// Returns a value for a message. A long value is cut.
std::string Shown(std::string_view value) {
  constexpr std::size_t kShownBytes = 100;
  return value.size() <= kShownBytes ? std::string(value)
                                     : base::CutUtf8(value, kShownBytes) + "...";
}

bool IsTrue(const std::string* value) { return value != nullptr && ParseGoBool(*value); }
bool IsEmpty(const std::string* value) { return value == nullptr || value->empty(); }

/// Whether one of the annotations that choose sources of `type` is set.
bool Speaks(const Annotations& annotations, SourceType type, const AnnotationKeys& keys) {
  if (IsDescribed(type)) {
    return Find(annotations, kReloadOn) != nullptr;
  }
  return Find(annotations, keys.Reload(type)) != nullptr ||
         Find(annotations, keys.search) != nullptr ||
         Find(annotations, keys.auto_reload) != nullptr ||
         Find(annotations, keys.TypedAuto(type)) != nullptr;
}

/// Whether Go's strconv.ParseBool reads it as false.
bool IsGoFalse(std::string_view value) {
  return value == "0" || value == "f" || value == "F" || value == "false" || value == "False" ||
         value == "FALSE";
}

/// `meaning` is the value that has an effect. If `as_go`, other values that Go reads as true have
/// the effect, too.
void CheckValue(const Annotations& annotations, std::string_view key, std::string_view meaning,
                bool as_go, std::vector<BadItem>& bad_items) {
  const std::string* value = Find(annotations, key);
  if (IsEmpty(value) || *value == "true" || *value == "false" ||
      (as_go && (ParseGoBool(*value) || IsGoFalse(*value)))) {
    return;
  }
  BadItem bad{.item = std::string(key) + ": \"" + Shown(*value) + "\"",
              .error = "neither \"true\" nor \"false\"; it does not count as \"" +
                       std::string(meaning) + "\"",
              .what = BadItem::What::kValue};
  if (std::ranges::find(bad_items, bad) == bad_items.end()) {
    bad_items.push_back(std::move(bad));
  }
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIgnored:
      return "ignored";
    case Verdict::kExcluded:
      return "excluded";
    case Verdict::kExplicit:
      return "explicit";
    case Verdict::kSearch:
      return "search";
    case Verdict::kAuto:
      return "auto";
    case Verdict::kAutoAll:
      return "auto-reload-all";
    case Verdict::kNoRule:
      return "no rule";
  }
  return "";
}

const Annotations& EffectiveAnnotations(const Workload& workload, SourceType type,
                                        const AnnotationKeys& keys) {
  return Speaks(workload.annotations, type, keys) ? workload.annotations
                                                  : workload.template_annotations;
}

std::optional<std::string> ReloadTextOf(const Workload& workload, SourceType type,
                                        const AnnotationKeys& keys) {
  const std::string* text = Find(EffectiveAnnotations(workload, type, keys), keys.Reload(type));
  if (text == nullptr) {
    return std::nullopt;
  }
  return IsDescribed(type) ? ReloadListIn(*text, type) : std::optional(*text);
}

std::map<SourceType, std::string> ReloadTextsOf(const Workload& workload,
                                                const AnnotationKeys& keys) {
  std::map<SourceType, std::string> texts;
  for (const Annotations* annotations : {&workload.annotations, &workload.template_annotations}) {
    if (const std::string* reload_on = Find(*annotations, kReloadOn)) {
      texts = ReloadListsIn(*reload_on);
      break;
    }
  }
  for (const SourceType type : kSourceTypes) {
    if (auto text = ReloadTextOf(workload, type, keys)) {
      texts.emplace(type, *std::move(text));
    }
  }
  return texts;
}

Verdict Decide(const Source& source, const Workload& workload, const DecisionRules& rules,
               PatternCache& patterns) {
  const auto text = ReloadTextOf(workload, source.id.type, rules.keys);
  return Decide(source, workload, rules, text ? patterns.Get(*text).get() : nullptr);
}

Verdict Decide(const Source& source, const Workload& workload, const DecisionRules& rules,
               const PatternList* list) {
  const SourceType type = source.id.type;
  const AnnotationKeys& keys = rules.keys;
  if (source.ignore) {
    return Verdict::kIgnored;
  }
  if (IsForeign(source.id)) {  // only its own list names it, and no pattern of another one does
    return NamesForeignSource(workload, keys, source.id) ? Verdict::kExplicit : Verdict::kNoRule;
  }
  if (IsDescribed(type)) {  // no pod template mentions it, so only its name counts
    return list != nullptr && list->Matches(source.id.key.name) ? Verdict::kExplicit
                                                                : Verdict::kNoRule;
  }
  const Annotations& annotations = EffectiveAnnotations(workload, type, keys);
  if (IsExcluded(source, workload)) {
    return Verdict::kExcluded;
  }
  if (list != nullptr && list->Matches(source.id.key.name)) {
    return Verdict::kExplicit;
  }
  const std::string* search = Find(annotations, keys.search);
  if (search != nullptr && *search == "true" && source.match) {
    return Verdict::kSearch;
  }
  const std::string* any_auto = Find(annotations, keys.auto_reload);
  const std::string* typed_auto = Find(annotations, keys.TypedAuto(type));
  if (IsTrue(any_auto) || IsTrue(typed_auto)) {
    return Verdict::kAuto;
  }
  if (rules.auto_reload_all && IsEmpty(any_auto) && IsEmpty(typed_auto)) {
    return Verdict::kAutoAll;
  }
  return Verdict::kNoRule;
}

std::vector<BadItem> BadValues(const Workload& workload, const DecisionRules& rules) {
  const AnnotationKeys& keys = rules.keys;
  std::vector<BadItem> bad_items;
  for (const SourceType type : kSourceTypes) {
    const Annotations& annotations = EffectiveAnnotations(workload, type, keys);
    CheckValue(annotations, keys.search, "true", false, bad_items);
    CheckValue(annotations, keys.auto_reload, "true", true, bad_items);
    CheckValue(annotations, keys.TypedAuto(type), "true", true, bad_items);
  }
  for (const Annotations* annotations : {&workload.annotations, &workload.template_annotations}) {
    if (const std::string* reload_on = Find(*annotations, kReloadOn)) {
      std::ranges::move(
          BadItemsIn(*reload_on, [&rules](SourceType type) { return rules.Ignores(type); }),
          std::back_inserter(bad_items));
      break;  // those of the template count only where the workload has none
    }
  }
  std::ranges::move(BadForeignItems(workload, keys), std::back_inserter(bad_items));
  CheckValue(workload.annotations, kRecordBaseline, "false", false, bad_items);
  CheckValue(workload.annotations, reloadpolicy::kCanaryAnnotation, "true", false, bad_items);
  for (const auto& [key, value] : workload.annotations) {
    if (const std::string_view meant = MeantAnnotation(key); !meant.empty()) {
      bad_items.push_back(
          {.item = "annotation " + key,
           .error = "there is no such annotation; it may be meant as " + std::string(meant),
           .what = BadItem::What::kName});
    }
  }
  return bad_items;
}

bool MayReload(const Workload& workload, SourceType type, const DecisionRules& rules) {
  const Annotations& annotations = EffectiveAnnotations(workload, type, rules.keys);
  return rules.auto_reload_all || Speaks(annotations, type, rules.keys);
}

}  // namespace kubexx::reloader
