#include "kubexx/apiserver/object/status_json.h"

#include <gtest/gtest.h>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

std::string ReasonIn(const Status& status) {
  const auto tree = codec::JsonTree::Parse(StatusJson(status));
  return tree ? std::string(tree->TextAt("reason")) : "no JSON";
}

TEST(StatusJsonTest, TheReasonIsTheServersOrAWebhooks) {
  EXPECT_EQ(ReasonIn(Status(Reason::kConflict, "m", 409)), "Conflict");
  EXPECT_EQ(ReasonIn(Status(Reason::kCancelled, "m")), "InternalError") << "a client's reason";
  Status own(Reason::kUnknown, "m", 418);
  EXPECT_EQ(ReasonIn(own), "");
  own.other_reason = "Teapot";
  EXPECT_EQ(ReasonIn(own), "Teapot");
}

}  // namespace
}  // namespace kubexx::apiserver
