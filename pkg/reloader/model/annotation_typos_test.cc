#include "kubexx/reloader/model/annotation_typos.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

TEST(MeantAnnotation, IsTheOneThatIsAlmostTheSame) {
  for (const char* key :
       {"reloader.kubexx.io/pasued", "reloader.kubexx.io/pause", "reloader.kubexx.io/Paused"}) {
    EXPECT_EQ(MeantAnnotation(key), kSourcePaused) << key;
  }
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/key"), kSourceKeys);
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/maintenance-window"),
            "reloader.kubexx.io/maintenance-windows");
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/settlewindow"), "reloader.kubexx.io/settle-window");
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/record-baselines"), kRecordBaseline);
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/reload-inplace"), kReloadInPlace);
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/cannary"), "reloader.kubexx.io/canary");
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/reload-on-other-namespace"),
            kReloadOnOtherNamespaces);
}

TEST(MeantAnnotation, IsNoneOfWhatIsKnownAndOfWhatIsLikeNothing) {
  for (const std::string_view key :
       {kSourcePaused, kSourceKeys, kBaselineAnnotation, kHistoryAnnotation,
        std::string_view("reloader.kubexx.io/last-rollout"),
        std::string_view("reloader.kubexx.io/rollout-state"),
        std::string_view("reloader.kubexx.io/rolled-data"), kReloadInPlace, kReloadContainer,
        kReloadOn, kReloadOnOtherNamespaces, kAllowedNamespaces, kReloadingInPlace,
        std::string_view("reloader.kubexx.io/canary"),
        std::string_view("reloader.kubexx.io/of-another-version"),
        std::string_view("reloader.kubexx.io/"), std::string_view("example.com/pasued"),
        std::string_view("reloader.kubexx.io/odd")}) {
    EXPECT_EQ(MeantAnnotation(key), "") << key;
  }
  EXPECT_EQ(MeantAnnotation("reloader.kubexx.io/" + std::string(100'000, 'p')), "");
}

}  // namespace
}  // namespace kubexx::reloader
