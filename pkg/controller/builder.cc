#include "kubexx/controller/builder.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/controller/internal/recorders.h"

namespace kubexx::controller {
namespace {

std::string NotOurs(const Cluster& cluster) {
  return "cluster \"" + cluster.name() +
         "\" is another manager's, which starts and stops its caches; use one of AddCluster of the "
         "controller's own manager";
}

}  // namespace

ControllerOptions Manager::ControllerDefaults(std::string_view kind) const {
  return {
      .name = base::ToLower(kind), .clock = clock(), .registry = &registry(), .tracer = tracer()};
}

ControllerBuilderBase::ControllerBuilderBase(Manager& manager, const Cluster& cluster,
                                             const apimachinery::ResourceInfo& resource)
    : manager_(manager),
      cluster_(cluster),
      options_(manager.ControllerDefaults(cluster.name().empty() ? std::string(resource.kind)
                                                                 : std::string(resource.kind) +
                                                                       "-" + cluster.name())) {}
ControllerBuilderBase::ControllerBuilderBase(ControllerBuilderBase&& other) noexcept = default;
ControllerBuilderBase::~ControllerBuilderBase() = default;

UntypedSource ControllerBuilderBase::SourceOf(Watched watched,
                                              std::vector<UntypedPredicate> predicates,
                                              std::size_t number) const {
  UntypedSource source;
  source.name = options_.name + "/" + (watched.cluster.empty() ? "" : watched.cluster + "/") +
                ResourceName(watched.resource) + "/" + std::to_string(number);
  source.informer = std::move(watched.informer);
  source.predicates = std::move(predicates);
  source.failures = manager_.registry().Counter(
      "kubexx_controller_source_failures_total",
      "Events for which a predicate or mapping threw, or whose object could not be decoded.",
      {{"source", source.name}});
  return source;
}

void ControllerBuilderBase::AddMapped(Watched watched, UntypedMapping map,
                                      std::vector<UntypedPredicate> predicates) {
  sources_.emplace_back(
      [watched = std::move(watched), map = std::move(map), predicates = std::move(predicates)](
          const ControllerBuilderBase& builder, std::size_t number) {
        return NewUntypedMappedSource(builder.SourceOf(watched, predicates, number), watched.decode,
                                      map);
      });
}

void ControllerBuilderBase::AddOwned(Watched watched, MetadataFunction metadata_of,
                                     const apimachinery::ResourceInfo& owner, OwnerMatch match,
                                     std::vector<UntypedPredicate> predicates) {
  const auto map = [metadata_of, &owner, match](const void* object) {
    return OwnersOf(metadata_of(object), owner, match);
  };
  AddMapped(std::move(watched), map, std::move(predicates));
}

apimachinery::Result<void> ControllerBuilderBase::Check() const {
  const auto wrong = [this](std::string why) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                              "controller '" + options_.name + "': " + std::move(why));
  };
  if (!manager_.Has(cluster_)) {
    return wrong(NotOurs(cluster_));
  }
  for (const Cluster* cluster : watched_clusters_) {
    if (!manager_.Has(*cluster)) {
      return wrong(NotOurs(*cluster));
    }
  }
  if (for_metadata_ && !for_predicates_.empty()) {
    return wrong(
        "WithPredicates looks at whole objects, of which ForMetadata keeps the metadata only; pass "
        "the predicates to ForMetadata");
  }
  return {};
}

ControllerBuilderBase::Made ControllerBuilderBase::Make(Watched watched,
                                                        ReconcileFunction reconcile) {
  KX_RETURN_IF_ERROR(Check());
  KX_RETURN_IF_ERROR(manager_.ClaimControllerName(options_));
  if (!options_.recorder) {
    options_.recorder = std::make_shared<internal::LazyRecorder>(
        [&recorders = cluster_.recorders(), name = options_.name] { return recorders.For(name); });
  }
  auto controller =
      std::make_shared<Controller>(options_, cluster_.ClientParts(), std::move(reconcile));
  controller->AddSource(NewUntypedObjectSource(
      SourceOf(std::move(watched), for_metadata_ ? metadata_predicates_ : for_predicates_,
               sources_.size()),
      priority_));
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    controller->AddSource(sources_[i](*this, i));
  }
  if (auto added = manager_.Add(controller); !added) {
    manager_.FreeControllerName(options_.name);
    return apimachinery::Fail(std::move(added).error());
  }
  return controller;
}

ControllerBuilderBase::Made ControllerBuilderBase::Make(Watched watched,
                                                        std::shared_ptr<Reconciler> reconciler) {
  return Make(std::move(watched),
              [reconciler = std::move(reconciler)](const Request& request, Context& context) {
                return reconciler->Reconcile(request, context);
              });
}

}  // namespace kubexx::controller
