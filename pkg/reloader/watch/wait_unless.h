/// @file
/// Waits for a first list that may never arrive.
#ifndef KUBEXX_RELOADER_WATCH_WAIT_UNLESS_H_
#define KUBEXX_RELOADER_WATCH_WAIT_UNLESS_H_

#include <stop_token>

namespace kubexx::reloader {

/// Blocks until `awaited`, which has a WaitForSync as informers do, has synced, or until `given_up`
/// is requested because nobody should wait any longer. Returns false when `stop` was requested
/// first.
template <class Awaited>
bool WaitUnless(const Awaited& awaited, const std::stop_token& given_up,
                const std::stop_token& stop) {
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback on_stop(stop, end);
  const std::stop_callback on_giving_up(given_up, end);
  return awaited.WaitForSync(either.get_token()) ||
         (given_up.stop_requested() && !stop.stop_requested());
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_WAIT_UNLESS_H_
