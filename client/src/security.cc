// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/security.h"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/client_interceptor.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/src/mutex.h"
#include "wire/pem_files.h"

namespace carom {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

// Returns the token in the file `path`, or INVALID_ARGUMENT naming `token_file`.
absl::StatusOr<std::string> ReadToken(const std::string& path) {
  absl::StatusOr<std::string> text = wire::ReadNamedFile({"token_file", path});
  if (!text.ok()) return text.status();
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  if (token.empty() || !std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return InvalidField("token_file",
                        absl::StrCat("has no token, one word of printable ASCII: ", path));
  }
  return std::string(token);
}

// Adds the token to the metadata of one call. An interceptor does so, because gRPC's call
// credentials require TLS, and the token may also go to a server on this machine without TLS.
class TokenBearer final : public Interceptor {
 public:
  explicit TokenBearer(std::string value) : value_(std::move(value)) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    methods->Proceed();
  }

 private:
  const std::string value_;
};

// Makes the interceptor that adds the token to a call. At each call compares the state of the token
// file (inode, size, times), which takes about a microsecond, and reads the file if the state has
// changed.
class TokenBearerFactory final : public ClientInterceptorFactoryInterface {
 public:
  TokenBearerFactory(std::string path, std::string token)
      : path_(std::move(path)), token_(std::move(token)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override {
    return new TokenBearer(absl::StrCat("Bearer ", Token()));
  }

 private:
  // Returns the current token. If the file cannot be used, for example because it is only partly
  // written, the previous token stays.
  std::string Token() {
    const wire::FileState state = wire::StateOf(path_);
    MutexLock lock(mutex_);
    if (state != state_) {
      absl::StatusOr<std::string> read = ReadToken(path_);
      if (read.ok()) token_ = *std::move(read);
      state_ = state;
    }
    return token_;
  }

  const std::string path_;
  Mutex mutex_;
  // state of the token file at the last attempt to read it; all zeros before the first attempt
  wire::FileState state_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);
};

// The interval at which gRPC checks the TLS files for changes.
constexpr unsigned kRefreshSeconds = 1;

// Returns the credentials from the TLS files; `options` has both a certificate and its key, or
// neither. Checks the files, because gRPC does not report why a file is unusable. gRPC reads the
// files again when they change.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ReadTls(const ClientOptions& options) {
  absl::Status status = wire::CheckAuthorities({"ca_file", options.ca_file});
  const bool has_certificate = !options.certificate_file.empty();
  if (status.ok() && has_certificate) {
    status = wire::CheckKeyPair({"certificate_file", options.certificate_file},
                                {"key_file", options.key_file});
  }
  if (!status.ok()) return status;
  grpc::experimental::TlsChannelCredentialsOptions tls;
  tls.set_certificate_provider(std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      options.key_file, options.certificate_file, options.ca_file, kRefreshSeconds));
  tls.watch_root_certs();
  if (has_certificate) tls.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(tls);
}

// Returns whether `address` is on this machine, so that calls to it do not leave the machine.
bool IsOnThisMachine(absl::string_view address) {
  for (const char* prefix : {"unix:", "localhost:", "[::1]:"}) {
    if (absl::StartsWith(address, prefix)) return true;
  }
  // Parses the address, because a host name such as `127.example` also begins with `127.`.
  in_addr ip{};
  const std::string host(address.substr(0, address.rfind(':')));
  return inet_pton(AF_INET, host.c_str(), &ip) == 1 && ntohl(ip.s_addr) >> 24 == 127;
}

}  // namespace

absl::StatusOr<ClientSecurity> ClientSecurity::Read(const ClientOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return InvalidField(options.key_file.empty() ? "key_file" : "certificate_file",
                        "must be given: the certificate and its key are one pair");
  }
  if (!options.certificate_file.empty() && options.ca_file.empty()) {
    return InvalidField("ca_file", "must be given with a certificate: only TLS can use it");
  }
  ClientSecurity security;
  security.is_encrypted_ = !options.ca_file.empty();
  security.transport_ = grpc::InsecureChannelCredentials();
  if (security.is_encrypted_) {
    absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> tls = ReadTls(options);
    if (!tls.ok()) return tls.status();
    security.transport_ = *std::move(tls);
  }
  if (!options.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadToken(options.token_file);
    if (!token.ok()) return token.status();
    security.token_ = *std::move(token);
    security.token_file_ = options.token_file;
  }
  return security;
}

absl::Status ClientSecurity::Check(const std::string& address) const {
  if (token_.empty() || is_encrypted_ || IsOnThisMachine(address)) return absl::OkStatus();
  return InvalidField("token_file", "needs ca_file too, unless the server is on this machine");
}

std::shared_ptr<grpc::Channel> ClientSecurity::Connect(
    const std::string& address, const grpc::ChannelArguments& arguments) const {
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> interceptors;
  if (!token_.empty())
    interceptors.push_back(std::make_unique<TokenBearerFactory>(token_file_, token_));
  grpc::ChannelArguments all = arguments;
  // Disables the HTTP proxy of the environment variables, because the proxy could read the
  // unencrypted token.
  if (!token_.empty() && !is_encrypted_) all.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::experimental::CreateCustomChannelWithInterceptors(address, transport_, all,
                                                                 std::move(interceptors));
}

}  // namespace carom
