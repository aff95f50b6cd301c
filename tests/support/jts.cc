// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/jts.h"

#include <cctype>
#include <cstdlib>
#include <pugixml.hpp>

namespace carom::testing {
namespace {

// Recursive descent over WKT; collections nest to a bounded depth.
class WktParser {
 public:
  explicit WktParser(std::string_view text) : text_(text) {}

  bool Parse(JtsGeometry& out) { return Geometry(out, 0) && (Skip(), text_.empty()); }

 private:
  static constexpr int kMaxDepth = 8;

  void Skip() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])) != 0) {
      text_.remove_prefix(1);
    }
  }
  bool Take(char c) {
    Skip();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string Word() {
    Skip();
    std::string word;
    while (!text_.empty() && std::isalpha(static_cast<unsigned char>(text_[0])) != 0) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(text_[0])));
      text_.remove_prefix(1);
    }
    return word;
  }
  bool TakeEmpty() {
    const std::string_view before = text_;
    if (Word() == "EMPTY") return true;
    text_ = before;
    return false;
  }
  bool Number(double& out) {
    Skip();
    const std::string rest(text_.substr(0, 40));
    char* end = nullptr;
    out = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) return false;
    text_.remove_prefix(static_cast<size_t>(end - rest.c_str()));
    return true;
  }

  // `( item, item, … )`, or EMPTY.
  template <class Item>
  bool List(Item item) {
    if (TakeEmpty()) return true;
    if (!Take('(')) return false;
    do {
      if (!item()) return false;
    } while (Take(','));
    return Take(')');
  }
  bool Point(Path& out) {
    Vec2 p;
    if (!Number(p.x) || !Number(p.y)) return false;
    out.push_back(p);
    return true;
  }
  bool Line(Path& out) {
    return List([&] { return Point(out); });
  }
  bool LineInto(std::vector<Path>& out) {
    Path line;
    if (!Line(line)) return false;
    if (!line.empty()) out.push_back(line);
    return true;
  }
  bool PolygonInto(std::vector<std::vector<Path>>& out) {
    std::vector<Path> rings;
    if (!List([&] { return LineInto(rings); })) return false;
    if (!rings.empty()) out.push_back(rings);
    return true;
  }
  // Each point of a MULTIPOINT may stand in parentheses.
  bool PointOfMany(Path& out) {
    Skip();
    const bool bare = !text_.empty() && text_[0] != '(' && text_[0] != 'E';
    return bare ? Point(out) : Line(out);
  }

  bool Geometry(JtsGeometry& out, int depth) {
    const std::string kind = Word();
    if (kind == "POINT") return Line(out.points);
    if (kind == "LINESTRING" || kind == "LINEARRING") return LineInto(out.lines);
    if (kind == "POLYGON") return PolygonInto(out.polygons);
    if (kind == "MULTIPOINT") return List([&] { return PointOfMany(out.points); });
    if (kind == "MULTILINESTRING") return List([&] { return LineInto(out.lines); });
    if (kind == "MULTIPOLYGON") return List([&] { return PolygonInto(out.polygons); });
    if (kind != "GEOMETRYCOLLECTION" || depth == kMaxDepth) return false;
    return List([&] { return Geometry(out, depth + 1); });
  }

  std::string_view text_;
};

std::string Trimmed(std::string text) {
  const char* spaces = " \t\r\n";
  text.erase(0, text.find_first_not_of(spaces));
  text.erase(text.find_last_not_of(spaces) + 1);
  return text;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::optional<JtsGeometry> ParseWkt(std::string_view text) {
  JtsGeometry geometry;
  if (!WktParser(text).Parse(geometry)) return std::nullopt;
  return geometry;
}

std::optional<JtsFile> ReadJtsFile(const std::string& path) {
  pugi::xml_document document;
  if (!document.load_file(path.c_str())) return std::nullopt;
  JtsFile file;
  for (const pugi::xml_node node : document.child("run").children("case")) {
    JtsCase made;
    made.description = Trimmed(node.child_value("desc"));
    const std::optional<JtsGeometry> a = ParseWkt(node.child_value("a"));
    const std::optional<JtsGeometry> b =
        node.child("b").empty() ? JtsGeometry{} : ParseWkt(node.child_value("b"));
    if (!a || !b) {
      ++file.unread_count;
      continue;
    }
    made.a = *a;
    made.b = *b;
    for (const pugi::xml_node test : node.children("test")) {
      for (const pugi::xml_node op : test.children("op")) {
        made.operations.push_back({Lower(op.attribute("name").value()),
                                   Lower(op.attribute("arg1").value()) == "b",
                                   Trimmed(op.child_value())});
      }
    }
    file.cases.push_back(std::move(made));
  }
  return file;
}

}  // namespace carom::testing
