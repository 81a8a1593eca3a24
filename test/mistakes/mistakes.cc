// Mistakes that users make: mistakes_test.sh compiles this with MISTAKE=1, 2 and so on, each of
// which must fail with the line that stands above it as its first error and, unless that line says
// how many there are, its only one; and without one, which must succeed.
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/object_fields.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/create_or_update.h"
#include "kubexx/controller/finalizer.h"
#include "kubexx/controller/owned_objects.h"
#include "kubexx/webhook/server.h"

using kubexx::api::apps::v1::Deployment;  // apps/v1/types.gen.h is forgotten
using kubexx::api::core::v1::ConfigMap;
using kubexx::api::core::v1::Namespace;
using kubexx::api::core::v1::Pod;
using kubexx::api::core::v1::PodSpec;
using kubexx::apimachinery::Result;
using kubexx::controller::Action;
using kubexx::controller::Context;
using kubexx::controller::ControllerBuilder;
using kubexx::controller::Manager;
using kubexx::controller::Request;

namespace {

struct Website {  // without a ResourceOf
  kubexx::api::meta::v1::ObjectMeta metadata{};
};

Result<Action> Reconcile(const Request&, Context&) { return Action::Done(); }
Result<void> ReconcileNothing(const Request&, Context&) { return {}; }
Result<Action> ReconcileAlone(const Request&) { return Action::Done(); }
[[maybe_unused]] std::string NameOf(const ConfigMap& object) { return object.metadata.name; }

[[maybe_unused]] kubexx::cache::FieldIndex<ConfigMap> NameIndex() {
  return kubexx::cache::IndexField<ConfigMap>("name", [](const ConfigMap& object) {
    return std::vector<std::string>{object.metadata.name};
  });
}

[[maybe_unused]] constexpr auto kNothing = [](const kubexx::api::core::v1::Container&) {};

struct NoReconciler {
  Result<Action> Reconcile(const Request&, Context&);
};

// The library is used rightly here.
[[maybe_unused]] Result<void> Right(Manager& manager) {
  std::vector<Request> (*const requests)(const ConfigMap&) = [](const ConfigMap&) {
    return std::vector<Request>();
  };
  KX_RETURN_IF_ERROR(ControllerBuilder<Namespace>(manager)
                         .WithPredicates(kubexx::controller::predicates::LabelsChanged())
                         .Owns<ConfigMap>()
                         .Watches<ConfigMap>(requests)
                         .Complete(Reconcile));
  KX_RETURN_IF_ERROR(manager.InformerFor<ConfigMap>()->AddIndexers(NameIndex()));
  KX_RETURN_IF_ERROR(ControllerBuilder<Namespace>(manager).Complete(
      std::shared_ptr<kubexx::controller::Reconciler>()));
  return {};
}

[[maybe_unused]] Result<void> RightToo(const kubexx::controller::Client& client, Manager& manager,
                                       kubexx::webhook::Server& hooks) {
  ConfigMap map;
  const auto registration = manager.InformerFor<ConfigMap>()->AddEventHandler(
      "all", {.on_add = [](const kubexx::cache::Ref<ConfigMap>&, bool) {},
              .on_update = [](const auto&, const auto&) {},
              .on_change = std::function<void(const kubexx::cache::Ref<ConfigMap>&)>(),
              .on_delete = nullptr});
  hooks.Handle<ConfigMap>("/mutate", [](kubexx::webhook::Review<ConfigMap>&) {
    return kubexx::webhook::Response::Allowed();
  });
  KX_RETURN_IF_ERROR(kubexx::controller::CreateOrUpdate(
      client, map, [](ConfigMap&) -> Result<void> { return {}; }));
  KX_RETURN_IF_ERROR(kubexx::controller::Finalize(
      client, map, "example.com/x", [](const ConfigMap&) -> Result<void> { return {}; }));
  return {};
}

[[maybe_unused]] void Wrong([[maybe_unused]] Manager& manager,
                            [[maybe_unused]] const kubexx::controller::Client& client,
                            [[maybe_unused]] kubexx::webhook::Server& hooks) {
#if MISTAKE == 1
  // error: static assertion failed: kubexx: no resource is known for this type. Include the
  // resources.gen.h
  (void)ControllerBuilder<Website>(manager);
#elif MISTAKE == 2
  // error: static assertion failed: kubexx: the type of these objects is declared here, but not
  // defined. Include the types.gen.h
  (void)ControllerBuilder<Namespace>(manager).Owns<Deployment>();
#elif MISTAKE == 3
  // error: static assertion failed: kubexx: Complete takes a function
  // apimachinery::Result<Action>(const Request&, Context&)
  (void)ControllerBuilder<Namespace>(manager).Complete(ReconcileNothing);
#elif MISTAKE == 4
  // error: static assertion failed: kubexx: Complete takes a function
  // apimachinery::Result<Action>(const Request&, Context&)
  (void)ControllerBuilder<Namespace>(manager).Complete(ReconcileAlone);
#elif MISTAKE == 5
  // error: static assertion failed: kubexx: Complete takes a function
  // apimachinery::Result<Action>(const Request&, Context&)
  (void)ControllerBuilder<Namespace>(manager).Complete(std::make_shared<NoReconciler>());
#elif MISTAKE == 6
  // error: static assertion failed: kubexx: Watches<U> takes a function std::vector<Request>(const
  // U&)
  (void)ControllerBuilder<Namespace>(manager).Watches<ConfigMap>(NameOf);
#elif MISTAKE == 7
  // error: static assertion failed: kubexx: a predicate is a function bool(const Event<T>&)
  (void)ControllerBuilder<Namespace>(manager).WithPredicates(NameOf);
#elif MISTAKE == 8
  // error: ignoring return
  ControllerBuilder<Namespace>(manager).Complete(Reconcile);
#elif MISTAKE == 9
  // error: static assertion failed: kubexx: an IndexField<T> is for an informer of T; for
  // MetadataInformerFor<T> make an IndexField<PartialObjectMetadata>
  (void)manager.caches()->MetadataInformerFor<ConfigMap>()->AddIndexers(NameIndex());
#elif MISTAKE == 10
  // error: static assertion failed: kubexx: the path leads to no list of structs; use Get
  (void)kubexx::codec::Fields<ConfigMap>("").ForEach(kNothing, &ConfigMap::data);
#elif MISTAKE == 11
  // error: static assertion failed: kubexx: ForEach takes a function Result<void>(const
  // Fields<Element>&)
  (void)kubexx::codec::Fields<Pod>("").ForEach(kNothing, &Pod::spec, &PodSpec::containers);
#elif MISTAKE == 12
  // error: static assertion failed: kubexx: the path leads to no map of texts; use Get
  (void)kubexx::codec::Fields<Pod>("").Entry("app", &Pod::spec, &PodSpec::containers);
#elif MISTAKE == 13
  // error: static assertion failed: kubexx: the path leads to no text; use Get
  (void)kubexx::codec::Fields<Pod>("").Text(&Pod::spec, &PodSpec::containers);
#elif MISTAKE == 14
  // error: static assertion failed: kubexx: the type of these objects is declared here, but not
  // defined. Include the types.gen.h
  (void)manager.InformerFor<Deployment>();
#elif MISTAKE == 15
  // error: static assertion failed: kubexx: a function of an EventHandler<T> has other parameters
  (void)manager.InformerFor<ConfigMap>()->AddEventHandler("x", {.on_add = [](const ConfigMap&) {}});
#elif MISTAKE == 16
  // error: static assertion failed: kubexx: Handle<T> takes a function Response(Review<T>&)
  hooks.Handle<ConfigMap>("/x", [](const ConfigMap&) { return true; });
#elif MISTAKE == 17
  // error: static assertion failed: kubexx: this takes an object, not a pointer to one
  (void)client.Create(kubexx::cache::Ref<ConfigMap>());
#elif MISTAKE == 18
  // error: static assertion failed: kubexx: this takes an object, not a pointer to one
  (void)client.Update(kubexx::cache::Ref<ConfigMap>());
#elif MISTAKE == 19
  // error: static assertion failed: kubexx: this takes an object, not a pointer to one
  (void)client.UpdateStatus(std::make_shared<Pod>());
#elif MISTAKE == 20
  // error: static assertion failed: kubexx: the type of these objects is declared here, but not
  // defined. Include the types.gen.h
  (void)client.Get<Deployment>({"namespace", "name"});
#elif MISTAKE == 21
  // error: static assertion failed: kubexx: the type of these objects is declared here, but not
  // defined. Include the types.gen.h
  (void)client.List<Deployment>("namespace");
#elif MISTAKE == 22
  // error: static assertion failed: kubexx: the type of these objects is declared here, but not
  // defined. Include the types.gen.h
  (void)kubexx::controller::OwnedObjects<Deployment>(manager).Of({});
#elif MISTAKE == 23
  // error: static assertion failed: kubexx: Complete takes a function
  // apimachinery::Result<Action>(const Request&, Context&)
  (void)ControllerBuilder<Namespace>(manager).Complete([](const Request&, Context&) {});
#elif MISTAKE == 24
  // error: static assertion failed: kubexx: Complete takes a function
  // apimachinery::Result<Action>(const Request&, Context&)
  (void)ControllerBuilder<Namespace>(manager).Complete(
      [&](const Request& request, Context&) { return client.Get<ConfigMap>(request.object); });
#elif MISTAKE == 25
  // The language's own, about two returns of a lambda: no library has a say in it.
  // 2 errors: inconsistent types
  (void)ControllerBuilder<Namespace>(manager).Complete([](const Request&, Context& context) {
    KX_RETURN_IF_ERROR(ReconcileNothing({}, context));
    return Action::Done();
  });
#elif MISTAKE == 26
  // error: static assertion failed: kubexx: a Result<void> has no value that KX_ASSIGN_OR_RETURN
  // could assign; use KX_RETURN_IF_ERROR
  (void)[]()->Result<void> {
    KX_ASSIGN_OR_RETURN(const auto nothing, Result<void>());
    return {};
  };
#endif
}

}  // namespace
