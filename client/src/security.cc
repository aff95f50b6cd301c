// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/security.h"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/client_interceptor.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "wire/pem_files.h"

namespace carom {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

// Adds the token to each call. gRPC's own credentials of calls want TLS, which a socket on this
// machine has not.
class TokenBearer final : public Interceptor {
 public:
  explicit TokenBearer(const std::string& value) : value_(value) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    methods->Proceed();
  }

 private:
  const std::string& value_;  // of the factory, which the channel keeps
};

class TokenBearers final : public ClientInterceptorFactoryInterface {
 public:
  explicit TokenBearers(absl::string_view token) : value_(absl::StrCat("Bearer ", token)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override { return new TokenBearer(value_); }

 private:
  const std::string value_;
};

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

// The files of TLS, whose certificate and key come together.
absl::StatusOr<grpc::SslCredentialsOptions> ReadTls(const ClientOptions& options) {
  grpc::SslCredentialsOptions tls;
  const wire::NamedFile ca{"ca_file", options.ca_file};
  const wire::NamedFile certificate{"certificate_file", options.certificate_file};
  const wire::NamedFile key{"key_file", options.key_file};
  absl::Status status = wire::CheckAuthorities(ca);
  const bool has_certificate = !certificate.path.empty();
  if (status.ok() && has_certificate) status = wire::CheckKeyPair(certificate, key);
  if (!status.ok()) return status;
  std::pair<const wire::NamedFile*, std::string*> texts[] = {{&ca, &tls.pem_root_certs},
                                                             {&certificate, &tls.pem_cert_chain},
                                                             {&key, &tls.pem_private_key}};
  for (const auto& [file, text] : texts) {
    if (file->path.empty()) continue;
    absl::StatusOr<std::string> read = wire::ReadNamedFile(*file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  return tls;
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
    const absl::StatusOr<grpc::SslCredentialsOptions> tls = ReadTls(options);
    if (!tls.ok()) return tls.status();
    security.transport_ = grpc::SslCredentials(*tls);
  }
  if (!options.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadToken(options.token_file);
    if (!token.ok()) return token.status();
    security.token_ = *std::move(token);
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
  if (!token_.empty()) interceptors.push_back(std::make_unique<TokenBearers>(token_));
  grpc::ChannelArguments all = arguments;
  // A proxy of the environment would see it.
  if (!token_.empty() && !is_encrypted_) all.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::experimental::CreateCustomChannelWithInterceptors(address, transport_, all,
                                                                 std::move(interceptors));
}

}  // namespace carom
