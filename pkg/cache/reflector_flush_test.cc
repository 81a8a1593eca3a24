// The changes that a watch has brought are shown to the store's readers, however the watch ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/auto_clock.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::WatchEventType;
using ::testing::ElementsAre;

/// Records the changes, and when readers may see them.
class NotingStore final : public ReflectorStore {
 public:
  Result<void> Add(Object&& object) override { return Note("add " + object.key.name); }
  Result<void> Update(Object&& object) override { return Note("update " + object.key.name); }
  Result<void> Delete(Object&& object) override { return Note("delete " + object.key.name); }
  void Flush() override { (void)Note("flush"); }
  std::unique_ptr<Replacement> BeginReplace() override { return std::make_unique<Nothing>(); }
  void Bookmark(std::string_view) override {}
  Result<void> Resync() override { return {}; }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Nothing final : public Replacement {
    Result<void> Add(Object&&) override { return {}; }
    Result<void> Delete(const apimachinery::ObjectKey&) override { return {}; }
    Result<void> Commit(std::string_view) override { return {}; }
  };

  Result<void> Note(std::string note) {
    notes_.push_back(std::move(note));
    return {};
  }

  std::vector<std::string> notes_{};
};

WatchEvent Added(const std::string& name, const std::string& version, bool more) {
  return {.type = WatchEventType::kAdded,
          .object = {.key = {"ns", name}, .resource_version = version},
          .more = more};
}

TEST(ReflectorFlushTest, AnEventThatGoesBackDoesNotHideThoseBeforeIt) {
  testing::AutoClock clock;
  NotingStore store;
  std::stop_source stop;
  int lists = 0;
  std::vector<std::string> seen;
  const auto source = std::make_shared<ListWatch>(
      [&](const ListOptions&, ListerWatcher::ObjectSink,
          const std::stop_token&) -> Result<codec::ListMeta> {
        if (++lists == 1) {
          return codec::ListMeta{.resource_version = "10"};
        }
        seen = store.notes();
        stop.request_stop();
        return Fail(Reason::kUnavailable, "the server is away");
      },
      [](const ListOptions&, ListerWatcher::EventSink sink,
         const std::stop_token&) -> Result<void> {
        KX_RETURN_IF_ERROR(sink(Added("new", "11", true)));
        return sink(Added("old", "5", false));
      });
  Reflector reflector("things", source, store,
                      {.clock = clock, .seed = 1, .use_watch_list = false});
  reflector.Run(stop.get_token());
  EXPECT_THAT(seen, ElementsAre("add new", "flush")) << "before the full state that may be far off";
}

}  // namespace
}  // namespace kubexx::cache
