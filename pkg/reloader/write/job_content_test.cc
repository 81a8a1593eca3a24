#include "kubexx/reloader/write/job_content.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

std::string ContentOfText(const std::string& text) {
  return JobContentOf(*dynamic::Unstructured::Parse(text));
}

TEST(JobContent, IsWithoutTheStatus) {
  const std::string content = ContentOfText(
      R"({"metadata":{"name":"work","resourceVersion":"1","managedFields":[{"time":"a"}],)"
      R"("annotations":{"a":"b"}},"spec":{"parallelism":2},"status":{"active":2}})");
  EXPECT_EQ(
      content,
      ContentOfText(
          R"({"metadata":{"name":"work","resourceVersion":"2","managedFields":[{"time":)"
          R"("b"}],"annotations":{"a":"b"}},"spec":{"parallelism":2},"status":{"ready":1}})"));
  EXPECT_NE(content, ContentOfText(R"({"metadata":{"name":"work","resourceVersion":"1",)"
                                   R"("annotations":{"a":"c"}},"spec":{"parallelism":2}})"))
      << "another replica may have recorded something";
  EXPECT_NE(content, ContentOfText(R"({"metadata":{"name":"work","resourceVersion":"1",)"
                                   R"("annotations":{"a":"b"}},"spec":{"parallelism":3}})"));
}

}  // namespace
}  // namespace kubexx::reloader
