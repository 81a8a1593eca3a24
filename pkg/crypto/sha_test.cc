#include "kubexx/crypto/sha.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/base/hex.h"

namespace kubexx::crypto {
namespace {

// The examples that NIST publishes for FIPS 180-4.
TEST(Sha, HashesAsTheStandardSays) {
  EXPECT_EQ(base::ToHex(Sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(base::ToHex(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(base::ToHex(Sha512("abc")),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  EXPECT_EQ(base::ToHex(Sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST(Sha, HashesPartsAsTheWholeText) {
  const std::string text(200, 'x');
  Sha1Stream stream;
  stream.Update(std::string_view(text).substr(0, 63));
  stream.Update("");
  stream.Update(std::string_view(text).substr(63));
  EXPECT_EQ(stream.Finish(), Sha1(text));
}

// Test case 2 of RFC 4231.
TEST(Sha, CodesWithAKeyAsTheStandardSays) {
  EXPECT_EQ(base::ToHex(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Sha, KnowsThatThisMachineHasSha1) { EXPECT_TRUE(HasSha1()); }

}  // namespace
}  // namespace kubexx::crypto
