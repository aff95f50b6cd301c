// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <spawn.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "client/cli/command.h"
#include "client/cli/local_page.h"
#include "client/cli/scene/map_options.h"
#include "client/cli/scene/source.h"
#include "client/formats/json_text.h"

extern char** environ;

namespace carom::cli {
namespace {

struct ViewOptions {
  SceneSource source;
  uint16_t port = 0;
  bool no_open = false;
};

// Opens `address` in the browser of the desktop, if there is a desktop.
void OpenBrowser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string program = "xdg-open", argument = address;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t process = 0;
  (void)posix_spawnp(&process, program.c_str(), nullptr, nullptr, arguments, environ);
}

int View(const ViewOptions& options) {
  absl::StatusOr<SourceScene> source = ReadSource(options.source);
  if (!source.ok()) return Fail(source.status());
  const std::string report = ReportMembers(source->map);
  const absl::StatusOr<Scene::Ptr> scene = source->TakeScene();
  if (!scene.ok()) return Fail(scene.status());
  LocalScene local{.name = std::filesystem::path(options.source.file).filename(),
                   .bundle = WriteBundle(**scene)};
  local.report = "{\"name\":";
  AppendString(local.name, local.report);
  absl::StrAppend(&local.report, ",\"polygon_count\":", (*scene)->polygon_count(),
                  ",\"vertex_count\":", (*scene)->vertex_count(), report, "}\n");
  absl::StatusOr<LocalPage> page = LocalPage::Listen(options.port, std::move(local));
  if (!page.ok()) return Fail(page.status());
  const std::string address = page->address();
  std::cout << address << "\n" << std::flush;
  if (!options.no_open) OpenBrowser(address);
  page->Serve();
  return kSuccess;
}

}  // namespace

void AddViewCommand(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("view", "Show a map file in the browser, without a server, until Ctrl-C");
  const auto options = std::make_shared<ViewOptions>();
  command->add_option("FILE", options->source.file, "Map file of any format; - is standard input")
      ->required();
  AddSource(*command, options->source);
  command->add_option("--port", options->port, "Port on 127.0.0.1; 0: any that is free")
      ->capture_default_str();
  command->add_flag("--no-open", options->no_open, "Only print the address");
  command->callback([options, &exit_status] { exit_status = View(*options); });
}

}  // namespace carom::cli
