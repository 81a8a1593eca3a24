/// @file
/// The state that the page shows, and what has changed of it since a reader last looked.
#ifndef KUBEXX_RELOADER_UI_STATE_FEED_H_
#define KUBEXX_RELOADER_UI_STATE_FEED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/base/mutex.h"

namespace kubexx::reloader {

/// Changes of records, by key; std::nullopt: the record is gone.
using RecordEdits = std::map<std::string, std::optional<std::string>>;

/// Records by key, each one JSON value on one line, and the version at which each has last changed.
/// A reader gets the present state of what has changed since the version that it knows, however
/// long that is ago: nothing is kept for a reader, so that a slow one costs nothing. Keys of
/// records that are gone are kept as well, up to a limit; a reader that knows only an earlier
/// version gets everything anew. Thread-safe.
class StateFeed {
 public:
  struct Options {
    /// Distinguishes this state from that of an earlier process, in the ids of events. Contains no
    /// space, dash or line break.
    std::string name{};
    /// How many keys of records that are gone are kept.
    std::size_t max_gone = 10'000;
    /// Called after each change, outside locks, on the thread that calls Apply. May be empty.
    std::function<void()> on_change{};
  };
  explicit StateFeed(Options options) : options_(std::move(options)) {}
  StateFeed(const StateFeed&) = delete;
  StateFeed& operator=(const StateFeed&) = delete;

  /// Makes all of these changes at once. Records that stay as they are do not count as changed.
  void Apply(RecordEdits edits);

  /// Forgets all records. Readers get everything anew.
  void Clear();

  /// What a reader gets.
  struct News {
    /// A whole server-sent event: its id names `version`, and its data are the JSON object
    /// {"reset":BOOL,"set":{KEY:RECORD},"gone":[KEY]}. With "reset", what the reader has is void.
    /// Null: there is nothing new.
    std::shared_ptr<const std::string> event{};
    std::uint64_t version = 0;
  };
  /// What has changed since that version; everything for std::nullopt and for a version that this
  /// state has not had.
  News Since(std::optional<std::uint64_t> version) const;
  /// The version in the id of an event, which a browser sends as Last-Event-ID. std::nullopt when
  /// the id is of another state, or malformed.
  std::optional<std::uint64_t> VersionOf(std::string_view event_id) const;
  /// Returns std::nullopt when there is no such record.
  std::optional<std::string> Get(const std::string& key) const;

 private:
  struct Record {
    std::optional<std::string> json{};  ///< std::nullopt: it is gone
    std::uint64_t version = 0;
  };

  bool ApplyLocked(RecordEdits edits) KX_REQUIRES(mu_);
  std::string EventSince(std::optional<std::uint64_t> version) const KX_REQUIRES(mu_);

  const Options options_;
  mutable base::Mutex mu_;
  std::uint64_t version_ KX_GUARDED_BY(mu_) = 0;
  /// Readers that know an earlier version may have missed that a record is gone.
  std::uint64_t complete_since_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, Record> records_ KX_GUARDED_BY(mu_);
  /// The keys of `records_`, by the version of the change; several may have one version.
  std::multimap<std::uint64_t, std::string> changes_ KX_GUARDED_BY(mu_);
  /// The keys of records that are gone, by version.
  std::multimap<std::uint64_t, std::string> gone_ KX_GUARDED_BY(mu_);
  /// The answers for the present version: most readers know the one before it.
  mutable std::map<std::optional<std::uint64_t>, std::shared_ptr<const std::string>> made_
      KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_STATE_FEED_H_
