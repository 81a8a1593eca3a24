#include "kubexx/reloader/model/stamps.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {
namespace {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Time;
using codec::JsonTree;

constexpr std::string_view kAllOperators = "*";
constexpr std::string_view kByTool = "~";

constexpr std::string_view kStampAnnotations[] = {kLastReloadedFrom, kRestartedFor};

/// Returns the values of a template's stamps. A variable that several containers have has several
/// values.
std::map<std::string, std::vector<std::string>> StampsOf(const Workload& workload) {
  std::map<std::string, std::vector<std::string>> stamps;
  for (const Container& container : workload.containers) {
    for (const EnvVar& variable : container.variables) {
      stamps[variable.name].push_back(variable.value);
    }
  }
  for (const std::string_view key : kStampAnnotations) {
    if (const std::string* value = Find(workload.template_annotations, key)) {
      stamps[std::string(key)].push_back(*value);
    }
  }
  return stamps;
}

/// Whether the field has no fields below it: it is atomic, or empty.
bool IsLeaf(const JsonTree& field) { return field.IsObject() && field.size() == 0; }

/// How an entry of the managed fields owns a stamp.
enum class Hold : std::uint8_t {
  kNone,
  /// The entry owns something around the stamp and names no fields in it. The manager has written
  /// that as a whole, or has made the map or list, in which others have written everything since
  /// then.
  kAround,
  kValue,
};

/// Returns how `fields` owns the field at the end of `path`.
Hold HoldAlong(const JsonTree& fields, std::initializer_list<std::string_view> path) {
  const JsonTree* at = &fields;
  for (const std::string_view step : path) {
    if (IsLeaf(*at)) {
      return Hold::kAround;
    }
    at = at->Find(step);
    if (at == nullptr) {
      return Hold::kNone;
    }
  }
  return Hold::kValue;
}

/// Whether the entry has to be read for one of these stamps: it names the stamp, or owns as a whole
/// something that the stamp is in.
bool MayOwn(const ManagedFieldsEntry& entry,
            const std::map<std::string, std::vector<std::string>>& stamps) {
  constexpr std::string_view kWholes[] = {R"("f:spec":{})",       R"("f:template":{})",
                                          R"("f:metadata":{})",   R"("f:annotations":{})",
                                          R"("f:containers":{})", R"("f:env":{})"};
  const std::string& raw = entry.fields_v1->raw;
  const auto has = [&](std::string_view text) { return raw.find(text) != std::string::npos; };
  return has("\"f:template\"") &&
         (std::ranges::any_of(stamps, [&](const auto& stamp) { return has(stamp.first); }) ||
          std::ranges::any_of(kWholes, has));
}

/// Returns how the fields of an entry own that stamp.
Hold HoldOn(const JsonTree& fields, const std::string& stamp, bool is_annotation) {
  if (is_annotation) {
    return HoldAlong(fields, {"f:spec", "f:template", "f:metadata", "f:annotations", "f:" + stamp});
  }
  const std::string variable = R"(k:{"name":")" + stamp + R"("})";
  const JsonTree* containers = fields.At({"f:spec", "f:template", "f:spec", "f:containers"});
  if (containers == nullptr || IsLeaf(*containers)) {
    return HoldAlong(fields, {"f:spec", "f:template", "f:spec", "f:containers", variable});
  }
  Hold hold = Hold::kNone;
  for (const JsonTree::Member& container : containers->members()) {
    hold = std::max(hold, HoldAlong(container.value, {"f:env", variable, "f:value"}));
  }
  return hold;
}

bool IsAnnotation(const std::string& stamp) {
  return std::ranges::find(kStampAnnotations, stamp) != std::end(kStampAnnotations);
}

/// Records that the manager of `entry` has written the stamp.
void NoteStamper(const ManagedFieldsEntry& entry, const JsonTree& fields, const std::string& stamp,
                 const apimachinery::Time& created, Stampers& stampers) {
  const auto [found, is_first] = stampers.try_emplace(stamp);
  Stamper& stamper = found->second;
  if (IsOfOperator(entry)) {
    stamper = {.is_operator = true};
  } else if (!stamper.is_operator) {
    stamper.is_tool = (is_first || stamper.is_tool) && IsOfTool(entry);
    // A copy of a whole object, from a backup say, has stamps of before; its pods began with it.
    stamper.since = std::max({stamper.since, TimeOfTemplate(entry, fields), created});
  }
}

}  // namespace

Stampers StampersOf(const Workload& workload, const api::meta::v1::ObjectMeta& metadata) {
  Stampers stampers;
  Stampers around;
  const auto stamps = StampsOf(workload);
  if (stamps.empty()) {
    return stampers;
  }
  for (const ManagedFieldsEntry& entry : metadata.managed_fields) {
    if (!entry.fields_v1 || IsUnknownManager(entry) || !MayOwn(entry, stamps)) {
      continue;
    }
    const auto fields = JsonTree::Parse(entry.fields_v1->raw);
    if (!fields) {
      continue;
    }
    for (const auto& [name, values] : stamps) {
      if (const Hold hold = HoldOn(*fields, name, IsAnnotation(name)); hold != Hold::kNone) {
        NoteStamper(entry, *fields, name, metadata.creation_timestamp,
                    hold == Hold::kValue ? stampers : around);
      }
    }
  }
  // No entry names the value itself, so the one around it was written as a whole.
  stampers.merge(around);
  return stampers;
}

std::string TextOf(const Stampers& stampers, const Workload& workload) {
  const bool all = stampers.size() == StampsOf(workload).size();
  if (all &&
      std::ranges::all_of(stampers, [](const auto& each) { return each.second.is_operator; })) {
    return stampers.empty() ? std::string() : std::string(kAllOperators);
  }
  std::string text;
  for (const auto& [name, stamper] : stampers) {
    text.append(text.empty() ? "" : " ").append(name).append("=");
    text.append(stamper.is_tool ? kByTool : "");
    text.append(stamper.is_operator ? std::string(kAllOperators)
                                    : std::to_string(stamper.since.seconds));
  }
  return text;
}

Stampers StampersFrom(std::string_view text, const Workload& workload) {
  Stampers stampers;
  if (text == kAllOperators) {
    for (const auto& [name, values] : StampsOf(workload)) {
      stampers[name] = {.is_operator = true};
    }
    return stampers;
  }
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.rfind('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    std::string_view value = item.substr(equals + 1);
    Stamper stamper{.is_operator = value == kAllOperators, .is_tool = value.starts_with(kByTool)};
    value.remove_prefix(stamper.is_tool ? kByTool.size() : 0);
    if (!stamper.is_operator &&
        std::from_chars(value.data(), value.data() + value.size(), stamper.since.seconds).ec !=
            std::errc()) {
      continue;
    }
    stampers[std::string(item.substr(0, equals))] = stamper;
  }
  return stampers;
}

TemplateWriter WriterOfTemplate(const Workload& before, const Workload& now) {
  const auto had = StampsOf(before);
  const auto has = StampsOf(now);
  TemplateWriter writer = TemplateWriter::kOther;
  for (const auto& [name, values] : has) {
    if (const auto found = had.find(name); found != had.end() && found->second == values) {
      continue;
    }
    const auto stamper = now.stampers.find(name);
    if (stamper == now.stampers.end()) {
      return TemplateWriter::kUnknown;
    }
    if (!stamper->second.is_operator) {
      return TemplateWriter::kOther;
    }
    writer = TemplateWriter::kOperator;
  }
  const bool is_one_gone =
      std::ranges::any_of(had, [&](const auto& each) { return !has.contains(each.first); });
  return writer == TemplateWriter::kOther && is_one_gone ? TemplateWriter::kUnknown : writer;
}

namespace {

/// Returns the stamps that the operator has set between two states, whatever else was written.
std::map<std::string, std::string> StampsSetBetween(const Workload& before, const Workload& now) {
  std::map<std::string, std::string> stamps;
  if (before.uid != now.uid || !HasOtherTemplate(before, now) ||
      now.id.kind == WorkloadKind::kCronJob || IsOfDeployment(now)) {
    return stamps;
  }
  const auto had = StampsOf(before);
  for (const auto& [name, values] : StampsOf(now)) {
    const auto found = had.find(name);
    const auto stamper = now.stampers.find(name);
    if (name != kRestartedFor && values.size() == 1 &&
        (found == had.end() || found->second != values) && stamper != now.stampers.end() &&
        stamper->second.is_operator) {
      stamps[name] = values.front();
    }
  }
  return stamps;
}

}  // namespace

std::map<std::string, std::string> StampsOfOneRollout(const Workload& before, const Workload& now) {
  return before.template_version.generation + 1 == now.template_version.generation
             ? StampsSetBetween(before, now)
             : std::map<std::string, std::string>();
}

std::set<std::string> StampsOfRollouts(const Workload& before, const Workload& now) {
  std::set<std::string> names;
  for (const auto& [name, value] : StampsSetBetween(before, now)) {
    names.insert(name);
  }
  return names;
}

bool HasOwnRecord(const Workload& workload) {
  return Find(workload.annotations, kBaselineAnnotation) != nullptr &&
         !workload.baseline_restored && !workload.baseline_is_foreign;
}

bool HasRecorded(const Workload& before, const Workload& now) {
  const std::string* had = Find(before.annotations, kBaselineAnnotation);
  return HasOwnRecord(now) &&
         (had == nullptr || *had != *Find(now.annotations, kBaselineAnnotation));
}

bool IsUndo(const Workload& before, const Workload& now) {
  const auto had = StampsOf(before);
  const auto has = StampsOf(now);
  const bool brings_back = std::ranges::any_of(has, [&](const auto& each) {
    const auto [name, values] = each;
    const auto found = had.find(name);
    const auto stamper = now.stampers.find(name);
    return (found == had.end() || found->second != values) && stamper != now.stampers.end() &&
           !stamper->second.is_operator && !stamper->second.is_tool;
  });
  return brings_back || (now.undone && (!before.undone || *now.undone > *before.undone));
}

bool MayHaveGoneThereAndBack(const Workload& before, const Workload& now) {
  return now.id.kind != WorkloadKind::kCronJob && now.id.kind != WorkloadKind::kJob &&
         !HasOtherTemplate(before, now) &&
         now.template_version.generation >= before.template_version.generation + 2 &&
         (before.template_written != now.template_written || IsUndo(before, now));
}

}  // namespace kubexx::reloader
