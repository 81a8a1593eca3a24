// The three sources, with real files, a real socket and an API server in memory.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/few_descriptors.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/cache/typed_object.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubelet/config/api_source.h"
#include "kubexx/kubelet/config/file_source.h"
#include "kubexx/kubelet/config/http_source.h"
#include "kubexx/kubelet/config/pod_config.h"
#include "kubexx/kubelet/config/update_server.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::kubelet {
namespace {

namespace fs = std::filesystem;
using apimachinery::ListOptions;
using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Names = std::set<std::string>;

/// The last state that a source gave. Thread-safe.
class Inbox {
 public:
  PodSink Sink() {
    return [this](const std::vector<Pod>& pods) {
      const base::MutexLock lock(mu_);
      names_.emplace();
      for (const Pod& pod : pods) {
        names_->insert(pod.metadata.name);
      }
      ++count_;
      changed_.notify_all();
    };
  }
  void Await(const Names& wanted,
             const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("pods " + base::testing::Shown(wanted), where);
    while (names_ != wanted) {
      patience.Wait(changed_, mu_, names_);
    }
  }
  void AwaitCount(int count, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(std::to_string(count) + " states of a source", where);
    while (count_ < count) {
      patience.Wait(changed_, mu_, count_);
    }
  }
  int count() {
    const base::MutexLock lock(mu_);
    return count_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::optional<Names> names_ KX_GUARDED_BY(mu_);
  int count_ KX_GUARDED_BY(mu_) = 0;
};

/// The problems that a source has reported. Thread-safe.
class Problems {
 public:
  std::function<void(const ManifestProblems&)> Sink() {
    return [this](const ManifestProblems& problems) {
      const base::MutexLock lock(mu_);
      reports_.push_back(problems.empty() ? "none"
                                          : fs::path(problems[0].first).filename().string() + ": " +
                                                problems[0].second.message);
      changed_.notify_all();
    };
  }
  std::vector<std::string> Await(
      std::size_t count, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(std::to_string(count) + " reports of problems", where);
    while (reports_.size() < count) {
      patience.Wait(changed_, mu_, reports_);
    }
    return reports_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> reports_ KX_GUARDED_BY(mu_);
};

std::string Manifest(const std::string& name) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec: {containers: [{name: c, image: i}]}\n";
}

class FileSourceTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    directory_.Write(name, text);
  }
  FileSource::Options Options() {
    return {.path = directory_.path(),
            .node_name = "n",
            .interval = std::chrono::seconds(20),
            .clock = clock_,
            .on_problems = problems_.Sink()};
  }

  const base::testing::TemporaryFolder directory_;
  base::testing::FakeClock clock_;
  Problems problems_;
  Inbox inbox_;
};

TEST_F(FileSourceTest, OfTwoManifestsWithOneUidTheSecondIsAProblem) {
  const auto manifest = [](const std::string& name) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", uid: copied}\nspec: {containers: [{name: c, image: i}]}\n";
  };
  Write("a.yaml", manifest("a"));
  Write("b.yaml", manifest("b"));
  ManifestProblems problems;
  const auto pods = ReadManifests(directory_.path(), "n", problems);
  ASSERT_TRUE(pods);
  ASSERT_EQ(pods->size(), 1U);
  EXPECT_EQ(pods->front().metadata.name, "a-n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].first, ::testing::EndsWith("b.yaml"));
  EXPECT_THAT(problems[0].second.message, HasSubstr("a.yaml"));
}

TEST_F(FileSourceTest, FollowsTheDirectory) {
  Write("a.yaml", Manifest("a"));
  Write(".hidden.yaml", Manifest("hidden"));
  const FileSource source(Options(), inbox_.Sink());
  inbox_.Await({"a-n"});
  Write("b.json", Manifest("b"));
  inbox_.Await({"a-n", "b-n"});
  Write("a.yaml", Manifest("a2"));
  inbox_.Await({"a2-n", "b-n"});
  fs::rename(directory_ / "b.json", directory_ / ".b");
  Write("c.yaml", Manifest("c"));
  inbox_.Await({"a2-n", "c-n"});
  fs::remove(directory_ / "a.yaml");
  fs::remove(directory_ / "c.yaml");
  inbox_.Await({});
}

TEST_F(FileSourceTest, ABadManifestHurtsNoOther) {
  Write("a.yaml", Manifest("a"));
  Write("b.yaml", "kind: [");
  const FileSource source(Options(), inbox_.Sink());
  inbox_.Await({"a-n"});
  EXPECT_THAT(problems_.Await(1)[0], HasSubstr("b.yaml: "));
  Write("b.yaml", Manifest("b"));
  inbox_.Await({"a-n", "b-n"});
  EXPECT_EQ(problems_.Await(2).back(), "none");
}

TEST_F(FileSourceTest, FindsADirectoryThatAppearsLater) {
  const fs::path later = directory_ / "later";
  FileSource::Options options = Options();
  options.path = later.string();
  const FileSource source(std::move(options), inbox_.Sink());
  inbox_.Await({});
  fs::create_directory(later);
  std::ofstream(later / "a.yaml") << Manifest("a");
  clock_.AdvanceToSleeper(std::chrono::seconds(20));
  inbox_.Await({"a-n"});
}

TEST_F(FileSourceTest, ReadsASingleFile) {
  Write("a.yaml", Manifest("a"));
  FileSource::Options options = Options();
  options.path = (directory_ / "a.yaml").string();
  const FileSource source(std::move(options), inbox_.Sink());
  inbox_.Await({"a-n"});
  Write("a.yaml", Manifest("b"));
  inbox_.Await({"b-n"});
}

TEST_F(FileSourceTest, ReportsWhatIsNoFile) {
  fs::create_directory(directory_ / "sub");
  ManifestProblems problems;
  const auto pods = ReadManifests(directory_.path(), "n", problems);
  ASSERT_TRUE(pods);
  EXPECT_THAT(*pods, IsEmpty());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].second.message, HasSubstr("directory"));
}

TEST_F(FileSourceTest, ALinkThatLeadsNowhereHurtsNoOther) {
  fs::create_symlink(directory_ / "nothing", directory_ / "a.yaml");
  Write("b.yaml", Manifest("b"));
  ManifestProblems problems;
  const auto pods = ReadManifests(directory_.path(), "n", problems);
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->size(), 1U);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].second.message, HasSubstr("regular file"));
}

TEST(HttpSource, TakesWhatIsNewAndKeepsWhatItHas) {
  std::mutex mu;
  std::string body = Manifest("a");
  int status = 200;
  std::vector<std::string> asked;
  const auto set = [&](int new_status, const std::string& text) {
    const std::scoped_lock lock(mu);
    status = new_status;
    body = text;
  };
  FakeServer server([&](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      const std::scoped_lock lock(mu);
      asked.push_back(request->target + " " + request->headers.at("x-token"));
      connection.Respond(status, "text/yaml", body);
    }
  });
  base::testing::FakeClock clock;
  Problems problems;
  Inbox inbox;
  HttpSource::Options options{.url = server.Url() + "/pods?zone=1",
                              .headers = {{"X-Token", "t"}},
                              .node_name = "n",
                              .clock = clock,
                              .on_problems = problems.Sink()};
  const auto source = HttpSource::New(std::move(options), inbox.Sink());
  ASSERT_TRUE(source) << source.error().ToString();
  const auto interval = std::chrono::seconds(20);
  inbox.Await({"a-n"});
  set(200, R"({"apiVersion":"v1","kind":"PodList","items":[]})");
  clock.AdvanceToSleeper(interval);
  inbox.Await({});
  set(500, "");
  clock.AdvanceToSleeper(interval);
  EXPECT_THAT(problems.Await(1)[0], HasSubstr("HTTP status 500"));
  set(200, "kind: [");
  clock.AdvanceToSleeper(interval);
  EXPECT_THAT(problems.Await(2)[1], HasSubstr("line"));
  set(200, Manifest("b"));
  clock.AdvanceToSleeper(interval);
  inbox.Await({"b-n"});
  EXPECT_EQ(problems.Await(3)[2], "none");
  EXPECT_EQ(inbox.count(), 3) << "errors give no pods";
  const std::scoped_lock lock(mu);
  EXPECT_EQ(asked.front(), "/pods?zone=1 t");
}

TEST(HttpSource, RefusesABadUrl) {
  const auto source = HttpSource::New({.url = "ftp://x"}, [](const std::vector<Pod>&) {});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Reason::kInvalidConfig);
}

cache::Object ObjectOf(const std::string& name, const std::string& version) {
  Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = version;
  return cache::EncodeObject(pod);
}

TEST(ApiSource, GivesTheWholeStateOnEachChange) {
  std::atomic<bool> more = false;
  const auto list = [](const ListOptions&, cache::ListerWatcher::ObjectSink sink,
                       std::stop_token) -> apimachinery::Result<codec::ListMeta> {
    KX_RETURN_IF_ERROR(sink(ObjectOf("a", "1")));
    codec::ListMeta meta;
    meta.resource_version = "1";
    return meta;
  };
  const auto watch = [&](const ListOptions&, cache::ListerWatcher::EventSink sink,
                         std::stop_token stop) -> apimachinery::Result<void> {
    KX_AWAIT(more || stop.stop_requested());
    if (!stop.stop_requested()) {
      KX_RETURN_IF_ERROR(
          sink({.type = codec::WatchEventType::kAdded, .object = ObjectOf("b", "2")}));
      KX_RETURN_IF_ERROR(
          sink({.type = codec::WatchEventType::kDeleted, .object = ObjectOf("a", "3")}));
      base::testing::AwaitStop(stop);
    }
    return apimachinery::Fail(Reason::kCancelled, "stopped");
  };
  Inbox inbox;
  const ApiSource source(std::make_shared<cache::ListWatch>(list, watch), inbox.Sink(),
                         {.use_watch_list = false});
  inbox.Await({"a"});
  more = true;
  inbox.Await({"b"});
  EXPECT_EQ(inbox.count(), 3);
}

/// Reads lines of a unix socket.
class Reader {
 public:
  explicit Reader(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Reader() { ::close(fd_); }
  bool connected() const { return connected_; }
  /// "ADD file 2"; "end" when the stream has ended.
  std::string Next() {
    while (!text_.contains('\n')) {
      char bytes[4096];
      const ssize_t count = ::read(fd_, bytes, sizeof bytes);
      if (count <= 0) {
        return "end";
      }
      text_.append(bytes, static_cast<std::size_t>(count));
    }
    const auto tree = codec::JsonTree::Parse(text_.substr(0, text_.find('\n')));
    text_.erase(0, text_.find('\n') + 1);
    return !tree ? "no JSON"
                 : std::string(tree->TextAt("operation")) + " " +
                       std::string(tree->TextAt("source")) + " " +
                       std::to_string(tree->Find("pods")->size());
  }

 private:
  int fd_;
  bool connected_ = false;
  std::string text_;
};

class UpdateServerTest : public FileSourceTest {
 protected:
  std::string Path() const { return (directory_ / "socket").string(); }
};

TEST_F(UpdateServerTest, GivesEverythingAndThenChanges) {
  PodConfig config(PodConfig::Mode::kIncremental);
  const PodSink file = config.Channel("file");
  Pod pod;
  pod.metadata.name = "a";
  pod.metadata.uid = "a";
  file({pod});
  auto server = UpdateServer::Start({.path = Path()}, config);
  ASSERT_TRUE(server) << server.error().ToString();
  Reader first(Path());
  EXPECT_EQ(first.Next(), "SET * 1");
  file({});
  EXPECT_EQ(first.Next(), "REMOVE file 1");
  Reader second(Path());
  EXPECT_EQ(second.Next(), "SET * 0");
  EXPECT_FALSE(UpdateServer::Start({.path = Path()}, config)) << "somebody listens there";
  server->reset();
  EXPECT_EQ(first.Next(), "end");
  EXPECT_FALSE(fs::exists(Path()));
}

TEST_F(UpdateServerTest, AClientForWhomThereIsNoDescriptorWaits) {
  PodConfig config(PodConfig::Mode::kIncremental);
  const PodSink file = config.Channel("file");
  file({});
  const auto server = UpdateServer::Start({.path = Path()}, config);
  ASSERT_TRUE(server);
  logging::testing::Capture log;
  std::optional<base::testing::FewDescriptors> one_more(std::in_place, 1);
  Reader reader(Path());  // has the last one
  KX_AWAIT_NE(log.Count("has to wait"), 0);
  one_more.reset();
  EXPECT_EQ(reader.Next(), "SET * 0");
  EXPECT_EQ(log.Count("has to wait"), 1U);
}

TEST_F(UpdateServerTest, ReplacesADeadSocketAndNothingElse) {
  PodConfig config(PodConfig::Mode::kIncremental);
  Write("file", "precious");
  EXPECT_FALSE(UpdateServer::Start({.path = (directory_ / "file").string()}, config));
  EXPECT_TRUE(fs::exists(directory_ / "file"));
  EXPECT_FALSE(UpdateServer::Start({.path = std::string(200, 'x')}, config));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, Path().data(), Path().size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  ASSERT_TRUE(fs::exists(Path()));
  const auto server = UpdateServer::Start({.path = Path()}, config);
  EXPECT_TRUE(server) << server.error().ToString();
}

TEST_F(UpdateServerTest, CutsOffWhoDoesNotRead) {
  PodConfig config(PodConfig::Mode::kIncremental);
  const PodSink file = config.Channel("file");
  file({});
  const auto server = UpdateServer::Start({.path = Path(), .max_unread = 1 << 20}, config);
  ASSERT_TRUE(server);
  Reader idle(Path());
  Reader busy(Path());
  EXPECT_EQ(idle.Next(), "SET * 0");
  EXPECT_EQ(busy.Next(), "SET * 0");
  for (int i = 0; i < 100; ++i) {
    Pod pod;
    pod.metadata.name = "a";
    pod.metadata.uid = "a";
    pod.metadata.labels["big"] = std::string(100'000, static_cast<char>('a' + i % 2));
    file({pod});
    EXPECT_EQ(busy.Next(), i == 0 ? "ADD file 1" : "UPDATE file 1");
  }
  std::string last;
  while (last != "end") {
    last = idle.Next();  // what the kernel had taken, and then the end
  }
}

}  // namespace
}  // namespace kubexx::kubelet
