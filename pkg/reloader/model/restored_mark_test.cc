#include "kubexx/reloader/model/restored_mark.h"

#include <gmock/gmock.h>

namespace kubexx::reloader {
namespace {

using testing::Eq;
using testing::Optional;

TEST(RestoredMark, IsReadAsItIsWritten) {
  const RestoredMark mark{.uid = "u1",
                          .good = DigestOf("good"),
                          .bad = DigestOf("bad"),
                          .at = *apimachinery::Time::Parse("2026-11-29T10:00:00Z")};
  EXPECT_EQ(mark.ToString(), "u1 " + DigestOf("good").ToString() + " " +
                                 DigestOf("bad").ToString() + " 2026-11-29T10:00:00Z");
  EXPECT_THAT(RestoredMark::Parse(mark.ToString()), Optional(Eq(mark)));
  RestoredMark settled = mark;
  settled.settled = *apimachinery::Time::Parse("2026-11-28T10:00:00Z");
  EXPECT_EQ(settled.ToString(), mark.ToString() + " 2026-11-28T10:00:00Z");
  EXPECT_THAT(RestoredMark::Parse(settled.ToString()), Optional(Eq(settled)));
}

TEST(RestoredMark, AnyOtherTextSaysNothing) {
  const std::string digest = DigestOf("x").ToString();
  const std::string time = "2026-11-29T10:00:00Z";
  for (const std::string& text :
       {std::string(), std::string("u1"), "u1 " + digest + " " + digest,
        "u1 " + digest + " " + digest + " now", " " + digest + " " + digest + " " + time,
        "u1 x " + digest + " " + time, "u1 " + digest + " x " + time,
        "u1 " + digest + " " + digest + " " + time + " more",
        "u1 " + digest + " " + digest + " " + time + " " + time + " more"}) {
    EXPECT_EQ(RestoredMark::Parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kubexx::reloader
