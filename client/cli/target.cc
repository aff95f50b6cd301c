// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/target.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/cli/command.h"
#include "client/cli/scene/transfer.h"
#include "client/formats/nearest_word.h"

namespace carom::cli {
namespace {

bool has_local = false;

// How many scenes are read at most for suggestions, and for how long.
constexpr size_t kMostNames = 100000;
constexpr std::chrono::seconds kMostTime(2);
constexpr size_t kMostSuggestions = 3;

// Returns the names of the server's scenes without `scenes/`, up to the limits above; none if the
// server does not answer.
std::vector<std::string> SceneNames(const ServerOptions& options) {
  std::vector<std::string> names;
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(options);
  if (!client.ok()) return names;
  const auto end = std::chrono::steady_clock::now() + kMostTime;
  for (std::string token; names.size() < kMostNames;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const absl::StatusOr<ScenePage> page = (*client)->ListScenes(1000, token, {.timeout = left});
    if (!page.ok()) break;
    for (const SceneSummary& scene : page->scenes) names.push_back(scene.name.substr(7));
    token = page->next_page_token;
    if (token.empty()) break;
  }
  return names;
}

}  // namespace

void SetHasLocal(bool value) { has_local = value; }
bool HasLocal() { return has_local; }

// Where the command line has the flag, the command has another form.
void AddLocalHelp(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--local", [](const std::string&) {}, "Ask the map file FILE in place of a server")
      ->type_name("FILE")
      ->group("Scene");
}

void AddTarget(CLI::App& command, Target& target) {
  if (has_local) {
    command
        .add_option("--local", target.source.file,
                    "Map file of any format to ask in place of a server")
        ->required()
        ->group("Scene");
    AddSource(command, target.source);
    return;
  }
  command.add_option("NAME", target.name, "Name of the scene, such as arena or scenes/arena")
      ->required();
  AddLocalHelp(command);
  AddServer(command, target.server);
}

absl::StatusOr<Scene::Ptr> SceneOf(const Target& target) {
  if (target.name.empty()) {
    absl::StatusOr<SourceScene> source = ReadSource(target.source);
    if (!source.ok()) return source.status();
    return source->TakeScene();
  }
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(target.server);
  if (!client.ok()) return client.status();
  absl::StatusOr<std::vector<Polygon>> polygons = ExportShown(**client, FullName(target.name));
  if (!polygons.ok()) return polygons.status();
  return Scene::Create(*std::move(polygons));
}

absl::StatusOr<std::unique_ptr<Evaluator>> EvaluatorOf(const Target& target) {
  if (target.name.empty()) {
    const absl::StatusOr<Scene::Ptr> scene = SceneOf(target);
    if (!scene.ok()) return scene.status();
    std::unique_ptr<Evaluator> evaluator = LocalEvaluator();
    const absl::Status placed = evaluator->ReplaceBy(*scene);
    if (!placed.ok()) return placed;
    return evaluator;
  }
  absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(target.server);
  if (!client.ok()) return client.status();
  return SceneEvaluator(*std::move(client), FullName(target.name));
}

int FailAbout(const Target& target, const absl::Status& status) {
  const int exit_status = target.name.empty() ? Fail(status) : FailOf(target.name, status);
  if (target.name.empty()) return exit_status;
  if (absl::IsNotFound(status)) {
    const std::vector<std::string> names = SceneNames(target.server);
    const std::string word = FullName(target.name).substr(7);
    const std::vector<std::string> near = NearestWords(word, names, kMostSuggestions);
    if (!near.empty()) {
      std::cerr << "carom: " << (near.size() == 1 ? "there is a scene " : "there are scenes ")
                << absl::StrJoin(near, ", ") << '\n';
    }
    if (names.empty()) std::cerr << "carom: `carom scene import NAME FILE` makes a scene\n";
  }
  return exit_status;
}

}  // namespace carom::cli
