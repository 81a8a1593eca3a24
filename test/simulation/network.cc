#include "network.h"

#include <chrono>
#include <utility>

namespace kubexx::simulation {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

/// A call in the vector that has ended is taken out now and then.
constexpr std::size_t kManyCalls = 256;

bool IsWatch(const rest::HttpRequest& request) {
  return request.target.find("watch=") != std::string::npos;
}

bool IsWrite(const rest::HttpRequest& request) { return request.method != "GET"; }

bool FitsTo(Fault fault, const rest::HttpRequest& request) {
  switch (fault) {
    case Fault::kConflict:
      return request.method == "PUT" || request.method == "PATCH";
    case Fault::kExpired:
      return !IsWrite(request) && request.target.find("resourceVersion=") != std::string::npos;
    default:
      return true;
  }
}

/// An answer of somebody on the way, or of the server that had no time to look at the request.
struct MadeUp {
  int code = 0;
  const char* reason = "";
  const char* retry_after = "";
};

MadeUp AnswerTo(Fault fault) {
  switch (fault) {
    case Fault::kServerError:
      return {500, "InternalError", ""};
    case Fault::kUnavailable:
      return {503, "ServiceUnavailable", ""};
    case Fault::kTooMany:
      return {429, "TooManyRequests", "1"};
    case Fault::kTooManyBare:
      return {429, "TooManyRequests", ""};
    case Fault::kConflict:
      return {409, "Conflict", ""};
    case Fault::kExpired:
      return {410, "Expired", ""};
    default:
      return {};
  }
}

void PutMadeUp(WireCall& call, const MadeUp& answer) {
  call.PutHead(
      {.code = answer.code, .content_type = "application/json", .retry_after = answer.retry_after});
  call.PutBody(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"simulated",)"
               R"("reason":")" +
               std::string(answer.reason) + R"(","code":)" + std::to_string(answer.code) + "}");
  call.PutEnd();
}

http::Request ToServer(const rest::HttpRequest& request) {
  http::Request out;
  const std::size_t question = request.target.find('?');
  out.path = request.target.substr(0, question);
  out.query = question == std::string::npos ? "" : request.target.substr(question + 1);
  out.method = request.method;
  out.body = std::string(request.body);
  out.headers = request.headers;
  return out;
}

}  // namespace

std::string_view ToString(Fault fault) {
  static constexpr std::array<std::string_view, kFaults> kNames = {
      "none", "refused", "unanswered", "lost request", "lost answer", "stalled", "cut",
      "late", "500",     "503",        "429",          "429 bare",    "409",     "410"};
  return kNames[static_cast<std::size_t>(fault)];
}

/// The client's end of a call.
class Network::Trip final : public rest::RoundTrip {
 public:
  Trip(Network& network, std::shared_ptr<WireCall> call)
      : network_(network), call_(std::move(call)) {}
  Trip(const Trip&) = delete;
  Trip& operator=(const Trip&) = delete;
  ~Trip() override {
    call_->Close();
    if (const auto server = network_.CurrentServer()) {
      server->Look(*call_);
    }
  }

  Result<rest::HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    return call_->AwaitHead(stop, limits);
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    return call_->Read(sink, stop, deadline);
  }
  Result<rest::StreamRead> TryRead(Sink sink) override { return call_->TryRead(sink); }
  // A thread of the server tells, and what it begins by that is the client's.
  void Notify(std::function<void()> tell) override {
    Scheduler* const scheduler = Scheduler::Current();
    if (scheduler == nullptr) {
      return call_->Notify(std::move(tell));
    }
    call_->Notify([scheduler, client = scheduler->actor(), tell = std::move(tell)] {
      const Actor self = scheduler->Become(client);
      tell();
      scheduler->Become(self);
    });
  }
  base::TimePoint Arm() override { return call_->Arm(); }
  bool lost_connection() const override { return call_->lost_connection(); }
  bool failed() const override { return call_->failed(); }

 private:
  Network& network_;
  const std::shared_ptr<WireCall> call_;
};

/// All of one client.
class Network::Connections final : public rest::RoundTripper {
 public:
  Connections(Network& network, std::string client, bool faulty)
      : network_(network), client_(std::move(client)), faulty_(faulty) {}

  std::unique_ptr<rest::RoundTrip> Start(const rest::HttpRequest& request) override {
    return std::make_unique<Trip>(network_, network_.Start(client_, faulty_, request));
  }
  bool CanNotify() const override { return true; }

 private:
  Network& network_;
  const std::string client_;
  const bool faulty_;
};

std::shared_ptr<rest::RoundTripper> Network::ConnectionsOf(std::string client, bool faulty) {
  return std::make_shared<Connections>(*this, std::move(client), faulty);
}

WireCall::Plan Network::PlanLocked(const std::string& client, bool faulty,
                                   const rest::HttpRequest& request) {
  using std::chrono::microseconds;
  WireCall::Plan plan{.request_delay = microseconds(random_.Between(50, 2000)),
                      .answer_delay = microseconds(random_.Between(50, 2000))};
  if (disconnected_.contains(client)) {
    plan.fault = Fault::kUnanswered;
    return plan;
  }
  if (refused_.contains(client)) {
    plan.fault = Fault::kRefused;
    return plan;
  }
  if (!faulty) {
    return plan;
  }
  if (client == without_leases_ && request.target.find("/leases") != std::string::npos) {
    plan.fault = lease_fault_;
    return plan;
  }
  if (request.method == "PATCH" && request.target.starts_with("/apis/apps/") &&
      random_.Chance(aimed_rate_)) {
    plan.fault = aimed_;
  }
  std::int64_t draw = plan.fault == Fault::kNone ? random_.Between(0, 999) : 1000;
  for (std::size_t i = 1; i < kFaults; ++i) {
    draw -= rates_[i];
    if (draw < 0) {
      const auto fault = static_cast<Fault>(i);
      plan.fault = FitsTo(fault, request) ? fault : Fault::kNone;
      break;
    }
  }
  switch (plan.fault) {
    case Fault::kCut:
    case Fault::kStalled:
      // A watch goes on for a while; its first bytes are bookmarks and the like.
      plan.bytes = random_.Below(IsWatch(request) ? 20000 : 2000);
      break;
    case Fault::kLate:
      plan.arrives_anyway = random_.Chance(500);
      plan.request_delay = std::chrono::milliseconds(random_.Between(1, 2000));
      plan.answer_delay = std::chrono::milliseconds(
          random_.Between(1, IsWatch(request) && random_.Chance(300) ? 180000 : 5000));
      break;
    default:
      break;
  }
  return plan;
}

std::shared_ptr<WireCall> Network::Start(const std::string& client, bool faulty,
                                         const rest::HttpRequest& request) {
  inspect_(client, request);
  std::shared_ptr<WireCall> call;
  std::shared_ptr<Server> server;
  {
    const base::MutexLock lock(mu_);
    call =
        std::make_shared<WireCall>(ToServer(request), client, PlanLocked(client, faulty, request));
    const auto index = static_cast<std::size_t>(call->plan().fault);
    ++counts_[index];
    if (const Scheduler* const scheduler = Scheduler::Current()) {
      last_[index] = scheduler->now();
    }
    if (calls_.size() > kManyCalls) {
      std::erase_if(calls_, [](const auto& each) { return each.expired(); });
    }
    calls_.push_back(call);
    server = server_;
  }
  const Fault fault = call->plan().fault;
  if (const MadeUp answer = AnswerTo(fault); answer.code != 0) {
    PutMadeUp(*call, answer);
  } else if (fault == Fault::kRefused || (fault != Fault::kUnanswered && !server)) {
    call->PutFailure(Status(Reason::kUnavailable, "connection refused"), false, true);
  } else if (fault == Fault::kLostRequest) {
    call->PutFailure(Status(Reason::kUnavailable, "the connection was reset"), true, true);
  } else if (fault != Fault::kUnanswered) {
    server->Take(call);
  }
  return call;
}

std::shared_ptr<Server> Network::CurrentServer() {
  const base::MutexLock lock(mu_);
  return server_;
}

void Network::SetRates(const FaultRates& rates) {
  const base::MutexLock lock(mu_);
  for (std::size_t i = 0; i < kFaults; ++i) {
    rates_[i] = IsIn(without_, i) ? std::uint16_t{0} : rates[i];
  }
}

void Network::Leave(std::uint64_t without) {
  const base::MutexLock lock(mu_);
  without_ = without;
}

void Network::AimAtWrites(Fault fault, std::uint16_t per_mille) {
  const base::MutexLock lock(mu_);
  aimed_ = fault;
  aimed_rate_ = IsIn(without_, fault) ? std::uint16_t{0} : per_mille;
}

void Network::SetServer(std::shared_ptr<Server> server) {
  const base::MutexLock lock(mu_);
  server_.swap(server);
}

void Network::Disconnect(const std::string& client) {
  const base::MutexLock lock(mu_);
  disconnected_.insert(client);
  for (const auto& each : calls_) {
    if (const auto call = each.lock(); call && call->client() == client) {
      call->Stall();
    }
  }
}

void Network::Reconnect(const std::string& client) {
  const base::MutexLock lock(mu_);
  disconnected_.erase(client);
  refused_.erase(client);
}

void Network::HoldUpLeases(std::string client, bool answers) {
  const base::MutexLock lock(mu_);
  without_leases_ = std::move(client);
  lease_fault_ = answers ? Fault::kUnavailable : Fault::kUnanswered;
}

void Network::Refuse(const std::string& client) {
  {
    const base::MutexLock lock(mu_);
    refused_.insert(client);
    for (const auto& each : calls_) {
      if (const auto call = each.lock(); call && call->client() == client) {
        call->PutFailure(Status(Reason::kUnavailable, "the connection was reset"), true, false);
      }
    }
  }
  if (const auto server = CurrentServer()) {
    server->LookAtAll();
  }
}

std::vector<std::shared_ptr<WireCall>> Network::OperatorWatchesLocked(std::string_view plural) {
  std::vector<std::shared_ptr<WireCall>> watches;
  for (const auto& each : calls_) {
    auto call = each.lock();
    if (call && call->client().starts_with("operator") &&
        call->request().query.find("watch=") != std::string::npos &&
        call->request().path.ends_with("/" + std::string(plural))) {
      watches.push_back(std::move(call));
    }
  }
  return watches;
}

void Network::StallWatches(std::string_view plural) {
  const base::MutexLock lock(mu_);
  for (const auto& call : OperatorWatchesLocked(plural)) {
    call->Stall();
  }
}

void Network::DelayWatches(std::string_view plural, base::TimePoint then) {
  const base::MutexLock lock(mu_);
  for (const auto& call : OperatorWatchesLocked(plural)) {
    call->DelayUntil(then);
  }
}

void Network::EndClient(const std::string& client) {
  {
    const base::MutexLock lock(mu_);
    for (const auto& each : calls_) {
      if (const auto call = each.lock(); call && call->client() == client) {
        call->Close();
      }
    }
  }
  if (const auto server = CurrentServer()) {
    server->LookAtAll();
  }
}

std::array<std::uint64_t, kFaults> Network::faults() const {
  const base::MutexLock lock(mu_);
  return counts_;
}

}  // namespace kubexx::simulation
