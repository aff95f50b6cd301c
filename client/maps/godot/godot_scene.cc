// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/godot/godot_scene.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"

namespace carom {
namespace {

// Makes the nodes of a scene and of the scenes in it.
class GodotTree {
 public:
  explicit GodotTree(GodotFiles& files) : files_(files) {}

  // Adds the nodes of `scene` below the node `parent`, and returns the index of its root.
  absl::StatusOr<size_t> AddScene(const GodotFile& scene, size_t parent, int depth);

  std::vector<GodotNode> nodes;

 private:
  absl::StatusOr<size_t> AddNode(const GodotFile& scene, const GodotSection& section, size_t parent,
                                 int depth);
  absl::StatusOr<size_t> New(std::string name, size_t parent);
  std::optional<size_t> FindChild(size_t parent, const std::string& name) const;
  std::optional<size_t> FindPath(size_t root, std::string_view path) const;

  GodotFiles& files_;
  // Nodes by their parents and names.
  std::map<std::pair<size_t, std::string>, size_t> children_;
};

// Adds a node.
absl::StatusOr<size_t> GodotTree::New(std::string name, size_t parent) {
  if (nodes.size() >= kMaxGodotNodes) {
    return InvalidField("",
                        absl::StrCat("instanced scenes have more than ", kMaxGodotNodes, " nodes"));
  }
  GodotNode& node = nodes.emplace_back();
  node.name = std::move(name);
  node.parent = parent;
  return nodes.size() - 1;
}

// Returns the child with a name: siblings have different ones.
std::optional<size_t> GodotTree::FindChild(size_t parent, const std::string& name) const {
  const auto found = children_.find({parent, name});
  if (found == children_.end()) return std::nullopt;
  return found->second;
}

// Returns the node at a path such as `Level/Walls` below the root, which is `.`.
std::optional<size_t> GodotTree::FindPath(size_t root, std::string_view path) const {
  std::optional<size_t> node = root;
  for (const absl::string_view name :
       absl::StrSplit(absl::string_view(path.data(), path.size()), '/', absl::SkipEmpty())) {
    if (name == ".") continue;
    node = FindChild(*node, std::string(name));
    if (!node) return std::nullopt;
  }
  return node;
}

// The first node of a scene is its root, and has no parent.
absl::StatusOr<size_t> GodotTree::AddScene(const GodotFile& scene, size_t parent, int depth) {
  if (depth > kMaxGodotInstances) {
    return InvalidField(scene.Line(1), "scenes instance each other too deep, or themselves");
  }
  std::optional<size_t> root;
  for (const GodotSection& section : scene.sections) {
    if (section.tag != "node") continue;
    const GodotProperty* path = section.attributes.Find("parent");
    if (path == nullptr && root) {
      return InvalidField(scene.Line(section.line), "a second root node");
    }
    if (path != nullptr && !root) {
      return InvalidField(scene.Line(section.line), "a node with a parent before the root node");
    }
    size_t above = parent;
    if (path != nullptr) {
      const std::optional<size_t> found = FindPath(*root, path->value.text);
      // A node below a scene that was not found.
      if (!found) continue;
      above = *found;
    }
    const absl::StatusOr<size_t> node = AddNode(scene, section, above, depth);
    if (!node.ok()) return node.status();
    if (!root) root = *node;
  }
  if (!root) return InvalidField(scene.Line(1), "a scene without a node");
  return *root;
}

// Adds one node, or the root of a scene that it instances; or overrides a node of a scene that was
// instanced before.
absl::StatusOr<size_t> GodotTree::AddNode(const GodotFile& scene, const GodotSection& section,
                                          size_t parent, int depth) {
  const std::string name = section.attributes.Text("name");
  const GodotProperty* instance = section.attributes.Find("instance");
  const std::string type = section.attributes.Text("type");
  std::optional<size_t> node;
  if (instance != nullptr) {
    const absl::StatusOr<const GodotFile*> base = files_.Open(scene, instance->value);
    if (!base.ok()) return base.status();
    if (*base != nullptr && (*base)->resource_type.empty()) {
      const absl::StatusOr<size_t> added = AddScene(**base, GodotNode::kNoParent, depth + 1);
      if (!added.ok()) return added;
      node = *added;
      nodes[*node].name = name;
      nodes[*node].parent = parent;
    }
  } else if (type.empty()) {
    node = FindChild(parent, name);
  }
  if (!node) {
    const absl::StatusOr<size_t> added = New(name, parent);
    if (!added.ok()) return added;
    node = *added;
    nodes[*node].type = type;
  }
  nodes[*node].sources.emplace_back(&scene, &section);
  if (parent != GodotNode::kNoParent) children_[{parent, name}] = *node;
  return *node;
}

}  // namespace

// The first file has no name: its reader knows it.
std::string GodotFile::Line(size_t line) const {
  return absl::StrCat(path, path.empty() ? "" : " ", "line ", line);
}

// The section of a file has its type in the head of the file.
std::string GodotResource::Type() const {
  return section->tag == "resource" ? file->resource_type : section->attributes.Text("type");
}

absl::StatusOr<const GodotFile*> GodotFiles::Parse(std::string_view bytes) {
  return Add(bytes, "");
}

// Parses a file and lists its resources by their ids.
absl::StatusOr<const GodotFile*> GodotFiles::Add(std::string_view bytes, std::string path) {
  absl::StatusOr<std::vector<GodotSection>> sections =
      ParseGodotText(bytes, path.empty() ? options_ : ImportOptions());
  if (!sections.ok()) {
    if (path.empty()) return sections.status();
    return InvalidField(path, sections.status().message());
  }
  auto file = std::make_unique<GodotFile>();
  file->path = std::move(path);
  file->sections = *std::move(sections);
  const bool is_known = !file->sections.empty() && (file->sections.front().tag == "gd_scene" ||
                                                    file->sections.front().tag == "gd_resource");
  if (!is_known) {
    return InvalidField(file->Line(1), "must begin with [gd_scene] or [gd_resource]");
  }
  const GodotProperties& head = file->sections.front().attributes;
  // Godot 3 has other types and names.
  const GodotValue* format = head.Value("format");
  if (format != nullptr && format->AsNumber().value_or(3) < 3) {
    return InvalidField(file->Line(1), "a file of Godot 3; save it with Godot 4");
  }
  file->uid = head.Text("uid");
  file->resource_type = file->sections.front().tag == "gd_resource" ? head.Text("type") : "";
  for (size_t i = 0; i < file->sections.size(); ++i) {
    const GodotSection& section = file->sections[i];
    if (section.tag == "sub_resource") {
      file->sub_resources[section.attributes.Text("id")] = i;
    } else if (section.tag == "ext_resource") {
      file->externals[section.attributes.Text("id")] = {section.attributes.Text("path"),
                                                        section.attributes.Text("uid")};
    }
  }
  files_.push_back(std::move(file));
  return files_.back().get();
}

// Opens each path of the project once.
absl::StatusOr<const GodotFile*> GodotFiles::Open(const GodotFile& file, const GodotValue& value) {
  const std::optional<std::string> id = value.AsReference("ExtResource");
  const auto found = id ? file.externals.find(*id) : file.externals.end();
  if (found == file.externals.end()) return nullptr;
  const auto opened = opened_.find(found->second.path);
  if (opened != opened_.end()) return opened->second;
  const absl::StatusOr<const GodotFile*> added = OpenExternal(found->second);
  if (added.ok()) opened_[found->second.path] = *added;
  return added;
}

// Tries the path as it is in the project, then without its first folders.
absl::StatusOr<const GodotFile*> GodotFiles::OpenExternal(const GodotFile::External& external) {
  std::string_view path = external.path;
  if (path.starts_with("res://")) path.remove_prefix(6);
  std::string reason = "not found in the folder of the map";
  while (!path.empty()) {
    absl::StatusOr<std::string> bytes = open_(path);
    if (bytes.ok()) {
      const absl::StatusOr<const GodotFile*> file = Add(*bytes, std::string(path));
      if (!file.ok()) return file;
      // Folders of a project may have files of the same name.
      const bool is_other =
          !external.uid.empty() && !(*file)->uid.empty() && external.uid != (*file)->uid;
      if (!is_other) return file;
      reason = "a file of this name has another uid";
    } else if (bytes.status().code() != absl::StatusCode::kNotFound) {
      reason = std::string(bytes.status().message());
    }
    const size_t slash = path.find('/');
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  missing_[external.path] = reason;
  return nullptr;
}

// The resource of a file is its last section.
absl::StatusOr<std::optional<GodotResource>> GodotFiles::Resolve(const GodotFile& file,
                                                                 const GodotValue& value) {
  if (const std::optional<std::string> id = value.AsReference("SubResource")) {
    const auto found = file.sub_resources.find(*id);
    if (found == file.sub_resources.end()) return std::nullopt;
    return GodotResource{&file, &file.sections[found->second]};
  }
  const absl::StatusOr<const GodotFile*> opened = Open(file, value);
  if (!opened.ok()) return opened.status();
  if (*opened == nullptr) return std::nullopt;
  for (const GodotSection& section : (*opened)->sections) {
    if (section.tag == "resource") return GodotResource{*opened, &section};
  }
  return std::nullopt;
}

// The section that was read last is the one of the outermost scene.
std::optional<GodotNodeProperty> GodotNode::Find(std::string_view property) const {
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
    if (const GodotProperty* found = source->second->properties.Find(property)) {
      return GodotNodeProperty{source->first, found};
    }
  }
  return std::nullopt;
}

// A parent comes before its children: an instanced scene is added where it is instanced.
absl::StatusOr<std::vector<GodotNode>> GodotNodes(const GodotFile& scene, GodotFiles& files) {
  GodotTree tree(files);
  const absl::StatusOr<size_t> root = tree.AddScene(scene, GodotNode::kNoParent, 0);
  if (!root.ok()) return root.status();
  return std::move(tree.nodes);
}

}  // namespace carom
