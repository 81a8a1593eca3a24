#include "kubexx/reloader/ui/event_streams.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/ui/fair_share.h"

namespace kubexx::reloader {

/// What the streams have in common.
class EventStreams::Shared {
 public:
  /// Takes a place for a stream. Returns its number; std::nullopt when there is none left for this
  /// client.
  std::optional<std::uint64_t> Take(const std::string& client, std::size_t max_streams) {
    const base::MutexLock lock(mu_);
    if (places_.size() >= max_streams && !TakeFromOther(client)) {
      return std::nullopt;
    }
    const std::uint64_t number = next_++;
    places_[number] = {.client = client};
    return number;
  }
  void Started(std::uint64_t number, std::function<void()> wake) {
    const base::MutexLock lock(mu_);
    if (const auto place = places_.find(number); place != places_.end()) {
      place->second.wake = std::move(wake);
    }
  }
  /// Whether the stream still has its place.
  bool HasPlace(std::uint64_t number) const {
    const base::MutexLock lock(mu_);
    return places_.contains(number);
  }
  void Closed(std::uint64_t number) {
    const base::MutexLock lock(mu_);
    places_.erase(number);
  }
  /// The server's wakes only note that there is something to do, so they may be called with the
  /// lock, which Closed waits for.
  void WakeAll(bool is_beat) {
    const base::MutexLock lock(mu_);
    beats_ += is_beat ? 1U : 0U;
    for (const auto& [number, place] : places_) {
      if (place.wake) {
        place.wake();
      }
    }
  }
  std::uint64_t beats() const {
    const base::MutexLock lock(mu_);
    return beats_;
  }
  std::size_t size() const {
    const base::MutexLock lock(mu_);
    return places_.size();
  }

 private:
  struct Place {
    std::string client{};
    std::function<void()> wake{};  ///< empty: the server has not started the stream
  };

  /// Takes the place of the oldest stream of the client that has most, unless this client had as
  /// many then: the two would take it from each other for ever.
  bool TakeFromOther(const std::string& client) KX_REQUIRES(mu_) {
    const auto client_of = [](const Place& place) -> const std::string& { return place.client; };
    if (places_.empty()) {
      return false;
    }
    const auto first = FirstToGo(places_, client_of, [](const auto& each) { return each.first; });
    if (ShareOf(places_, client, client_of) + 1 >=
        ShareOf(places_, first->second.client, client_of)) {
      return false;
    }
    const Place gone = std::move(first->second);
    places_.erase(first);
    if (gone.wake) {
      gone.wake();  // it sees that it has no place
    }
    return true;
  }

  mutable base::Mutex mu_;
  std::uint64_t next_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t beats_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::uint64_t, Place> places_ KX_GUARDED_BY(mu_);
};

/// Its members are used on the server's network thread only.
class EventStreams::Stream final : public http::BodyStream {
 public:
  Stream(const StateFeed& feed, std::shared_ptr<Shared> shared, std::uint64_t number,
         std::optional<std::uint64_t> version, base::Clock& clock,
         std::optional<base::TimePoint> end)
      : feed_(feed),
        shared_(std::move(shared)),
        number_(number),
        clock_(clock),
        end_(end),
        version_(version),
        beats_(shared_->beats()) {}
  ~Stream() override { shared_->Closed(number_); }

  void Start(std::function<void()> wake) override {
    // Somebody waits for the state at once.
    const std::function<void()> first = wake;
    shared_->Started(number_, std::move(wake));
    first();
  }
  bool Take(std::vector<Chunk>& chunks) override {
    if (!shared_->HasPlace(number_)) {
      return End(chunks);
    }
    const std::uint64_t beats = shared_->beats();
    StateFeed::News news = feed_.Since(version_);
    if (news.event != nullptr) {
      chunks.push_back(std::move(news.event));
      version_ = news.version;
    } else if (beats != beats_) {
      chunks.push_back(std::make_shared<const std::string>(":\n\n"));
    }
    beats_ = beats;
    if (end_ && clock_.Now() >= *end_) {
      return End(chunks);
    }
    return true;
  }
  void Closed() override { shared_->Closed(number_); }

 private:
  static bool End(std::vector<Chunk>& chunks) {
    chunks.push_back(std::make_shared<const std::string>("event: again\ndata: \n\n"));
    return false;
  }

  const StateFeed& feed_;
  const std::shared_ptr<Shared> shared_;
  const std::uint64_t number_;
  base::Clock& clock_;
  const std::optional<base::TimePoint> end_;
  std::optional<std::uint64_t> version_;
  std::uint64_t beats_;
};

EventStreams::EventStreams(const StateFeed& feed, std::size_t max_streams, base::Clock& clock)
    : feed_(feed), max_streams_(max_streams), clock_(clock), shared_(std::make_shared<Shared>()) {}

std::shared_ptr<http::BodyStream> EventStreams::Open(const std::string& client,
                                                     std::string_view last_event_id,
                                                     std::optional<base::Duration> age) {
  const auto number = shared_->Take(client, max_streams_);
  if (!number) {
    return nullptr;
  }
  return std::make_shared<Stream>(
      feed_, shared_, *number, feed_.VersionOf(last_event_id), clock_,
      age ? std::optional<base::TimePoint>(clock_.Now() + *age) : std::nullopt);
}

void EventStreams::Wake() { shared_->WakeAll(false); }

void EventStreams::Beat() { shared_->WakeAll(true); }

std::size_t EventStreams::open() const { return shared_->size(); }

}  // namespace kubexx::reloader
