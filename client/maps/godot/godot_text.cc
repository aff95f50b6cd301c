// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/godot/godot_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom {
namespace {

// The deepest nesting of values.
constexpr int kMaxGodotDepth = 100;

// Returns whether a character may be part of a tag, a word or a number of a colour.
bool IsGodotNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Appends the code point `code` in UTF-8; what is no code point becomes U+FFFD.
void AppendCodePoint(uint32_t code, std::string& out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 63));
    out += static_cast<char>(0x80 | ((code >> 6) & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

// Reads one text from its start to its end. A method that returns false has set the error.
class GodotParser {
 public:
  GodotParser(std::string_view text, const ImportOptions& options)
      : text_(text), options_(options) {}

  absl::StatusOr<std::vector<GodotSection>> Parse();

 private:
  bool Fail(std::string_view message) {
    if (error_.ok()) {
      error_ = InvalidField(absl::StrCat("line ", line_),
                            absl::string_view(message.data(), message.size()));
    }
    return false;
  }
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  void Skip() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
  void SkipBlank();
  bool Accept(char c);
  bool Expect(char c);

  bool ReadHeader(GodotSection& section);
  bool ReadName(std::string& name);
  bool ReadValue(int depth, GodotValue& value);
  bool ReadNumber(GodotValue& value);
  bool ReadString(std::string& out);
  bool ReadEscape(std::string& out);
  bool ReadWord(int depth, GodotValue& value);
  bool ReadList(char close, int depth, GodotValue& value);
  static void AddItem(GodotValue item, GodotValue& list);

  std::string_view text_;
  const ImportOptions& options_;
  size_t at_ = 0;
  // The line of `at_`.
  size_t line_ = 1;
  // The first error.
  absl::Status error_ = absl::OkStatus();
};

// Skips white space, and comments, which run from `;` to the end of the line.
void GodotParser::SkipBlank() {
  while (!AtEnd()) {
    const char c = text_[at_];
    if (c == ';') {
      while (!AtEnd() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      Skip();
    } else {
      return;
    }
  }
}

// Skips a character, if it is next behind blanks.
bool GodotParser::Accept(char c) {
  SkipBlank();
  if (Peek() != c || AtEnd()) return false;
  Skip();
  return true;
}

// Skips a character that must be next.
bool GodotParser::Expect(char c) {
  if (Accept(c)) return true;
  return Fail(absl::StrCat("expected `", std::string(1, c), "`"));
}

// Reads sections; a property belongs to the section before it.
absl::StatusOr<std::vector<GodotSection>> GodotParser::Parse() {
  std::vector<GodotSection> sections;
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  for (SkipBlank(); !AtEnd(); SkipBlank()) {
    if (Peek() == '[') {
      if (!ReadHeader(sections.emplace_back())) return error_;
      continue;
    }
    if (sections.empty()) {
      Fail("expected a section such as [gd_scene format=3]");
      return error_;
    }
    GodotProperty property;
    property.line = line_;
    options_.Report(at_, text_.size());
    if (!ReadName(property.name) || !Expect('=') || !ReadValue(0, property.value)) return error_;
    sections.back().properties.Add(std::move(property));
  }
  return sections;
}

// Reads a tag and its attributes, up to the bracket.
bool GodotParser::ReadHeader(GodotSection& section) {
  section.line = line_;
  Skip();
  SkipBlank();
  while (IsGodotNameChar(Peek())) section.tag += text_[at_++];
  if (section.tag.empty()) return Fail("expected the name of a section");
  while (!Accept(']')) {
    GodotProperty attribute;
    attribute.line = line_;
    if (!ReadName(attribute.name) || !Expect('=') || !ReadValue(0, attribute.value)) return false;
    section.attributes.Add(std::move(attribute));
  }
  return true;
}

// Reads a name up to `=`; names may contain `/`, `:` and `.`, or be quoted.
bool GodotParser::ReadName(std::string& name) {
  SkipBlank();
  if (Peek() == '"') return ReadString(name);
  while (!AtEnd() && text_[at_] != '=' && text_[at_] != '\n' && text_[at_] != ']') {
    name += text_[at_++];
  }
  while (!name.empty() && (name.back() == ' ' || name.back() == '\t' || name.back() == '\r')) {
    name.pop_back();
  }
  return !name.empty() || Fail("expected the name of a property");
}

// Reads a value of any kind, by its first character.
bool GodotParser::ReadValue(int depth, GodotValue& value) {
  if (depth > kMaxGodotDepth) return Fail("values are nested too deep");
  SkipBlank();
  const char c = Peek();
  if (c == '"') {
    value.kind = GodotValue::Kind::kString;
    return ReadString(value.text);
  }
  if (c == '&' || c == '^' || c == '@') {  // a StringName, a NodePath
    Skip();
    value.kind = GodotValue::Kind::kString;
    return Peek() == '"' ? ReadString(value.text) : Fail("expected a string after & or ^");
  }
  if (c == '[' || c == '{') {
    Skip();
    value.kind = c == '[' ? GodotValue::Kind::kArray : GodotValue::Kind::kDictionary;
    return ReadList(c == '[' ? ']' : '}', depth, value);
  }
  if (c == '#') {  // a colour
    Skip();
    value.kind = GodotValue::Kind::kString;
    while (IsGodotNameChar(Peek())) value.text += text_[at_++];
    return true;
  }
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') return ReadNumber(value);
  if (IsGodotNameChar(c)) return ReadWord(depth, value);
  return Fail("expected a value");
}

// Reads an integer or a float; both are doubles, which have all integers of a scene.
bool GodotParser::ReadNumber(GodotValue& value) {
  if (Peek() == '+') ++at_;
  const char* begin = text_.data() + at_;
  const char* end = text_.data() + text_.size();
  const std::from_chars_result result = std::from_chars(begin, end, value.number);
  if (result.ec == std::errc::invalid_argument) return Fail("not a number");
  // A number above every double is infinite, and refused where a coordinate is wanted.
  if (result.ec == std::errc::result_out_of_range) {
    const std::string_view token(begin, static_cast<size_t>(result.ptr - begin));
    const bool is_tiny =
        token.find("e-") != std::string_view::npos || token.find("E-") != std::string_view::npos;
    value.number = is_tiny ? 0 : std::numeric_limits<double>::infinity();
  }
  value.kind = GodotValue::Kind::kNumber;
  at_ += static_cast<size_t>(result.ptr - begin);
  return true;
}

// Reads a string, which may run over several lines.
bool GodotParser::ReadString(std::string& out) {
  Skip();
  while (!AtEnd() && text_[at_] != '"') {
    if (text_[at_] == '\\') {
      if (!ReadEscape(out)) return false;
      continue;
    }
    out += text_[at_];
    Skip();
  }
  if (AtEnd()) return Fail("a string without its closing quote");
  Skip();
  return true;
}

// Reads a backslash and what follows: n, t, r, b, f, u with 4 hexadecimal digits, U with 6; any
// other character stands for itself.
bool GodotParser::ReadEscape(std::string& out) {
  Skip();
  if (AtEnd()) return Fail("a string without its closing quote");
  const char c = text_[at_];
  Skip();
  if (c == 'u' || c == 'U') {
    const size_t digits = c == 'u' ? 4 : 6;
    uint32_t code = 0;
    if (at_ + digits > text_.size()) return Fail("a string without its closing quote");
    const char* begin = text_.data() + at_;
    const auto result = std::from_chars(begin, begin + digits, code, 16);
    if (result.ec != std::errc() || result.ptr != begin + digits) {
      return Fail("expected hexadecimal digits after \\u");
    }
    at_ += digits;
    AppendCodePoint(code, out);
    return true;
  }
  constexpr std::string_view kEscapes = "ntrbf";
  const size_t escape = kEscapes.find(c);
  out += escape == std::string_view::npos ? c : "\n\t\r\b\f"[escape];
  return true;
}

// Reads a word such as true, or a call such as Vector2(1, 2), Array[int]([1, 2]) or
// Object(Node,"name":"a").
bool GodotParser::ReadWord(int depth, GodotValue& value) {
  while (IsGodotNameChar(Peek())) value.text += text_[at_++];
  // The type of the items of Array[...] follows at once; a `[` on a later line begins a section.
  if (Peek() == '[') {
    GodotValue type;
    if (!ReadValue(depth + 1, type)) return false;
  }
  if (Accept('(')) {
    value.kind = GodotValue::Kind::kCall;
    if (!ReadList(')', depth, value)) return false;
    // A typed array or dictionary is the one that it contains.
    if ((value.text == "Array" || value.text == "Dictionary") && value.items.size() == 1) {
      GodotValue inner = std::move(value.items.front());
      value = std::move(inner);
    }
    return true;
  }
  // The words for numbers that no text can write.
  const double infinity = std::numeric_limits<double>::infinity();
  if (value.text == "true" || value.text == "false") {
    value.kind = GodotValue::Kind::kBool;
    value.number = value.text == "true" ? 1 : 0;
  } else if (value.text == "inf" || value.text == "inf_neg" || value.text == "nan") {
    value.kind = GodotValue::Kind::kNumber;
    value.number = value.text == "inf"       ? infinity
                   : value.text == "inf_neg" ? -infinity
                                             : std::numeric_limits<double>::quiet_NaN();
  } else if (value.text == "null" || value.text == "nil") {
    value.kind = GodotValue::Kind::kNull;
  } else {
    value.kind = GodotValue::Kind::kString;  // the name of a type
  }
  return true;
}

// Reads items up to `close`, separated by commas, and by colons between keys and values.
bool GodotParser::ReadList(char close, int depth, GodotValue& value) {
  for (size_t count = 0; !Accept(close); ++count) {
    if (count % 1024 == 1023) options_.Report(at_, text_.size());
    GodotValue item;
    if (!ReadValue(depth + 1, item)) return false;
    AddItem(std::move(item), value);
    if (Accept(':') || Accept(',')) continue;
    return Expect(close);
  }
  return true;
}

// Keeps numbers as numbers, until an item is none: packed arrays may have millions.
void GodotParser::AddItem(GodotValue item, GodotValue& list) {
  if (item.kind == GodotValue::Kind::kNumber && list.items.empty()) {
    list.numbers.push_back(item.number);
    return;
  }
  for (const double number : list.numbers) {
    GodotValue& moved = list.items.emplace_back();
    moved.kind = GodotValue::Kind::kNumber;
    moved.number = number;
  }
  list.numbers.clear();
  list.items.push_back(std::move(item));
}

}  // namespace

// A value of another kind has no number.
std::optional<double> GodotValue::AsNumber() const {
  if (kind != Kind::kNumber) return std::nullopt;
  return number;
}

std::optional<bool> GodotValue::AsBool() const {
  if (kind != Kind::kBool) return std::nullopt;
  return number != 0;
}

std::optional<Vec2> GodotValue::AsVector2() const {
  if (!(is_call("Vector2") || is_call("Vector2i")) || numbers.size() != 2) return std::nullopt;
  return Vec2{numbers[0], numbers[1]};
}

// A packed array has the numbers of its points in turn.
std::optional<std::vector<Vec2>> GodotValue::AsPoints() const {
  std::vector<Vec2> points;
  if (is_call("PackedVector2Array") && items.empty() && numbers.size() % 2 == 0) {
    points.reserve(numbers.size() / 2);
    for (size_t i = 0; i < numbers.size(); i += 2) points.push_back({numbers[i], numbers[i + 1]});
    return points;
  }
  const bool is_list = kind == Kind::kArray || is_call("PackedVector2Array");
  if (!is_list || !numbers.empty()) return std::nullopt;
  for (const GodotValue& item : items) {
    const std::optional<Vec2> point = item.AsVector2();
    if (!point) return std::nullopt;
    points.push_back(*point);
  }
  return points;
}

std::optional<std::string> GodotValue::AsReference(std::string_view call) const {
  if (!is_call(call)) return std::nullopt;
  // Files of the first versions number their resources: ExtResource( 1 ).
  if (items.empty() && numbers.size() == 1) return absl::StrCat(numbers.front());
  if (items.size() != 1 || items.front().kind != Kind::kString) return std::nullopt;
  return items.front().text;
}

// A property that is repeated has its last value.
const GodotProperty* GodotProperties::Find(std::string_view name) const {
  const auto found = std::find_if(list_.rbegin(), list_.rend(),
                                  [&](const GodotProperty& p) { return p.name == name; });
  return found == list_.rend() ? nullptr : &*found;
}

const GodotValue* GodotProperties::Value(std::string_view name) const {
  const GodotProperty* property = Find(name);
  return property == nullptr ? nullptr : &property->value;
}

// Numbers are texts too: the first versions number their resources.
std::string GodotProperties::Text(std::string_view name) const {
  const GodotValue* value = Value(name);
  if (value == nullptr) return "";
  if (value->kind == GodotValue::Kind::kNumber) return absl::StrCat(value->number);
  return value->kind == GodotValue::Kind::kString ? value->text : "";
}

absl::StatusOr<std::vector<GodotSection>> ParseGodotText(std::string_view text,
                                                         const ImportOptions& options) {
  return GodotParser(text, options).Parse();
}

}  // namespace carom
