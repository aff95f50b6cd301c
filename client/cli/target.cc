// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/target.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/scene_transfer.h"
#include "client/formats/nearest_word.h"

namespace carom::cli {
namespace {

bool has_local = false;

// Returns the names of the server's scenes without `scenes/`; none if the server does not answer.
std::vector<std::string> SceneNames(const ServerOptions& options) {
  std::vector<std::string> names;
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(options);
  if (!client.ok()) return names;
  const absl::StatusOr<ScenePage> page =
      (*client)->ListScenes(1000, "", {.timeout = std::chrono::seconds(2)});
  if (!page.ok()) return names;
  for (const SceneSummary& scene : page->scenes) names.push_back(scene.name.substr(7));
  return names;
}

}  // namespace

void SetHasLocal(bool value) { has_local = value; }
bool HasLocal() { return has_local; }

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
  command
      .add_option_function<std::string>(
          "--local", [](const std::string&) {}, "Ask the map file FILE in place of NAME")
      ->type_name("FILE")
      ->group("Scene");
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
    const std::string near = NearestWord(target.name, names);
    if (!near.empty()) std::cerr << "carom: there is a scene " << near << '\n';
    if (names.empty()) std::cerr << "carom: `carom scene import NAME FILE` makes a scene\n";
  }
  return exit_status;
}

}  // namespace carom::cli
