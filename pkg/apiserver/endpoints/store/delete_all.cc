#include "kubexx/apiserver/endpoints/store/delete_all.h"

#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/store/deletion.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// One pass over the objects of a type reports at most so many failures.
constexpr int kMaxTold = 10;

/// Whether the storage does not answer. Then the other deletions would fail in the same way,
/// perhaps each after its timeout.
bool IsOfAll(Reason reason) {
  return reason == Reason::kUnavailable || reason == Reason::kTimeout ||
         reason == Reason::kTooManyRequests;
}

/// One pass over the objects of a type.
class Pass {
 public:
  Pass(ObjectStore& objects, const DeletionOfAll& deletion,
       base::FunctionRef<void(const JsonTree&)> left, ReapBudget& budget)
      : objects_(objects),
        deletion_(deletion),
        left_(left),
        budget_(budget),
        stored_(deletion.type) {}

  /// Reads some objects and deletes them. Returns whether there may be more.
  Result<bool> Proceed(const std::stop_token& stop) {
    std::vector<Found> found;
    KX_ASSIGN_OR_RETURN(
        const storage::ListResult listed,
        objects_.storage().GetList(
            deletion_.prefix, {.limit = budget_.page(), .continue_after = last_key_},
            [&](storage::KeyValue&& kv) -> Result<void> {
              if (kv.create_revision > deletion_.until) {
                ++leftovers_.count;  // The object is looked at again in the next pass.
                leftovers_.contended = true;
              } else {
                const ResourceType& type = stored_.Of(*kv.value);
                const bool waits = Waits(type, kv);
                found.push_back({std::move(kv.key), kv.mod_revision, &type, waits});
              }
              return {};
            },
            stop));
    last_key_ = listed.last_key;
    for (const Found& one : found) {
      if (!budget_.Take()) {
        return false;
      }
      if (one.waits) {
        ++leftovers_.count;
        budget_.GiveBack();
      } else {
        KX_RETURN_IF_ERROR(Delete(one, stop));
      }
    }
    return listed.more;
  }
  Leftovers& leftovers() { return leftovers_; }

 private:
  struct Found {
    std::string key{};
    storage::Revision revision = 0;
    const ResourceType* type = nullptr;
    bool waits = false;
  };

  /// Whether there is nothing to do but wait, as for most of the objects that are found again. Then
  /// a second look is not needed. Delete reports objects that cannot be read.
  bool Waits(const ResourceType& type, const storage::KeyValue& kv) {
    const auto json = JsonOfStored(type, *kv.value, kv.mod_revision);
    auto object = json ? JsonTree::Parse(*json) : Fail(json.error());
    if (!object || !IsDeleting(*object) ||
        PlanDeletion(type, OptionsFor(kv.mod_revision), objects_.clock(), *object) !=
            DeletionStep::kWait) {
      return false;
    }
    left_(*object);
    return true;
  }

  DeleteOptions OptionsFor(storage::Revision revision) const {
    return {.resource_version = std::to_string(revision), .propagation = deletion_.propagation};
  }

  /// Deletes exactly the object that was found, because there may be another one of that name.
  Result<void> Delete(const Found& one, const std::stop_token& stop) {
    const auto outcome =
        objects_.Delete(*one.type, one.type->KeyOf(one.key), OptionsFor(one.revision), false, stop);
    if (outcome && outcome->gone) {
      return {};
    }
    if (!outcome && (stop.stop_requested() || IsOfAll(outcome.error().reason))) {
      return Fail(outcome.error());
    }
    if (!outcome && apimachinery::IsObjectNotFound(outcome.error())) {
      return {};
    }
    ++leftovers_.count;
    if (outcome) {
      left_(outcome->object);
    } else if (outcome.error().reason == Reason::kConflict) {
      leftovers_.contended = true;
    } else {
      budget_.NoteFailure();
      if (++failures_ <= kMaxTold) {
        logging::Error(
            "Cannot delete an object whose namespace or CustomResourceDefinition is being deleted",
            {{"key", one.key}, {"error", outcome.error()}});
      }
      leftovers_.failure = outcome.error().message;
    }
    return {};
  }

  ObjectStore& objects_;
  const DeletionOfAll& deletion_;
  base::FunctionRef<void(const JsonTree&)> left_;
  ReapBudget& budget_;
  TypeAsStored stored_;
  std::string last_key_{};
  Leftovers leftovers_{};
  int failures_ = 0;
};

}  // namespace

Result<Leftovers> DeleteAll(ObjectStore& objects, const DeletionOfAll& deletion,
                            base::FunctionRef<void(const JsonTree&)> left, ReapBudget& budget,
                            const std::stop_token& stop) {
  Pass pass(objects, deletion, left, budget);
  bool more = true;
  while (more) {
    KX_ASSIGN_OR_RETURN(more, pass.Proceed(stop));
  }
  return std::move(pass.leftovers());
}

}  // namespace kubexx::apiserver
