// What an Oracle says of data that operators put back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "oracle/oracle_fixture.h"

namespace kubexx::oracle {
namespace {

using ::testing::HasSubstr;

/// A ConfigMap with the data "good", and then with "bad", for which a wave was rolled.
class OracleRestoresTest : public OracleTest {
 protected:
  void SetUp() override {
    PutData("good");
    PutData("bad");
    PutRolled("bad");
  }
  static reloader::Digest DigestFor(const std::string& value) {
    return reloader::DigestOf("key=" + value);
  }
  void PutData(const std::string& value, const std::string& mark = "",
               const std::string& uid = "u") {
    Put(kConfig, R"({"metadata":{"uid":")" + uid +
                     R"(","annotations":{"reloader.kubexx.io/restored":")" + mark +
                     R"("}},"data":{"key":")" + value + R"("}})");
  }
  void PutRolled(const std::string& value) {
    PutWorkload({.variable = DigestFor(value).ToString(),
                 .recorded = value,
                 .annotations = R"(,"reloader.kubexx.io/rolled-data":"rolled u ConfigMap/s=)" +
                                DigestFor(value).ToString() + '"'});
    oracle().Wrong();  // what else it says of this rollout is not the point
  }
  /// An operator writes `value`, and the mark of a restore.
  void Restore(const std::string& value, const std::string& good, const std::string& bad) {
    PutData(
        value,
        reloader::RestoredMark{
            .uid = "u", .good = DigestFor(good), .bad = DigestFor(bad), .at = {.seconds = ++time_}}
            .ToString());
  }

 private:
  int time_ = 0;
};

TEST_F(OracleRestoresTest, TheLastGoodDataOverThoseThatFailedAreRight) {
  Restore("good", "good", "bad");
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  EXPECT_EQ(oracle().counts().restored, 1U);
}

TEST_F(OracleRestoresTest, DataThatTheSourceNeverHadAreWrong) {
  Restore("made up", "made up", "bad");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("was given data that it never had"));
}

TEST_F(OracleRestoresTest, DataThatAnObjectOfThatNameHadBeforeAreWrong) {
  Delete(kConfig);
  PutData("bad", "", "v");
  PutData("good",
          reloader::RestoredMark{
              .uid = "v", .good = DigestFor("good"), .bad = DigestFor("bad"), .at = {.seconds = 9}}
              .ToString(),
          "v");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("was given data that it never had"));
}

TEST_F(OracleRestoresTest, OtherDataThanTheMarkTellsOfAreWrong) {
  Restore("bad", "good", "bad");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("has other data than its mark says"));
}

TEST_F(OracleRestoresTest, WhatSomebodyHasWrittenMeanwhileIsNotToBeLost) {
  PutData("mended");
  Restore("good", "good", "bad");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("lost data that somebody had written"));
}

TEST_F(OracleRestoresTest, ASecondRestoreFromTheSameDataIsWrong) {
  Restore("good", "good", "bad");
  PutData("bad");
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  Restore("good", "good", "bad");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("restored a second time"));
}

TEST_F(OracleRestoresTest, ARestoreFromDataThatNoWaveWasRolledForIsWrong) {
  PutData("worse");
  Restore("good", "good", "worse");
  EXPECT_THAT(oracle().Wrong().value_or(""), HasSubstr("that no wave was rolled for"));
}

TEST_F(OracleRestoresTest, AMarkThatWasCopiedFromAnotherObjectSaysNothing) {
  PutData("good", reloader::RestoredMark{.uid = "other",
                                         .good = DigestFor("made up"),
                                         .bad = DigestFor("bad"),
                                         .at = {.seconds = 1}}
                      .ToString());
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
  EXPECT_EQ(oracle().counts().restored, 0U);
}

TEST_F(OracleRestoresTest, ABackupMayBringBackWhatWasReplaced) {
  RestoreAll();
  Restore("good", "good", "bad");
  EXPECT_EQ(oracle().Wrong(), std::nullopt);
}

}  // namespace
}  // namespace kubexx::oracle
