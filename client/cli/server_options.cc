// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/server_options.h"

#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/formats/nearest_word.h"

namespace carom::cli {
namespace {

constexpr char kDefaultAddress[] = "127.0.0.1:7420";

// A value that a flag, a variable of the environment and a member of a context may give.
struct Setting {
  const char* flag;
  const char* variable;
  const char* member;
  std::string& (*value)(ServerOptions&);
  const char* help;
};

constexpr Setting kSettings[] = {
    {"--address", "CAROM_ADDRESS", "address",
     [](ServerOptions& options) -> std::string& { return options.address; },
     "Server: host:port or unix:PATH, or a comma-separated list of them"},
    {"--ca", "CAROM_CA", "ca",
     [](ServerOptions& options) -> std::string& { return options.client.ca_file; },
     "PEM file of the authorities that signed the server's certificate; enables TLS"},
    {"--certificate", "CAROM_CERTIFICATE", "certificate",
     [](ServerOptions& options) -> std::string& { return options.client.certificate_file; },
     "PEM file of the client's certificate"},
    {"--key", "CAROM_KEY", "key",
     [](ServerOptions& options) -> std::string& { return options.client.key_file; },
     "PEM file of the key of the client's certificate"},
    {"--token-file", "CAROM_TOKEN_FILE", "token_file",
     [](ServerOptions& options) -> std::string& { return options.client.token_file; },
     "File with the token that each call sends"},
};

// The value of `--context` before the command.
std::string& ContextOfProgram() {
  static auto& context = *new std::string();
  return context;
}

// What `Resolved` returned last.
ServerOptions& LastResolved() {
  static auto& options = *new ServerOptions();
  return options;
}

std::string EnvironmentOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

std::filesystem::path ConfigPath() {
  const std::string folder = EnvironmentOf("XDG_CONFIG_HOME");
  const std::string home = EnvironmentOf("HOME");
  if (folder.empty() && home.empty()) return {};
  return (folder.empty() ? std::filesystem::path(home) / ".config"
                         : std::filesystem::path(folder)) /
         "carom/config.toml";
}

// Returns the configuration file, empty if there is none.
absl::StatusOr<toml::table> ReadConfig() {
  const std::filesystem::path path = ConfigPath();
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return toml::table{};
  try {
    return toml::parse_file(path.string());
  } catch (const toml::parse_error& fault) {
    return absl::InvalidArgumentError(absl::StrCat(path.string(), ":", fault.source().begin.line,
                                                   ": ", std::string(fault.description())));
  }
}

std::vector<std::string> NamesOf(const toml::table& contexts) {
  std::vector<std::string> names;
  for (const auto& [name, value] : contexts) names.emplace_back(name.str());
  return names;
}

// Fills the empty members of `options` from the context `name` of `config`.
absl::Status ApplyContext(const toml::table& config, const std::string& name,
                          ServerOptions& options) {
  const toml::table* contexts = config["contexts"].as_table();
  const toml::table* context = contexts != nullptr ? (*contexts)[name].as_table() : nullptr;
  const std::string file = ConfigPath().string();
  if (context == nullptr) {
    const std::vector<std::string> names =
        contexts != nullptr ? NamesOf(*contexts) : std::vector<std::string>();
    return absl::NotFoundError(
        absl::StrCat("context ", name, ": is not in ", file, Suggestion(name, names)));
  }
  for (const auto& [member, value] : *context) {
    const Setting* found = nullptr;
    for (const Setting& setting : kSettings) {
      if (member.str() == setting.member) found = &setting;
    }
    if (found == nullptr || !value.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": contexts.", name, ".", std::string(member.str()),
                       found == nullptr ? ": is no member of a context" : ": must be a string"));
    }
    std::string& target = found->value(options);
    if (target.empty()) target = value.value_or(std::string());
  }
  return absl::OkStatus();
}

}  // namespace

void AddServer(CLI::App& command, ServerOptions& options) {
  for (const Setting& setting : kSettings) {
    const bool is_address = std::string_view(setting.flag) == "--address";
    command
        .add_option(
            setting.flag, setting.value(options),
            absl::StrCat(setting.help, "; default: the environment variable ", setting.variable,
                         is_address ? absl::StrCat(", else ", kDefaultAddress) : ""))
        ->group("Server");
  }
  command
      .add_option("--context", options.context,
                  "Context of the configuration file that has these values")
      ->group("Server");
}

void AddContext(CLI::App& app) {
  app.add_option("--context", ContextOfProgram(),
                 "Context of the configuration file, ~/.config/carom/config.toml: address and "
                 "credentials by a name");
}

absl::StatusOr<ServerOptions> Resolved(ServerOptions options) {
  if (options.context.empty()) options.context = ContextOfProgram();
  absl::StatusOr<toml::table> config = ReadConfig();
  if (!config.ok()) return config.status();
  if (!options.context.empty()) {
    const absl::Status applied = ApplyContext(*config, options.context, options);
    if (!applied.ok()) return applied;
  }
  for (const Setting& setting : kSettings) {
    std::string& value = setting.value(options);
    if (value.empty()) value = EnvironmentOf(setting.variable);
  }
  const std::string current = (*config)["current"].value_or(std::string());
  if (options.context.empty() && options.address.empty() && !current.empty()) {
    const absl::Status applied = ApplyContext(*config, current, options);
    if (!applied.ok()) return applied;
  }
  if (options.address.empty()) options.address = kDefaultAddress;
  LastResolved() = options;
  return options;
}

const ServerOptions& CalledServer() { return LastResolved(); }

absl::StatusOr<std::unique_ptr<Client>> ConnectTo(const ServerOptions& options) {
  const absl::StatusOr<ServerOptions> resolved = Resolved(options);
  if (!resolved.ok()) return resolved.status();
  return Client::Connect(resolved->address, resolved->client);
}

absl::StatusOr<std::vector<Context>> Contexts() {
  absl::StatusOr<toml::table> config = ReadConfig();
  if (!config.ok()) return config.status();
  std::vector<Context> result;
  const std::string current = (*config)["current"].value_or(std::string());
  const toml::table* contexts = (*config)["contexts"].as_table();
  if (contexts == nullptr) return result;
  for (const std::string& name : NamesOf(*contexts)) {
    result.push_back({name, (*contexts)[name]["address"].value_or(std::string(kDefaultAddress)),
                      name == current});
  }
  return result;
}

}  // namespace carom::cli
