#include "kubexx/controller/source.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller {
namespace {

using apimachinery::Result;

// Whether the event is a resync.
bool IsUnchanged(const cache::RawEvent& event) {
  return event.type == cache::RawEvent::Type::kUpdate &&
         event.old_resource_version() == event.resource_version();
}

/// Makes sure that an exception of a user's function affects only one call of it.
class Guard {
 public:
  Guard(std::string source, metrics::Counter failures)
      : source_(std::move(source)), failures_(std::move(failures)) {}

  void Count() const { failures_.Increment(); }

  /// Returns false when `call` has thrown.
  template <class F>
  bool Call(const char* what, const cache::RawEvent& event, const F& call) const {
    std::string error;
    try {
      call();
      return true;
    } catch (const UndecodableObject&) {
      Count();  // the event itself has logged the error
      return false;
    } catch (...) {
      error = apimachinery::ThrownText();
    }
    Count();
    logging::Error("A function of a controller's source threw", {{"source", source_},
                                                                 {"function", what},
                                                                 {"key", event.key().ToString()},
                                                                 {"error", error}});
    return false;
  }

 private:
  std::string source_;
  metrics::Counter failures_;
};

/// Remembers for which requests the last state of an object that could be decoded was, while the
/// object's present state cannot be decoded. These requests have to be made when the object changes
/// again. Thread-safe.
class LastRequests {
 public:
  using Requests = std::vector<workqueue::Key>;

  void Put(const apimachinery::ObjectKey& object, Requests requests) {
    if (!requests.empty()) {
      const base::MutexLock lock(mu_);
      requests_.insert_or_assign(object, std::move(requests));
    }
  }
  Requests Take(const apimachinery::ObjectKey& object) {
    const base::MutexLock lock(mu_);
    const auto found = requests_.find(object);
    if (found == requests_.end()) {
      return {};
    }
    Requests taken = std::move(found->second);
    requests_.erase(found);
    return taken;
  }

 private:
  base::Mutex mu_;
  std::map<apimachinery::ObjectKey, Requests> requests_ KX_GUARDED_BY(mu_);
};

/// The handlers that a source and its copies have added. Thread-safe.
class Handlers {
 public:
  using Registration = std::shared_ptr<cache::HandlerRegistration>;

  /// Returns the subscription that ends the registration.
  base::Subscription Add(cache::HandlerRegistration added) {
    auto registration = std::make_shared<cache::HandlerRegistration>(std::move(added));
    {
      const base::MutexLock lock(mu_);
      std::erase_if(registrations_, [](const auto& each) { return each.expired(); });
      registrations_.push_back(registration);
    }
    return base::Subscription([registration] { registration->Reset(); });
  }

  /// Waits until each handler has been given the first list. Returns false when a handler ends or
  /// `stop` is requested before that, and when there are no handlers.
  bool WaitForSync(const std::stop_token& stop) {
    const std::vector<Registration> registrations = Living();
    return !registrations.empty() && std::ranges::all_of(registrations, [&stop](const auto& each) {
      return each->WaitForSync(stop);
    });
  }

 private:
  std::vector<Registration> Living() {
    std::vector<Registration> living;
    const base::MutexLock lock(mu_);
    for (const auto& each : registrations_) {
      if (Registration registration = each.lock()) {
        living.push_back(std::move(registration));
      }
    }
    return living;
  }

  base::Mutex mu_;
  std::vector<std::weak_ptr<cache::HandlerRegistration>> registrations_ KX_GUARDED_BY(mu_);
};

// When a predicate throws, the event counts as one that matters, so that none is missed.
bool Matters(const std::vector<UntypedPredicate>& predicates, const cache::RawEvent& event,
             const Guard& guard) {
  for (const UntypedPredicate& predicate : predicates) {
    bool holds = true;
    if (guard.Call("a predicate", event, [&] { holds = predicate(event); }) && !holds) {
      return false;
    }
  }
  return true;
}

}  // namespace

Source NewUntypedSource(
    UntypedSource untyped,
    std::function<void(const cache::RawEvent&, workqueue::Queue&, int priority)> enqueue) {
  Source source;
  source.name = untyped.name;
  const auto handlers = std::make_shared<Handlers>();
  source.wait_for_sync = [informer = untyped.informer, handlers](const std::stop_token& stop) {
    informer->Start();
    return handlers->WaitForSync(stop);
  };
  source.start = [untyped = std::move(untyped), handlers,
                  enqueue = std::move(enqueue)](workqueue::Queue& queue) -> base::Subscription {
    const Guard guard(untyped.name, untyped.failures);
    return handlers->Add(untyped.informer->AddRawHandler(
        untyped.name,
        [predicates = untyped.predicates, enqueue, guard, &queue](const cache::RawEvent& event) {
          if (!Matters(predicates, event, guard)) {
            return;
          }
          const bool is_news = !event.is_in_initial_list && !IsUnchanged(event);
          guard.Call("a mapping", event,
                     [&] { enqueue(event, queue, is_news ? 0 : kLowPriority); });
        },
        // The owner has to make an object again that came and went while the handler was behind.
        cache::HandlerOptions{.tells_passing = true}));
  };
  return source;
}

Source NewUntypedObjectSource(UntypedSource source, int priority) {
  return NewUntypedSource(std::move(source), [priority](const cache::RawEvent& event,
                                                        workqueue::Queue& queue, int usual) {
    queue.Add({.object = event.key()}, {.priority = usual == 0 ? priority : usual});
  });
}

Source NewUntypedMappedSource(UntypedSource source, cache::UntypedDecoder decode,
                              UntypedMapping map) {
  const Guard guard(source.name, source.failures);
  const auto last_requests = std::make_shared<LastRequests>();
  return NewUntypedSource(
      std::move(source), [decode, map = std::move(map), guard, last_requests](
                             const cache::RawEvent& event, workqueue::Queue& queue, int priority) {
        // Returns nothing when the state cannot be decoded.
        const auto add =
            [&](const Result<cache::UntypedRef>& object) -> std::optional<LastRequests::Requests> {
          if (!object) {
            guard.Count();  // the event itself has logged the error
            return std::nullopt;
          }
          LastRequests::Requests requests;
          guard.Call("a mapping", event, [&] {
            requests = map(object->get());
            for (const workqueue::Key& key : requests) {
              queue.Add(key, {.priority = priority});
            }
          });
          return requests;
        };
        const bool is_delete = event.type == cache::RawEvent::Type::kDelete;
        const auto now = add(event.Decoded(decode));
        std::optional<LastRequests::Requests> before;
        if (is_delete ? !now && event.HasOtherOldObject()
                      : event.type == cache::RawEvent::Type::kUpdate && !IsUnchanged(event)) {
          before = add(event.DecodedOld(decode));
        }
        LastRequests::Requests last = last_requests->Take(event.key());
        for (const workqueue::Key& key : last) {
          queue.Add(key, {.priority = priority});
        }
        if (!now && !is_delete) {
          last_requests->Put(event.key(), before ? *std::move(before) : std::move(last));
        }
      });
}

}  // namespace kubexx::controller
