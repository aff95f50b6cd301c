// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/options.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "carom/status.h"
#include "server/config_file.h"
#include "server/settings.h"
#include "server/store/etcd/etcd_client.h"

#ifndef CAROM_VERSION
#define CAROM_VERSION "unversioned"
#endif

namespace carom::server {
namespace {

// Returns whether only processes of this machine can connect to `address`: a Unix socket or a
// loopback address.
bool IsLocal(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  absl::string_view host = address.substr(0, address.rfind(':'));
  if (absl::ConsumePrefix(&host, "[")) host.remove_suffix(1);
  in_addr v4;
  in6_addr v6;
  const std::string text(host);
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

// Returns INVALID_ARGUMENT if an environment variable of a path is set and empty: CLI11 takes an
// empty variable for an unset one.
absl::Status CheckEnvironment() {
  for (const TextOption& text : TextOptions()) {
    const char* const value = std::getenv(text.environment);
    if (text.is_path() && value != nullptr && *value == '\0') {
      return InvalidField(text.environment, "must be a path, but is empty");
    }
  }
  return absl::OkStatus();
}

// Checks that the options for TLS, credentials and reflection go together, and that a server that
// other machines can reach encrypts connections and authenticates clients.
absl::Status CheckTransport(const ServerOptions& options) {
  const bool is_encrypted = !options.tls_certificate.empty();
  if (is_encrypted == options.tls_key.empty()) {
    return InvalidField(is_encrypted ? "--tls-key" : "--tls-certificate",
                        "must be given: the certificate and its key are one pair");
  }
  if (!options.tls_client_ca.empty() && !is_encrypted) {
    return InvalidField("--tls-client-ca", "must be with --tls-certificate and --tls-key");
  }
  if (!options.credentials.empty() && options.reflection) {
    return InvalidField("--reflection",
                        "must not be with --credentials: reflection requires no credential");
  }
  if (IsLocal(options.address)) return absl::OkStatus();
  if (!options.credentials.empty() && !is_encrypted) {
    return InvalidField("--credentials",
                        "must be with --tls-certificate, or on a loopback address or unix:PATH: "
                        "without TLS, tokens could be read in transit");
  }
  if (options.allow_plaintext_network) return absl::OkStatus();
  if (!is_encrypted) {
    return InvalidField("--address",
                        "must be a loopback address or unix:PATH without --tls-certificate, unless "
                        "--allow-plaintext-network is given");
  }
  if (options.tls_client_ca.empty() && options.credentials.empty()) {
    return InvalidField("--credentials",
                        "must be given, or --tls-client-ca: other machines can reach the address");
  }
  return absl::OkStatus();
}

// Checks that an HTTP port for clients protects as much as `--address` does.
absl::Status CheckHttp(const ServerOptions& options) {
  if (options.http_address == kOff || IsLocal(options.http_address)) return absl::OkStatus();
  const bool is_encrypted = !options.tls_certificate.empty();
  if (!is_encrypted && !options.credentials.empty()) {
    return InvalidField("--http-address",
                        "must be off, a loopback address or unix:PATH with --credentials and "
                        "without --tls-certificate: tokens could be read in transit");
  }
  if (options.allow_plaintext_network) return absl::OkStatus();
  if (!is_encrypted) {
    return InvalidField("--http-address",
                        "must be off, a loopback address or unix:PATH without --tls-certificate, "
                        "unless --allow-plaintext-network is given");
  }
  if (options.tls_client_ca.empty() && options.credentials.empty()) {
    return InvalidField("--credentials",
                        "must be given, or --tls-client-ca: other machines can reach "
                        "--http-address");
  }
  return absl::OkStatus();
}

// Checks that the options for etcd go together: a certificate needs a key and `--etcd-ca`, and a
// user in `--store` needs a password file and vice versa.
absl::Status CheckEtcd(const ServerOptions& options) {
  if (options.etcd_certificate.empty() != options.etcd_key.empty()) {
    return InvalidField(options.etcd_key.empty() ? "--etcd-key" : "--etcd-certificate",
                        "must be given: the certificate and its key are one pair");
  }
  if (!options.etcd_certificate.empty() && options.etcd_ca.empty()) {
    return InvalidField("--etcd-ca", "must be with --etcd-certificate and --etcd-key");
  }
  const absl::StatusOr<EtcdUrl> url = ParseEtcdUrl(options.store);
  const bool has_user = url.ok() && !url->user.empty();
  if (has_user == options.etcd_password_file.empty()) {
    return InvalidField("--etcd-password-file", has_user ? "must be given: --store names a user"
                                                         : "must be with a user in --store");
  }
  return absl::OkStatus();
}

// With an empty description, CLI11 does not append the range of a number to the help text, which
// already has the range.
void AddFlags(CLI::App& app, ServerOptions& options) {
  app.set_version_flag("--version", "caromd " CAROM_VERSION);
  for (const TextOption& text : TextOptions()) {
    CLI::Option* const option = app.add_option(text.flag, options.*text.member, text.help)
                                    ->envname(text.environment)
                                    ->check(CLI::Validator(text.check, ""));
    if (!text.is_path()) option->capture_default_str();
  }
  for (const FlagOption& flag : FlagOptions()) {
    app.add_flag(flag.flag, options.*flag.member, flag.help)->envname(flag.environment);
  }
  for (const NumberOption& number : NumberOptions()) {
    app.add_option(number.flag, options.*number.member,
                   absl::StrCat(number.help, ". In [", number.min, ", ", number.max, "]"))
        ->envname(number.environment)
        ->capture_default_str()
        ->check(CLI::Range(number.min, number.max).description(""));
  }
}

// What a parse of the command line yields beside the options.
struct Commands {
  std::string config;
  std::string probe;  // `kDefaultProbe`: `--probe` without an address
  bool prints_config = false;
};

constexpr char kDefaultProbe[] = "-";

// Parses the command line over `options`, which has the defaults. Returns an exit code if the
// process should end.
std::optional<int> Parse(absl::Span<const char* const> arguments, ServerOptions& options,
                         Commands& commands, std::ostream& out, std::ostream& err) {
  CLI::App app("caromd answers collision queries in 2D scenes, exactly, over gRPC.", "caromd");
  app.footer(
      "The environment variable named beside a flag sets the flag's value, too; a flag on the "
      "command line overrides the variable, and the variable overrides the file of --config.");
  AddFlags(app, options);
  app.add_option("--config", commands.config,
                 "File of settings in TOML; --print-config prints one with all settings")
      ->envname("CAROM_CONFIG");
  app.add_flag("--print-config", commands.prints_config,
               "Print the effective settings as a file for --config, and exit");
  app.add_option("--probe", commands.probe,
                 "Exit with code 0 if the server with this admin address is ready, else with 1; "
                 "default: --admin-address")
      ->expected(0, 1)
      ->default_str(kDefaultProbe);
  // CLI11 throws an exception for each error, and also for `--help` and `--version`.
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace

const char* Version() { return CAROM_VERSION; }

// Falls back to folders of the user only, never to a system folder such as /var/lib: caromd may run
// as any user, who may not write there.
std::string DefaultStateDir() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // systemd may list several folders, separated by colons; the first one is used.
  const std::string systemd = variable("STATE_DIRECTORY");
  if (!systemd.empty()) return systemd.substr(0, systemd.find(':'));
  if (const std::string xdg = variable("XDG_STATE_HOME"); !xdg.empty()) return xdg + "/carom";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.local/state/carom";
}

absl::Status CheckServerOptions(const ServerOptions& options) {
  for (const TextOption& text : TextOptions()) {
    const std::string& value = options.*text.member;
    if (text.is_path() && value.empty()) continue;
    if (const std::string why = text.check(value); !why.empty()) {
      return InvalidField(text.flag, why);
    }
  }
  if (absl::Status status = CheckTransport(options); !status.ok()) return status;
  if (options.trust_forwarded_for && !absl::StartsWith(options.address, "unix:")) {
    return InvalidField("--trust-forwarded-for",
                        "must be with --address unix:PATH: the header of any client that connects "
                        "is trusted");
  }
  if (absl::Status status = CheckHttp(options); !status.ok()) return status;
  if (absl::Status status = CheckEtcd(options); !status.ok()) return status;
  if (options.store == "sqlite" && options.state_dir.empty() && DefaultStateDir().empty()) {
    return InvalidField("--state-dir", "must be given: there is no home folder for the default");
  }
  for (const NumberOption& number : NumberOptions()) {
    const uint64_t value = options.*number.member;
    if (value < number.min || value > number.max) {
      return InvalidField(number.flag,
                          absl::StrCat("must be in [", number.min, ", ", number.max, "]"));
    }
  }
  return absl::OkStatus();
}

ServerOptions CaromdDefaults() {
  ServerOptions defaults;
  defaults.store = "sqlite";
  defaults.admin_address = "127.0.0.1:7421";
  return defaults;
}

// Parses the command line twice if it names a configuration file: first for the name of the file,
// then over the settings of the file, which flags and environment variables override.
std::variant<CommandLine, int> ParseServerOptions(int argc, const char* const* argv,
                                                  std::ostream& out, std::ostream& err) {
  const absl::Span<const char* const> arguments(argv, static_cast<size_t>(argc));
  const ServerOptions defaults = CaromdDefaults();
  ServerOptions options = defaults;
  Commands commands;
  if (const auto code = Parse(arguments, options, commands, out, err)) return *code;
  if (!commands.config.empty()) {
    options = defaults;
    if (const absl::Status status = ReadConfigFile(commands.config, options); !status.ok()) {
      err << "caromd: " << status.message() << '\n';
      return 2;
    }
    if (const auto code = Parse(arguments, options, commands, out, err)) return *code;
  }
  if (const absl::Status status = CheckEnvironment(); !status.ok()) {
    err << "caromd: " << status.message() << '\n';
    return 2;
  }
  if (commands.prints_config) {
    out << FormatConfig(options);
    return 0;
  }
  CommandLine line{.options = std::move(options), .probe = std::nullopt};
  if (!commands.probe.empty()) {
    line.probe = commands.probe == kDefaultProbe ? line.options.admin_address : commands.probe;
  }
  return line;
}

}  // namespace carom::server
