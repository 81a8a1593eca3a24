#include "kubexx/apiserver/endpoints/validation/pods/volume_changes.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CheckOfChange = void (*)(const JsonTree&, const JsonTree&, FieldCauses&);

/// "field: message" of everything that a change may not do.
std::vector<std::string> RefusedOf(CheckOfChange check, const std::string& before,
                                   const std::string& after) {
  const auto current = JsonTree::Parse(before);
  const auto object = JsonTree::Parse(after);
  EXPECT_TRUE(current && object) << before << after;
  FieldCauses causes;
  if (current && object) {
    check(*current, *object, causes);
  }
  std::vector<std::string> problems;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    problems.push_back(one.field + ": " + one.message);
  }
  return problems;
}

/// A claim with a class in the annotation and one in the field; "-" for none.
std::string ClaimOf(const std::string& annotation, const std::string& name) {
  std::string claim = R"({"metadata":{)";
  if (annotation != "-") {
    claim += R"("annotations":{"volume.beta.kubernetes.io/storage-class":")" + annotation + "\"}";
  }
  claim += R"(},"spec":{)";
  return claim + (name == "-" ? "}}" : R"("storageClassName":")" + name + "\"}}");
}

TEST(VolumeChangesTest, ASizeInAnotherFormIsNoChange) {
  const auto refused = [](const std::string& size) {
    const std::string begin = R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":)"
                              R"({"storage":)";
    return RefusedOf(CheckClaimChange, begin + R"("1Gi"}}}})", begin + size + "}}}}");
  };
  EXPECT_THAT(refused("\"1073741824\""), IsEmpty());
  EXPECT_THAT(refused("\"1048576Ki\""), IsEmpty());
  EXPECT_THAT(refused("\"1073741825\""), ElementsAre(HasSubstr("spec: Forbidden")));
}

TEST(VolumeChangesTest, AClassIsNamedOnceWhereNothingWasSaid) {
  const auto refused = [](const std::string& before, const std::string& after) {
    return RefusedOf(CheckClaimChange, ClaimOf("-", before), ClaimOf("-", after));
  };
  EXPECT_THAT(refused("-", "fast"), IsEmpty());
  EXPECT_THAT(refused("-", ""), IsEmpty());
  EXPECT_THAT(refused("fast", "fast"), IsEmpty());
  for (const auto& [before, after] : {std::pair<const char*, const char*>("", "fast"),
                                      {"", "-"},
                                      {"slow", "fast"},
                                      {"slow", "-"},
                                      {"slow", ""}}) {
    EXPECT_THAT(refused(before, after), ElementsAre(HasSubstr("spec: Forbidden"))) << before;
  }
}

TEST(VolumeChangesTest, AClassMovesFromTheAnnotationToTheField) {
  const auto refused = [](const std::string& annotation, const std::string& name) {
    return RefusedOf(CheckClaimChange, ClaimOf("slow", "-"), ClaimOf(annotation, name));
  };
  EXPECT_THAT(refused("slow", "slow"), IsEmpty());
  EXPECT_THAT(refused("-", "slow"), IsEmpty());
  EXPECT_THAT(refused("slow", "-"), IsEmpty());
  EXPECT_THAT(refused("slow", "fast"), ElementsAre(HasSubstr("spec: Forbidden")));
  EXPECT_THAT(refused("-", "-"), ElementsAre(HasSubstr("storage-class: Invalid value: \"\"")));
  EXPECT_THAT(refused("fast", "fast"),
              ElementsAre(HasSubstr("storage-class: Invalid value: \"fast\""),
                          HasSubstr("spec: Forbidden")));
}

TEST(VolumeChangesTest, AClaimKeepsWhatItHasGot) {
  const auto claim = [](const std::string& size, const std::string& attributes) {
    return R"({"spec":{"resources":{"requests":{"storage":")" + size + "\"}}" + attributes +
           R"(},"status":{"phase":"Bound","capacity":{"storage":"2Gi"},)"
           R"("currentVolumeAttributesClassName":"x"}})";
  };
  const auto refused = [&](const std::string& size, const std::string& attributes) {
    return RefusedOf(CheckClaimChange, claim("4Gi", R"(,"volumeAttributesClassName":"x")"),
                     claim(size, attributes));
  };
  const std::string other = R"(,"volumeAttributesClassName":"y")";
  EXPECT_THAT(refused("3Gi", other), IsEmpty());
  EXPECT_THAT(refused("5Gi", other), IsEmpty());
  EXPECT_THAT(refused("2Gi", other), ElementsAre(HasSubstr("requests.storage: Forbidden")));
  EXPECT_THAT(refused("4Gi", ""), ElementsAre(HasSubstr("AttributesClassName: Forbidden")));
  EXPECT_THAT(refused("4Gi", R"(,"volumeAttributesClassName":"")"),
              ElementsAre(HasSubstr("AttributesClassName: Forbidden")));
}

/// A volume that nodes with one of two labels reach.
std::string VolumeFor(const std::string& first, const std::string& second,
                      const std::string& value = "v") {
  return R"({"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[)"
         R"({"key":")" +
         first + R"(","operator":"In","values":[")" + value + R"("]},{"key":")" + second +
         R"(","operator":"Exists"}]}]}}}})";
}

TEST(VolumeChangesTest, LabelsOfNodesGetTheirFinalNames) {
  const auto refused = [](const std::string& before, const std::string& after) {
    return RefusedOf(CheckVolumeChange, before, after);
  };
  for (const auto& [former, final] :
       {std::pair<const char*, const char*>("failure-domain.beta.kubernetes.io/zone",
                                            "topology.kubernetes.io/zone"),
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"}}) {
    const std::string before = VolumeFor(former, "a");
    EXPECT_THAT(refused(before, VolumeFor(final, "a")), IsEmpty()) << former;
    const auto immutable = ElementsAre(HasSubstr("nodeAffinity: Invalid value"));
    EXPECT_THAT(refused(VolumeFor(final, "a"), before), immutable);
    EXPECT_THAT(refused(before, VolumeFor(final, "a", "w")), immutable);
    EXPECT_THAT(refused(before, VolumeFor("a", final)), immutable);
    EXPECT_THAT(refused(before, R"({"spec":{}})"), immutable);
  }
  EXPECT_THAT(
      refused(VolumeFor("beta.kubernetes.io/os", "a"), VolumeFor("kubernetes.io/arch", "a")),
      ElementsAre(HasSubstr("nodeAffinity: Invalid value")));
}

TEST(VolumeChangesTest, AVolumeKeepsAClassOfAttributes) {
  const std::string before = R"({"spec":{"volumeAttributesClassName":"gold"}})";
  const auto refused = [&before](const std::string& after) {
    return RefusedOf(CheckVolumeChange, before, after);
  };
  EXPECT_THAT(refused(R"({"spec":{"volumeAttributesClassName":"silver"}})"), IsEmpty());
  EXPECT_THAT(refused(R"({"spec":{}})"),
              ElementsAre(HasSubstr("spec.volumeAttributesClassName: Forbidden")));
  EXPECT_THAT(refused(R"({"spec":{"volumeAttributesClassName":""}})"),
              ElementsAre(HasSubstr("spec.volumeAttributesClassName: Required")));
}

}  // namespace
}  // namespace kubexx::apiserver
