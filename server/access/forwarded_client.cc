// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/forwarded_client.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace carom::server {
namespace {

// The keys of the metadata. With the suffix `-bin`, gRPC allows any bytes in a value.
constexpr char kPeer[] = "carom-forwarded-peer-bin";
constexpr char kCertificateName[] = "carom-forwarded-name-bin";
constexpr char kCertificateExpiry[] = "carom-forwarded-expiry-bin";  // seconds since 1970, decimal

constexpr char kSecret[] = "carom-forwarded-secret-bin";

// Returns 16 random bytes, which only calls that this process makes to itself have in their
// metadata. gRPC has no function that returns whether a call comes from within the process.
const std::string& Secret() {
  static const std::string& secret = *new std::string([] {
    std::string bytes(16, '\0');
    // OpenSSL has no random bytes only on a system without a source of randomness.
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) != 1) {
      std::abort();
    }
    return bytes;
  }());
  return secret;
}

}  // namespace

void AddForwardedClient(const ForwardedClient& client, grpc::ClientContext& context) {
  context.AddMetadata(kSecret, Secret());
  context.AddMetadata(kPeer, client.peer);
  for (const std::string& name : client.certificate_names) {
    context.AddMetadata(kCertificateName, name);
  }
  if (client.certificate_expiry != absl::InfiniteFuture()) {
    context.AddMetadata(kCertificateExpiry,
                        absl::StrCat(absl::ToUnixSeconds(client.certificate_expiry)));
  }
}

std::optional<ForwardedClient> ForwardedClientOf(const grpc::ServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto secret = metadata.find(kSecret);
  if (secret == metadata.end() || secret->second.size() != Secret().size() ||
      CRYPTO_memcmp(secret->second.data(), Secret().data(), Secret().size()) != 0) {
    return std::nullopt;
  }
  const auto peer = metadata.find(kPeer);
  if (peer == metadata.end()) return std::nullopt;
  ForwardedClient client;
  client.peer.assign(peer->second.data(), peer->second.size());
  const auto [first, last] = metadata.equal_range(kCertificateName);
  for (auto name = first; name != last; ++name) {
    client.certificate_names.emplace_back(name->second.data(), name->second.size());
  }
  const auto expiry = metadata.find(kCertificateExpiry);
  int64_t seconds = 0;
  if (expiry != metadata.end() &&
      absl::SimpleAtoi(absl::string_view(expiry->second.data(), expiry->second.size()), &seconds)) {
    client.certificate_expiry = absl::FromUnixSeconds(seconds);
  }
  return client;
}

}  // namespace carom::server
