#include "mini_api.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::network_test {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::FakeServer;

constexpr std::uint64_t kNames = 200;
constexpr std::chrono::milliseconds kBookmarkEvery(50);
constexpr std::chrono::milliseconds kShortLife(30);
constexpr std::chrono::milliseconds kLongLife(500);

std::string ObjectJson(const std::string& name, const std::string& version) {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"ns","name":")" + name +
         R"(","resourceVersion":")" + version + R"("}})";
}

std::string EventJson(const std::string& type, const std::string& name,
                      const std::string& version) {
  return R"({"type":")" + type + R"(","object":)" + ObjectJson(name, version) + "}\n";
}

// The value of a query's parameter, 0 when it is not there.
std::uint64_t NumberOf(const std::string& target, const std::string& parameter) {
  const std::size_t at = target.find(parameter + "=");
  return at == std::string::npos
             ? 0
             : std::strtoull(target.c_str() + at + parameter.size() + 1, nullptr, 10);
}

bool PeerIsGone(const FakeConnection& connection) {
  pollfd peer{.fd = connection.fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&peer, 1, 0) > 0;
}

}  // namespace

MiniApi::MiniApi() {
  for (std::uint64_t name = 0; name < kNames; ++name) {
    Change(name);
  }
}

FakeServer::Script MiniApi::Script() {
  return [this](FakeConnection& connection) { Serve(connection); };
}

void MiniApi::Change(std::uint64_t choice) {
  const base::MutexLock lock(mu_);
  const std::string name = "o-" + std::to_string(choice % kNames);
  const std::string version = std::to_string(history_.size() + 1);
  const bool there = objects_.contains(name);
  const bool removed = there && choice / kNames % 4 == 0;
  history_.push_back({.type = removed ? "DELETED" : there ? "MODIFIED" : "ADDED", .name = name});
  if (removed) {
    objects_.erase(name);
  } else {
    objects_[name] = version;
  }
  changed_.notify_all();
}

std::uint64_t MiniApi::version() const {
  const base::MutexLock lock(mu_);
  return history_.size();
}

std::map<std::string, std::string> MiniApi::objects() const {
  const base::MutexLock lock(mu_);
  return objects_;
}

std::map<std::string, std::string> MiniApi::objects_at(std::uint64_t version) const {
  const base::MutexLock lock(mu_);
  std::map<std::string, std::string> objects;
  for (std::uint64_t i = 0; i < version && i < history_.size(); ++i) {
    if (history_[i].type == "DELETED") {
      objects.erase(history_[i].name);
    } else {
      objects[history_[i].name] = std::to_string(i + 1);
    }
  }
  return objects;
}

int MiniApi::initial_states() const {
  const base::MutexLock lock(mu_);
  return initial_states_;
}

std::map<std::string, int> MiniApi::requests() const {
  const base::MutexLock lock(mu_);
  return requests_;
}

std::vector<std::string> MiniApi::sent_twice() const {
  const base::MutexLock lock(mu_);
  std::vector<std::string> out;
  for (const auto& [write, times] : writes_) {
    if (times > 1) {
      out.push_back(write + " (" + std::to_string(times) + ")");
    }
  }
  return out;
}

void MiniApi::Serve(FakeConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    {
      const base::MutexLock lock(mu_);
      ++requests_[request->method];
      if (request->method != "GET") {
        const std::string path = request->target.substr(0, request->target.find('?'));
        ++writes_[request->method + path.substr(path.rfind('/'))];
      }
    }
    if (!Answer(connection, *request)) {
      return;
    }
  }
}

bool MiniApi::Answer(FakeConnection& connection, const FakeRequest& request) {
  if (request.method == "GET" && request.target.find("watch=true") != std::string::npos) {
    return Watch(connection, request.target);
  }
  if (request.method == "GET" && request.target.starts_with("/api/v1/configmaps")) {
    return List(connection);
  }
  return connection.Respond(200, "application/json", request.method + " " + request.target);
}

bool MiniApi::List(FakeConnection& connection) const {
  std::string items;
  std::string version;
  {
    const base::MutexLock lock(mu_);
    version = std::to_string(history_.size());
    for (const auto& [name, of_object] : objects_) {
      items += (items.empty() ? "" : ",") + ObjectJson(name, of_object);
    }
  }
  connection.RespondChunked(200, "application/json");
  connection.WriteChunk(
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
      R"("},"items":[)");
  if (!items.empty()) {
    connection.WriteChunk(items);
  }
  connection.WriteChunk("]}");
  return connection.EndChunks();
}

bool MiniApi::EndsSoon() {
  const base::MutexLock lock(mu_);
  return ++watches_ % 4 != 0;
}

bool MiniApi::Expires() {
  constexpr int kEach = 3;
  const base::MutexLock lock(mu_);
  return ++resumed_ % kEach == 0;
}

std::vector<MiniApi::Event> MiniApi::EventsAfter(std::uint64_t version) const {
  const base::MutexLock lock(mu_);
  return {history_.begin() + static_cast<std::ptrdiff_t>(version), history_.end()};
}

std::uint64_t MiniApi::SendInitialEvents(FakeConnection& connection) {
  std::map<std::string, std::string> objects;
  std::uint64_t sent = 0;
  {
    const base::MutexLock lock(mu_);
    ++initial_states_;
    objects = objects_;
    sent = history_.size();
  }
  for (const auto& [name, version] : objects) {
    if (!connection.WriteChunk(EventJson("ADDED", name, version))) {
      return 0;
    }
  }
  for (const Event& event : EventsAfter(sent)) {
    if (!connection.WriteChunk(EventJson(event.type, event.name, std::to_string(++sent)))) {
      return 0;
    }
  }
  const std::string end =
      R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{)"
      R"("resourceVersion":")" +
      std::to_string(sent) + R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})";
  return connection.WriteChunk(end + "\n") ? sent : 0;
}

bool MiniApi::Watch(FakeConnection& connection, const std::string& target) {
  base::Clock& clock = base::Clock::Real();
  base::TimePoint end = clock.Now() + std::chrono::seconds(NumberOf(target, "timeoutSeconds"));
  const std::uint64_t asked = NumberOf(target, "resourceVersion");
  const bool with_state = target.find("sendInitialEvents=true") != std::string::npos;
  connection.RespondChunked(200, "application/json;stream=watch");
  if (!with_state && asked > 0 && Expires()) {
    connection.WriteChunk(R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",)"
                          R"("status":"Failure","reason":"Expired","code":410}})");
    return connection.EndChunks();
  }
  std::uint64_t next = with_state ? SendInitialEvents(connection) : asked > 0 ? asked : version();
  if (next == 0) {
    return false;
  }
  end = std::min(end, clock.Now() + (EndsSoon() ? kShortLife : kLongLife));
  while (clock.Now() < end && !PeerIsGone(connection)) {
    std::vector<Event> events;
    {
      const base::MutexLock lock(mu_);
      const base::TimePoint until = clock.Now() + kBookmarkEvery;
      while (history_.size() <= next &&
             clock.WaitUntil(mu_, changed_, {}, until) != base::Wake::kTimeout) {
      }
      if (history_.size() > next) {
        events.assign(history_.begin() + static_cast<std::ptrdiff_t>(next), history_.end());
      }
    }
    if (events.empty() && !connection.WriteChunk(EventJson("BOOKMARK", "", std::to_string(next)))) {
      return false;
    }
    for (const Event& event : events) {
      ++next;
      if (!connection.WriteChunk(EventJson(event.type, event.name, std::to_string(next)))) {
        return false;
      }
    }
  }
  // The next one is to meet a connection of its own, and with it a fault.
  connection.EndChunks();
  return false;
}

}  // namespace kubexx::network_test
