#include "kubexx/reloader/watch/source_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/testing/new_informer.h"

namespace kubexx::reloader {
namespace {

using cache::RawEvent;
using testing::Eq;
using testing::Optional;

SourceType EventCertificates() {
  AddSourceKinds({{.group = "event.example.com",
                   .version = "v1",
                   .kind = "EventCertificate",
                   .resource = "eventcertificates",
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  return TypeCalled(&SourceTypeNames::kind, "EventCertificate").value();
}

/// An informer of a described kind, and what its events mean.
class SourceEventTest : public testing::Test {
 protected:
  SourceEventTest() {
    informer_ = NewTestInformer(
        objects_, {.transform = TransformForFields(DescribedBy(type_)->described, {})});
    handler_ = informer_->AddRawHandler("test", [this](const RawEvent& event) {
      const base::MutexLock lock(mu_);
      meanings_.push_back(MeaningOf(type_, event));
      changed_.notify_all();
    });
    informer_->Start();
  }
  ~SourceEventTest() override { informer_->Stop(); }

  /// What the next event means, which this write leads to.
  std::optional<RawEvent::Type> MeaningOfWrite(const std::string& status) {
    objects_->PutObject({.encoding = codec::Encoding::kJson,
                         .bytes = R"({"status":)" + status + "}",
                         .key = {"ns", "web"}});
    return Next();
  }
  std::optional<RawEvent::Type> MeaningOfDeletion() {
    objects_->Delete({"ns", "web"});
    return Next();
  }

 private:
  std::optional<RawEvent::Type> Next() {
    const base::MutexLock lock(mu_);
    ++wanted_;
    KX_AWAIT_CHANGE(changed_, mu_, meanings_.size() >= wanted_);
    return meanings_.at(wanted_ - 1);
  }

  const SourceType type_ = EventCertificates();
  std::shared_ptr<cache::testing::FakeSource> objects_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::SharedInformerBase> informer_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::size_t wanted_ KX_GUARDED_BY(mu_) = 0;
  std::vector<std::optional<RawEvent::Type>> meanings_ KX_GUARDED_BY(mu_);
  cache::HandlerRegistration handler_;  // last: ends first
};

TEST_F(SourceEventTest, AnObjectComesAndGoesWithItsField) {
  EXPECT_EQ(MeaningOfWrite("{}"), std::nullopt);
  EXPECT_EQ(MeaningOfWrite(R"({"other":1})"), std::nullopt);
  EXPECT_THAT(MeaningOfWrite(R"({"revision":1})"), Optional(Eq(RawEvent::Type::kAdd)));
  EXPECT_THAT(MeaningOfWrite(R"({"revision":2})"), Optional(Eq(RawEvent::Type::kUpdate)));
  EXPECT_THAT(MeaningOfWrite("{}"), Optional(Eq(RawEvent::Type::kDelete)));
  EXPECT_EQ(MeaningOfDeletion(), std::nullopt);
  EXPECT_THAT(MeaningOfWrite(R"({"revision":3})"), Optional(Eq(RawEvent::Type::kAdd)));
  EXPECT_THAT(MeaningOfDeletion(), Optional(Eq(RawEvent::Type::kDelete)));
}

}  // namespace
}  // namespace kubexx::reloader
