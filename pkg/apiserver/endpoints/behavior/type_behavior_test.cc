#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx::apiserver {
namespace {

using BehaviorName = std::pair<std::string_view, std::string_view>;

TEST(TypeBehaviorTest, EachEntryIsOfABuiltInTypeThatHasNoOther) {
  const std::vector<ResourceTypeRef> types = BuiltinTypes();
  std::set<BehaviorName> builtin;
  for (const ResourceTypeRef& type : types) {
    builtin.emplace(type->group, type->plural);
  }
  std::set<BehaviorName> seen;
  for (const TypeBehavior& one : TypeBehaviors()) {
    const BehaviorName name(one.group, one.plural);
    EXPECT_TRUE(builtin.contains(name)) << one.plural << "." << one.group;
    EXPECT_TRUE(seen.insert(name).second) << one.plural << "." << one.group;
  }
}

TEST(TypeBehaviorTest, EachTypeFindsItsOwnInAnyVersion) {
  std::size_t found = 0;
  std::set<BehaviorName> entries;
  for (const TypeBehavior& one : TypeBehaviors()) {
    entries.emplace(one.group, one.plural);
  }
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    const TypeBehavior& behavior = BehaviorOf(*type);
    if (entries.contains({type->group, type->plural})) {
      EXPECT_EQ(behavior.group, type->group) << type->plural;
      EXPECT_EQ(behavior.plural, type->plural) << type->group;
      ++found;
    } else {
      EXPECT_EQ(behavior.plural, "") << type->plural;
    }
  }
  EXPECT_EQ(found, TypeBehaviors().size() + 1);  // The autoscaler has two versions.
}

TEST(TypeBehaviorTest, EachImmutableFieldHasAName) {
  std::size_t fields = 0;
  for (const TypeBehavior& one : TypeBehaviors()) {
    for (const ImmutableField& field : one.immutable_fields) {
      EXPECT_NE(field.field, "") << one.plural;
      EXPECT_NE(field.told, "") << one.plural;
      ++fields;
    }
  }
  EXPECT_GT(fields, 20U);
}

/// The types with a non-empty list of fields, and the lists.
std::map<std::string_view, std::vector<std::string_view>> FieldsOf(
    std::initializer_list<std::string_view> TypeBehavior::* list) {
  std::map<std::string_view, std::vector<std::string_view>> fields;
  for (const TypeBehavior& one : TypeBehaviors()) {
    if ((one.*list).size() > 0) {
      fields.emplace(one.plural, one.*list);
    }
  }
  return fields;
}

TEST(TypeBehaviorTest, FieldsThatAWriteLeavesAreThoseOfTheStrategies) {
  using Fields = std::map<std::string_view, std::vector<std::string_view>>;
  constexpr std::string_view kRequests = "certificatesigningrequests";
  EXPECT_EQ(FieldsOf(&TypeBehavior::fields_kept_by_update),
            (Fields{{kRequests, {"spec"}}, {"namespaces", {"spec.finalizers"}}}));
  EXPECT_EQ(FieldsOf(&TypeBehavior::unowned_fields), (Fields{{kRequests, {"spec"}}}));
  EXPECT_EQ(FieldsOf(&TypeBehavior::unowned_in_status),
            (Fields{{kRequests, {"status.conditions"}}}));
}

TEST(TypeBehaviorTest, ReviewsAndOnlyTheyAreAnswered) {
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    EXPECT_EQ(BehaviorOf(*type).answer_review != nullptr, type->is_review) << type->plural;
  }
}

TEST(TypeBehaviorTest, ACustomResourceIsNotTreatedAsABuiltInOneOfItsName) {
  ResourceType type;
  type.group = "networking.k8s.io";
  type.plural = "ingresses";
  EXPECT_NE(BehaviorOf(type).check, nullptr);
  type.custom = schema::CustomVersionRef(std::make_shared<const schema::CustomVersion>());
  EXPECT_EQ(BehaviorOf(type).check, nullptr);
  EXPECT_EQ(BehaviorOf(type).plural, "");
}

}  // namespace
}  // namespace kubexx::apiserver
