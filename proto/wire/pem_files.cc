// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/pem_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::wire {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using BioPtr = std::unique_ptr<BIO, Freed<BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, Freed<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

absl::Status Refuse(const NamedFile& file, absl::string_view why) {
  return InvalidField(file.option, absl::StrCat(why, ": ", file.path));
}

BioPtr Read(absl::string_view pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The passphrase callback for OpenSSL. OpenSSL calls it only if the key needs a passphrase, so it
// sets the bool at `asked` to true; it gives no passphrase. OpenSSL's default callback would ask
// for the passphrase on the terminal.
int RefusePassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

CertificatePtr Parse(absl::string_view pem) {
  CertificatePtr certificate(PEM_read_bio_X509(Read(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

absl::StatusOr<CertificatePtr> ReadCertificate(const NamedFile& file) {
  const absl::StatusOr<std::string> pem = ReadNamedFile(file);
  if (!pem.ok()) return pem.status();
  CertificatePtr certificate = Parse(*pem);
  if (certificate == nullptr) return Refuse(file, "has no certificate in PEM");
  return certificate;
}

}  // namespace

FileState StateOf(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  return {file.st_dev,          file.st_ino,         file.st_size,        file.st_mtim.tv_sec,
          file.st_mtim.tv_nsec, file.st_ctim.tv_sec, file.st_ctim.tv_nsec};
}

// Reads the file in blocks, so that an endless pipe or device is refused as too long.
absl::StatusOr<std::string> ReadNamedFile(const NamedFile& file) {
  const std::unique_ptr<FILE, Freed<std::fclose>> opened(std::fopen(file.path.c_str(), "rbe"));
  if (opened == nullptr) {
    return Refuse(file, absl::StrCat("cannot be read (", std::strerror(errno), ")"));
  }
  std::string bytes;
  std::array<char, 16384> part;
  while (bytes.size() <= kMaxFileBytes) {
    errno = 0;
    const size_t count = std::fread(part.data(), 1, part.size(), opened.get());
    if (count == 0) break;
    bytes.append(part.data(), count);
  }
  if (std::ferror(opened.get()) != 0) {
    return Refuse(file, absl::StrCat("cannot be read (", std::strerror(errno), ")"));
  }
  if (bytes.size() > kMaxFileBytes) return Refuse(file, "has more than 1 MiB");
  return bytes;
}

// Checks the certificate before the key: if the error is about the key, the certificate is usable.
absl::Status CheckKeyPair(const NamedFile& certificate, const NamedFile& key) {
  const absl::StatusOr<CertificatePtr> read = ReadCertificate(certificate);
  if (!read.ok()) return read.status();
  if (X509_cmp_current_time(X509_get0_notAfter(read->get())) < 0) {
    return Refuse(certificate, "has a certificate that has expired");
  }
  const absl::StatusOr<std::string> pem = ReadNamedFile(key);
  if (!pem.ok()) return pem.status();
  bool has_passphrase = false;
  const KeyPtr private_key(
      PEM_read_bio_PrivateKey(Read(*pem).get(), nullptr, RefusePassphrase, &has_passphrase));
  const bool matches =
      private_key != nullptr && X509_check_private_key(read->get(), private_key.get()) == 1;
  ERR_clear_error();
  if (has_passphrase) return Refuse(key, "has a key with a passphrase");
  if (private_key == nullptr) return Refuse(key, "has no private key in PEM");
  if (!matches) return Refuse(key, "has a key that does not match the certificate");
  return absl::OkStatus();
}

absl::Time ExpiryOf(absl::string_view pem) {
  const CertificatePtr certificate = Parse(pem);
  tm expiry{};
  if (certificate == nullptr ||
      ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &expiry) != 1) {
    return absl::InfinitePast();
  }
  return absl::FromTM(expiry, absl::UTCTimeZone());
}

absl::Status CheckAuthorities(const NamedFile& authorities) {
  return ReadCertificate(authorities).status();
}

}  // namespace carom::wire
