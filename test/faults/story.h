/// @file
/// What happened in a run, for people.
#ifndef KUBEXX_TEST_FAULTS_STORY_H_
#define KUBEXX_TEST_FAULTS_STORY_H_

#include <string>
#include <string_view>

namespace kubexx::faults {

/// A file with a line for each event: when, who, what. Thread-safe.
class Story {
 public:
  /// Begins anew. Without the file nothing is kept.
  explicit Story(const std::string& path);
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  void Add(std::string_view who, std::string_view what) const;

 private:
  const int file_;
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_STORY_H_
