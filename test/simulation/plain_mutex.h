/// @file
/// Mutexes of the C library where one thread runs at a time.
#ifndef KUBEXX_TEST_SIMULATION_PLAIN_MUTEX_H_
#define KUBEXX_TEST_SIMULATION_PLAIN_MUTEX_H_

#include <pthread.h>

#include <cerrno>

#include "real_calls.h"

namespace kubexx::simulation {

/// Whether it is a mutex of the plain kind, as std::mutex is, whose words say no more than that it
/// is locked. No other thread of the simulation looks at them at the same time.
inline bool IsPlain(const pthread_mutex_t* mutex) {
  return mutex->__data.__kind == PTHREAD_MUTEX_TIMED_NP;
}

/// As the library's, but for who has it, which only kinds that are not plain need to know.
inline int TryLockMutex(pthread_mutex_t* mutex) {
  if (!IsPlain(mutex)) {
    return KX_REAL(pthread_mutex_trylock)(mutex);
  }
  if (mutex->__data.__lock != 0) {
    return EBUSY;
  }
  mutex->__data.__lock = 1;
  ++mutex->__data.__nusers;
  return 0;
}

/// The other way round. A thread of no simulation may wait for it in the library, which has written
/// 2 then.
inline int UnlockNow(pthread_mutex_t* mutex) {
  if (!IsPlain(mutex) || mutex->__data.__lock != 1) {
    return KX_REAL(pthread_mutex_unlock)(mutex);
  }
  --mutex->__data.__nusers;
  mutex->__data.__owner = 0;
  mutex->__data.__lock = 0;
  return 0;
}

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_PLAIN_MUTEX_H_
