#include "kubexx/reloader/meta_info.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(MetaInfo, HasTheOriginalsForm) {
  Config config;
  config.meta_info = {.namespace_ = "ops", .deployment_name = "reloader"};
  config.reported_options = {{"autoReloadAll", true},
                             {"logFormat", std::string("json")},
                             {"namespacesToIgnore", std::vector<std::string>{"a", "b"}},
                             {"resourceSelectors", std::vector<std::string>{}}};
  const auto object = MetaInfoOf(config, {.version = "1.2.3"});
  EXPECT_EQ(object.metadata.name, "reloader-meta-info");
  EXPECT_EQ(object.metadata.namespace_, "ops");
  EXPECT_EQ(object.metadata.labels.at("reloader.stakater.com/meta-info"), "reloader");
  EXPECT_EQ(object.data.at("buildInfo"),
            R"({"goVersion":"","releaseVersion":"1.2.3","commitHash":"",)"
            R"("commitTime":"0001-01-01T00:00:00Z","edition":"oss"})");
  EXPECT_EQ(object.data.at("reloaderOptions"),
            R"({"autoReloadAll":true,"logFormat":"json","namespacesToIgnore":["a","b"],)"
            R"("resourceSelectors":[]})");
  EXPECT_EQ(object.data.at("deploymentInfo"), R"({"name":"reloader","namespace":"ops"})");
}

}  // namespace
}  // namespace kubexx::reloader
