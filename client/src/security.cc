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

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  absl::StatusOr<std::string> text = wire::ReadNamedFile({"token_file", path});
  if (!text.ok()) return text.status();
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  if (token.empty() || !std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return InvalidField("token_file",
                        absl::StrCat("has no token, a word of printable characters: ", path));
  }
  return std::string(token);
}

// Adds the token to each call. gRPC's own credentials of calls want TLS, which a socket on this
// machine has not.
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

// Looks at the file at each call, and reads it where it is another one: about a microsecond.
class TokenBearers final : public ClientInterceptorFactoryInterface {
 public:
  TokenBearers(std::string path, std::string token)
      : path_(std::move(path)), token_(std::move(token)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override {
    return new TokenBearer(absl::StrCat("Bearer ", Token()));
  }

 private:
  // A file that cannot be used, as between two steps of its writer, leaves the token as it was.
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
  wire::FileState state_ ABSL_GUARDED_BY(mutex_);  // at the last look; none: the first call reads
  std::string token_ ABSL_GUARDED_BY(mutex_);
};

// How often gRPC looks at the files.
constexpr unsigned kRefreshSeconds = 1;

// Of the files of TLS, whose certificate and key come together. They are checked here, since gRPC
// does not say what is wrong with one; it reads them again when they change.
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

// Whether nobody but this machine is on the way to an address.
bool IsOnThisMachine(absl::string_view address) {
  for (const char* prefix : {"unix:", "localhost:", "[::1]:"}) {
    if (absl::StartsWith(address, prefix)) return true;
  }
  // A name such as `127.example` begins as an address of this machine does.
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
    return InvalidField("ca_file", "must be given with a certificate: it is shown over TLS alone");
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
  return InvalidField("token_file", "must be with ca_file, unless the server is on this machine");
}

std::shared_ptr<grpc::Channel> ClientSecurity::Connect(
    const std::string& address, const grpc::ChannelArguments& arguments) const {
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> interceptors;
  if (!token_.empty()) interceptors.push_back(std::make_unique<TokenBearers>(token_file_, token_));
  grpc::ChannelArguments all = arguments;
  // A proxy of the environment would see it.
  if (!token_.empty() && !is_encrypted_) all.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::experimental::CreateCustomChannelWithInterceptors(address, transport_, all,
                                                                 std::move(interceptors));
}

}  // namespace carom
