/// @file
/// Whether threads wait awake for a Mutex.
#ifndef KUBEXX_BASE_MUTEX_PAUSES_H_
#define KUBEXX_BASE_MUTEX_PAUSES_H_

namespace kubexx::base {

/// Has threads of this process that find a Mutex locked look again at once from now on, without the
/// microseconds of pauses in between that give its holder time. For programs in which the holder
/// does not run meanwhile, such as a simulation in which threads take turns, and such as those with
/// one processor. Thread-safe.
void OmitMutexPauses();

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_MUTEX_PAUSES_H_
