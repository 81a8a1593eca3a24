#include "kubexx/reloadpolicy/internal/annotation_reader.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "kubexx/reloadpolicy/policy_set.h"

namespace kubexx::reloadpolicy::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::map<std::string, std::string> Own(std::map<std::string, std::string> settings) {
  std::map<std::string, std::string> annotations{{"a", "b"}};
  for (auto& [key, value] : settings) {
    annotations[std::string(kAnnotationPrefix) + key] = value;
  }
  return annotations;
}

TEST(AnnotationReader, ReadsEachTextOnce) {
  AnnotationReader reader;
  const auto first = reader.Read(Own({{"order", "7"}, {"baseline", "v1"}}));
  EXPECT_EQ(first->settings.order, 7);
  EXPECT_EQ(reader.Read(Own({{"order", "7"}, {"baseline", "v2"}, {"last-rollout", "now"}})), first)
      << "what is no setting does not matter";
  EXPECT_NE(reader.Read(Own({{"order", "8"}})), first);
  EXPECT_EQ(reader.size(), 2U);
}

TEST(AnnotationReader, AnnotationsWithoutSettingsTakeNoRoom) {
  AnnotationReader reader;
  EXPECT_EQ(reader.Read(Own({{"baseline", "v1"}}))->settings, Settings());
  EXPECT_EQ(reader.size(), 0U);
}

TEST(AnnotationReader, KeepsWhatIsWrongAsWell) {
  AnnotationReader reader;
  for (int i = 0; i < 2; ++i) {
    const auto read = reader.Read(Own({{"order", "first"}, {"settle-window", "soon"}}));
    EXPECT_THAT(read->brakes, ElementsAre(HasSubstr("reloader.kubexx.io/order")));
    EXPECT_THAT(read->problems, ElementsAre(HasSubstr("reloader.kubexx.io/settle-window")));
  }
}

TEST(AnnotationReader, ConfusesNoTwoTexts) {
  AnnotationReader reader;
  const auto one = reader.Read(Own({{"keys", "x"}, {"order", "1"}}));
  const auto other = reader.Read(Own({{"keys", "xreloader.kubexx.io/order=1:1"}}));
  EXPECT_EQ(one->settings.order, 1);
  EXPECT_EQ(other->settings.order, std::nullopt);
}

TEST(AnnotationReader, IsBoundedWhateverIsWritten) {
  AnnotationReader reader;
  for (std::size_t i = 0; i < 3 * AnnotationReader::kMostTexts; ++i) {
    (void)reader.Read(Own({{"health-timeout", std::to_string(i) + "s"}}));
    ASSERT_LE(reader.size(), AnnotationReader::kMostTexts);
  }
  const std::string large(AnnotationReader::kMostBytes / 4, 'x');
  for (char each = 'a'; each < 'j'; ++each) {
    (void)reader.Read(Own({{"keys", each + large}}));
  }
  EXPECT_LE(reader.size(), 4U);
  const std::size_t before = reader.size();
  (void)reader.Read(Own({{"keys", std::string(AnnotationReader::kMostBytes, 'x')}}));
  EXPECT_EQ(reader.size(), before) << "larger than all room";
}

TEST(AnnotationReader, WhatAPolicySetReadsIsReadOnceForItsCopies) {
  const PolicySet policies;
  const auto annotations = Own({{"maintenance-windows", "0 2 * * * 1h"}});
  const auto read = policies.OwnSettings(annotations);
  const PolicySet copy = policies;
  EXPECT_EQ(copy.OwnSettings(annotations), read);
  EXPECT_EQ(copy.Resolve({"Deployment", {"ns", "w"}}, annotations).windows.size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloadpolicy::internal
