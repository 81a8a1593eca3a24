#include "kubexx/apiserver/endpoints/checks/image_name.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kubexx::apiserver {
namespace {

const std::string kZeros(64, '0');

// As k8s.io/kubernetes v1.36.3, pkg/util/parsers: ParseImageName.
TEST(ImageNameTest, TagsAndDigestsAreFound) {
  const std::string digest = "sha256:" + kZeros;
  for (const auto& [image, tag] : {std::pair<std::string, std::string>("a", "latest"),
                                   {"a:1", "1"},
                                   {"a:latest", "latest"},
                                   {"b.c:5000/a", "latest"},
                                   {"b.c:5000/a:1", "1"},
                                   {"a@" + digest, ""},
                                   {"a:latest@" + digest, "latest"},
                                   {"a__b/c-----d/e.f:_X.y-z", "_X.y-z"},
                                   {"localhost/a", "latest"},
                                   {"UPPER/a:1", "1"},
                                   {"[::1]:5000/a", "latest"},
                                   {"[fe80::A]/a:1", "1"},
                                   {"docker.io/a", "latest"},
                                   {"a@sha512:" + kZeros + kZeros, ""}}) {
    const auto name = ParseImageName(image);
    ASSERT_TRUE(name) << image;
    EXPECT_EQ(name->tag, tag) << image;
    EXPECT_EQ(name->digest.empty(), image.find('@') == std::string::npos) << image;
  }
}

TEST(ImageNameTest, OthersAreNoNames) {
  for (const std::string& image : {std::string(),
                                   std::string("A"),
                                   std::string("a/B"),
                                   std::string("a b"),
                                   std::string(" a"),
                                   std::string("a:"),
                                   std::string(":1"),
                                   std::string("a:b:c"),
                                   std::string("a/"),
                                   std::string("/a"),
                                   std::string("a//b"),
                                   std::string("a..b"),
                                   std::string("a___b"),
                                   std::string("-a"),
                                   std::string("a-"),
                                   std::string("a:-1"),
                                   std::string("http://a/b"),
                                   std::string("a.b:port/c"),
                                   std::string("a.-b/c"),
                                   std::string("[::1/a"),
                                   std::string("[]/a"),
                                   std::string("a@sha256:0"),
                                   std::string("a:latest@sha256:0"),
                                   "a@sha256:" + kZeros + "0",
                                   "a@md5:" + kZeros,
                                   "a@sha256:" + std::string(64, 'A'),
                                   kZeros,
                                   "a:" + std::string(129, 'x'),
                                   std::string(256, 'a'),
                                   std::string(248, 'a'),
                                   std::string("\u00e9")}) {
    EXPECT_FALSE(ParseImageName(image)) << image;
  }
  EXPECT_TRUE(ParseImageName(std::string(247, 'a')));
  EXPECT_TRUE(ParseImageName("a:" + std::string(128, 'x')));
}

}  // namespace
}  // namespace kubexx::apiserver
