/// @file
/// FewDescriptors: a process that may open few files more.
#ifndef KUBEXX_REMOTECOMMAND_TESTING_FEW_DESCRIPTORS_H_
#define KUBEXX_REMOTECOMMAND_TESTING_FEW_DESCRIPTORS_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kubexx::remotecommand::testing {

/// While it exists the process gets `more` descriptors at most beyond those that are open. One at a
/// time.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = ::dup(0);
    ::close(next);
    rlimit fewer = before_;
    fewer.rlim_cur = static_cast<rlim_t>(next) + more;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace kubexx::remotecommand::testing

#endif  // KUBEXX_REMOTECOMMAND_TESTING_FEW_DESCRIPTORS_H_
