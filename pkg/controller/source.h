/// @file
/// Sources of requests over informers.
#ifndef KUBEXX_CONTROLLER_SOURCE_H_
#define KUBEXX_CONTROLLER_SOURCE_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/event.h"
#include "kubexx/controller/predicate.h"

namespace kubexx::controller {

/// Starts `informer` when it does not run, and blocks until its handlers of this name have been
/// given its first list; false when `stop` was requested first.
bool WaitForHandlerSync(cache::SharedInformerBase& informer, const std::string& handler,
                        const std::stop_token& stop);

/// A source that passes events on to `enqueue` when all `predicates` hold.
template <class T>
Source NewInformerSource(
    std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
    std::vector<Predicate<T>> predicates,
    std::function<void(const Event<T>&, workqueue::Queue&, int priority)> enqueue) {
  Source source;
  source.name = name;
  source.wait_for_sync = [informer, name](std::stop_token stop) {
    return WaitForHandlerSync(*informer, name, stop);
  };
  source.start = [informer = std::move(informer), name = std::move(name),
                  predicates = std::move(predicates),
                  enqueue = std::move(enqueue)](workqueue::Queue& queue) {
    return informer->AddRawHandler(name, [predicates, enqueue, &queue](const cache::RawEvent& raw) {
      const Event<T> event(raw);
      for (const Predicate<T>& predicate : predicates) {
        if (!predicate(event)) {
          return;
        }
      }
      const bool is_news = !event.is_in_initial_list() && !event.is_unchanged();
      enqueue(event, queue, is_news ? 0 : kLowPriority);
    });
  };
  return source;
}

/// Adds the objects that change; news of them with `priority`.
template <class T>
Source NewObjectSource(std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
                       std::vector<Predicate<T>> predicates, int priority = 0) {
  return NewInformerSource<T>(
      std::move(informer), std::move(name), std::move(predicates),
      [priority](const Event<T>& event, workqueue::Queue& queue, int usual) {
        queue.Add({.object = event.key()}, {.priority = usual == 0 ? priority : usual});
      });
}

/// Adds what `map` says of the objects that change, in their new and their old state.
template <class T>
Source NewMappedSource(std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
                       std::function<std::vector<workqueue::Key>(const T&)> map,
                       std::vector<Predicate<T>> predicates) {
  return NewInformerSource<T>(
      std::move(informer), std::move(name), std::move(predicates),
      [map = std::move(map)](const Event<T>& event, workqueue::Queue& queue, int priority) {
        for (const workqueue::Key& key : map(event.object())) {
          queue.Add(key, {.priority = priority});
        }
        if (event.is_update() && !event.is_unchanged()) {
          for (const workqueue::Key& key : map(event.old_object())) {
            queue.Add(key, {.priority = priority});
          }
        }
      });
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_SOURCE_H_
