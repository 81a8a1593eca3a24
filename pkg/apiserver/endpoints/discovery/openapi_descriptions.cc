#include "kubexx/apiserver/endpoints/discovery/openapi_descriptions.h"

#include <algorithm>
#include <iterator>

namespace kubexx::apiserver {
namespace {

struct Description {
  std::string_view type;
  std::string_view field;
  std::string_view text;
};

constexpr std::string_view kType = "meta.v1.TypeMeta";
constexpr std::string_view kObject = "meta.v1.ObjectMeta";
constexpr std::string_view kList = "meta.v1.ListMeta";

constexpr Description kDescriptions[] = {
    {kType, "apiVersion",
     "APIVersion defines which version of its schema the object is written in. The server refuses "
     "versions that it does not serve."},
    {kType, "kind", "Kind names the type of the object, in CamelCase. It never changes."},
    {kType, "metadata", "Standard object's metadata."},
    {kObject, "", "What every stored object has: names, versions, and what others attach to it."},
    {kObject, "name",
     "Name tells the objects of one type in one namespace apart. It never changes."},
    {kObject, "generateName",
     "GenerateName is how a name begins that the server makes up for an object without one."},
    {kObject, "namespace", "Namespace that the object is in. It is empty where types have none."},
    {kObject, "selfLink", "SelfLink is not used any more."},
    {kObject, "uid", "UID is the server's: no other object has it, not even one of the same name."},
    {kObject, "resourceVersion",
     "ResourceVersion changes with every write. An update that names it fails when somebody else "
     "has written meanwhile."},
    {kObject, "generation", "Generation counts the changes of what is wanted."},
    {kObject, "creationTimestamp",
     "CreationTimestamp is a timestamp: when the server has stored the object. It is the "
     "server's."},
    {kObject, "deletionTimestamp",
     "DeletionTimestamp is when an object that is being deleted is due to go. It is the server's."},
    {kObject, "deletionGracePeriodSeconds",
     "DeletionGracePeriodSeconds is how long an object that is being deleted may take to end."},
    {kObject, "labels", "Labels are what selectors find the object by."},
    {kObject, "annotations", "Annotations are for tools. No selector looks at them."},
    {kObject, "ownerReferences",
     "OwnerReferences name the objects that this one goes with, once all of them have gone."},
    {kObject, "finalizers",
     "Finalizers name those who have something to do before a deleted object goes. Each takes its "
     "own away."},
    {kObject, "managedFields", "ManagedFields say who has set which fields."},
    {kList, "", "What every list has."},
    {kList, "resourceVersion", "ResourceVersion is the version of the store that the list shows."},
    {kList, "continue", "Continue is what to ask for the next page with."},
    {kList, "remainingItemCount",
     "RemainingItemCount is how many objects follow on later pages, as far as the server knows."},
};

}  // namespace

std::string_view DescriptionOf(std::string_view type, std::string_view field) {
  const auto* const found = std::ranges::find_if(kDescriptions, [&](const Description& one) {
    return one.type == type && one.field == field;
  });
  return found == std::end(kDescriptions) ? std::string_view() : found->text;
}

}  // namespace kubexx::apiserver
