// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Certificates for tests, made within the process.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace carom::testing {

// A certificate and its key in PEM.
struct KeyPair {
  std::string certificate;
  std::string key;
};

// What a certificate says.
struct Subject {
  std::string name = {};          // its CN
  std::string alternatives = {};  // as "DNS:localhost,IP:127.0.0.1"; empty: none
  long lasts_seconds = 3600;      // negative: expired since then
};

// An authority that signs certificates, each with a key of its own.
class Authority {
 public:
  explicit Authority(const std::string& name) : key_(NewKey()) {
    certificate_.reset(Make({.name = name}, key_.get(), nullptr, key_.get(), "critical,CA:TRUE"));
  }

  std::string pem() const { return Pem(certificate_.get()); }

  KeyPair Sign(const Subject& subject) const {
    const KeyPtr key = NewKey();
    const CertificatePtr made(
        Make(subject, key.get(), certificate_.get(), key_.get(), "critical,CA:FALSE"));
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {Pem(made.get()), Text(bio)};
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
  using CertificatePtr = std::unique_ptr<X509, Free>;

  static KeyPtr NewKey() { return KeyPtr(EVP_EC_gen("P-256")); }
  static std::string Text(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<size_t>(size));
    BIO_free(bio);
    return text;
  }
  static std::string Pem(X509* certificate) {
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    return Text(bio);
  }
  // Without an issuer it signs itself.
  static X509* Make(const Subject& subject, EVP_PKEY* key, X509* issuer, EVP_PKEY* signer,
                    const char* constraints) {
    static long serial = 0;
    X509* const made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made), -86400);
    X509_gmtime_adj(X509_getm_notAfter(made), subject.lasts_seconds);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(subject.name.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(made, X509_get_subject_name(issuer == nullptr ? made : issuer));
    Extend(made, NID_basic_constraints, constraints);
    if (!subject.alternatives.empty()) {
      Extend(made, NID_subject_alt_name, subject.alternatives.c_str());
    }
    X509_sign(made, signer, EVP_sha256());
    return made;
  }
  static void Extend(X509* certificate, int id, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  KeyPtr key_;
  CertificatePtr certificate_;
};

// Puts a file of these bytes in place as a whole.
inline void ReplaceFile(const std::string& path, const std::string& bytes) {
  const std::string fresh = absl::StrCat(path, ".new");
  std::ofstream(fresh, std::ios::binary) << bytes;
  std::filesystem::rename(fresh, path);
}

}  // namespace carom::testing
