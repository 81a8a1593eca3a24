#include "kubexx/cache/packer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

namespace kubexx::cache {
namespace {

// Returns a text that has much in common with the other texts, and a part of its own.
std::string Sample(int i, const std::string& flavour = "web") {
  std::mt19937 random(static_cast<unsigned>(i));
  std::string out = "apiVersion: v1, kind: Pod, metadata: {labels: {app: " + flavour + "}, uid: ";
  for (int k = 0; k < 4; ++k) {
    out += std::to_string(random()) + "-";
  }
  for (int k = 0; k < 20; ++k) {
    out += "}, " + flavour + "Container" + std::to_string(k) + ": {image: registry/" + flavour +
           ", terminationMessagePath: /dev/termination-log, imagePullPolicy: IfNotPresent";
  }
  return out + "}, number: " + std::to_string(i);
}

std::string Unpack(const Packer& packer, const Packed& packed, std::size_t size) {
  const auto raw = packer.Unpack(packed.compressed, packed.dictionary, packed.bytes, size);
  EXPECT_TRUE(raw.has_value());
  return raw.value_or("");
}

TEST(PackerTest, UnpacksWhatItPackedBeforeAndAfterTraining) {
  Packer packer;
  std::vector<Packed> packed;
  for (int i = 0; i < 1000; ++i) {
    packed.push_back(packer.Pack(Sample(i)));
  }
  EXPECT_EQ(packer.dictionary(), 1);
  EXPECT_EQ(packed.front().dictionary, 0);
  EXPECT_EQ(packed.back().dictionary, 1);
  for (int i = 0; i < 1000; ++i) {
    const std::string raw = Sample(i);
    ASSERT_EQ(Unpack(packer, packed[static_cast<std::size_t>(i)], raw.size()), raw);
  }
}

TEST(PackerTest, TheDictionaryPays) {
  Packer packer;
  const std::size_t before = packer.Pack(Sample(0)).bytes.size();
  for (int i = 1; i < 400; ++i) {
    packer.Pack(Sample(i));
  }
  const std::size_t after = packer.Pack(Sample(401)).bytes.size();
  EXPECT_LT(after * 2, before);
}

TEST(PackerTest, KeepsWhatDoesNotCompress) {
  Packer packer;
  for (const std::string raw : {"", "x", "short one"}) {
    const Packed packed = packer.Pack(raw);
    EXPECT_FALSE(packed.compressed);
    EXPECT_EQ(packed.bytes, raw);
    EXPECT_EQ(Unpack(packer, packed, raw.size()), raw);
  }
}

TEST(PackerTest, LearnsAgainWhenTheObjectsChange) {
  Packer packer({.drift_window = 256});
  for (int i = 0; i < 1000; ++i) {
    packer.Pack(Sample(i));
  }
  ASSERT_EQ(packer.dictionary(), 1);
  const Packed old = packer.Pack(Sample(1));
  std::mt19937 random(1);
  const auto noisy = [&random](int i) {
    std::string raw = Sample(i, "batch" + std::to_string(i % 7));
    for (int k = 0; k < 30; ++k) {
      raw += std::to_string(random());
    }
    return raw;
  };
  for (int i = 0; i < 4000 && packer.dictionary() == 1; ++i) {
    packer.Pack(noisy(i));
  }
  EXPECT_EQ(packer.dictionary(), 2);
  EXPECT_EQ(Unpack(packer, old, Sample(1).size()), Sample(1));
}

PackerOptions LearnsAllTheTime() {
  return {.dictionary_bytes = 1024,
          .training_objects = 16,
          .training_bytes = 32 << 10,
          .drift_window = 16,
          .drift_factor = 0};
}

TEST(PackerTest, StopsLearningAtTheLimit) {
  Packer packer(LearnsAllTheTime());
  for (int i = 0; i < 5000; ++i) {
    const std::string raw = Sample(i, "flavour" + std::to_string(i / 100));
    const Packed packed = packer.Pack(raw);
    ASSERT_EQ(Unpack(packer, packed, raw.size()), raw);
  }
  EXPECT_EQ(packer.dictionary(), Packer::kMaxDictionaries);
}

// A thread trains without the lock, and meanwhile others find that a training is due again.
TEST(PackerTest, OverlappingTrainingsStopAtTheLimit) {
  for (int round = 0; round < 3; ++round) {
    Packer packer(LearnsAllTheTime());
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&packer, t] {
        int after = 0;
        for (int i = 0; i < 20'000 && after < 200; ++i) {
          after += packer.dictionary() >= Packer::kMaxDictionaries ? 1 : 0;
          const std::string raw = Sample(t * 100'000 + i, "flavour" + std::to_string(i / 25));
          ASSERT_EQ(Unpack(packer, packer.Pack(raw), raw.size()), raw);
        }
      });
    }
    threads.clear();
    EXPECT_EQ(packer.dictionary(), Packer::kMaxDictionaries);
  }
}

TEST(PackerTest, DamagedBytesAreAnError) {
  Packer packer;
  const std::string raw = Sample(1);
  Packed packed = packer.Pack(raw);
  EXPECT_FALSE(packer.Unpack(true, 0, packed.bytes, raw.size() + 1).has_value());
  EXPECT_FALSE(packer.Unpack(true, 9, packed.bytes, raw.size()).has_value());
  packed.bytes[0] = 'x';
  EXPECT_FALSE(packer.Unpack(true, 0, packed.bytes, raw.size()).has_value());
}

TEST(PackerTest, ManyThreadsPackAndUnpackAtOnce) {
  Packer packer;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&packer, t] {
      for (int i = 0; i < 300; ++i) {
        const std::string raw = Sample(t * 1000 + i);
        ASSERT_EQ(Unpack(packer, packer.Pack(raw), raw.size()), raw);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(packer.dictionary(), 1);
}

}  // namespace
}  // namespace kubexx::cache
