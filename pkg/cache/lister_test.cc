#include "kubexx/cache/lister.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::LabelSelector;
using apimachinery::Reason;
using ::testing::ElementsAre;

class ListerTest : public ::testing::Test {
 protected:
  void Put(const std::string& name_space, const std::string& name, const std::string& app,
           codec::Encoding encoding = codec::Encoding::kJson) {
    ConfigMap object;
    object.metadata.namespace_ = name_space;
    object.metadata.name = name;
    object.metadata.labels["app"] = app;
    source_->PutObject({.encoding = encoding,
                        .bytes = encoding == codec::Encoding::kJson ? codec::EncodeJson(object)
                                                                    : codec::EncodeProtobuf(object),
                        .key = {name_space, name}});
  }
  void Start() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync({}));
  }
  std::vector<std::string> Names(const std::string& name_space, const std::string& selector) {
    std::vector<std::string> names;
    for (const auto& object :
         Lister<ConfigMap>(informer_).List(name_space, LabelSelector::Parse(selector).value())) {
      names.push_back(object->metadata.name);
    }
    std::ranges::sort(names);
    return names;
  }

  std::shared_ptr<testing::FakeSource> source_ = std::make_shared<testing::FakeSource>();
  std::shared_ptr<SharedInformer<ConfigMap>> informer_ =
      std::make_shared<SharedInformer<ConfigMap>>(source_, InformerOptions{.name = "configmaps"});
};

TEST_F(ListerTest, ReadsByNamespaceAndSelector) {
  Put("n1", "a", "web");
  Put("n1", "b", "db", codec::Encoding::kProtobuf);
  Put("n2", "c", "web", codec::Encoding::kProtobuf);
  Start();
  EXPECT_THAT(Names("", ""), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names("n1", ""), ElementsAre("a", "b"));
  EXPECT_THAT(Names("", "app in (web,none)"), ElementsAre("a", "c"));
  EXPECT_THAT(Names("n2", "app!=web"), ElementsAre());
  const Lister<ConfigMap> lister(informer_);
  EXPECT_EQ(lister.Get("n2", "c").value()->metadata.labels.at("app"), "web");
  EXPECT_EQ(lister.Get("n2", "a").status().reason, Reason::kNotFound);
}

TEST_F(ListerTest, ReadsBySeveralIndexTerms) {
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  Put("n1", "a", "web");
  Put("n1", "b", "db");
  Put("n2", "c", "web");
  Start();
  ASSERT_TRUE(informer_->AddIndexers({{"app", [](const Object& raw) {
                                         const auto object = DecodeRef<ConfigMap>(raw);
                                         return std::vector{object->metadata.labels.at("app")};
                                       }}}));
  const auto found = Lister<ConfigMap>(informer_).ByIndex({{"namespace", "n1"}, {"app", "web"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->metadata.name, "a");
  EXPECT_EQ(informer_->CountByIndex("app", "web"), 2U);
  EXPECT_THAT(informer_->IndexValues("app"), ::testing::UnorderedElementsAre("web", "db"));
  EXPECT_TRUE(informer_->Contains({"n2", "c"}));
  EXPECT_THAT(Names("n1", ""), ElementsAre("a", "b"));
}

TEST_F(ListerTest, HandlersShareOneDecodedObject) {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<Ref<ConfigMap>> seen;
  const auto record = [&](const Ref<ConfigMap>& object, bool) {
    base::MutexLock lock(mu);
    seen.push_back(object);
    changed.notify_all();
  };
  const auto first = informer_->AddEventHandler("first", {.on_add = record});
  const auto second = informer_->AddEventHandler("second", {.on_add = record});
  Start();
  Put("n1", "a", "web");
  base::MutexLock lock(mu);
  while (seen.size() < 2) {
    changed.wait(mu);
  }
  EXPECT_EQ(seen[0]->metadata.name, "a");
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(ListerTest, AnUndecodableObjectDoesNotStopTheOthers) {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<std::string> seen;
  const auto subscription =
      informer_->AddEventHandler("names", {.on_add = [&](const Ref<ConfigMap>& object, bool) {
                                   base::MutexLock lock(mu);
                                   seen.push_back(object->metadata.name);
                                   changed.notify_all();
                                 }});
  Start();
  source_->PutObject({.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "bad"}});
  Put("n", "good", "web");
  base::MutexLock lock(mu);
  while (seen.size() < 2) {
    changed.wait(mu);
  }
  EXPECT_THAT(seen, ElementsAre("", "good"));
  EXPECT_EQ(informer_->Get({"n", "bad"}).status().reason, Reason::kMalformed);
}

}  // namespace
}  // namespace kubexx::cache
