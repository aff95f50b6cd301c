// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a file of Tiled say, in XML or in JSON?
//
// `TiledDocument` is a parsed file, and `TiledNode` one of its elements or objects. Both forms have
// the same members under the same names, and where they differ, the node hides it: a caller reads
// maps without knowing their form. Start with `TiledDocument::Parse`.
//
//   const auto document = TiledDocument::Parse("", bytes);
//   const TiledNode map = (*document)->root();
//   for (const TiledNode& layer : map.Layers()) { ... layer.Number("offsetx", 0) ... }
//
// Errors are INVALID_ARGUMENT and name the line (XML) or the path (JSON) of the node, after the
// name of the file. XML is read without document type and entities. Nodes refer to their document.
// Thread-safe for reading. Cost: linear in the file; memory: about 5 times an XML file, less if it
// is mostly text, and twice a JSON file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/packed_json.h"

namespace carom {

class TiledNode;

// The closed interval of the values of an integer.
struct TiledRange {
  int64_t least = 0;
  int64_t greatest = 0;
};

// A parsed file.
class TiledDocument {
 public:
  // Parses a file whose name is `file`; "" for the map that is imported. Keeps the bytes that
  // `bytes` refers to until it is destroyed. `progress` may be null; XML is parsed without it.
  static absl::StatusOr<std::unique_ptr<TiledDocument>> Parse(
      std::string file, std::string_view bytes, const ReadProgress* progress = nullptr);

  TiledNode root() const;
  const std::string& file() const { return file_; }
  std::string_view bytes() const { return bytes_; }
  // Returns the place in an error message, preceded by the name of the file.
  std::string Place(std::string_view place) const;
  // Returns `line 12` for a byte of an XML file, with the name of the file.
  std::string LineOf(ptrdiff_t offset) const;

 private:
  TiledDocument() = default;
  absl::Status ParseXml();
  absl::Status ParseJson(const ReadProgress* progress);

  std::string file_;
  std::string_view bytes_;
  pugi::xml_document xml_;
  PackedJson json_;
  std::vector<size_t> line_ends_;  // the places of the line breaks, if the file is XML
  bool is_xml_ = false;
};

// An element of an XML document, or a value of a JSON document, or nothing.
class TiledNode {
 public:
  TiledNode() = default;
  TiledNode(const TiledDocument* document, pugi::xml_node node) : document_(document), xml_(node) {}
  TiledNode(const TiledDocument* document, PackedValue value, std::string path)
      : document_(document), json_(value), path_(std::move(path)) {}

  explicit operator bool() const { return is_json() || !xml_.empty(); }

  // Returns what the node is: the name of the element, or the member `type` of the object (`map`,
  // `tileset`, `template`, `world`, `tilelayer`, `objectgroup`, `imagelayer`, `group`). An element
  // `layer` is a `tilelayer`.
  std::string kind() const;
  const TiledDocument& document() const { return *document_; }

  // Reports that the reader is at the node, if it is one of XML in the file that is imported. JSON
  // is reported while it is parsed.
  void Report(const ImportOptions& options) const;
  // Returns the place of the node in the file, such as `line 12` or `layers[2]`.
  std::string where() const;
  // Returns an error about the member `member`, or about the node if it is empty.
  absl::Status Error(std::string_view member, std::string_view description) const;

  // Members. A member that is absent, or `null`, has the value `absent`.
  bool Has(const char* name) const;
  absl::StatusOr<double> Number(const char* name, double absent) const;
  absl::StatusOr<int64_t> Integer(const char* name, int64_t absent, TiledRange range) const;
  absl::StatusOr<std::string> Text(const char* name) const;  // absent: ""
  // Returns an object or element; nothing if there is none.
  TiledNode Child(const char* name) const;
  // Returns the name of the node in an object that stands for an array (see `List`) if it is a
  // number.
  std::optional<uint32_t> Key() const;
  // Returns whether there is an element `name`, or a member `name` that is true or an object.
  bool IsMarked(const char* name) const;

  // Lists: the child elements with the name `element`, or the values of the array `member`. A JSON
  // object in place of the array stands for its values (old maps); `Key` returns their names.
  absl::StatusOr<std::vector<TiledNode>> List(const char* element, const char* member) const;
  absl::StatusOr<std::vector<TiledNode>> Layers() const;
  // Calls `visit` for each node of a list that may be long, until it returns an error.
  using Visitor = std::function<absl::Status(const TiledNode&)>;
  absl::Status ForEach(const char* element, const char* member, const Visitor& visit) const;
  // Returns the points of a polygon or polyline: `points="0,0 4,2"`, or an array of {"x", "y"}.
  absl::StatusOr<std::vector<Vec2>> Points(const char* name) const;
  // Returns the category that a custom property stands for (`CategoryOfText`); nullopt if the node
  // does not have the property.
  absl::StatusOr<std::optional<uint64_t>> Category(const std::string& property) const;

  // The cells of a tile layer or chunk: a text, an array of numbers, or child elements.
  bool HasCells() const;
  bool HasCellText() const;
  // Returns the text of the node (XML) or its string `data` (JSON).
  std::string_view CellText() const;
  // Returns the numbers of the elements `tile` or of the array `data`: in the document, or copied
  // to `buffer`.
  absl::StatusOr<std::span<const uint32_t>> CellNumbers(std::vector<uint32_t>& buffer) const;

 private:
  bool is_json() const { return static_cast<bool>(json_); }
  PackedValue PropertyValue(const std::string& name) const;

  const TiledDocument* document_ = nullptr;
  pugi::xml_node xml_;
  PackedValue json_;
  std::string path_;
};

}  // namespace carom
