#include "kubexx/reloader/model/restored_mark.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

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
}

TEST(RestoredMark, KeepsItsFourWordsAndHasTheTimeOfTheSnapshotBeside) {
  std::map<std::string, std::string> annotations;
  EXPECT_EQ(RestoredMark::In(annotations), std::nullopt);
  RestoredMark mark{.uid = "u1",
                    .good = DigestOf("good"),
                    .bad = DigestOf("bad"),
                    .at = *apimachinery::Time::Parse("2026-11-29T10:00:00Z"),
                    .settled = *apimachinery::Time::Parse("2026-11-28T10:00:00Z")};
  mark.WriteTo(annotations);
  EXPECT_EQ(std::ranges::count(annotations[kRestoredAnnotation], ' '), 3)
      << "older versions want exactly four words";
  EXPECT_EQ(annotations[kRestoredFromAnnotation], mark.ToString() + " 2026-11-28T10:00:00Z");
  EXPECT_THAT(RestoredMark::In(annotations), Optional(Eq(mark)));
  RestoredMark older = mark;
  older.at.seconds += 1;
  older.settled.reset();
  annotations[kRestoredAnnotation] = older.ToString();
  EXPECT_THAT(RestoredMark::In(annotations), Optional(Eq(older))) << "the time is of another mark";
  annotations[kRestoredFromAnnotation] = "now";
  EXPECT_THAT(RestoredMark::In(annotations), Optional(Eq(older)));
  older.WriteTo(annotations);
  EXPECT_FALSE(annotations.contains(kRestoredFromAnnotation));
}

TEST(RestoredMark, MayHaveTheTimeOfTheSnapshotAsItsFifthWord) {
  const RestoredMark mark{.uid = "u1",
                          .good = DigestOf("good"),
                          .bad = DigestOf("bad"),
                          .at = *apimachinery::Time::Parse("2026-11-29T10:00:00Z"),
                          .settled = *apimachinery::Time::Parse("2026-11-28T10:00:00Z")};
  const std::string text = mark.ToString() + " 2026-11-28T10:00:00Z";
  EXPECT_THAT(RestoredMark::Parse(text), Optional(Eq(mark)));
  EXPECT_THAT(RestoredMark::In({{kRestoredAnnotation, text}}), Optional(Eq(mark)));
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
