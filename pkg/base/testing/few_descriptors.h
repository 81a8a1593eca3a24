/// @file
/// FewDescriptors: lets the process open only few more files.
#ifndef KUBEXX_BASE_TESTING_FEW_DESCRIPTORS_H_
#define KUBEXX_BASE_TESTING_FEW_DESCRIPTORS_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kubexx::base::testing {

/// While an object of this class exists, the process gets at most `more` descriptors beyond those
/// that are open. There may be one object at a time.
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

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_FEW_DESCRIPTORS_H_
