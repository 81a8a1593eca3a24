#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::cache {
namespace {

using api::core::v1::Pod;
using apimachinery::FieldSelector;
using apimachinery::LabelMap;
using apimachinery::LabelSelector;
using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Counts how often a pod of the tests was decoded.
std::atomic<int> decoded_pods = 0;

/// A Pod that counts its decodings.
struct CountedPod : Pod {};

}  // namespace

template <>
apimachinery::Result<UntypedRef> DecodeUntyped<CountedPod>(const Object& raw) {
  ++decoded_pods;
  return DecodeInto(raw, codec::SchemaOf<Pod>(), std::make_shared<CountedPod>());
}

namespace {

class ListerSelectionTest : public ::testing::Test {
 protected:
  void Put(const std::string& namespace_, const std::string& name, const LabelMap& labels,
           const std::string& node = "", codec::Encoding encoding = codec::Encoding::kProtobuf) {
    Pod pod;
    pod.metadata.namespace_ = namespace_;
    pod.metadata.name = name;
    pod.metadata.labels = labels;
    pod.spec.node_name = node;
    source_->PutObject({.encoding = encoding,
                        .bytes = encoding == codec::Encoding::kJson ? codec::EncodeJson(pod)
                                                                    : codec::EncodeProtobuf(pod),
                        .key = {namespace_, name}});
  }
  void PutBroken(const std::string& namespace_, const std::string& name, const std::string& json) {
    source_->PutObject(
        {.encoding = codec::Encoding::kJson, .bytes = json, .key = {namespace_, name}});
  }
  void Start() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  }
  void IndexNodes() {
    ASSERT_TRUE(
        informer_->AddIndexers(IndexField<CountedPod>("spec.nodeName", [](const CountedPod& pod) {
          return pod.spec.node_name.empty() ? std::vector<std::string>()
                                            : std::vector{pod.spec.node_name};
        })));
  }
  static Selection Of(const std::string& namespace_, const std::string& labels,
                      const std::string& fields = "") {
    return {.namespace_ = namespace_,
            .labels = LabelSelector::Parse(labels).value(),
            .fields = FieldSelector::Parse(fields).value()};
  }
  std::vector<std::string> Names(const Selection& selection) {
    std::vector<std::string> names;
    const auto listed = Lister<CountedPod>(informer_).List(selection);
    EXPECT_TRUE(listed) << listed.error().ToString();
    for (const auto& object : listed.value_or(std::vector<Ref<CountedPod>>())) {
      names.push_back(object->metadata.name);
    }
    std::ranges::sort(names);
    return names;
  }

  std::shared_ptr<testing::FakeSource> source_ = std::make_shared<testing::FakeSource>();
  std::shared_ptr<SharedInformer<CountedPod>> informer_ =
      std::make_shared<SharedInformer<CountedPod>>(
          source_,
          InformerOptions{.name = "pods",
                          .use_watch_list = false,
                          .tuning = {.backoff = {.initial = std::chrono::milliseconds(1)}}});
};

TEST_F(ListerSelectionTest, DecodesWhatALabelSelectorSelectsAndNothingElse) {
  for (int i = 0; i < 300; ++i) {
    Put("n" + std::to_string(i % 3), "p" + std::to_string(i),
        {{"app", "app" + std::to_string(i % 100)}, {"tier", i % 2 == 0 ? "web" : "db"}});
  }
  Start();
  for (const char* selector : {"app=app7", "app in (app7)", "app=app7,tier!=web", "app,app=app7"}) {
    decoded_pods = 0;
    EXPECT_THAT(Names(Of("", selector)), ElementsAre("p107", "p207", "p7")) << selector;
    EXPECT_EQ(decoded_pods, 3) << selector;
  }
  decoded_pods = 0;
  EXPECT_THAT(Names(Of("n1", "app in (app7,app8)")), ElementsAre("p208", "p7"));
  EXPECT_THAT(Names(Of("", "!tier")), IsEmpty());
  EXPECT_THAT(Names(Of("nowhere", "app=app7")), IsEmpty());
  EXPECT_EQ(decoded_pods, 2);
}

TEST_F(ListerSelectionTest, EverySelectorSelectsWhatItMatches) {
  for (int i = 0; i < 64; ++i) {
    LabelMap labels;
    if (i % 2 == 0) {
      labels["app"] = "v" + std::to_string(i % 4);
    }
    if (i % 3 == 0) {
      labels["app2"] = std::to_string(i % 5);
    }
    if (i % 7 == 0) {
      labels["empty"] = "";
    }
    Put("n" + std::to_string(i % 2), "p" + std::to_string(i), labels, "",
        i % 5 == 0 ? codec::Encoding::kJson : codec::Encoding::kProtobuf);
  }
  Start();
  const auto everything = Lister<CountedPod>(informer_).List().value();
  ASSERT_EQ(everything.size(), 64U);
  for (const char* text :
       {"app=v0", "app!=v0", "app", "!app", "app in (v0,v2)", "app notin (v0,none)", "app2>2",
        "app2<2", "empty=", "empty!=", "app=v2,app2", "app in (v0,v2),app2>0,!empty", "ap",
        "app2=0", "app=v0,app=v2", "empty in (,x)"}) {
    for (const char* namespace_ : {"", "n0", "n1"}) {
      const Selection selection = Of(namespace_, text);
      std::vector<std::string> expected;
      for (const auto& pod : everything) {
        if (selection.labels.Matches(pod->metadata.labels) &&
            (selection.namespace_.empty() || pod->metadata.namespace_ == selection.namespace_)) {
          expected.push_back(pod->metadata.name);
        }
      }
      std::ranges::sort(expected);
      EXPECT_EQ(Names(selection), expected) << text << " in \"" << namespace_ << "\"";
    }
  }
}

TEST_F(ListerSelectionTest, AListFollowsTheLabelsAsTheyChange) {
  Put("n", "a", {{"app", "web"}});
  Put("n", "b", {{"app", "db"}});
  Start();
  EXPECT_THAT(Names(Of("", "app=web")), ElementsAre("a"));
  source_->AwaitCaughtUp();
  Put("n", "b", {{"app", "web"}});
  Put("n", "a", {});
  source_->Delete({"n", "none"});
  Put("n", "c", {{"app", "web"}});
  KX_AWAIT(informer_->Contains({"n", "c"}));
  EXPECT_THAT(Names(Of("", "app=web")), ElementsAre("b", "c"));
  EXPECT_THAT(Names(Of("", "!app")), ElementsAre("a"));
}

TEST_F(ListerSelectionTest, FieldsAreTheKeyAndTheIndexesOfTheInformer) {
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  IndexNodes();
  Put("n1", "a", {{"app", "web"}}, "node1");
  Put("n1", "b", {{"app", "web"}}, "node2");
  Put("n2", "a", {{"app", "db"}}, "node1");
  Put("n2", "c", {{"app", "web"}});
  Start();
  EXPECT_THAT(Names(Of("", "none")), IsEmpty()) << "makes the index of the labels";
  decoded_pods = 0;
  EXPECT_THAT(Names(Of("", "", "spec.nodeName=node1")), ElementsAre("a", "a"));
  EXPECT_THAT(Names(Of("n1", "", "spec.nodeName=node1")), ElementsAre("a"));
  EXPECT_THAT(Names(Of("", "app=web", "spec.nodeName!=node1")), ElementsAre("b", "c"));
  EXPECT_THAT(Names(Of("", "", "spec.nodeName=")), ElementsAre("c"));
  EXPECT_THAT(Names(Of("n2", "", "metadata.name=a")), ElementsAre("a"));
  EXPECT_THAT(Names(Of("", "", "metadata.name=a,metadata.namespace=n1")), ElementsAre("a"));
  EXPECT_THAT(Names(Of("", "", "metadata.name!=a,metadata.namespace!=n1")), ElementsAre("c"));
  EXPECT_THAT(Names(Of("n1", "", "metadata.namespace=n2")), IsEmpty());
  EXPECT_EQ(decoded_pods, 2 + 1 + 2 + 1 + 1 + 1 + 1);
}

TEST_F(ListerSelectionTest, AValueTooLongForAnIndexIsNotAsIfThereWereNone) {
  const logging::testing::Capture log;
  IndexNodes();
  Put("n", "long", {}, std::string(70000, 'x'));
  Put("n", "none", {});
  Put("n", "short", {}, "node1");
  Start();
  EXPECT_THAT(Names(Of("", "", "spec.nodeName=")), ElementsAre("none"));
  EXPECT_THAT(Names(Of("", "", "spec.nodeName!=")), ElementsAre("long", "short"));
  EXPECT_THAT(Names(Of("", "", "spec.nodeName=node1")), ElementsAre("short"));
  EXPECT_THAT(Names(Of("", "", "spec.nodeName!=node1")), ElementsAre("long", "none"));
  EXPECT_GT(log.Count("too long"), 0U);
}

TEST_F(ListerSelectionTest, AFieldWithoutAnIndexIsAnErrorThatNamesIt) {
  Put("n", "a", {}, "node1");
  Start();
  const auto listed = Lister<CountedPod>(informer_).List(Of("", "", "spec.nodeName=node1"));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().reason, Reason::kBadRequest);
  EXPECT_THAT(listed.error().message, HasSubstr("no index of the field \"spec.nodeName\""));
}

TEST_F(ListerSelectionTest, AnObjectThatMightBeSelectedAndCannotBeReadIsNamed) {
  IndexNodes();
  Put("n1", "good", {{"app", "web"}}, "node1");
  PutBroken("n2", "bad", "{broken");
  PutBroken("n3", "bad-spec",
            R"({"metadata":{"namespace":"n3","name":"bad-spec","labels":{"app":"db"}},"spec":[]})");
  Start();
  const Lister<CountedPod> lister(informer_);
  for (const Selection& selection :
       {Of("", "app=web"), Of("n2", "app=web"), Of("", "", "spec.nodeName=node2"),
        Of("", "app!=web"), Of("n2", "app in (a,b)")}) {
    const auto listed = lister.List(selection);
    ASSERT_FALSE(listed) << selection.labels.ToString() << selection.fields.ToString();
    EXPECT_EQ(listed.error().reason, Reason::kMalformed);
    EXPECT_THAT(listed.error().message, HasSubstr("bad"));
  }
  EXPECT_THAT(Names(Of("n1", "app=web")), ElementsAre("good"));
  EXPECT_THAT(Names(Of("n3", "app=web")), IsEmpty()) << "its labels can be read, and do not match";
  EXPECT_EQ(lister.List(Of("n3", "app=db")).error().reason, Reason::kMalformed);
}

TEST_F(ListerSelectionTest, ThreadsThatListWhileTheIndexIsMadeGetTheSame) {
  for (int i = 0; i < 200; ++i) {
    Put("n", "p" + std::to_string(i), {{"app", "app" + std::to_string(i % 10)}});
  }
  Start();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          wrong += Lister<CountedPod>(informer_).List(Of("", "app=app3")).value().size() != 20U;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kubexx::cache
