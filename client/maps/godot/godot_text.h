// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which sections, properties and values does a text resource of Godot 4 have?
//
// `ParseGodotText` reads a scene (`.tscn`) or a resource (`.tres`): sections such as
// `[node name="Wall" type="StaticBody2D"]`, each with properties such as
// `position = Vector2(1, 2)`. Values are numbers, strings, arrays, dictionaries, and calls such as
// `PackedVector2Array(0, 0, 4, 0)`; references and resources are calls too. What the values mean is
// in godot.h.
//
// Errors are INVALID_ARGUMENT and name the line. Thread-safe. Cost: linear in the text; values may
// be nested 100 deep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/map_import.h"

namespace carom {

// A value of Godot's text form.
struct GodotValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kDictionary, kCall };

  Kind kind = Kind::kNull;
  double number = 0;  // of a number; 1 or 0 of a bool
  std::string text;   // of a string (also of &"" and ^""); the name of a call
  // Items of an array, arguments of a call, or keys and values of a dictionary in turn. If all of
  // them are numbers, they are in `numbers`, and `items` is empty.
  std::vector<GodotValue> items;
  std::vector<double> numbers;

  bool is_call(std::string_view name) const { return kind == Kind::kCall && text == name; }

  // Returns the number, or nullopt if the value is none.
  std::optional<double> AsNumber() const;
  // Returns whether the value is true, or nullopt if it is not a bool.
  std::optional<bool> AsBool() const;
  // Returns the two numbers of Vector2 and Vector2i, or nullopt.
  std::optional<Vec2> AsVector2() const;
  // Returns the points of PackedVector2Array, or of an array of vectors; or nullopt.
  std::optional<std::vector<Vec2>> AsPoints() const;
  // Returns the string argument of a call such as ExtResource("1"), or nullopt.
  std::optional<std::string> AsReference(std::string_view call) const;
};

struct GodotProperty {
  std::string name;
  GodotValue value;
  size_t line = 0;
};

// The properties of one section, or the attributes of its header.
class GodotProperties {
 public:
  void Add(GodotProperty property) { list_.push_back(std::move(property)); }
  const std::vector<GodotProperty>& list() const { return list_; }

  // Returns the last property `name`, or null. Linear in the number of properties.
  const GodotProperty* Find(std::string_view name) const;
  // Returns the value of `Find`, or null.
  const GodotValue* Value(std::string_view name) const;
  // Returns the string `name`, or "" if there is none.
  std::string Text(std::string_view name) const;

 private:
  std::vector<GodotProperty> list_;
};

// A section: its tag (`node`, `sub_resource` and so on), attributes and properties.
struct GodotSection {
  std::string tag;
  GodotProperties attributes;
  GodotProperties properties;
  size_t line = 0;
};

// `options` say who asks how far the parser is.
absl::StatusOr<std::vector<GodotSection>> ParseGodotText(std::string_view text,
                                                         const ImportOptions& options = {});

}  // namespace carom
