// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/page_tree.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/store/v1/pages.pb.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

// A row of a page then fits one page of SQLite's, which has 4,096 bytes.
constexpr size_t kMaxPageBytes = 3900;
// A polygon of more lies in pages of its own.
constexpr size_t kMaxInlineBytes = 1024;
constexpr size_t kChunkBytes = 256 << 10;
// What a member of a repeated field takes beside its bytes, at most, for pages as small as these.
constexpr size_t kMemberBytes = 4;
// Deeper than a tree of 2^64 polygons; a page that holds itself does not exist, but bytes may lie.
constexpr int kMaxDepth = 16;

constexpr PolygonLimits kNoLimits{.max_vertices = std::numeric_limits<size_t>::max(),
                                  .max_user_data_bytes = std::numeric_limits<size_t>::max()};

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the stored scene is damaged: ", what));
}

std::string TextOf(const PageHash& hash) { return {hash.data(), hash.size()}; }

absl::StatusOr<PageHash> HashFrom(const std::string& text) {
  PageHash hash;
  if (text.size() != hash.size()) return Damaged("a hash of another length");
  std::memcpy(hash.data(), text.data(), hash.size());
  return hash;
}

absl::StatusOr<store::v1::Page> ReadPage(const PageHash& hash, PageReader read) {
  absl::StatusOr<std::string> bytes = read(hash);
  if (!bytes.ok()) return bytes.status();
  store::v1::Page page;
  if (!page.ParseFromString(*bytes)) return Damaged("a page that is none");
  return page;
}

uint64_t IdOf(const store::v1::LeafEntry& entry) {
  return entry.has_polygon() ? entry.polygon().id() : entry.id();
}

// What is stored was checked when it came, so limits of today do not refuse it.
absl::StatusOr<Polygon> PolygonOf(const store::v1::LeafEntry& entry, PageReader read) {
  if (entry.has_polygon()) return wire::DecodePolygon(entry.polygon(), kNoLimits);
  std::string bytes;
  for (const std::string& chunk : entry.chunks()) {
    const absl::StatusOr<PageHash> hash = HashFrom(chunk);
    if (!hash.ok()) return hash.status();
    absl::StatusOr<store::v1::Page> page = ReadPage(*hash, read);
    if (!page.ok()) return page.status();
    bytes += page->chunk();
  }
  v1::Polygon message;
  if (!message.ParseFromString(bytes) || message.id() != entry.id()) {
    return Damaged("a large polygon that is none");
  }
  return wire::DecodePolygon(message, kNoLimits);
}

// Writes pages, and rewrites trees.
class TreeWriter {
 public:
  PageHash Write(const store::v1::Page& page) {
    Page written;
    page.SerializeToString(&written.bytes);
    written.hash = HashOf(written.bytes);
    change_.added.push_back(std::move(written));
    return change_.added.back().hash;
  }

  // In the leaf, or in chunks, which are written.
  store::v1::LeafEntry EntryOf(const Polygon& polygon) {
    store::v1::LeafEntry entry;
    wire::EncodePolygon(polygon, *entry.mutable_polygon());
    if (entry.polygon().ByteSizeLong() <= kMaxInlineBytes) return entry;
    const std::string bytes = entry.polygon().SerializeAsString();
    entry.Clear();
    entry.set_id(polygon.id());
    for (size_t at = 0; at < bytes.size(); at += kChunkBytes) {
      store::v1::Page page;
      page.set_chunk(bytes.substr(at, kChunkBytes));
      entry.add_chunks(TextOf(Write(page)));
    }
    return entry;
  }

  // Pages of members that follow each other, as few and as equal as can be.
  using Children = std::vector<store::v1::Child>;
  Children WriteLeaves(std::vector<store::v1::LeafEntry> entries) {
    return Pack(
        entries, IdOf,
        [](store::v1::Page & page) -> auto& { return *page.mutable_leaf()->mutable_entries(); });
  }
  Children WriteInner(Children below) {
    return Pack(
        below, [](const store::v1::Child& child) { return child.first_id(); },
        [](store::v1::Page & page) -> auto& { return *page.mutable_inner()->mutable_children(); });
  }

  // Ends the change: pages above `top` until there is one.
  TreeChange Finish(Children top) {
    if (top.empty()) {
      store::v1::Page empty;
      empty.mutable_leaf();
      change_.root = Write(empty);
      return std::move(change_);
    }
    while (top.size() > 1) top = WriteInner(std::move(top));
    change_.root = *HashFrom(top.front().page());
    return std::move(change_);
  }

  // What takes the place of a page after the edits in [begin, end), which lie below it; nothing if
  // no polygon is left.
  absl::StatusOr<Children> Edit(const PageHash& hash, TreeEdits::const_iterator begin,
                                TreeEdits::const_iterator end, PageReader read, int depth);

 private:
  template <class Member, class Id, class MembersOf>
  Children Pack(std::vector<Member>& members, Id id, MembersOf members_of) {
    size_t total = 0;
    for (const Member& member : members) total += member.ByteSizeLong() + kMemberBytes;
    const size_t pages = (total + kMaxPageBytes - 1) / kMaxPageBytes;
    Children children;
    size_t filled = 0;
    for (size_t i = 0; i < members.size();) {
      store::v1::Page page;
      auto& field = members_of(page);
      store::v1::Child& child = children.emplace_back();
      child.set_first_id(id(members[i]));
      // Page k ends where k + 1 parts of all bytes are reached.
      const size_t end = total * children.size() / pages;
      size_t bytes = 0;
      while (i < members.size()) {
        const size_t size = members[i].ByteSizeLong() + kMemberBytes;
        if (bytes != 0 && (filled + size / 2 > end || bytes + size > kMaxPageBytes)) break;
        bytes += size;
        filled += size;
        *field.Add() = std::move(members[i++]);
      }
      child.set_page(TextOf(Write(page)));
    }
    return children;
  }

  absl::StatusOr<Children> EditLeaf(store::v1::Leaf& leaf, TreeEdits::const_iterator begin,
                                    TreeEdits::const_iterator end);
  void Drop(const store::v1::LeafEntry& entry) {
    for (const std::string& chunk : entry.chunks()) {
      if (const absl::StatusOr<PageHash> hash = HashFrom(chunk); hash.ok()) {
        change_.dropped.push_back(*hash);
      }
    }
  }

  TreeChange change_;
};

// Merges two ascending sequences: of the same id, the edit wins.
absl::StatusOr<TreeWriter::Children> TreeWriter::EditLeaf(store::v1::Leaf& leaf,
                                                          TreeEdits::const_iterator begin,
                                                          TreeEdits::const_iterator end) {
  std::vector<store::v1::LeafEntry> entries;
  auto at = leaf.mutable_entries()->begin();
  const auto last = leaf.mutable_entries()->end();
  for (; begin != end; ++begin) {
    const auto [id, polygon] = *begin;
    while (at != last && IdOf(*at) < id) entries.push_back(std::move(*at++));
    if (at != last && IdOf(*at) == id) Drop(*at++);
    if (polygon != nullptr) entries.push_back(EntryOf(*polygon));
  }
  std::move(at, last, std::back_inserter(entries));
  return WriteLeaves(std::move(entries));
}

// Each child takes the edits below the first id of the next one; those without edits are shared.
// Pages that have become small are not merged with their neighbors: they are small in the file,
// too.
absl::StatusOr<TreeWriter::Children> TreeWriter::Edit(const PageHash& hash,
                                                      TreeEdits::const_iterator begin,
                                                      TreeEdits::const_iterator end,
                                                      PageReader read, int depth) {
  if (depth > kMaxDepth) return Damaged("a tree too deep");
  absl::StatusOr<store::v1::Page> page = ReadPage(hash, read);
  if (!page.ok()) return page.status();
  change_.dropped.push_back(hash);
  if (page->has_leaf()) return EditLeaf(*page->mutable_leaf(), begin, end);
  if (page->inner().children().empty()) return Damaged("a page without pages below");
  Children children;
  auto& below = *page->mutable_inner()->mutable_children();
  for (int i = 0; i < below.size(); ++i) {
    const auto child_end = i + 1 == below.size() ? end : [&] {
      auto it = begin;
      while (it != end && it->first < below[i + 1].first_id()) ++it;
      return it;
    }();
    if (begin == child_end) {
      children.push_back(std::move(below[i]));
      continue;
    }
    const absl::StatusOr<PageHash> child = HashFrom(below[i].page());
    if (!child.ok()) return child.status();
    absl::StatusOr<Children> edited = Edit(*child, begin, child_end, read, depth + 1);
    if (!edited.ok()) return edited.status();
    std::move(edited->begin(), edited->end(), std::back_inserter(children));
    begin = child_end;
  }
  return WriteInner(std::move(children));
}

// Calls `enter` for each page, before those below it. Stops at the first error of either.
absl::Status Walk(const PageHash& hash, PageReader read, int depth,
                  absl::FunctionRef<absl::Status(const PageHash&, const store::v1::Page&)> enter) {
  if (depth > kMaxDepth) return Damaged("a tree too deep");
  const absl::StatusOr<store::v1::Page> page = ReadPage(hash, read);
  if (!page.ok()) return page.status();
  if (absl::Status status = enter(hash, *page); !status.ok()) return status;
  for (const store::v1::Child& child : page->inner().children()) {
    const absl::StatusOr<PageHash> below = HashFrom(child.page());
    if (!below.ok()) return below.status();
    if (absl::Status status = Walk(*below, read, depth + 1, enter); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

PageHash HashOf(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_sha256(), nullptr);
  PageHash hash;
  std::memcpy(hash.data(), digest, hash.size());
  return hash;
}

absl::Status CheckPage(const PageHash& hash, const std::string& bytes) {
  return HashOf(bytes) == hash ? absl::OkStatus() : Damaged("a page of another checksum");
}

TreeChange BuildTree(std::span<const Polygon* const> polygons) {
  TreeWriter writer;
  std::vector<store::v1::LeafEntry> entries;
  TreeWriter::Children leaves;
  size_t bytes = 0;
  // Leaves by the hundred, so that what is not yet pages takes little memory.
  for (const Polygon* polygon : polygons) {
    entries.push_back(writer.EntryOf(*polygon));
    bytes += entries.back().ByteSizeLong() + kMemberBytes;
    if (bytes < 100 * kMaxPageBytes) continue;
    TreeWriter::Children some = writer.WriteLeaves(std::exchange(entries, {}));
    std::move(some.begin(), some.end(), std::back_inserter(leaves));
    bytes = 0;
  }
  TreeWriter::Children some = writer.WriteLeaves(std::move(entries));
  std::move(some.begin(), some.end(), std::back_inserter(leaves));
  return writer.Finish(std::move(leaves));
}

absl::StatusOr<TreeChange> EditTree(const PageHash& root, const TreeEdits& edits, PageReader read) {
  if (edits.empty()) return TreeChange{.root = root, .added = {}, .dropped = {}};
  TreeWriter writer;
  absl::StatusOr<TreeWriter::Children> top = writer.Edit(root, edits.begin(), edits.end(), read, 0);
  if (!top.ok()) return top.status();
  return writer.Finish(*std::move(top));
}

absl::Status ReadTree(const PageHash& root, PageReader read,
                      absl::FunctionRef<absl::Status(Polygon)> visit) {
  return Walk(root, read, 0, [&](const PageHash&, const store::v1::Page& page) -> absl::Status {
    if (page.content_case() == store::v1::Page::kChunk) return Damaged("a part of a polygon");
    for (const store::v1::LeafEntry& entry : page.leaf().entries()) {
      absl::StatusOr<Polygon> polygon = PolygonOf(entry, read);
      if (absl::IsInvalidArgument(polygon.status())) return Damaged(polygon.status().message());
      if (!polygon.ok()) return polygon.status();
      if (absl::Status status = visit(*std::move(polygon)); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

absl::Status CollectPages(const PageHash& root, PageReader read, std::vector<PageHash>& pages) {
  return Walk(root, read, 0, [&](const PageHash& hash, const store::v1::Page& page) {
    pages.push_back(hash);
    for (const store::v1::LeafEntry& entry : page.leaf().entries()) {
      for (const std::string& chunk : entry.chunks()) {
        if (const absl::StatusOr<PageHash> below = HashFrom(chunk); below.ok()) {
          pages.push_back(*below);
        }
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace carom::server
