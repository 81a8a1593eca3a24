// Single fields of what hack/codegen --crd has written, whose members may be missing or null.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/box.h"
#include "kubexx/codec/object_fields.h"
#include "kubexx/kubernetes/testing/keeper_v1.gen.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::Result;
using codec::Fields;
using testing::Keeper;
using testing::KeeperSpec;
using testing::KeeperSpecPart;
using testing::KeeperSpecRulesItem;

Result<std::vector<std::size_t>> PortsOfRules(const Keeper& keeper) {
  std::vector<std::size_t> counts;
  KX_RETURN_IF_ERROR(Fields<Keeper>(keeper).ForEach(
      [&counts](const Fields<KeeperSpecRulesItem>& rule) -> Result<void> {
        KX_ASSIGN_OR_RETURN(const auto ports, rule.Get(&KeeperSpecRulesItem::ports));
        counts.push_back(ports ? ports->size() : 100);
        return {};
      },
      &Keeper::spec, &KeeperSpec::rules));
  return counts;
}

TEST(FieldsOfACustomResourceTest, WhatIsMissingIsEmpty) {
  const Keeper keeper;
  const Fields<Keeper> fields(keeper);
  EXPECT_EQ(fields.Entry("cpu", &Keeper::spec, &KeeperSpec::limits).value(), std::nullopt);
  EXPECT_EQ(fields.OptionalText(&Keeper::spec, &KeeperSpec::text).value(), std::nullopt);
  EXPECT_EQ(fields.Text(&Keeper::spec, &KeeperSpec::part, &KeeperSpecPart::a).value(), "");
  EXPECT_TRUE(PortsOfRules(keeper).value().empty());
}

TEST(FieldsOfACustomResourceTest, NullIsLikeMissing) {
  Keeper keeper;
  keeper.spec.text = std::optional<std::string>();
  keeper.spec.part = apimachinery::Box<KeeperSpecPart>();
  const Fields<Keeper> fields(keeper);
  EXPECT_EQ(fields.OptionalText(&Keeper::spec, &KeeperSpec::text).value(), std::nullopt);
  EXPECT_EQ(fields.Text(&Keeper::spec, &KeeperSpec::part, &KeeperSpecPart::a).value(), "");
}

TEST(FieldsOfACustomResourceTest, WhatIsThereIsReadThroughItsOptionals) {
  Keeper keeper;
  keeper.spec.text = std::optional<std::string>("t");
  keeper.spec.part = apimachinery::Box<KeeperSpecPart>(KeeperSpecPart{.a = "inner"});
  keeper.spec.limits = {{"cpu", "1"}, {"none", ""}};
  keeper.spec.rules.emplace(2);
  keeper.spec.rules->at(1).ports = {80, 443};
  const Fields<Keeper> fields(keeper);
  EXPECT_EQ(fields.Text(&Keeper::spec, &KeeperSpec::text).value(), "t");
  EXPECT_EQ(fields.Text(&Keeper::spec, &KeeperSpec::part, &KeeperSpecPart::a).value(), "inner");
  EXPECT_EQ(fields.Entry("cpu", &Keeper::spec, &KeeperSpec::limits).value(), "1");
  EXPECT_EQ(fields.Entry("none", &Keeper::spec, &KeeperSpec::limits).value(), "");
  EXPECT_EQ(fields.Entry("memory", &Keeper::spec, &KeeperSpec::limits).value(), std::nullopt);
  EXPECT_EQ(PortsOfRules(keeper).value(), (std::vector<std::size_t>{100, 2}));
}

}  // namespace
}  // namespace kubexx::kubernetes
