// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which nodes does a scene of Godot have, with the scenes that it instances?
//
// `GodotFiles` parses a file and those that it refers to; `GodotNodes` returns the tree of a scene:
// the nodes of instanced and inherited scenes are nodes of the tree, with the properties that the
// outer scene overrides. The text form is in godot_text.h, the shapes are in godot.h.
//
// Paths such as `res://level/tiles.tres` count from the folder of a project, which is not known:
// the opener is asked for `level/tiles.tres`, then for `tiles.tres`, and a file whose uid is
// another one is not taken. Errors are INVALID_ARGUMENT with the line, and the name of a file other
// than the first. Not thread-safe. Cost: linear in the files and the nodes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/maps/godot/godot_text.h"
#include "client/maps/map_import.h"

namespace carom {

// The most nodes of one tree: bounds what scenes that instance each other can ask for.
inline constexpr size_t kMaxGodotNodes = 1'000'000;
// How deep scenes may be instanced in scenes.
inline constexpr int kMaxGodotInstances = 64;

// One parsed file. Owned by `GodotFiles`, and never moved.
struct GodotFile {
  struct External {
    std::string path, uid;
  };

  std::string path;  // as it was opened; "" for the first file
  std::string uid;
  std::string resource_type;  // of a `.tres`; "" for a scene
  std::vector<GodotSection> sections;
  std::unordered_map<std::string, size_t> sub_resources;  // to indices of sections
  std::unordered_map<std::string, External> externals;

  // Returns how errors name a line: `line 3`, or `tiles.tres line 3`.
  std::string Line(size_t line) const;
};

// A resource: a section and its file.
struct GodotResource {
  const GodotFile* file = nullptr;
  const GodotSection* section = nullptr;

  // Returns the type, such as RectangleShape2D.
  std::string Type() const;
};

class GodotFiles {
 public:
  // Keeps a reference to `open`.
  GodotFiles(const ImportOptions& options, const FileOpener& open)
      : options_(options), open_(open) {}

  // Parses the first file.
  absl::StatusOr<const GodotFile*> Parse(std::string_view bytes);

  // Returns the file that `value`, an ExtResource, refers to in `file`; null if there is none,
  // which `missing` lists then.
  absl::StatusOr<const GodotFile*> Open(const GodotFile& file, const GodotValue& value);

  // Returns the resource that `value`, an ExtResource or SubResource, refers to in `file`, or
  // nullopt if there is none.
  absl::StatusOr<std::optional<GodotResource>> Resolve(const GodotFile& file,
                                                       const GodotValue& value);

  // The paths of files that were wanted and not found.
  const std::map<std::string, std::string>& missing() const { return missing_; }

 private:
  absl::StatusOr<const GodotFile*> Add(std::string_view bytes, std::string path);
  absl::StatusOr<const GodotFile*> OpenExternal(const GodotFile::External& external);

  const ImportOptions& options_;
  const FileOpener& open_;
  std::vector<std::unique_ptr<GodotFile>> files_;
  std::map<std::string, const GodotFile*> opened_;  // by path in the project; null: not found
  std::map<std::string, std::string> missing_;      // the reason, by path
};

// A property of a node, with the file whose resources it refers to.
struct GodotNodeProperty {
  const GodotFile* file = nullptr;
  const GodotProperty* property = nullptr;

  const GodotValue& value() const { return property->value; }
};

struct GodotNode {
  static constexpr size_t kNoParent = ~size_t{0};

  std::string name;
  std::string type;
  size_t parent = kNoParent;
  // The sections that describe the node; a later one overrides an earlier one.
  std::vector<std::pair<const GodotFile*, const GodotSection*>> sources;

  // Returns a property, by the last section that has it.
  std::optional<GodotNodeProperty> Find(std::string_view name) const;
  // Returns how errors name the node.
  std::string Line() const { return sources.back().first->Line(sources.back().second->line); }
};

// Returns the nodes of a scene; a parent comes before its children.
absl::StatusOr<std::vector<GodotNode>> GodotNodes(const GodotFile& scene, GodotFiles& files);

}  // namespace carom
