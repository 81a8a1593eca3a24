#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hostile_proxy.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/reflector_store.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"
#include "mini_api.h"

// What holds whatever a network does: no write is sent twice, nothing outlasts its deadlines, and a
// reflector misses no event, however it gets the state.

namespace kubexx::network_test {
namespace {

using apimachinery::Result;
using rest::Request;
using rest::RESTClient;
using rest::testing::CertificateAuthority;
using rest::testing::ClientFor;
using rest::testing::FakeServer;
using rest::testing::FakeServerTls;
using rest::testing::ForwardingProxy;
using rest::testing::kConfigMaps;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::IsEmpty;

// All limits of a request together are 5 s at most, and 31 s for a watch that was asked for 1 s.
// This is for a machine that is busy with other things, and much less than for ever.
constexpr seconds kHangs(120);
// No request may take as long as the network holds a client up, which is a minute. Limits and
// retries of a request come to 5 s, those of a watch with a trickle of 4 s to 10 s: the rest is for
// a machine on which everything takes several times as long.
constexpr seconds kLongest(45);

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// How many times longer than usual all takes on this machine, as base::testing::Patience has it.
int Slowness() {
  return static_cast<int>(std::max<std::uint64_t>(1, FromEnvironment("KUBEXX_PATIENCE", 1)));
}

RESTClient::Options ShortDeadlines(int slowness = 1) {
  return {.connect_timeout = milliseconds(500) * slowness,
          .response_timeout = milliseconds(500) * slowness,
          .idle_timeout = milliseconds(500) * slowness,
          .body_timeout = seconds(1) * slowness};
}

// Checks that changes come one after the other, each with the version after the last one's, and
// that a state is what the server had at its version.
class GaplessStore final : public cache::ReflectorStore {
 public:
  explicit GaplessStore(const MiniApi& api) : api_(api) {}

  Result<void> Add(cache::Object&& object) override { return Take(object, true); }
  Result<void> Update(cache::Object&& object) override { return Take(object, true); }
  Result<void> Delete(cache::Object&& object) override { return Take(object, false); }
  std::unique_ptr<cache::Replacement> BeginReplace() override {
    return std::make_unique<NewState>(*this);
  }
  void Bookmark(std::string_view resource_version) override {
    const base::MutexLock lock(mu_);
    if (const std::uint64_t version = std::stoull(std::string(resource_version));
        version != version_) {
      AddGapLocked("bookmark", version);
    }
  }
  Result<void> Resync() override { return {}; }

  std::uint64_t version() const {
    const base::MutexLock lock(mu_);
    return version_;
  }
  std::map<std::string, std::string> objects() const {
    const base::MutexLock lock(mu_);
    return objects_;
  }
  /// What was missed, in words.
  std::vector<std::string> gaps() const {
    const base::MutexLock lock(mu_);
    return gaps_;
  }
  int events() const {
    const base::MutexLock lock(mu_);
    return events_;
  }
  int states() const {
    const base::MutexLock lock(mu_);
    return states_;
  }
  /// Of which some objects came, and not all.
  int broken_states() const {
    const base::MutexLock lock(mu_);
    return broken_states_;
  }

 private:
  class NewState final : public cache::Replacement {
   public:
    explicit NewState(GaplessStore& store) : store_(store) {}
    NewState(const NewState&) = delete;
    NewState& operator=(const NewState&) = delete;
    ~NewState() override {
      if (!objects_.empty()) {
        store_.BrokeOff();
      }
    }
    Result<void> Add(cache::Object&& object) override {
      objects_[object.key.name] = object.resource_version;
      return {};
    }
    Result<void> Delete(const apimachinery::ObjectKey& key) override {
      objects_.erase(key.name);
      return {};
    }
    Result<void> Commit(std::string_view resource_version) override {
      store_.Replace(std::exchange(objects_, {}), std::stoull(std::string(resource_version)));
      return {};
    }

   private:
    GaplessStore& store_;
    std::map<std::string, std::string> objects_;
  };

  void Replace(std::map<std::string, std::string> objects, std::uint64_t version) {
    const base::MutexLock lock(mu_);
    if (version < version_) {
      AddGapLocked("state", version);
    }
    if (objects != api_.objects_at(version)) {
      gaps_.push_back("a state of version " + std::to_string(version) + " that never was");
    }
    objects_ = std::move(objects);
    version_ = version;
    ++states_;
  }
  void BrokeOff() {
    const base::MutexLock lock(mu_);
    ++broken_states_;
  }
  Result<void> Take(const cache::Object& object, bool there) {
    const base::MutexLock lock(mu_);
    const std::uint64_t version = std::stoull(object.resource_version);
    if (version != version_ + 1) {
      AddGapLocked("event", version);
    }
    version_ = version;
    ++events_;
    if (there) {
      objects_[object.key.name] = object.resource_version;
    } else {
      objects_.erase(object.key.name);
    }
    return {};
  }
  void AddGapLocked(const std::string& what, std::uint64_t version) KX_REQUIRES(mu_) {
    gaps_.push_back(what + " of version " + std::to_string(version) + " after " +
                    std::to_string(version_));
  }

  const MiniApi& api_;
  mutable base::Mutex mu_;
  std::map<std::string, std::string> objects_ KX_GUARDED_BY(mu_);
  std::uint64_t version_ KX_GUARDED_BY(mu_) = 0;
  std::vector<std::string> gaps_ KX_GUARDED_BY(mu_);
  int events_ KX_GUARDED_BY(mu_) = 0;
  int states_ KX_GUARDED_BY(mu_) = 0;
  int broken_states_ KX_GUARDED_BY(mu_) = 0;
};

FakeServerTls TlsFrom(const CertificateAuthority& authority) {
  const auto issued = authority.Issue({.alternative_names = "IP:127.0.0.1,DNS:api.example"});
  return {.certificate = issued.certificate, .key = issued.key};
}

// A reflector and its store.
class Mirror {
 public:
  Mirror(std::string name, const std::shared_ptr<RESTClient>& client, const MiniApi& api,
         std::uint64_t seed, bool use_watch_list, int slowness = 1)
      : name_(std::move(name)),
        store_(api),
        reflector_(name_, cache::NewListWatchFromClient(client, kConfigMaps, "", {}), store_,
                   {.seed = seed,
                    .use_watch_list = use_watch_list,
                    .tuning = {.backoff = {.initial = milliseconds(5), .cap = milliseconds(50)},
                               .watch_idle_timeout = seconds(1) * slowness},
                    .on_error = [](const apimachinery::Status&) {}}),
        runner_([this](std::stop_token stop) { reflector_.Run(std::move(stop)); }) {}

  const std::string& name() const { return name_; }
  const GaplessStore& store() const { return store_; }

 private:
  const std::string name_;
  GaplessStore store_;
  cache::Reflector reflector_;
  std::jthread runner_;
};

// One way to the API with a hostile network on it, and two reflectors at its end: one begins with a
// list, the other with a watch that brings the state.
class Path {
 public:
  Path(std::string name, int to_port, std::uint64_t seed, HostileProxy::Bytes bytes,
       const MiniApi& api, const std::function<rest::Config(int port)>& config_for)
      : name_(std::move(name)),
        network_(to_port, seed, bytes),
        client_(ClientFor(config_for(network_.port()), ShortDeadlines())),
        listing_(name_ + ", lists", client_, api, seed + 1, false),
        streaming_(name_ + ", streams", client_, api, seed + 2, true) {}

  const std::string& name() const { return name_; }
  RESTClient& client() { return *client_; }
  HostileProxy& network() { return network_; }
  std::array<const Mirror*, 2> mirrors() const { return {&listing_, &streaming_}; }

 private:
  const std::string name_;
  HostileProxy network_;
  std::shared_ptr<RESTClient> client_;
  Mirror listing_;
  Mirror streaming_;
};

// Sends requests, one after the other, and remembers since when it waits for the present one.
class Caller {
 public:
  struct Counts {
    int succeeded = 0;
    int failed = 0;
    int garbled = 0;
    milliseconds longest{0};
  };

  // A random request, whose name is `id`.
  void Send(RESTClient& client, std::uint64_t id, std::mt19937_64& random) {
    constexpr std::array<const char*, 4> kWrites = {"POST", "PUT", "PATCH", "DELETE"};
    const std::uint64_t kind = random() % 8;
    const auto begin = steady_clock::now();
    {
      const base::MutexLock lock(mu_);
      since_ = begin;
    }
    bool ok = false;
    bool garbled = false;
    if (kind == 6 || kind == 7) {
      ok = Stream(client, kind == 7);
    } else {
      const std::string method = kind < 4 ? kWrites.at(kind) : "GET";
      const std::string path = "/api/v1/namespaces/ns/configmaps/w-" + std::to_string(id);
      Request request = client.Verb(method);
      request.AbsPath(path).MaxRetries(kind == 5 ? 1 : 0);
      if (method != "GET" && method != "DELETE") {
        request.Body(codec::Encoding::kJson, std::string(1 + random() % 20'000, ' '));
      }
      const auto answer = request.Do();
      ok = answer.has_value();
      garbled = ok && answer->body != method + " " + path;
    }
    const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
    const base::MutexLock lock(mu_);
    since_.reset();
    ++(ok ? counts_.succeeded : counts_.failed);
    counts_.garbled += garbled ? 1 : 0;
    counts_.longest = std::max(counts_.longest, took);
  }

  // How long the present request has been waited for.
  steady_clock::duration waiting() const {
    const base::MutexLock lock(mu_);
    return since_ ? steady_clock::now() - *since_ : steady_clock::duration(0);
  }
  Counts counts() const {
    const base::MutexLock lock(mu_);
    return counts_;
  }

 private:
  static bool Stream(RESTClient& client, bool watch) {
    Request request = client.Get();
    request.Resource(kConfigMaps).MaxRetries(0);
    if (watch) {
      request.Watch().Options({.timeout = seconds(1)});
    }
    return request
        .Stream([](const auto&) -> Result<void> { return {}; },
                [](std::string_view) -> Result<void> { return {}; }, {}, milliseconds(500))
        .has_value();
  }

  mutable base::Mutex mu_;
  std::optional<steady_clock::time_point> since_ KX_GUARDED_BY(mu_);
  Counts counts_ KX_GUARDED_BY(mu_);
};

// Waits until `done`; false, and says for what it waited, when that takes unreasonably long.
bool Await(const std::string& what, const std::function<bool()>& done) {
  const bool is_done = base::testing::HoldsSoon(done, milliseconds(5));
  EXPECT_TRUE(is_done) << "waited in vain for " << what;
  return is_done;
}

class HostileNetworkTest : public ::testing::Test {
 protected:
  rest::Config Tls(std::string host) const {
    return {.host = std::move(host),
            .tls = {.ca_data =
                        authority_.certificate() + rest::testing::UsualAuthority().certificate()}};
  }
  static int PortOf(const ForwardingProxy& proxy) {
    return std::stoi(proxy.Url().substr(proxy.Url().rfind(':') + 1));
  }
  // The config of a client that reaches its proxy, which speaks `scheme`, at a port.
  std::function<rest::Config(int)> Through(const std::string& scheme) const {
    return [this, scheme](int port) {
      rest::Config config = Tls("https://api.example:6443");
      config.proxy_url = scheme + "://127.0.0.1:" + std::to_string(port);
      return config;
    };
  }
  void SendRequests(std::uint64_t rounds);
  void ExpectCaughtUp();
  void Report(std::uint64_t rounds) const;

  const std::uint64_t seed_ = FromEnvironment("KUBEXX_HOSTILE_SEED", std::random_device{}());
  const CertificateAuthority authority_{"hostile"};
  MiniApi api_;
  FakeServer plain_{api_.Script()};
  FakeServer tls_{api_.Script(), TlsFrom(authority_)};
  const ForwardingProxy::Routes routes_{{"api.example:6443", tls_.port()}};
  ForwardingProxy proxy_{routes_};
  ForwardingProxy tls_proxy_{routes_, "", rest::ProxyProtocol::kHttps};
  ForwardingProxy socks_{routes_, "", rest::ProxyProtocol::kSocks5};
  Path by_tcp_{"tcp",
               plain_.port(),
               seed_,
               HostileProxy::Bytes::kPlain,
               api_,
               [](int port) {
                 return rest::Config{.host = "http://127.0.0.1:" + std::to_string(port)}; }};
  Path by_tls_{
      "tls",      tls_.port(),
      seed_ + 10, HostileProxy::Bytes::kProtected,
      api_,       [this](int port) { return Tls("https://127.0.0.1:" + std::to_string(port)); }};
  Path by_tunnel_{"tunnel", PortOf(proxy_), seed_ + 20, HostileProxy::Bytes::kProtected,
                  api_,     Through("http")};
  Path by_tls_tunnel_{
      "tunnel in TLS", PortOf(tls_proxy_), seed_ + 30, HostileProxy::Bytes::kProtected, api_,
      Through("https")};
  Path by_socks_{"SOCKS5", PortOf(socks_),   seed_ + 40, HostileProxy::Bytes::kProtected,
                 api_,     Through("socks5")};
  const std::array<Path*, 5> paths_{&by_tcp_, &by_tls_, &by_tunnel_, &by_tls_tunnel_, &by_socks_};
  std::array<Caller, 24> callers_;
};

void HostileNetworkTest::SendRequests(std::uint64_t rounds) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<int> running = static_cast<int>(callers_.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    threads.emplace_back([&, i, random = std::mt19937_64(seed_ + 100 + i)]() mutable {
      for (std::uint64_t id = next++; id < rounds; id = next++) {
        callers_.at(i).Send(paths_.at(random() % paths_.size())->client(), id, random);
      }
      --running;
    });
  }
  std::mt19937_64 random(seed_ + 99);
  while (running > 0) {
    api_.Change(random());
    base::Clock::Real().SleepFor(milliseconds(2), {});  // so many changes a second
    for (const Caller& caller : callers_) {
      if (caller.waiting() > kHangs) {
        // Its thread cannot be ended from here.
        std::fprintf(stderr, "a request has hung for %ld s, which is far over its deadlines\n",
                     static_cast<long>(kHangs.count()));
        std::abort();
      }
    }
  }
}

void HostileNetworkTest::ExpectCaughtUp() {
  for (Path* path : paths_) {
    path->network().BecomeHonest();
  }
  for (const Path* path : paths_) {
    for (const Mirror* mirror : path->mirrors()) {
      const GaplessStore& store = mirror->store();
      Await("the reflector by " + mirror->name() + " to have the last version",
            [&] { return store.version() == api_.version(); });
      EXPECT_EQ(store.objects(), api_.objects()) << mirror->name();
      EXPECT_THAT(store.gaps(), IsEmpty()) << mirror->name();
    }
  }
}

void HostileNetworkTest::Report(std::uint64_t rounds) const {
  Caller::Counts all;
  for (const Caller& caller : callers_) {
    const Caller::Counts counts = caller.counts();
    all.succeeded += counts.succeeded;
    all.failed += counts.failed;
    all.garbled += counts.garbled;
    all.longest = std::max(all.longest, counts.longest);
  }
  EXPECT_EQ(all.garbled, 0) << "answers of other requests";
  EXPECT_LT(all.longest, kLongest) << "was let go by the network, not by a deadline";
  std::printf("seed %llu: %llu requests, %d answered, %d failed, the longest took %ld ms\n",
              static_cast<unsigned long long>(seed_), static_cast<unsigned long long>(rounds),
              all.succeeded, all.failed, static_cast<long>(all.longest.count()));
  for (const auto& [method, count] : api_.requests()) {
    std::printf("  %s: %d arrived whole\n", method.c_str(), count);
  }
  for (Path* path : paths_) {
    std::printf("  %s:", path->name().c_str());
    for (const auto& [fault, count] : path->network().faults()) {
      std::printf(" %s %d", NameOf(fault), count);
    }
    std::printf("\n");
    for (const Mirror* mirror : path->mirrors()) {
      std::printf("    %s: %d states, %d broken off, %d events, of %llu changes\n",
                  mirror->name().c_str(), mirror->store().states(), mirror->store().broken_states(),
                  mirror->store().events(), static_cast<unsigned long long>(api_.version()));
    }
  }
  std::printf("  %d watches with initial events\n", api_.initial_states());
}

TEST_F(HostileNetworkTest, NothingIsSentTwiceHangsOrIsMissed) {
  const std::uint64_t rounds = FromEnvironment("KUBEXX_HOSTILE_ROUNDS", 300);
  SCOPED_TRACE("KUBEXX_HOSTILE_SEED=" + std::to_string(seed_));
  SendRequests(rounds);
  ExpectCaughtUp();
  EXPECT_THAT(api_.sent_twice(), IsEmpty());
  Report(rounds);
}

// Chance alone may leave out what breaks between the first and the last initial event.
class BrokenInitialEventsTest : public ::testing::TestWithParam<Fault> {};

TEST_P(BrokenInitialEventsTest, AreNoStateAndComeAgain) {
  constexpr int kTimes = 3;
  const HostileProxy::Plan in_their_middle{.fault = GetParam(), .direction = 1, .after = 8000};
  MiniApi api;
  FakeServer server{api.Script()};
  HostileProxy network(server.port(), {kTimes, in_their_middle});
  // Only the network is to break a watch: a deadline that this machine misses would use up one of
  // the faults.
  const Mirror mirror(
      "streams",
      ClientFor(rest::Config{.host = "http://127.0.0.1:" + std::to_string(network.port())},
                ShortDeadlines(Slowness())),
      api, 1, true, Slowness());
  const GaplessStore& store = mirror.store();
  Await("the whole state", [&] { return store.version() == api.version(); });
  EXPECT_EQ(network.faults().at(GetParam()), kTimes);
  EXPECT_EQ(store.broken_states(), kTimes);
  EXPECT_EQ(store.objects(), api.objects());
  EXPECT_THAT(store.gaps(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenInitialEventsTest,
                         ::testing::Values(Fault::kCut, Fault::kReset, Fault::kStall,
                                           Fault::kTrickle, Fault::kHalfClose),
                         [](const auto& test) {
                           const std::string name = NameOf(test.param);
                           return name == "half-close" ? std::string("half_close") : name;
                         });

}  // namespace
}  // namespace kubexx::network_test
