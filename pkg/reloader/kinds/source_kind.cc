#include "kubexx/reloader/kinds/source_kind.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/reloader/kinds/kind_api.h"
#include "kubexx/reloader/settings/settings_node.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ResourceInfo;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::size_t kMaxFields = 20;
constexpr std::size_t kMaxKnownSourceKinds = 200;
constexpr std::size_t kMarkBytes = 4;

Result<SourceKind> SourceKindOf(const SettingsNode& node) {
  KX_RETURN_IF_ERROR(node.CheckMembers({"group", "version", "kind", "resource", "fields"}));
  KX_ASSIGN_OR_RETURN(KindApi api, ReadKindApi(node, {.group = "cert-manager.io",
                                                      .version = "v1",
                                                      .kind = "Certificate",
                                                      .resource = "certificates"}));
  SourceKind kind{.group = std::move(api.group),
                  .version = std::move(api.version),
                  .kind = std::move(api.kind),
                  .resource = std::move(api.resource)};
  const SettingsNode fields = node.At("fields");
  if (!fields.exists()) {
    return fields.Wrong("must name the fields whose changes count, such as [status.revision]");
  }
  KX_RETURN_IF_ERROR(fields.CheckList(1, kMaxFields, "fields"));
  for (std::size_t i = 0; i < fields.tree().size(); ++i) {
    KX_ASSIGN_OR_RETURN(const std::string text, fields.At(i).Text());
    auto field = ObjectField::Parse(text);
    if (!field) {
      return fields.At(i).Wrong(field.error().message);
    }
    // The same steps may be written with dots or with brackets.
    if (std::ranges::find(kind.fields, field->steps, &ObjectField::steps) != kind.fields.end()) {
      return fields.At(i).Wrong("\"" + text + "\" is in the list twice");
    }
    kind.fields.push_back(*std::move(field));
  }
  return kind;
}

/// What the process knows.
struct InstalledSources {
  std::vector<KnownSourceKind> kinds{};
  std::vector<ResourceInfo> resources{};
};

const InstalledSources& NoSources() {
  static const InstalledSources none;
  return none;
}

std::atomic<const InstalledSources*>& PresentSources() {
  static std::atomic<const InstalledSources*> present{&NoSources()};
  return present;
}

std::string InCapitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(base::IsLower(c) ? c - 'a' + 'A' : c);
  });
  return text;
}

KnownSourceKind KnownAs(const SourceKind& kind) {
  return {.described = kind,
          .lower = base::ToLower(kind.kind),
          .upper = InCapitals(kind.kind),
          .mark = kind.Mark()};
}

}  // namespace

ResourceInfo SourceKind::Resource() const { return {group, version, kind, resource, true}; }

std::string SourceKind::Mark() const {
  std::vector<std::string> texts;
  for (const ObjectField& field : fields) {
    texts.push_back(field.text);
  }
  std::ranges::sort(texts);
  std::string all = resource + "." + group;
  for (const std::string& text : texts) {
    all += "\n" + text;
  }
  const crypto::Sha256Sum sum = crypto::Sha256(all);
  return base::ToHex(std::span(sum).first(kMarkBytes));
}

Result<std::vector<SourceKind>> ParseSourceKinds(std::string_view yaml,
                                                 const std::vector<ResourceInfo>& own) {
  std::vector<SourceKind> kinds;
  if (yaml.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return kinds;
  }
  KX_ASSIGN_OR_RETURN(const JsonTree tree, ParseSettings(yaml));
  const SettingsNode root(tree);
  KX_RETURN_IF_ERROR(root.CheckList(0, kMaxSourceKinds, "kinds"));
  for (std::size_t i = 0; i < tree.size(); ++i) {
    KX_ASSIGN_OR_RETURN(SourceKind kind, SourceKindOf(root.At(i)));
    std::vector<ResourceInfo> others;
    for (const SourceKind& other : kinds) {
      others.push_back(other.Resource());
    }
    KX_RETURN_IF_ERROR(CheckKindNames(
        root.At(i), {kind.group, kind.version, kind.kind, kind.resource}, own, others));
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

void AddSourceKinds(const std::vector<SourceKind>& kinds, Precedence precedence) {
  static base::Mutex mu;
  // Each list stays, because views of its texts are everywhere.
  static std::vector<std::unique_ptr<const InstalledSources>> all;
  const base::MutexLock lock(mu);
  auto installed = std::make_unique<InstalledSources>();
  std::vector<KnownSourceKind>& list = installed->kinds;
  list = PresentSources().load()->kinds;
  bool is_new = false;
  for (const SourceKind& kind : kinds) {
    const auto known = std::ranges::find(list, base::ToLower(kind.kind), &KnownSourceKind::lower);
    if (known == list.end() && list.size() < kMaxKnownSourceKinds) {
      list.push_back(KnownAs(kind));
      is_new = true;
    } else if (known != list.end() && precedence == Precedence::kNew && known->described != kind) {
      *known = KnownAs(kind);
      is_new = true;
    }
  }
  if (!is_new) {
    return;
  }
  for (const KnownSourceKind& kind : list) {
    installed->resources.push_back(kind.described.Resource());
  }
  PresentSources().store(installed.get());
  all.push_back(std::move(installed));
}

const std::vector<KnownSourceKind>& SourceKinds() { return PresentSources().load()->kinds; }

const std::vector<ResourceInfo>& SourceResources() { return PresentSources().load()->resources; }

}  // namespace kubexx::reloader
