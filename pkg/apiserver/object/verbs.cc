#include "kubexx/apiserver/object/verbs.h"

#include <algorithm>
#include <iterator>

namespace kubexx::apiserver {
namespace {

/// The names, in the order of Verb.
constexpr std::string_view kVerbNames[] = {"create", "delete", "deletecollection", "get",
                                           "list",   "patch",  "update",           "watch"};

}  // namespace

std::optional<Verb> VerbOf(std::string_view name) {
  const auto* const found = std::ranges::find(kVerbNames, name);
  return found == std::end(kVerbNames)
             ? std::nullopt
             : std::optional(static_cast<Verb>(found - std::begin(kVerbNames)));
}

std::vector<std::string> Verbs::Names() const {
  std::vector<std::string> names;
  for (const std::string_view name : kVerbNames) {
    if (Has(*VerbOf(name))) {
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace kubexx::apiserver
