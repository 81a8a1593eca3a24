#include "kubexx/apiserver/endpoints/checks/field_path.h"

#include <gtest/gtest.h>

namespace kubexx::apiserver {
namespace {

TEST(FieldPathTest, IsWrittenAsKubernetesWritesIt) {
  const FieldPath spec("spec");
  const FieldPath list = spec.Member("containers");
  const FieldPath one = list.Element(3);
  EXPECT_EQ(one.Text(), "spec.containers[3]");
  EXPECT_EQ(one.Of("ports"), "spec.containers[3].ports");
  EXPECT_EQ(list.Last(), "containers");
  EXPECT_EQ(spec.Member("hard").Key("cpu"), "spec.hard[cpu]");
}

TEST(FieldPathTest, AWholeObjectHasNoPath) {
  const FieldPath object("");
  EXPECT_EQ(object.Of("handler"), "handler");
  EXPECT_EQ(object.Text(), "");
}

}  // namespace
}  // namespace kubexx::apiserver
