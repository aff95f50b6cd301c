// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of stored pages: any bytes are a page or are refused, are never read without end,
// and what is a page is one for protobuf too, with the same ids; a tree after an edit is the tree
// that was built of what it should have then, and comparing it with the one before gives the edit.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "carom/store/v1/pages.pb.h"
#include "server/store/page_members.h"
#include "server/store/page_tree.h"
#include "tests/fuzz/target.h"
#include "tests/store/fixture.h"
#include "tests/support/choices.h"

namespace carom::server {
namespace {

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

uint64_t IdOf(const store::v1::LeafEntry& entry) {
  return entry.has_polygon() ? entry.polygon().id() : entry.id();
}

void CheckMembers(const std::string& bytes) {
  const absl::StatusOr<PageMembers> page = MembersOf(bytes);
  if (!page.ok()) return Require(absl::IsDataLoss(page.status()), "what is no page is damage");
  if (page->kind == PageKind::kChunk) return;
  const std::string again = MakePage(page->kind, page->members);
  const absl::StatusOr<PageMembers> remade = MembersOf(again);
  Require(remade.ok() && remade->members.size() == page->members.size(), "what we make is a page");
  store::v1::Page message;
  if (!message.ParseFromString(again)) return;
  for (int i = 0; i < message.leaf().entries_size(); ++i) {
    const store::v1::LeafEntry& entry = message.leaf().entries(i);
    // A message that says a thing twice means the last of them; ours do not.
    const bool has_no_unknown_fields = entry.ByteSizeLong() == page->members[i].bytes.size();
    Require(!has_no_unknown_fields || (entry.has_polygon() && entry.id() != 0) ||
                IdOf(entry) == page->members[i].id,
            "entries have protobuf's ids");
  }
  for (int i = 0; i < message.inner().children_size(); ++i) {
    const store::v1::Child& child = message.inner().children(i);
    const bool has_no_unknown_fields = child.ByteSizeLong() == page->members[i].bytes.size();
    Require(!has_no_unknown_fields || child.first_id() == page->members[i].id,
            "children have protobuf's ids");
  }
}

// Whatever page is asked for, it is this one, a few times.
void ReadAsTree(const std::string& bytes) {
  int left = 50;
  const auto read = [&](const PageHash&) -> absl::StatusOr<std::string> {
    if (left-- == 0) return absl::DataLossError("no more");
    return bytes;
  };
  ReadTree({}, read, [](const Polygon&) { return absl::OkStatus(); }).IgnoreError();
  left = 50;
  std::vector<PageHash> pages;
  CollectPages({}, read, pages).IgnoreError();
  left = 50;
  const Polygon polygon = SquareAt(7, 1);
  EditTree({}, {{7, &polygon}, {9, nullptr}}, read).IgnoreError();
  left = 50;
  const PageHash other = {1};
  CompareTrees({}, other, read, [](const Polygon*, const Polygon*) {
    return absl::OkStatus();
  }).IgnoreError();
}

using Pages = std::map<PageHash, std::string>;

void Apply(const TreeChange& change, Pages& pages) {
  for (const Page& page : change.added) pages[page.hash] = page.bytes;
}

Contents ContentsOf(const PageHash& root, const Pages& pages) {
  Contents contents;
  const auto read = [&](const PageHash& hash) -> absl::StatusOr<std::string> {
    const auto it = pages.find(hash);
    if (it == pages.end()) return absl::DataLossError("missing");
    return it->second;
  };
  const absl::Status status = ReadTree(root, read, [&](const Polygon& polygon) {
    Require(contents.empty() || contents.rbegin()->first < polygon.id(), "ids ascend");
    contents[polygon.id()].assign(polygon.vertices().begin(), polygon.vertices().end());
    return absl::OkStatus();
  });
  Require(status.ok(), "our own trees can be read");
  return contents;
}

// What `before` has becomes what `after` has by the differences alone.
void Compare(const PageHash& before, const PageHash& after, PageReader read, const Pages& pages) {
  Contents contents = ContentsOf(before, pages);
  std::optional<uint64_t> last;
  const absl::Status status =
      CompareTrees(before, after, read, [&](const Polygon* old, const Polygon* polygon) {
        Require(old != nullptr || polygon != nullptr, "a difference is of a polygon");
        const uint64_t id = (polygon != nullptr ? polygon : old)->id();
        Require(!last.has_value() || *last < id, "ids of differences ascend");
        last = id;
        Require((old != nullptr) == contents.contains(id), "a difference says what was there");
        contents.erase(id);
        if (polygon == nullptr) return absl::OkStatus();
        contents[id].assign(polygon->vertices().begin(), polygon->vertices().end());
        return absl::OkStatus();
      });
  Require(status.ok(), "our own trees can be compared");
  Require(contents == ContentsOf(after, pages), "differences are all that differs");
}

// A few rounds of edits of a small tree.
void EditTrees(testing::Choices& choices) {
  std::map<uint64_t, Polygon> polygons;
  Pages pages;
  TreeChange change = BuildTree({});
  Apply(change, pages);
  const auto read = [&](const PageHash& hash) -> absl::StatusOr<std::string> {
    return pages.at(hash);
  };
  for (int round = 0; round < 4; ++round) {
    std::map<uint64_t, Polygon> changed;
    TreeEdits edits;
    for (uint32_t i = choices.Below(round == 0 ? 200 : 12); i > 0; --i) {
      const uint64_t id = choices.Below(300);
      if (choices.OneIn(4)) {
        polygons.erase(id);
        edits[id] = nullptr;
        continue;
      }
      const Polygon polygon =
          choices.OneIn(16) ? Comb(id, 40 + choices.Below(200)) : SquareAt(id, choices.Below(256));
      polygons.insert_or_assign(id, polygon);
      edits[id] = &changed.insert_or_assign(id, polygon).first->second;
    }
    const absl::StatusOr<TreeChange> edited = EditTree(change.root, edits, read);
    Require(edited.ok(), "our own trees can be edited");
    const PageHash before = change.root;
    change = *edited;
    Apply(change, pages);
    Contents expected;
    for (const auto& [id, polygon] : polygons) {
      expected[id].assign(polygon.vertices().begin(), polygon.vertices().end());
    }
    Require(ContentsOf(change.root, pages) == expected, "an edit does what it says");
    Compare(before, change.root, read, pages);
    Compare(change.root, before, read, pages);
  }
}

}  // namespace
}  // namespace carom::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] % 4 == 0) {
    carom::testing::Choices choices(data + 1, size - 1);
    carom::server::EditTrees(choices);
    return 0;
  }
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  carom::server::CheckMembers(bytes);
  carom::server::ReadAsTree(bytes);
  return 0;
}

// Choices of edits; or a page of a tree, with some of its bytes changed in all but every fourth.
std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  std::vector<uint8_t> bytes(1);
  bytes[0] = static_cast<uint8_t>(choices.Below(256));
  if (bytes[0] % 4 == 0) {
    for (uint32_t i = choices.Below(600); i > 0; --i) {
      bytes.push_back(static_cast<uint8_t>(choices.Below(256)));
    }
    return bytes;
  }
  std::vector<carom::Polygon> polygons;
  for (uint32_t i = choices.Below(120); i > 0; --i) {
    polygons.push_back(choices.OneIn(40)
                           ? carom::server::Comb(polygons.size(), 80)
                           : carom::server::SquareAt(polygons.size(), choices.Below(99)));
  }
  std::vector<const carom::Polygon*> pointers;
  for (const carom::Polygon& polygon : polygons) pointers.push_back(&polygon);
  const carom::server::TreeChange tree = carom::server::BuildTree(pointers);
  std::string page = tree.added[choices.Below(256) % tree.added.size()].bytes;
  for (uint32_t changes = choices.OneIn(4) ? 0 : 1 + choices.Below(3); changes > 0; --changes) {
    page[choices.Below(65536) % page.size()] = static_cast<char>(choices.Below(256));
  }
  bytes.insert(bytes.end(), page.begin(), page.end());
  return bytes;
}
