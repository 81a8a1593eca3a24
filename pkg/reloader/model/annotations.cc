#include "kubexx/reloader/model/annotations.h"

#include <algorithm>

#include "kubexx/base/ascii.h"
#include "kubexx/base/text/trim.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

bool AnnotationKeys::ConcernsWorkload(std::string_view key) const {
  return key == auto_reload || key == search || key.starts_with(reloadpolicy::kAnnotationPrefix) ||
         key == pause_period || key == paused_at || key == kBaselineAnnotation ||
         key == kLastReloadedFrom || key == kRestartedFor || key == kRolloutStrategy ||
         std::ranges::any_of(kSourceTypes, [&](SourceType type) {
           return key == Reload(type) || key == TypedAuto(type) || key == Exclude(type);
         });
}

std::string ReleaseOf(const Annotations& annotations) {
  const std::string* name = Find(annotations, "meta.helm.sh/release-name");
  const std::string* of = Find(annotations, "meta.helm.sh/release-namespace");
  return name == nullptr || name->empty() || of == nullptr ? std::string() : *of + "/" + *name;
}

const std::string* Find(const Annotations& annotations, std::string_view key) {
  const auto found = annotations.find(std::string(key));
  return found == annotations.end() ? nullptr : &found->second;
}

bool IsReloadingInPlace(const Annotations& annotations, std::string_view uid) {
  const std::string* mark = Find(annotations, kReloadingInPlace);
  return mark != nullptr && !uid.empty() && mark->size() > uid.size() && mark->starts_with(uid) &&
         (*mark)[uid.size()] == ' ';
}

bool ParseGoBool(std::string_view text) {
  return text == "1" || text == "t" || text == "T" || text == "true" || text == "True" ||
         text == "TRUE";
}

std::string_view TrimSpace(std::string_view text) { return base::Trim(text, " \t\n\v\f\r"); }

bool AnyItem(std::string_view list, base::FunctionRef<bool(std::string_view)> each) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (each(TrimSpace(list.substr(0, comma)))) {
      return true;
    }
    if (comma == std::string_view::npos) {
      return false;
    }
    list.remove_prefix(comma + 1);
  }
}

bool IsPlainItem(std::string_view item) {
  return std::ranges::all_of(
      item, [](char c) { return base::IsAlphanumeric(c) || c == '-' || c == '_'; });
}

}  // namespace kubexx::reloader
