#include "oracle/pod_template.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::oracle {
namespace {

using codec::JsonTree;

/// What operators write into a template.
constexpr std::string_view kVariables = "STAKATER_";
constexpr std::string_view kReloadedFrom = "reloader.stakater.com/last-reloaded-from";
constexpr std::array<std::string_view, 2> kAnnotations = {kReloadedFrom,
                                                          "reloader.kubexx.io/restarted-for"};

/// What they write on a CronJob with each Job, as managed fields call it.
constexpr std::string_view kJobField = "f:kubexx.io/rolled-for";

std::span<const JsonTree> ElementsOf(const JsonTree* list) {
  return list == nullptr ? std::span<const JsonTree>() : list->elements();
}

void TakeVariablesAway(JsonTree& container) {
  JsonTree kept = JsonTree::Array();
  for (const JsonTree& each : ElementsOf(container.Find("env"))) {
    if (!each.TextAt("name").starts_with(kVariables)) {
      kept.Append(each);
    }
  }
  // A list that is there for operators' variables only stands elsewhere in what a real API server
  // writes than one that were added here.
  if (kept.elements().empty()) {
    container.Erase("env");
  } else {
    container["env"] = std::move(kept);
  }
}

constexpr std::string_view kSecretSources = "secrets/";

/// Of objects that have been described to some operator of this process.
reloader::SourceType ObjectType() {
  return reloader::TypeCalled(&reloader::SourceTypeNames::kind, kObjectKind)
      .value_or(reloader::SourceType::kConfigMap);
}

/// How baselines call a source.
reloader::SourceId IdOf(const std::string& source) {
  const std::size_t begin = source.find('/') + 1;
  const std::size_t end = source.find('/', begin);
  const std::string name = SourceOf(source).substr(end + 1);
  const reloader::SourceType type =
      IsProviderClass(source)              ? reloader::SourceType::kSecretProviderClass
      : IsObject(source)                   ? ObjectType()
      : source.starts_with(kSecretSources) ? reloader::SourceType::kSecret
                                           : reloader::SourceType::kConfigMap;
  return {type, {source.substr(begin, end - begin), name}};
}

/// The keys that a view has, as a baseline lists them; of a source empty: all.
std::string KeysOf(const std::string& source) {
  return IsView(source) ? source.substr(source.find('#') + 1) : std::string();
}

/// The names under which commands write that undo and restart rollouts.
constexpr std::array<std::string_view, 3> kUndoers = {"kubectl", "kubectl-rollout",
                                                      "kubectl-argo-rollouts"};

/// What a baseline says of a source; nothing: it does not name it, or cannot be read.
std::optional<reloader::Digest> DigestOfSource(const std::string& baseline,
                                               const std::string& source) {
  const reloader::SourceId id = IdOf(source);
  const auto parsed = reloader::Baseline::Parse(baseline, id.key.namespace_);
  if (!parsed) {
    return std::nullopt;
  }
  const auto found = parsed->digests.find(id);
  return found == parsed->digests.end() || parsed->KeysOf(id) != KeysOf(source)
             ? std::nullopt
             : std::optional(found->second);
}

/// The digest that operators have of the data of a source or view; nothing: they are none.
std::optional<reloader::Digest> DigestOfData(const std::string& source, const std::string& data) {
  reloader::DigestBuilder digest;
  if (IsProviderClass(source)) {
    const std::string name = source.substr(source.rfind('/') + 1);
    digest.Add(kObjectId, data);
    digest.Add("SecretProviderClassName", name);
    return digest.Finish();
  }
  const auto tree = JsonTree::Parse(data);
  if (!tree) {
    return std::nullopt;
  }
  std::map<std::string, std::string> values;
  for (const JsonTree::Member& member : tree->members()) {
    std::string value(tree->TextAt(member.key));
    if (source.starts_with(kSecretSources)) {
      const std::string encoded = std::exchange(value, {});
      codec::DecodeBase64(encoded, value);
    }
    if (IsObject(source)) {
      values["data." + std::string(member.key)] = JsonTree(value).ToJson();
      continue;
    }
    // Of a list of keys the digests of the values count.
    values[std::string(member.key)] =
        IsView(source) ? reloader::DigestOf(value).ToString() : std::move(value);
  }
  for (const auto& [key, value] : values) {
    digest.Add(key, value);
  }
  return digest.Finish();
}

bool IsOfUndoer(const JsonTree& entry) {
  return std::ranges::find(kUndoers, entry.TextAt("manager")) != kUndoers.end();
}

/// Whether the manager of an entry of the managed fields owns this field.
bool Owns(const JsonTree& entry, std::initializer_list<std::string_view> field) {
  const JsonTree* const fields = entry.Find("fieldsV1");
  return fields != nullptr && fields->At(field) != nullptr;
}

/// The latest time of the managed fields' entries for which `counts` returns true; empty: of none.
template <class Counts>
std::string LatestOf(const JsonTree& object, Counts counts) {
  std::string latest;
  for (const JsonTree& entry : ElementsOf(object.At({"metadata", "managedFields"}))) {
    if (counts(entry)) {
      latest = std::max(latest, std::string(entry.TextAt("time")));  // all are in UTC
    }
  }
  return latest;
}

}  // namespace

std::string TextOf(const JsonTree* tree) { return tree == nullptr ? "" : tree->ToJson(); }

bool IsSameJson(const std::string& a, const std::string& b) {
  if (a == b) {
    return true;
  }
  const auto one = JsonTree::Parse(a);
  const auto other = JsonTree::Parse(b);
  return one && other && *one == *other;
}

std::string DataOf(const JsonTree& source) {
  return TextOf(source.Find("data")) + TextOf(source.Find("binaryData"));
}

std::string OthersPartOf(JsonTree pod_template) {
  if (JsonTree* const containers =
          pod_template.At(std::array<std::string_view, 2>{"spec", "containers"})) {
    for (JsonTree& container : containers->elements()) {
      TakeVariablesAway(container);
    }
  }
  if (JsonTree* const metadata = pod_template.Find("metadata")) {
    JsonTree& annotations = (*metadata)["annotations"];
    for (const std::string_view key : kAnnotations) {
      annotations.Erase(key);
    }
    if (annotations.size() == 0) {
      metadata->Erase("annotations");
    }
  }
  return pod_template.ToJson();
}

std::string StampsIn(const JsonTree& pod_template) {
  std::string stamps;
  for (const JsonTree& container : ElementsOf(pod_template.At({"spec", "containers"}))) {
    for (const JsonTree& each : ElementsOf(container.Find("env"))) {
      if (each.TextAt("name").starts_with(kVariables)) {
        stamps.append(each.TextAt("name")).append("=").append(each.TextAt("value")).append(" ");
      }
    }
  }
  const JsonTree* const from = pod_template.At({"metadata", "annotations", kReloadedFrom});
  if (from != nullptr && from->AsString() != nullptr) {
    if (const auto tree = JsonTree::Parse(*from->AsString())) {
      stamps.append(tree->TextAt("type")).append("/").append(tree->TextAt("name"));
      stamps.append("=").append(tree->TextAt("hash"));  // the time is another each time
    }
  }
  return stamps;
}

bool HasNewStamp(const std::string& before, const std::string& now) {
  const std::string all = " " + before + " ";
  for (std::size_t begin = 0; begin < now.size();) {
    const std::size_t end = std::min(now.find(' ', begin), now.size());
    const std::string stamp = now.substr(begin, end - begin);
    if (!stamp.empty() && !all.contains(" " + stamp + " ")) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

bool IsBaselineOf(std::string_view baseline, const std::string& uid) {
  return baseline.starts_with("v2 " + uid) || baseline.starts_with("v1 " + uid);
}

bool IsMadeWithBaseline(std::string_view baseline, const JsonTree& object) {
  const std::string annotation = "f:" + std::string(reloader::kBaselineAnnotation);
  return baseline.starts_with("v1 >") &&
         std::ranges::any_of(ElementsOf(object.At({"metadata", "managedFields"})),
                             [&](const JsonTree& entry) {
                               return entry.TextAt("manager") == reloader::kFieldManager &&
                                      Owns(entry, {"f:metadata", "f:annotations", annotation}) &&
                                      Owns(entry, {"f:spec", "f:template"});
                             });
}

std::string WrongInHistory(const std::string& history, const std::string& uid,
                           const std::string& stamps) {
  const auto parsed = reloader::History::Parse(history);
  if (!parsed) {
    return "that cannot be read: " + parsed.error().message;
  }
  if (parsed->owner != uid) {
    return "of another object";
  }
  if (parsed->rollouts.empty() || parsed->rollouts.front().sources.empty()) {
    return "that tells of no source";
  }
  const bool is_stamped =
      std::ranges::any_of(parsed->rollouts.front().sources, [&](const auto& source) {
        return source.digest.empty() || stamps.contains("=" + source.digest);
      });
  return is_stamped ? "" : "whose newest rollout is for data that the template does not name";
}

std::map<std::string, std::string> DigestsIn(const std::string& baseline) {
  std::map<std::string, std::string> digests;
  if (const auto parsed = reloader::Baseline::Parse(baseline, "")) {
    for (const auto& [source, digest] : parsed->digests) {
      digests[std::string(NamesOf(source.type).lower) + "/" + source.key.name] =
          digest.ToString() + ":" + parsed->KeysOf(source);
    }
  }
  return digests;
}

std::string TemplateWrittenIn(const JsonTree& workload) {
  return LatestOf(workload, [](const JsonTree& entry) {
    return entry.TextAt("manager") != reloader::kFieldManager && !IsOfUndoer(entry) &&
           Owns(entry, {"f:spec", "f:template"});
  });
}

std::string OwnWrittenIn(const JsonTree& workload) {
  return LatestOf(workload, [](const JsonTree& entry) {
    return entry.TextAt("manager") == reloader::kFieldManager &&
           (Owns(entry, {"f:spec", "f:template"}) || Owns(entry, {"f:spec", "f:restartAt"}) ||
            Owns(entry, {"f:metadata", "f:annotations", kJobField}));
  });
}

std::string UndoneIn(const JsonTree& workload) {
  return LatestOf(workload, [](const JsonTree& entry) {
    return IsOfUndoer(entry) && Owns(entry, {"f:spec", "f:template"});
  });
}

std::string DataWrittenIn(const JsonTree& source) {
  const std::string written =
      LatestOf(source, [](const JsonTree& entry) { return Owns(entry, {"f:data"}); });
  const JsonTree* const metadata = source.Find("metadata");
  return metadata == nullptr
             ? written
             : std::max(written, std::string(metadata->TextAt("creationTimestamp")));
}

bool IsDoubtful(const DoubtfulPods& pods, const std::string& source, std::int64_t version,
                std::string_view data_written) {
  const reloader::SourceId id = IdOf(source);
  const auto parsed = reloader::Baseline::Parse(pods.baseline, id.key.namespace_);
  const auto is_newer = [&](const apimachinery::Time& recorded) {
    return pods.is_of_jobs ? recorded != reloader::Baseline::kNoTemplate
                           : recorded.ToString() >= pods.template_written;
  };
  if (!parsed || !parsed->template_written || is_newer(*parsed->template_written) ||
      parsed->VersionOf(id) == 0 || parsed->VersionOf(id) >= static_cast<std::uint64_t>(version)) {
    return false;
  }
  if (!pods.undone.empty() && pods.undone >= std::max(pods.own_written, pods.template_written)) {
    return data_written > pods.undone;
  }
  if (pods.own_written < pods.template_written) {
    return true;
  }
  constexpr std::int64_t kMaxBehind = 600;
  const auto own = apimachinery::Time::Parse(pods.own_written);
  const auto data = apimachinery::Time::Parse(data_written);
  return own && data && *data > *own && data->seconds <= own->seconds + kMaxBehind;
}

bool StaysInDoubt(const DoubtfulPods& pods, const std::string& source) {
  const reloader::SourceId id = IdOf(source);
  const auto parsed = reloader::Baseline::Parse(pods.baseline, id.key.namespace_);
  return parsed && parsed->template_written && parsed->VersionOf(id) != 0 &&
         parsed->template_written->ToString() < pods.template_written &&
         pods.own_written < pods.template_written;
}

std::map<std::string, std::string> DataByKey(const std::string& data) {
  std::map<std::string, std::string> by_key;
  if (const auto tree = JsonTree::Parse(data)) {
    for (const JsonTree::Member& member : tree->members()) {
      JsonTree alone = JsonTree::Object();
      alone[member.key] = member.value;
      by_key[member.key] = alone.ToJson();
    }
  }
  return by_key;
}

std::vector<std::string> SourcesOf(const JsonTree& pod_template, const std::string& space,
                                   bool by_key) {
  std::vector<std::string> sources;
  const auto add_key = [&](const char* kind, const JsonTree* reference) {
    if (reference != nullptr) {
      const std::string source = kind + space + "/" + std::string(reference->TextAt("name"));
      sources.push_back(by_key ? ViewOf(source, reference->TextAt("key")) : source);
    }
  };
  if (const JsonTree* const named =
          pod_template.At({"metadata", "annotations", reloader::kReloadOn})) {
    const std::string* const list = named->AsString();
    reloader::AnyItem(list == nullptr ? "" : *list, [&](std::string_view item) {
      if (item.starts_with(kObjectKind)) {
        sources.push_back(std::string(kObjectPlural) + "/" + space +
                          std::string(item.substr(item.find('/'))));
      }
      return false;
    });
  }
  if (const JsonTree* const named =
          pod_template.At({"metadata", "annotations", reloader::kReloadOnOtherNamespaces})) {
    const std::string* const list = named->AsString();
    reloader::AnyItem(list == nullptr ? "" : *list, [&](std::string_view item) {
      const std::size_t slash = item.find('/');
      sources.push_back((item.starts_with("Secret/") ? "secrets/" : "configmaps/") + space +
                        std::string(item.substr(slash)));
      return false;
    });
  }
  for (const JsonTree& container : ElementsOf(pod_template.At({"spec", "containers"}))) {
    for (const JsonTree& each : ElementsOf(container.Find("envFrom"))) {
      const JsonTree* const config = each.Find("configMapRef");
      const JsonTree* const secret = each.Find("secretRef");
      if (config != nullptr) {
        sources.push_back("configmaps/" + space + "/" + std::string(config->TextAt("name")));
      } else if (secret != nullptr) {
        sources.push_back("secrets/" + space + "/" + std::string(secret->TextAt("name")));
      }
    }
    for (const JsonTree& each : ElementsOf(container.Find("env"))) {
      add_key("configmaps/", each.At({"valueFrom", "configMapKeyRef"}));
      add_key("secrets/", each.At({"valueFrom", "secretKeyRef"}));
    }
  }
  for (const JsonTree& volume : ElementsOf(pod_template.At({"spec", "volumes"}))) {
    const JsonTree* const config = volume.Find("configMap");
    const JsonTree* const secret = volume.Find("secret");
    if (config != nullptr) {
      sources.push_back("configmaps/" + space + "/" + std::string(config->TextAt("name")));
    } else if (secret != nullptr) {
      sources.push_back("secrets/" + space + "/" + std::string(secret->TextAt("secretName")));
    }
    const JsonTree* const attributes = volume.At({"csi", "volumeAttributes"});
    if (attributes != nullptr && !attributes->TextAt("secretProviderClass").empty()) {
      sources.push_back(std::string(kProviderClasses) + space + "/" +
                        std::string(attributes->TextAt("secretProviderClass")));
    }
  }
  return sources;
}

bool IsNamed(const std::string& baseline, const std::string& source) {
  return DigestOfSource(baseline, source).has_value();
}

bool IsRecorded(const std::string& baseline, const std::string& source, const std::string& data) {
  const auto recorded = DigestOfSource(baseline, source);
  return recorded && recorded == DigestOfData(source, data);
}

std::optional<std::string> DigestTextOf(const std::string& source, const std::string& data) {
  const auto digest = DigestOfData(source, data);
  return digest ? std::optional(digest->ToString()) : std::nullopt;
}

bool TellsOfOtherData(const std::string& stamps, const std::string& source,
                      const std::string& data) {
  const reloader::SourceId id = IdOf(source);
  const std::string variable = " " + reloader::EnvVarName(id.type, id.key.name) + "=";
  const std::string all = " " + stamps;
  const std::size_t found = all.find(variable);
  const auto digest = DigestTextOf(source, data);
  return found != std::string::npos && digest &&
         !all.substr(found + variable.size()).starts_with(*digest);
}

bool HasFailedWith(const std::string& rolled_data, const std::string& uid,
                   const std::string& source, const std::string& data) {
  const auto rolled = reloadpolicy::RolledDataOf(
      {{std::string(reloadpolicy::kRolledDataAnnotation), rolled_data}}, uid);
  const auto digest = DigestOfData(source, data);
  const reloader::SourceId id = IdOf(source);
  return rolled && rolled->state == reloadpolicy::DataState::kFailed && digest &&
         std::ranges::any_of(rolled->versions, [&](const std::string& version) {
           const auto parts = reloadpolicy::PartsOf(version);
           return parts && parts->kind == reloader::NamesOf(id.type).kind &&
                  parts->name == id.key.name &&
                  parts->digest.substr(0, parts->digest.find('.')) == digest->ToString();
         });
}

}  // namespace kubexx::oracle
