#include "kubexx/discovery/rest_mapper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::discovery {
namespace {

using api::apidiscovery::v2::APIResourceDiscovery;
using apimachinery::Fail;
using apimachinery::GroupVersionKind;
using apimachinery::GroupVersionResource;
using apimachinery::Reason;
using apimachinery::Result;
using Mappings = std::vector<RestMapping>;

RestMapping Convert(const APIResourceDiscovery& resource, const std::string& group,
                    const std::string& version) {
  RestMapping out{.resource = {.group = group, .version = version, .resource = resource.resource},
                  // The server leaves group and version out where they are those of the resource.
                  .kind = resource.response_kind->version.empty()
                              ? GroupVersionKind{.group = group, .version = version, .kind = {}}
                              : GroupVersionKind{.group = resource.response_kind->group,
                                                 .version = resource.response_kind->version,
                                                 .kind = {}},
                  .namespaced = resource.scope == "Namespaced",
                  .singular = resource.singular_resource,
                  .short_names = resource.short_names,
                  .categories = resource.categories,
                  .verbs = resource.verbs};
  out.kind.kind = resource.response_kind->kind;
  std::ranges::transform(resource.subresources, std::back_inserter(out.subresources),
                         [](const auto& subresource) { return subresource.subresource; });
  return out;
}

Mappings Flatten(const GroupList& groups) {
  Mappings out;
  for (const auto& group : groups.items) {
    for (const auto& version : group.versions) {
      for (const APIResourceDiscovery& resource : version.resources) {
        if (resource.response_kind) {
          out.push_back(Convert(resource, group.metadata.name, version.version));
        }
      }
    }
  }
  return out;
}

bool IsCalled(const RestMapping& mapping, const std::string& name) {
  return mapping.resource.resource == name || mapping.singular == name ||
         base::ToLower(mapping.kind.kind) == name;
}

// Where group and version have to be these; an empty version fits all.
bool IsIn(const RestMapping& mapping, std::string_view group, std::string_view version) {
  return mapping.resource.group == group &&
         (version.empty() || mapping.resource.version == version);
}

// The first that `fits`; null when there is none.
const RestMapping* First(const Mappings& all, base::FunctionRef<bool(const RestMapping&)> fits) {
  const auto found = std::ranges::find_if(all, [&fits](const RestMapping& m) { return fits(m); });
  return found == all.end() ? nullptr : &*found;
}

// Plural and singular names go before short names.
const RestMapping* FindCalled(const Mappings& all, const std::string& name,
                              base::FunctionRef<bool(const RestMapping&)> allowed) {
  const RestMapping* const found = First(
      all, [&](const RestMapping& mapping) { return IsCalled(mapping, name) && allowed(mapping); });
  return found != nullptr ? found : First(all, [&](const RestMapping& mapping) {
    return std::ranges::find(mapping.short_names, name) != mapping.short_names.end() &&
           allowed(mapping);
  });
}

// "name", "name.group" or "name.version.group"; a group may have dots itself.
const RestMapping* FindNamed(const Mappings& all, const std::string& text) {
  const std::size_t dot = text.find('.');
  const std::string name = text.substr(0, dot);
  if (dot == std::string::npos) {
    return FindCalled(all, name, [](const RestMapping&) { return true; });
  }
  const std::string_view rest = std::string_view(text).substr(dot + 1);
  const std::size_t second = std::min(rest.find('.'), rest.size());
  const std::string_view version = rest.substr(0, second);
  const std::string_view group = rest.substr(std::min(second + 1, rest.size()));
  if (const RestMapping* found =
          FindCalled(all, name, [&](const RestMapping& m) { return IsIn(m, group, version); })) {
    return found;
  }
  return FindCalled(all, name, [&](const RestMapping& m) { return IsIn(m, rest, {}); });
}

}  // namespace

RestMapper::RestMapper(std::shared_ptr<CachedDiscovery> discovery, Options options)
    : discovery_(std::move(discovery)),
      reloads_(options.reloads_per_second, options.burst, options.clock) {}

RestMapper::Index RestMapper::IndexOf(const CachedDiscovery::Snapshot& snapshot) {
  {
    const base::MutexLock lock(mu_);
    if (indexed_ == snapshot) {
      return index_;
    }
  }
  auto index = std::make_shared<const Mappings>(Flatten(*snapshot));
  const base::MutexLock lock(mu_);
  indexed_ = snapshot;
  index_ = index;
  return index;
}

Result<RestMapping> RestMapper::Find(Finder find, const std::string& what,
                                     const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(CachedDiscovery::Snapshot snapshot, discovery_->Groups(stop));
  Index index = IndexOf(snapshot);
  if (const RestMapping* found = find(*index)) {
    return *found;
  }
  if (reloads_.Reserve() > base::Duration::zero()) {
    reloads_.Cancel();
    return Fail(Reason::kNotFound, "the server had no " + what +
                                       " when it was last asked, and it is too early to ask again");
  }
  KX_ASSIGN_OR_RETURN(snapshot, discovery_->Refresh(snapshot, stop));
  index = IndexOf(snapshot);
  if (const RestMapping* found = find(*index)) {
    return *found;
  }
  return Fail(Reason::kNotFound,
              "the server has no " + what + "; is its CustomResourceDefinition installed?");
}

Result<RestMapping> RestMapper::MappingFor(const GroupVersionKind& kind, std::stop_token stop) {
  return Find(
      [&kind](const Mappings& all) {
        return First(all, [&kind](const RestMapping& mapping) {
          return mapping.kind.group == kind.group && mapping.kind.kind == kind.kind &&
                 (kind.version.empty() || mapping.kind.version == kind.version);
        });
      },
      "kind " + kind.kind + " in " + (kind.version.empty() ? kind.group : kind.ApiVersion()), stop);
}

Result<RestMapping> RestMapper::MappingFor(const GroupVersionResource& resource,
                                           std::stop_token stop) {
  return Find(
      [&resource](const Mappings& all) {
        return First(all, [&resource](const RestMapping& mapping) {
          return mapping.resource.resource == resource.resource &&
                 IsIn(mapping, resource.group, resource.version);
        });
      },
      "resource " + resource.ToString(), stop);
}

Result<RestMapping> RestMapper::ResourceFor(std::string_view name, std::stop_token stop) {
  const std::string text = base::ToLower(name);
  return Find([&text](const Mappings& all) { return FindNamed(all, text); },
              "resource \"" + std::string(name) + "\"", stop);
}

Result<std::vector<RestMapping>> RestMapper::All(std::stop_token stop) {
  KX_ASSIGN_OR_RETURN(const CachedDiscovery::Snapshot snapshot,
                      discovery_->Groups(std::move(stop)));
  return *IndexOf(snapshot);
}

}  // namespace kubexx::discovery
