#include "kubexx/cache/packer.h"

// The trainer with a choice of table sizes is in the library, but not in its stable API.
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/base/mutex.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// At most so many bytes of one object are learnt from, because zstd wants many small samples.
constexpr std::size_t kMaxSample = 32 << 10;
// The number of idle contexts that are kept for the next callers. More contexts exist only while
// more threads pack at the same time.
constexpr std::size_t kMaxIdleContexts = 4;
// The size of the result buffer that an idle context keeps.
constexpr std::size_t kMaxIdleBuffer = std::size_t{256} << 10;

// As ZDICT_trainFromBuffer, but with tables of 2^16 entries instead of 2^20. The larger tables take
// 8 MB for each type while it is learnt, and all types are learnt at the same time, so that they
// would be the peak of a small program's memory. The samples have fewer positions than 2^16.
ZDICT_fastCover_params_t TrainingParams() {
  ZDICT_fastCover_params_t params{};
  params.d = 8;
  params.steps = 4;
  params.f = 16;
  params.accel = 1;
  return params;
}

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using CompressContext = std::unique_ptr<ZSTD_CCtx, Freer<ZSTD_freeCCtx>>;
using DecompressContext = std::unique_ptr<ZSTD_DCtx, Freer<ZSTD_freeDCtx>>;
using CompressDictionary = std::unique_ptr<ZSTD_CDict, Freer<ZSTD_freeCDict>>;
using DecompressDictionary = std::unique_ptr<ZSTD_DDict, Freer<ZSTD_freeDDict>>;

/// A context with the dictionary that it is set up for, which must live as long as the context, and
/// with memory for its results.
struct Compressor {
  std::shared_ptr<ZSTD_CDict> dictionary{};
  CompressContext context{ZSTD_createCCtx()};
  bool is_set_up = false;
  std::string buffer{};
};
Compressor* NewCompressor() { return new Compressor(); }
using CompressorRef = std::unique_ptr<Compressor>;

/// A free list of zstd contexts, which are large and take long to make.
template <class Context, auto kCreate>
class Pool {
 public:
  Context Take() {
    {
      base::MutexLock lock(mu_);
      if (!idle_.empty()) {
        Context context = std::move(idle_.back());
        idle_.pop_back();
        return context;
      }
    }
    return Context(kCreate());
  }

  void Give(Context context) {
    base::MutexLock lock(mu_);
    if (idle_.size() < kMaxIdleContexts) {
      idle_.push_back(std::move(context));
    }
  }

 private:
  base::Mutex mu_;
  std::vector<Context> idle_ KX_GUARDED_BY(mu_);
};

// The settings stay for the next objects, because setting them takes a considerable part of the
// time to pack a small object.
void SetUp(Compressor& compressor, std::shared_ptr<ZSTD_CDict> dictionary, int level) {
  ZSTD_CCtx* const context = compressor.context.get();
  if (compressor.is_set_up && compressor.dictionary == dictionary) {
    return;
  }
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  // The entry around the bytes already says what these header fields would say.
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
  // The context uses its former dictionary until the reset above, so that dictionary may be freed
  // only now.
  compressor.dictionary = std::move(dictionary);
  if (compressor.dictionary) {
    ZSTD_CCtx_refCDict(context, compressor.dictionary.get());
  }
  compressor.is_set_up = true;
}

}  // namespace

class Packer::Impl {
 public:
  explicit Impl(PackerOptions options) : options_(options) {}
  ~Impl() { apimachinery::Wipe(samples_); }

  Packed Pack(std::string_view raw) {
    Packed out;
    std::shared_ptr<ZSTD_CDict> dictionary;
    {
      base::MutexLock lock(mu_);
      out.dictionary = current_;
      dictionary = compress_dictionary_;
    }
    CompressorRef compressor = compressors_.Take();
    std::size_t size = 0;
    if (compressor->context) {
      SetUp(*compressor, std::move(dictionary), options_.level);
      std::string& buffer = compressor->buffer;
      if (const std::size_t bound = ZSTD_compressBound(raw.size()); buffer.size() < bound) {
        buffer.resize(bound);
      }
      size = ZSTD_compress2(compressor->context.get(), buffer.data(), buffer.size(), raw.data(),
                            raw.size());
    }
    if (!Succeeded(size) || size >= raw.size()) {
      out.dictionary = 0;
      out.bytes.assign(raw);
    } else {
      out.compressed = true;
      out.bytes.assign(compressor->buffer, 0, size);
    }
    if (compressor->buffer.size() > kMaxIdleBuffer) {
      std::string().swap(compressor->buffer);
    }
    compressors_.Give(std::move(compressor));
    Learn(raw, out.bytes.size());
    return out;
  }

  Result<void> UnpackTo(std::string& raw, bool compressed, std::uint8_t dictionary,
                        std::string_view packed, std::size_t raw_size) const {
    if (!compressed) {
      raw.assign(packed);
      return {};
    }
    const ZSTD_DDict* decoder = nullptr;
    if (dictionary != 0) {
      base::MutexLock lock(mu_);
      decoder = dictionaries_[dictionary - 1].get();
    }
    DecompressContext context = decompressors_.Take();
    if (!context || (dictionary != 0 && decoder == nullptr)) {
      return Fail(Reason::kInternalError, "cannot unpack a cached object: no context");
    }
    raw.resize(raw_size);
    const std::size_t size = decoder != nullptr
                                 ? ZSTD_decompress_usingDDict(context.get(), raw.data(), raw.size(),
                                                              packed.data(), packed.size(), decoder)
                                 : ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(),
                                                       packed.data(), packed.size());
    decompressors_.Give(std::move(context));
    if (ZSTD_isError(size) != 0 || size != raw_size) {
      return Fail(Reason::kInternalError, "cannot unpack a cached object: damaged bytes");
    }
    return {};
  }

  std::uint8_t dictionary() const { return current_.load(std::memory_order_relaxed); }

 private:
  static bool Succeeded(std::size_t size) { return size != 0 && ZSTD_isError(size) == 0; }

  void Learn(std::string_view raw, std::size_t packed_size) {
    std::string samples;
    std::vector<std::size_t> sizes;
    {
      base::MutexLock lock(mu_);
      if (!training_) {
        WatchRatioLocked(raw.size(), packed_size);
        return;
      }
      AddSampleLocked(raw);
      if (!EnoughSamplesLocked()) {
        return;
      }
      training_ = false;
      samples.swap(samples_);
      sizes.swap(sample_sizes_);
    }
    Train(samples, sizes);
    apimachinery::Wipe(samples);
  }

  void AddSampleLocked(std::string_view raw) KX_REQUIRES(mu_) {
    const std::string_view sample = raw.substr(0, kMaxSample);
    if (!sample.empty()) {
      samples_.append(sample);
      sample_sizes_.push_back(sample.size());
    }
  }

  bool EnoughSamplesLocked() const KX_REQUIRES(mu_) {
    return samples_.size() >= options_.training_bytes ||
           (sample_sizes_.size() >= options_.training_objects &&
            samples_.size() >= 10 * options_.dictionary_bytes);
  }

  // Trains without the lock, so that other threads go on packing with the present dictionary.
  void Train(const std::string& samples, const std::vector<std::size_t>& sizes) {
    std::string dictionary(options_.dictionary_bytes, '\0');
    ZDICT_fastCover_params_t params = TrainingParams();
    const std::size_t size = ZDICT_optimizeTrainFromBuffer_fastCover(
        dictionary.data(), dictionary.size(), samples.data(), sizes.data(),
        static_cast<unsigned>(sizes.size()), &params);
    if (ZDICT_isError(size) != 0) {
      // The samples have nothing in common. The packer goes on as before, and tries again when the
      // objects change.
      return;
    }
    CompressDictionary compress(ZSTD_createCDict(dictionary.data(), size, options_.level));
    DecompressDictionary decompress(ZSTD_createDDict(dictionary.data(), size));
    base::MutexLock lock(mu_);
    if (!compress || !decompress || current_ >= kMaxDictionaries) {
      return;  // another thread may meanwhile have made the last dictionary
    }
    dictionaries_[current_] = std::move(decompress);
    compress_dictionary_ = std::move(compress);
    ++current_;
    baseline_ = 0;
    window_objects_ = window_raw_ = window_packed_ = 0;
  }

  void WatchRatioLocked(std::size_t raw, std::size_t packed) KX_REQUIRES(mu_) {
    window_raw_ += raw;
    window_packed_ += packed;
    if (++window_objects_ < options_.drift_window || window_raw_ == 0) {
      return;
    }
    const double ratio = static_cast<double>(window_packed_) / static_cast<double>(window_raw_);
    window_objects_ = window_raw_ = window_packed_ = 0;
    if (baseline_ == 0) {
      baseline_ = ratio;
    } else if (ratio > baseline_ * options_.drift_factor && current_ < kMaxDictionaries) {
      training_ = true;
    }
  }

  const PackerOptions options_;
  Pool<CompressorRef, NewCompressor> compressors_;
  mutable Pool<DecompressContext, ZSTD_createDCtx> decompressors_;

  mutable base::Mutex mu_;
  bool training_ KX_GUARDED_BY(mu_) = true;
  std::string samples_ KX_GUARDED_BY(mu_);
  std::vector<std::size_t> sample_sizes_ KX_GUARDED_BY(mu_);
  std::atomic<std::uint8_t> current_ = 0;  // written only while mu_ is held
  std::shared_ptr<ZSTD_CDict> compress_dictionary_ KX_GUARDED_BY(mu_);
  std::array<DecompressDictionary, kMaxDictionaries> dictionaries_ KX_GUARDED_BY(mu_);
  double baseline_ KX_GUARDED_BY(mu_) = 0;
  std::size_t window_objects_ KX_GUARDED_BY(mu_) = 0;
  std::size_t window_raw_ KX_GUARDED_BY(mu_) = 0;
  std::size_t window_packed_ KX_GUARDED_BY(mu_) = 0;
};

Packer::Packer(PackerOptions options) : impl_(std::make_unique<Impl>(options)) {}
Packer::~Packer() = default;

Packed Packer::Pack(std::string_view raw) { return impl_->Pack(raw); }

Result<std::string> Packer::Unpack(bool compressed, std::uint8_t dictionary,
                                   std::string_view packed, std::size_t raw_size) const {
  std::string raw;
  KX_RETURN_IF_ERROR(impl_->UnpackTo(raw, compressed, dictionary, packed, raw_size));
  return raw;
}

Result<void> Packer::UnpackTo(std::string& raw, bool compressed, std::uint8_t dictionary,
                              std::string_view packed, std::size_t raw_size) const {
  return impl_->UnpackTo(raw, compressed, dictionary, packed, raw_size);
}

std::uint8_t Packer::dictionary() const { return impl_->dictionary(); }

}  // namespace kubexx::cache
