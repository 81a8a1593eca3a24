/// @file
/// What is particular to the objects of each built-in type.
#ifndef KUBEXX_APISERVER_ENDPOINTS_BEHAVIOR_TYPE_BEHAVIOR_H_
#define KUBEXX_APISERVER_ENDPOINTS_BEHAVIOR_TYPE_BEHAVIOR_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/defaults/plain_defaults.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

class ReviewContext;

/// An object that is written. The references are valid during the check.
struct CheckedWrite {
  const ResourceType& type;
  const codec::JsonTree* old;  ///< what the object was; null for a new one
  const codec::JsonTree& object;
  const codec::JsonTree& spec;  ///< that of `object`; empty when it has none

  /// The spec before an update; null when there is none.
  const codec::JsonTree* old_spec() const { return old == nullptr ? nullptr : old->Find("spec"); }
};

/// A field that stays as it was made.
struct ImmutableField {
  // Not `told = field`, for which clang 19 leaves both empty in a list that is part of an
  // aggregate.
  constexpr ImmutableField(const char* name) : ImmutableField(name, name) {}
  constexpr ImmutableField(const char* name, const char* name_in_causes)
      : field(name), told(name_in_causes) {}

  std::string_view field;  ///< with dots between members
  std::string_view told;   ///< what kube-apiserver calls it, which may be something else
};

/// How the server treats objects of one built-in type differently from those of most types, in all
/// its versions: what kube-apiserver has in the defaulting, the validation and the strategy of the
/// type. What is null or empty means that there is nothing particular. See BuiltinTypes for the
/// verbs, the subresources and the columns.
struct TypeBehavior {
  std::string_view group{};
  std::string_view plural{};

  /// Defaults that do not depend on other fields. They are set before those of `set_defaults`.
  std::initializer_list<PlainDefault> plain_defaults{};
  /// Sets the other defaults of an object.
  void (*set_defaults)(const ResourceType& type, codec::JsonTree& object) = nullptr;

  /// Sets what a new object has besides the defaults. What is set may be taken away later.
  void (*complete_new)(codec::JsonTree& object) = nullptr;
  /// Sets what the server keeps in the object itself, whatever the client sends, or says what is
  /// wrong with what the client sends. `current` is what the object was; null for a new one.
  apimachinery::Result<void> (*keep_up)(const codec::JsonTree* current,
                                        codec::JsonTree& object) = nullptr;
  /// Fields, with dots between members, that an update of the object leaves as they were, whatever
  /// the client sends.
  std::initializer_list<std::string_view> fields_kept_by_update{};
  /// Sets `object` in those parts of the status that a write of the status does not change.
  void (*keep_in_status)(const codec::JsonTree& current, codec::JsonTree& object) = nullptr;
  /// Fields that the manager of an update does not own, besides the status, and those that the
  /// manager of a write of the status does not own, besides the spec. As GetResetFields of
  /// kube-apiserver's strategies.
  std::initializer_list<std::string_view> unowned_fields{};
  std::initializer_list<std::string_view> unowned_in_status{};

  /// What is wrong with the name of a new object; "" for a valid one. Null when the name has to be
  /// a DNS subdomain.
  std::string (*name_problem)(std::string_view name) = nullptr;
  /// Adds what is wrong with a new object, or with one of which more than metadata and status
  /// change.
  void (*check)(const CheckedWrite& written, FieldCauses& causes) = nullptr;
  /// Adds what is wrong with the object that a client writes, also when it changes no more than the
  /// metadata or the status.
  void (*check_always)(const CheckedWrite& written, FieldCauses& causes) = nullptr;
  /// Adds what is wrong with a new object, and would not be with one that exists.
  void (*check_new)(const codec::JsonTree& object, FieldCauses& causes) = nullptr;
  /// Adds what is wrong with an object of which more is written than the status; `old` is null for
  /// a new one. It may take seconds, and stops when `budget` does.
  void (*check_long)(const codec::JsonTree* old, const codec::JsonTree& object,
                     schema::Budget& budget, FieldCauses& causes) = nullptr;
  /// Adds the changes from `current` to `object` that a write of a part by its subresource may not
  /// make, and completes what it leaves out.
  void (*check_part)(WritePart part, const codec::JsonTree& current, codec::JsonTree& object,
                     FieldCauses& causes) = nullptr;
  /// Fields that an update may not change.
  std::initializer_list<ImmutableField> immutable_fields{};
  /// Adds the other changes from `current` to `object` that an update may not make.
  void (*check_change)(const codec::JsonTree& current, const codec::JsonTree& object,
                       FieldCauses& causes) = nullptr;

  /// What the client that writes such an object is told of it, as warnings.
  std::vector<std::string> (*warnings)(const codec::JsonTree& object) = nullptr;

  /// Of reviews: sets `status` to the answer to one with this `spec`. See review_answers.h.
  apimachinery::Result<void> (*answer_review)(ReviewContext& context, const codec::JsonTree& spec,
                                              codec::JsonTree& status) = nullptr;
};

/// The behavior of a type. One without anything for a type that has no entry, and for custom
/// resources. Takes a few comparisons of names; thread-safe.
const TypeBehavior& BehaviorOf(const ResourceType& type);

/// All that there are, for tests.
std::span<const TypeBehavior> TypeBehaviors();

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_BEHAVIOR_TYPE_BEHAVIOR_H_
