#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/registry.gen.h"
#include "kubexx/api/resource/v1/types.gen.h"
#include "kubexx/api/testing/round_trip_kinds.gen.h"

namespace kubexx::api {
namespace {

using codec::Cardinality;
using codec::FieldSchema;
using codec::Kind;
using codec::TypeSchema;

/// All tables that can be reached from the root kinds.
const std::set<const TypeSchema*>& AllTypes() {
  static const auto all = [] {
    std::set<const TypeSchema*> seen;
    std::vector<const TypeSchema*> todo(Registry().types().begin(), Registry().types().end());
    while (!todo.empty()) {
      const TypeSchema* type = todo.back();
      todo.pop_back();
      if (!seen.insert(type).second) {
        continue;
      }
      for (const FieldSchema& field : type->fields) {
        if (field.message != nullptr) {
          todo.push_back(field.message);
        }
      }
    }
    return seen;
  }();
  return all;
}

std::string ApiVersion(const TypeSchema& type) {
  return type.group.empty() ? std::string(type.version)
                            : std::string(type.group) + "/" + std::string(type.version);
}

const FieldSchema* FindField(const TypeSchema& type, std::string_view name) {
  for (const FieldSchema& field : type.fields) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

TEST(RegistryTest, IsStrictlyAscendingByGroupVersionKind) {
  const auto types = Registry().types();
  for (std::size_t i = 1; i < types.size(); ++i) {
    EXPECT_LT(std::tie(types[i - 1]->group, types[i - 1]->version, types[i - 1]->kind),
              std::tie(types[i]->group, types[i]->version, types[i]->kind));
  }
}

TEST(RegistryTest, HasEveryKindWithUpstreamTestData) {
  std::set<std::string> known;
  for (const TypeSchema* type : Registry().types()) {
    known.insert(ApiVersion(*type) + "/" + std::string(type->kind));
  }
  EXPECT_EQ(std::size(kRoundTripKinds), 185U);
  for (const RoundTripKind& kind : kRoundTripKinds) {
    EXPECT_THAT(known,
                testing::Contains(std::string(kind.api_version) + "/" + std::string(kind.kind)));
  }
}

TEST(RegistryTest, HasExtensionsAggregationAndMetaKinds) {
  std::set<std::string> known;
  for (const TypeSchema* type : Registry().types()) {
    known.insert(ApiVersion(*type) + "/" + std::string(type->kind));
  }
  EXPECT_THAT(known,
              testing::IsSupersetOf(
                  {"apiextensions.k8s.io/v1/CustomResourceDefinition",
                   "apiextensions.k8s.io/v1beta1/CustomResourceDefinition",
                   "apiregistration.k8s.io/v1/APIService", "meta.k8s.io/v1/PartialObjectMetadata",
                   "meta.k8s.io/v1/PartialObjectMetadataList", "v1/Status", "v1/List",
                   "v1/APIResourceList", "v1/APIGroupList", "v1/PodList"}));
}

TEST(SchemaTest, CoversMoreThanAThousandStructs) { EXPECT_GT(AllTypes().size(), 1100U); }

TEST(SchemaTest, TagsAscendAndFieldsWithoutTagComeLast) {
  for (const TypeSchema* type : AllTypes()) {
    std::uint32_t last = 0;
    bool untagged = false;
    for (const FieldSchema& field : type->fields) {
      if (field.tag == 0) {
        untagged = true;
        continue;
      }
      EXPECT_FALSE(untagged) << type->name << "." << field.name;
      EXPECT_GT(field.tag, last) << type->name << "." << field.name;
      last = field.tag;
    }
  }
}

/// Adds the JSON names that stand in an object of `type`, those of inlined messages included.
void CollectJsonNames(const TypeSchema& type, std::vector<std::string_view>& names) {
  for (const FieldSchema& field : type.fields) {
    if ((field.flags & codec::kInline) != 0) {
      CollectJsonNames(*field.message, names);
    } else {
      names.push_back(field.name);
    }
  }
}

TEST(SchemaTest, JsonNamesAreUniqueWithInlinedFields) {
  for (const TypeSchema* type : AllTypes()) {
    std::vector<std::string_view> names;
    CollectJsonNames(*type, names);
    const std::set<std::string_view> unique(names.begin(), names.end());
    EXPECT_EQ(unique.size(), names.size()) << type->name;
    EXPECT_FALSE(unique.contains("")) << type->name;
    if (!type->kind.empty() && type->json_form == codec::JsonForm::kObject) {
      EXPECT_FALSE(unique.contains("kind") || unique.contains("apiVersion")) << type->name;
    }
  }
}

TEST(SchemaTest, MessagesHaveTablesAndContainersHaveOps) {
  for (const TypeSchema* type : AllTypes()) {
    for (const FieldSchema& field : type->fields) {
      EXPECT_EQ(field.kind == Kind::kMessage, field.message != nullptr)
          << type->name << "." << field.name;
      EXPECT_EQ(field.cardinality != Cardinality::kPlain, field.ops != nullptr)
          << type->name << "." << field.name;
      if ((field.flags & codec::kInline) != 0) {
        EXPECT_EQ(field.kind, Kind::kMessage) << type->name << "." << field.name;
        EXPECT_EQ(field.cardinality, Cardinality::kPlain) << type->name << "." << field.name;
      }
    }
  }
}

TEST(SchemaTest, OffsetsAreDistinct) {
  for (const TypeSchema* type : AllTypes()) {
    std::set<std::uint32_t> offsets;
    for (const FieldSchema& field : type->fields) {
      EXPECT_TRUE(offsets.insert(field.offset).second) << type->name << "." << field.name;
    }
  }
}

TEST(SchemaTest, ObjectsAndTheirContainersAreCreatedFilledAndDestroyed) {
  for (const TypeSchema* type : AllTypes()) {
    void* object = type->create();
    for (const FieldSchema& field : type->fields) {
      void* member = static_cast<char*>(object) + field.offset;
      switch (field.cardinality) {
        case Cardinality::kPlain:
          break;
        case Cardinality::kOptional:
        case Cardinality::kRepeated: {
          const void* element = field.ops->append(member);
          EXPECT_EQ(field.ops->at(member, 0), element) << type->name << "." << field.name;
          EXPECT_EQ(field.ops->size(member), 1U) << type->name << "." << field.name;
          break;
        }
        case Cardinality::kMap: {
          const void* value = field.ops->slot(member, "key");
          EXPECT_EQ(field.ops->slot(member, "key"), value) << type->name << "." << field.name;
          EXPECT_EQ(field.ops->size(member), 1U) << type->name << "." << field.name;
          break;
        }
      }
    }
    type->destroy(object);
  }
}

TEST(SchemaTest, TableOfATypeIsTheOneInTheRegistry) {
  const TypeSchema& pod = codec::SchemaOf<core::v1::Pod>();
  EXPECT_EQ(pod.name, "core.v1.Pod");
  EXPECT_EQ(pod.group, "");
  EXPECT_EQ(pod.version, "v1");
  EXPECT_EQ(pod.kind, "Pod");
  EXPECT_THAT(Registry().types(), testing::Contains(&pod));
  EXPECT_EQ(codec::SchemaOf<core::v1::PodSpec>().kind, "");
}

TEST(SchemaTest, GoTagsBecomeFlags) {
  const TypeSchema& meta = codec::SchemaOf<meta::v1::ObjectMeta>();
  const FieldSchema* created = FindField(meta, "creationTimestamp");
  ASSERT_NE(created, nullptr);
  EXPECT_EQ(created->tag, 8U);
  EXPECT_EQ(created->kind, Kind::kTime);
  EXPECT_EQ(created->cardinality, Cardinality::kPlain);
  EXPECT_EQ(FindField(meta, "deletionTimestamp")->cardinality, Cardinality::kOptional);
  const FieldSchema* containers = FindField(codec::SchemaOf<core::v1::PodSpec>(), "containers");
  ASSERT_NE(containers, nullptr);
  EXPECT_EQ(containers->flags, codec::kNoFlags);
  EXPECT_EQ(containers->message, &codec::SchemaOf<core::v1::Container>());
  const FieldSchema* source = FindField(codec::SchemaOf<core::v1::Volume>(), "volumeSource");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->flags & codec::kInline, codec::kInline);
  EXPECT_EQ(codec::SchemaOf<meta::v1::WatchEvent>().json_form, codec::JsonForm::kBareObject);
}

TEST(TypesTest, MembersAreSnakeCaseAndValuesCompare) {
  core::v1::Pod pod;
  pod.metadata.name = "a";
  pod.spec.host_pid = true;
  pod.status.pod_ip = "10.0.0.1";
  pod.status.pod_ips.push_back({.ip = "10.0.0.1"});
  core::v1::Service service{};
  service.spec.cluster_ips = {"10.1.0.1"};
  core::v1::Pod copy = pod;
  EXPECT_EQ(copy, pod);
  copy.spec.security_context.emplace().run_as_non_root = true;
  EXPECT_NE(copy, pod);
  static_assert(std::is_nothrow_move_constructible_v<core::v1::Pod> &&
                std::is_nothrow_move_assignable_v<core::v1::Pod>);
}

TEST(TypesTest, AStructIsAssignedToItselfAndFromItsOwnMember) {
  apiextensions::v1::JSONSchemaProps schema;
  schema.title = "outer";
  schema.not_.emplace().title = "inner";
  const apiextensions::v1::JSONSchemaProps copy = schema;
  schema = *&schema;
  EXPECT_EQ(schema, copy);
  schema = *schema.not_;
  EXPECT_EQ(schema.title, "inner");
  schema = copy;
  schema = std::move(*schema.not_);
  EXPECT_EQ(schema.title, "inner");
  EXPECT_FALSE(schema.not_);
}

TEST(TypesTest, SmallStructsAreAggregates) {
  static_assert(std::is_aggregate_v<core::v1::EnvVar> && !std::is_aggregate_v<core::v1::Container>);
  const core::v1::EnvVar variable{.name = "A", .value = "1"};
  EXPECT_EQ(variable.value, "1");
}

TEST(ResourceTest, IsKnownAtCompileTimeFromTheType) {
  static_assert(ResourceOf<core::v1::Pod>().plural == "pods");
  static_assert(ResourceOf<core::v1::Pod>().namespaced);
  static_assert(!ResourceOf<core::v1::Node>().namespaced);
  static_assert(ResourceOf<apps::v1::Deployment>().group == "apps");
  EXPECT_EQ(&ResourceOf<apps::v1::Deployment>(), &apps::v1::kDeploymentResource);
}

}  // namespace
}  // namespace kubexx::api
