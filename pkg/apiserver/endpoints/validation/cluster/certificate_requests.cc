#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/codec/base64.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kMasters = "system:masters";
constexpr std::int64_t kShortestSeconds = 600;
constexpr std::string_view kUsages[] = {"any",
                                        "cert sign",
                                        "client auth",
                                        "code signing",
                                        "content commitment",
                                        "crl sign",
                                        "data encipherment",
                                        "decipher only",
                                        "digital signature",
                                        "email protection",
                                        "encipher only",
                                        "ipsec end system",
                                        "ipsec tunnel",
                                        "ipsec user",
                                        "key agreement",
                                        "key encipherment",
                                        "microsoft sgc",
                                        "netscape sgc",
                                        "ocsp signing",
                                        "s/mime",
                                        "server auth",
                                        "signing",
                                        "timestamping"};

struct Freer {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
  // OPENSSL_free would put the path of this file into programs, which are the same in each clone.
  void operator()(char* text) const { CRYPTO_free(text, "", 0); }
  void operator()(unsigned char* bytes) const { CRYPTO_free(bytes, "", 0); }
};
template <class T>
using Owned = std::unique_ptr<T, Freer>;

/// One block of a text in the form of RFC 7468.
struct PemBlock {
  std::string name{};
  std::string headers{};
  std::string bytes{};
};

Owned<BIO> Reader(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(
      text.data(), static_cast<int>(std::min<std::size_t>(
                       text.size(), static_cast<std::size_t>(std::numeric_limits<int>::max())))));
}

std::optional<PemBlock> NextBlock(BIO* reader) {
  char* name = nullptr;
  char* headers = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  if (PEM_read_bio(reader, &name, &headers, &bytes, &size) != 1) {
    return std::nullopt;
  }
  const Owned<char> own_name(name);
  const Owned<char> own_headers(headers);
  const Owned<unsigned char> own_bytes(bytes);
  return PemBlock{
      .name = name, .headers = headers, .bytes = std::string(bytes, bytes + std::max(size, 0L))};
}

std::string DecodedAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  std::string decoded;
  return codec::DecodeBase64(StringAt(object, path), decoded) ? decoded : std::string();
}

/// Returns null, with the reason in `problem`, when it is not a request.
Owned<X509_REQ> ReadRequest(const JsonTree& object, std::string& problem) {
  const std::string text = DecodedAt(object, {"spec", "request"});
  const Owned<BIO> reader = Reader(text);
  const auto block = NextBlock(reader.get());
  if (!block || block->name != PEM_STRING_X509_REQ) {
    problem = "PEM block type must be CERTIFICATE REQUEST";
    return nullptr;
  }
  const auto* at = reinterpret_cast<const unsigned char*>(block->bytes.data());
  Owned<X509_REQ> request(d2i_X509_REQ(nullptr, &at, static_cast<long>(block->bytes.size())));
  if (request == nullptr) {
    problem = "it is no PKCS#10 request";
  }
  return request;
}

bool IsOf(const X509_REQ& request, std::string_view organization) {
  const X509_NAME* const subject = X509_REQ_get_subject_name(&request);
  for (int at =
           X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), NID_organizationName, -1);
       at >= 0;
       at = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), NID_organizationName, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    const Owned<unsigned char> own(text);
    if (size >= 0 && std::equal(text, text + size, organization.begin(), organization.end())) {
      return true;
    }
  }
  return false;
}

/// Returns "" for a valid name such as "example.com/signer".
std::string SignerProblem(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos) {
    return "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  }
  const std::string_view domain = name.substr(0, slash);
  if (!apimachinery::IsDnsSubdomain(domain) ||
      !apimachinery::IsDnsSubdomain(name.substr(slash + 1))) {
    return "the domain and the path are DNS subdomains";
  }
  return domain.find('.') == std::string_view::npos
             ? "should be a domain with at least two segments separated by dots"
             : "";
}

void CheckUsages(const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const spec = object.Find("spec");
  const std::vector<std::string> usages =
      spec == nullptr ? std::vector<std::string>() : StringsAt(*spec, "usages");
  if (usages.empty()) {
    causes.Required("spec.usages");
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < usages.size(); ++i) {
    const std::string at = "spec.usages[" + std::to_string(i) + "]";
    if (std::ranges::find(kUsages, usages[i]) == std::end(kUsages)) {
      std::string known;
      for (const std::string_view one : kUsages) {
        known += (known.empty() ? "" : ", ") + JsonTree(one).ToJson();
      }
      causes.NotSupported(at, JsonTree(usages[i]).ToJson(), known);
    }
    if (!seen.insert(usages[i]).second) {
      causes.Duplicate(at, JsonTree(usages[i]).ToJson());
    }
  }
}

/// Returns "" for certificates and for an empty text.
std::string CertificateProblem(const std::string& text) {
  const Owned<BIO> reader = Reader(text);
  bool any = false;
  while (const auto block = NextBlock(reader.get())) {
    if (block->name != PEM_STRING_X509) {
      return "only CERTIFICATE PEM blocks are allowed, found " + JsonTree(block->name).ToJson();
    }
    if (!block->headers.empty()) {
      return "no PEM block headers are permitted";
    }
    const auto* at = reinterpret_cast<const unsigned char*>(block->bytes.data());
    if (Owned<X509>(d2i_X509(nullptr, &at, static_cast<long>(block->bytes.size()))) == nullptr) {
      return "a block is no certificate";
    }
    any = true;
  }
  return any || text.empty() ? "" : "must contain at least one CERTIFICATE PEM block";
}

}  // namespace

bool IsCertificateRequest(const ResourceType& type) {
  return type.Is("certificates.k8s.io", "certificatesigningrequests");
}

Result<void> StampRequester(const ResourceType& type, const User& user, JsonTree& object) {
  if (!IsCertificateRequest(type)) {
    return {};
  }
  JsonTree& spec = object["spec"];
  for (const char* const field : {"uid", "groups", "extra"}) {
    spec.Erase(field);
  }
  spec["username"] = user.name;
  if (!user.uid.empty()) {
    spec["uid"] = user.uid;
  }
  for (const std::string& group : user.groups) {
    spec["groups"].Append(group);
  }
  std::string problem;
  const Owned<X509_REQ> request = ReadRequest(object, problem);
  if (spec.TextAt("signerName") == kClientSigner && request != nullptr &&
      IsOf(*request, kMasters)) {
    return Fail(Forbidden(type, MetaString(object, "name"),
                          "use of " + std::string(kClientSigner) + " signer with " +
                              std::string(kMasters) + " group is not allowed"));
  }
  return {};
}

void CheckCertificateRequest(const JsonTree& object, FieldCauses& causes) {
  std::string problem;
  const Owned<X509_REQ> request = ReadRequest(object, problem);
  if (request != nullptr) {
    EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
    if (key == nullptr || X509_REQ_verify(request.get(), key) != 1) {
      problem = "its signature is not good";
    }
  }
  if (!problem.empty()) {
    causes.Invalid("spec.request", JsonTree(StringAt(object, {"spec", "request"})).ToJson(),
                   problem);
  }
  CheckUsages(object, causes);
  const std::string signer = StringAt(object, {"spec", "signerName"});
  if (signer.empty()) {
    causes.Required("spec.signerName");
  } else if (signer == "kubernetes.io/legacy-unknown") {
    causes.Invalid("spec.signerName", JsonTree(signer).ToJson(),
                   "the legacy signerName is not allowed via this API version");
  } else if (const std::string wrong = SignerProblem(signer); !wrong.empty()) {
    causes.Invalid("spec.signerName", JsonTree(signer).ToJson(), wrong);
  }
  if (const JsonTree* const seconds = object.At({"spec", "expirationSeconds"});
      seconds != nullptr && seconds->AsInt().value_or(kShortestSeconds) < kShortestSeconds) {
    causes.Invalid("spec.expirationSeconds", seconds->ToJson(),
                   "may not specify a duration less than 600 seconds (10 minutes)");
  }
}

void CheckIssuedCertificate(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const std::string before = StringAt(current, {"status", "certificate"});
  const std::string after = StringAt(object, {"status", "certificate"});
  if (before == after) {
    return;
  }
  if (!before.empty()) {
    causes.Forbidden("status.certificate", "updates may not modify existing certificate content");
  }
  if (const std::string problem = CertificateProblem(DecodedAt(object, {"status", "certificate"}));
      !problem.empty()) {
    causes.Invalid("status.certificate", "\"<certificate data>\"", problem);
  }
}

}  // namespace kubexx::apiserver
