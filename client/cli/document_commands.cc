// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The commands that describe the others: `carom completion`, which prints completions for a shell,
// and `carom manual`, which prints man pages. Both walk over the commands and options of the
// program, so that they cannot differ from `--help`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/server_options.h"

// client/CMakeLists.txt sets CAROM_VERSION; the fallback is for tools.
#ifndef CAROM_VERSION
#define CAROM_VERSION "unversioned"
#endif

namespace carom::cli {
namespace {

std::vector<const CLI::App*> CommandsIn(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

// The options of a command and of its groups of options, without those that are hidden.
std::vector<const CLI::Option*> OptionsIn(const CLI::App& app) {
  std::vector<const CLI::Option*> options =
      app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    for (const CLI::Option* option : group->get_options()) options.push_back(option);
  }
  return options;
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : OptionsIn(app)) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// A command and the words that lead to it, such as `carom scene import`.
struct NamedCommand {
  std::string path;
  const CLI::App* app;
};

std::vector<NamedCommand> AllCommands(const CLI::App& app) {
  std::vector<NamedCommand> commands = {{app.get_name(), &app}};
  for (size_t i = 0; i < commands.size(); ++i) {
    const NamedCommand at = commands[i];
    for (const CLI::App* command : CommandsIn(*at.app)) {
      commands.push_back({absl::StrCat(at.path, " ", command->get_name()), command});
    }
  }
  return commands;
}

// The words that may follow a command: its commands and its flags.
std::vector<std::string> WordsAfter(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : CommandsIn(app)) words.push_back(command->get_name());
  for (const std::string& flag : FlagsOf(app)) words.push_back(flag);
  return words;
}

constexpr char kBashHead[] = R"(# Completion of carom for bash.
_carom() {
  local at=carom offers='' word i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
)";
constexpr char kBashEnd[] = R"(
  mapfile -t COMPREPLY < <(compgen -W "$offers" -- "${COMP_WORDS[COMP_CWORD]}")
  [[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F _carom carom
)";
// Works as a file `_carom` of $fpath, which zsh runs as the function, and in a script.
constexpr char kZshHead[] = R"(#compdef carom
# Completion of carom for zsh.
_carom() {
  local at=carom offers='' word i
  for ((i = 2; i < CURRENT; ++i)); do
    word=${words[i]}
)";
constexpr char kZshEnd[] = R"(
  compadd -- ${=offers} || _files
}
if [[ ${funcstack[1]-} == _carom ]]; then _carom "$@"; else compdef _carom carom; fi
)";

// The part of both shells that sets `offers` to the words that may follow the words before.
std::string ShellTables(const CLI::App& app) {
  std::string text = "    [[ $word == -* ]] || case \"$at $word\" in\n";
  const std::vector<NamedCommand> commands = AllCommands(app);
  for (const NamedCommand& command : commands) {
    if (command.app != &app) {
      absl::StrAppend(&text, "      '", command.path, "') at='", command.path, "' ;;\n");
    }
  }
  text += "    esac\n  done\n  case $at in\n";
  for (const NamedCommand& command : commands) {
    absl::StrAppend(&text, "    '", command.path, "') offers='",
                    absl::StrJoin(WordsAfter(*command.app), " "), "' ;;\n");
  }
  return text + "  esac";
}

std::string BashCompletion(const CLI::App& app) {
  return absl::StrCat(kBashHead, ShellTables(app), kBashEnd);
}

std::string ZshCompletion(const CLI::App& app) {
  return absl::StrCat(kZshHead, ShellTables(app), kZshEnd);
}

// A text between single quotes for fish.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishCompletion(const CLI::App& app) {
  std::string text = "# Completion of carom for fish.\n";
  for (const NamedCommand& at : AllCommands(app)) {
    const std::vector<std::string> path = absl::StrSplit(at.path, ' ');
    std::string condition = path.size() == 1 ? "__fish_use_subcommand" : "";
    for (size_t i = 1; i < path.size(); ++i) {
      absl::StrAppend(&condition, i > 1 ? "; and " : "", "__fish_seen_subcommand_from ", path[i]);
    }
    for (const CLI::App* command : CommandsIn(*at.app)) {
      absl::StrAppend(&text, "complete -c carom -n ", Quoted(condition), " -a ",
                      command->get_name(), " -d ", Quoted(command->get_description()), "\n");
    }
    for (const CLI::Option* option : OptionsIn(*at.app)) {
      for (const std::string& name : option->get_lnames()) {
        absl::StrAppend(&text, "complete -c carom -n ", Quoted(condition), " -l ", name, " -d ",
                        Quoted(option->get_description()), "\n");
      }
    }
  }
  return text;
}

// --- Man pages

// Text for man: a leading period and backslashes have a meaning there.
std::string Escaped(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

void AppendOption(const CLI::Option& option, std::string& page) {
  const bool is_flag = !option.get_lnames().empty();
  page += ".TP\n";
  if (is_flag) {
    absl::StrAppend(&page, ".B \\-\\-", Escaped(option.get_lnames().front()));
    if (option.get_items_expected_max() > 0) {
      const std::string type = option.get_type_name();
      absl::StrAppend(&page, " ", Escaped(type.substr(0, type.find(':'))));
    }
  } else {
    absl::StrAppend(&page, ".I ", Escaped(option.get_name()));
  }
  absl::StrAppend(&page, "\n", Escaped(option.get_description()), "\n");
}

std::string ManPage(const CLI::App& app) {
  std::string page =
      absl::StrCat(".TH CAROM 1 \"\" \"carom " CAROM_VERSION
                   "\"\n.SH NAME\ncarom \\- exact 2D collision "
                   "queries\n.SH SYNOPSIS\n.B carom\n.I COMMAND\n[ARGUMENTS]\n.SH DESCRIPTION\n",
                   Escaped(app.get_description()),
                   ".\nOn a terminal, commands print tables; elsewhere, one JSON object a "
                   "line.\n.SH COMMANDS\n");
  for (const NamedCommand& at : AllCommands(app)) {
    const bool is_group = at.app->get_require_subcommand_min() > 0;
    if (at.app == &app || is_group) continue;
    absl::StrAppend(&page, ".SS ", Escaped(at.path), "\n", Escaped(at.app->get_description()),
                    ".\n");
    for (const CLI::Option* option : OptionsIn(*at.app)) {
      if (option->get_name() != "--help") AppendOption(*option, page);
    }
    // What all commands share is in sections of its own.
    const std::string footer = at.app->get_footer().substr(app.get_footer().size());
    const size_t example = std::min(footer.find(kExample), footer.size());
    const std::string note(absl::StripAsciiWhitespace(footer.substr(0, example)));
    if (!note.empty()) absl::StrAppend(&page, ".PP\n", Escaped(note), "\n");
    if (example < footer.size()) {
      absl::StrAppend(&page, ".PP\nExample:\n.PP\n.EX\n",
                      Escaped(footer.substr(example + std::string_view(kExample).size())),
                      "\n.EE\n");
    }
  }
  page +=
      ".SH ENVIRONMENT\nCAROM_ADDRESS, CAROM_CA, CAROM_CERTIFICATE, CAROM_KEY and "
      "CAROM_TOKEN_FILE stand in for the flags of these names; NO_COLOR turns colours off.\n"
      ".SH FILES\n.TP\n.I ~/.config/carom/config.toml\nContexts: addresses and credentials by "
      "name, such as\n.PP\n.EX\ncurrent = \"staging\"\n\n[contexts.staging]\naddress = "
      "\"carom.staging:7420\"\nca = \"/etc/carom/ca.pem\"\n.EE\n.SH EXIT STATUS\n";
  for (const ExitStatus& status : kExitStatuses) {
    absl::StrAppend(&page, ".TP\n", status.number, "\n", Escaped(status.meaning), "\n");
  }
  return page;
}

int ShowContexts(const OutputOptions& output) {
  const absl::StatusOr<std::vector<Context>> contexts = Contexts();
  if (!contexts.ok()) return Fail(contexts.status());
  std::vector<std::string> lines;
  for (const Context& context : *contexts) {
    lines.push_back(absl::StrCat("{\"name\":\"", context.name, "\",\"address\":\"", context.address,
                                 "\",\"current\":", context.is_current ? "true" : "false", "}"));
  }
  PrintAnswers(lines, output);
  return kSuccess;
}

}  // namespace

void AddContextCommand(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "context", "Print the contexts of the configuration file ~/.config/carom/config.toml");
  const auto output = std::make_shared<OutputOptions>();
  AddOutput(*command, *output);
  command->callback([output, &exit_status] { exit_status = ShowContexts(*output); });
}

void AddDocumentCommands(CLI::App& app, int& exit_status) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print completions of commands and flags for a shell");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([shell, &app, &exit_status] {
    std::cout << (*shell == "bash"  ? BashCompletion(app)
                  : *shell == "zsh" ? ZshCompletion(app)
                                    : FishCompletion(app));
    exit_status = kSuccess;
  });
  CLI::App* manual = app.add_subcommand("manual", "Print the man page of carom, for `man -l -`");
  manual->callback([&app, &exit_status] {
    std::cout << ManPage(app);
    exit_status = kSuccess;
  });
}

}  // namespace carom::cli
