#include "kubexx/controller/builder.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"

namespace kubexx::controller {

ControllerOptions Manager::ControllerDefaults(std::string_view kind) const {
  return {.name = base::ToLower(kind), .clock = clock(), .registry = &registry()};
}

ControllerBuilderBase::ControllerBuilderBase(Manager& manager,
                                             const apimachinery::ResourceInfo& resource)
    : manager_(manager), options_(manager.ControllerDefaults(resource.kind)) {}
ControllerBuilderBase::ControllerBuilderBase(ControllerBuilderBase&& other) noexcept = default;
ControllerBuilderBase::~ControllerBuilderBase() = default;

std::string ControllerBuilderBase::NextName(const apimachinery::ResourceInfo& resource) const {
  return options_.name + "/" + ResourceName(resource) + "/" + std::to_string(sources_.size());
}

UntypedSource ControllerBuilderBase::SourceOf(Watched watched,
                                              std::vector<UntypedPredicate> predicates) {
  UntypedSource source;
  source.name = NextName(watched.resource);
  source.informer = std::move(watched.informer);
  source.predicates = std::move(predicates);
  source.failures = manager_.registry().Counter(
      "kubexx_controller_source_failures_total",
      "Events that a predicate or a mapping threw at, or whose object did not decode.",
      {{"source", source.name}});
  return source;
}

void ControllerBuilderBase::AddMapped(Watched watched, UntypedMapping map,
                                      std::vector<UntypedPredicate> predicates) {
  const cache::UntypedDecoder decode = watched.decode;
  sources_.push_back(NewUntypedMappedSource(SourceOf(std::move(watched), std::move(predicates)),
                                            decode, std::move(map)));
}

void ControllerBuilderBase::AddOwned(Watched watched, MetadataFunction metadata_of,
                                     const apimachinery::ResourceInfo& owner, OwnerMatch match,
                                     std::vector<UntypedPredicate> predicates) {
  const auto map = [metadata_of, &owner, match](const void* object) {
    return OwnersOf(metadata_of(object), owner, match);
  };
  AddMapped(std::move(watched), map, std::move(predicates));
}

ControllerBuilderBase::Made ControllerBuilderBase::Make(Watched watched,
                                                        ReconcileFunction reconcile) {
  KX_RETURN_IF_ERROR(manager_.ClaimControllerName(options_));
  auto controller =
      std::make_shared<Controller>(options_, manager_.ClientParts(), std::move(reconcile));
  controller->AddSource(
      NewUntypedObjectSource(SourceOf(std::move(watched), std::move(for_predicates_)), priority_));
  for (Source& source : sources_) {
    controller->AddSource(std::move(source));
  }
  KX_RETURN_IF_ERROR(manager_.Add(controller));
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
