// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/page_tree.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/store/v1/pages.pb.h"
#include "server/store/page_members.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

// Maximum bytes of a leaf or an inner page of the tree. With this limit, the table row of such a
// page fits one database page of SQLite, which has 4,096 bytes.
constexpr size_t kMaxPageBytes = 3900;
// A polygon with more than `kMaxInlineBytes` encoded bytes is not stored in a leaf, but in chunks
// of at most `kChunkBytes`, each of which is a page of its own.
constexpr size_t kMaxInlineBytes = 1024;
constexpr size_t kChunkBytes = 256 << 10;
// Upper bound of the bytes that a page takes for each member (a polygon of a leaf, or a reference
// to a child page) in addition to the encoded member: tag and length of a protobuf field.
constexpr size_t kMemberBytes = 4;
// Maximum number of levels of pages below the root; a tree of 2^64 polygons has fewer. If a damaged
// page refers to itself, functions that descend the tree return an error below this level.
constexpr int kMaxDepth = 16;

constexpr PolygonLimits kNoLimits{.max_vertices = std::numeric_limits<size_t>::max(),
                                  .max_user_data_bytes = std::numeric_limits<size_t>::max()};

absl::StatusOr<PageHash> HashFrom(const std::string& text) {
  PageHash hash;
  if (text.size() != hash.size()) return DamagedScene("a hash has a wrong length");
  std::memcpy(hash.data(), text.data(), hash.size());
  return hash;
}

absl::StatusOr<store::v1::Page> ReadPage(const PageHash& hash, PageReader read) {
  absl::StatusOr<std::string> bytes = read(hash);
  if (!bytes.ok()) return bytes.status();
  store::v1::Page page;
  if (!page.ParseFromString(*bytes)) return DamagedScene("a page does not parse");
  return page;
}

// Returns the hash of the child page that `member`, a member of an inner page, refers to.
absl::StatusOr<PageHash> PageOf(const PageMember& member) {
  store::v1::Child child;
  if (!child.ParseFromArray(member.bytes.data(), static_cast<int>(member.bytes.size()))) {
    return DamagedScene("a link to a page does not parse");
  }
  return HashFrom(child.page());
}

uint64_t IdOf(const store::v1::LeafEntry& entry) {
  return entry.has_polygon() ? entry.polygon().id() : entry.id();
}

// Returns the polygon of a leaf's entry; reads the polygon's chunks if it is stored in chunks. Does
// not check the server's limits of polygons, which may have become stricter after the polygon was
// stored.
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
    return DamagedScene("a large polygon does not parse");
  }
  return wire::DecodePolygon(message, kNoLimits);
}

// Returns the polygon of a leaf's entry; DATA_LOSS if the polygon is not valid.
absl::StatusOr<Polygon> DecodeStored(const store::v1::LeafEntry& entry, PageReader read) {
  absl::StatusOr<Polygon> polygon = PolygonOf(entry, read);
  if (absl::IsInvalidArgument(polygon.status())) return DamagedScene(polygon.status().message());
  return polygon;
}

// Builds all pages of a tree, or the pages that change when a tree is edited, and collects these
// pages in a `TreeChange`. A leaf is a page of polygons, a chunk a page with a part of the bytes of
// a polygon that is too large for a leaf, and an inner page refers to leaves or other inner pages,
// its children. A `PageMember` is an entry of a leaf (a polygon) or a reference of an inner page to
// a child; it points into the bytes of a page, which the caller keeps, or into an encoded message
// in `entries_` or `children_`.
class TreeWriter {
 public:
  using Members = std::vector<PageMember>;

  PageHash Write(std::string bytes) {
    const PageHash hash = HashOf(bytes);
    change_.added.push_back({hash, std::move(bytes)});
    return hash;
  }

  // Returns the leaf entry of a polygon. If the polygon is too large for a leaf, writes its bytes
  // to chunk pages.
  PageMember EntryOf(const Polygon& polygon) {
    store::v1::LeafEntry entry;
    wire::EncodePolygon(polygon, *entry.mutable_polygon());
    if (entry.polygon().ByteSizeLong() <= kMaxInlineBytes)
      return Keep(entry, polygon.id(), entries_);
    const std::string bytes = entry.polygon().SerializeAsString();
    entry.Clear();
    entry.set_id(polygon.id());
    for (size_t at = 0; at < bytes.size(); at += kChunkBytes) {
      store::v1::Page page;
      page.set_chunk(bytes.substr(at, kChunkBytes));
      entry.add_chunks(TextOf(Write(page.SerializeAsString())));
    }
    return Keep(entry, polygon.id(), entries_);
  }
  // Frees the leaf entries that `EntryOf` returned; called after `Pack` has written them to pages.
  void ForgetEntries() { entries_.clear(); }

  // Writes `members`, in their order, to few pages of similar size. Returns a reference to each
  // written page, as the members of the inner page above the written pages.
  Members Pack(PageKind kind, std::span<const PageMember> members) {
    size_t total = 0;
    for (const PageMember& member : members) total += member.bytes.size() + kMemberBytes;
    const size_t pages = (total + kMaxPageBytes - 1) / kMaxPageBytes;
    Members children;
    size_t filled = 0;
    for (size_t i = 0; i < members.size();) {
      // The page with index k = children.size() ends near the byte total * (k + 1) / pages of all
      // members, so that pages are of similar size.
      const size_t end = total * (children.size() + 1) / pages;
      const size_t first = i;
      for (size_t bytes = 0; i < members.size(); ++i) {
        const size_t size = members[i].bytes.size() + kMemberBytes;
        if (bytes != 0 && (filled + size / 2 > end || bytes + size > kMaxPageBytes)) break;
        bytes += size;
        filled += size;
      }
      store::v1::Child child;
      child.set_first_id(members[first].id);
      child.set_page(TextOf(Write(MakePage(kind, members.subspan(first, i - first)))));
      children.push_back(Keep(child, child.first_id(), children_));
    }
    return children;
  }

  // Writes inner pages above the pages that `top` refers to, level by level, until a level has only
  // one page, the root. Returns the completed `TreeChange`.
  TreeChange Finish(Members top) {
    if (top.empty()) {
      change_.root = Write(MakePage(PageKind::kLeaf, {}));
      return std::move(change_);
    }
    while (top.size() > 1) top = Pack(PageKind::kInner, top);
    change_.root = *PageOf(top.front());
    return std::move(change_);
  }

  // Applies the edits in [begin, end), all of polygons that belong in the subtree of the page
  // `hash`, which is `depth` levels below the root. Writes the changed pages. Returns the members
  // that replace, in the parent page, the member that refers to `hash`; empty if the subtree has no
  // polygon left.
  absl::StatusOr<Members> Edit(const PageHash& hash, TreeEdits::const_iterator begin,
                               TreeEdits::const_iterator end, PageReader read, int depth);

 private:
  // Encoded messages that `PageMember`s point into. A deque, because adding a string to a deque
  // does not move the strings that it already has.
  using Messages = std::deque<std::string>;
  static PageMember Keep(const google::protobuf::MessageLite& message, uint64_t id,
                         Messages& messages) {
    return {id, messages.emplace_back(message.SerializeAsString())};
  }
  absl::Status Drop(const PageMember& member);
  absl::StatusOr<Members> EditLeaf(std::span<const PageMember> entries,
                                   TreeEdits::const_iterator begin, TreeEdits::const_iterator end);
  absl::StatusOr<Members> EditInner(std::span<const PageMember> below,
                                    TreeEdits::const_iterator begin, TreeEdits::const_iterator end,
                                    PageReader read, int depth);

  TreeChange change_;
  Messages entries_, children_;
};

// If the removed or replaced polygon `member` is stored in chunks (pages with parts of its bytes),
// adds the hashes of the chunks to `change_.dropped`.
absl::Status TreeWriter::Drop(const PageMember& member) {
  store::v1::LeafEntry entry;
  if (!entry.ParseFromArray(member.bytes.data(), static_cast<int>(member.bytes.size()))) {
    return DamagedScene("an entry does not parse");
  }
  for (const std::string& chunk : entry.chunks()) {
    const absl::StatusOr<PageHash> hash = HashFrom(chunk);
    if (!hash.ok()) return hash.status();
    change_.dropped.push_back(*hash);
  }
  return absl::OkStatus();
}

// Merges the entries of a leaf with the edits in [begin, end); both are by ascending id. An edit
// with the id of an entry replaces or removes that entry.
absl::StatusOr<TreeWriter::Members> TreeWriter::EditLeaf(std::span<const PageMember> entries,
                                                         TreeEdits::const_iterator begin,
                                                         TreeEdits::const_iterator end) {
  Members edited;
  auto at = entries.begin();
  for (; begin != end; ++begin) {
    const auto [id, polygon] = *begin;
    while (at != entries.end() && at->id < id) edited.push_back(*at++);
    if (at != entries.end() && at->id == id) {
      if (absl::Status status = Drop(*at++); !status.ok()) return status;
    }
    if (polygon != nullptr) edited.push_back(EntryOf(*polygon));
  }
  edited.insert(edited.end(), at, entries.end());
  return Pack(PageKind::kLeaf, edited);
}

// Passes to each child (a page that this inner page refers to) the edits whose ids are less than
// the first id of the next child, and to the last child all remaining edits. A child without edits
// is not changed, so the tree after the edits shares that child with the tree before. Does not
// merge small pages with their neighbors, because small pages take little space in the file.
absl::StatusOr<TreeWriter::Members> TreeWriter::EditInner(std::span<const PageMember> below,
                                                          TreeEdits::const_iterator begin,
                                                          TreeEdits::const_iterator end,
                                                          PageReader read, int depth) {
  Members children;
  for (size_t i = 0; i < below.size(); ++i) {
    auto child_end = i + 1 == below.size() ? end : begin;
    while (child_end != end && child_end->first < below[i + 1].id) ++child_end;
    if (begin == child_end) {
      children.push_back(below[i]);
      continue;
    }
    const absl::StatusOr<PageHash> child = PageOf(below[i]);
    if (!child.ok()) return child.status();
    absl::StatusOr<Members> edited = Edit(*child, begin, child_end, read, depth + 1);
    if (!edited.ok()) return edited.status();
    children.insert(children.end(), edited->begin(), edited->end());
    begin = child_end;
  }
  return Pack(PageKind::kInner, children);
}

absl::StatusOr<TreeWriter::Members> TreeWriter::Edit(const PageHash& hash,
                                                     TreeEdits::const_iterator begin,
                                                     TreeEdits::const_iterator end, PageReader read,
                                                     int depth) {
  if (depth > kMaxDepth) return DamagedScene("a tree too deep");
  const absl::StatusOr<std::string> bytes = read(hash);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<PageMembers> page = MembersOf(*bytes);
  if (!page.ok()) return page.status();
  change_.dropped.push_back(hash);
  switch (page->kind) {
    case PageKind::kLeaf:
      return EditLeaf(page->members, begin, end);
    case PageKind::kInner:
      if (page->members.empty()) return DamagedScene("an inner page has no children");
      return EditInner(page->members, begin, end, read, depth);
    case PageKind::kChunk:
      break;
  }
  return DamagedScene("a part of a polygon");
}

// Calls `enter` for the page `hash`, and then for all leaves and inner pages in the subtree of that
// page, depth first. Returns the first error of `read` or `enter`, without further calls.
absl::Status Walk(const PageHash& hash, PageReader read, int depth,
                  absl::FunctionRef<absl::Status(const PageHash&, const store::v1::Page&)> enter) {
  if (depth > kMaxDepth) return DamagedScene("a tree too deep");
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

// Visits the polygons of a tree by ascending id. Holds the part of the tree that is not yet visited
// as a stack of items. An item is a page that the cursor has not read yet, or an entry (a polygon)
// of a leaf that it has read.
class TreeCursor {
 public:
  struct Item {
    uint64_t first_id = 0;  // the entry's id, or lower bound of the ids below the page
    int depth = 0;
    PageHash page = {};
    bool is_page = true;
    store::v1::LeafEntry entry = {};
  };

  TreeCursor(const PageHash& root, PageReader read) : read_(read) {
    pending_.push_back({.page = root});
  }

  // Returns the next item; null at the end.
  const Item* next() const { return pending_.empty() ? nullptr : &pending_.back(); }
  bool is_at_page() const { return !pending_.empty() && pending_.back().is_page; }
  uint64_t first_id() const { return pending_.back().first_id; }
  void Skip() { pending_.pop_back(); }

  // Reads the page that is the next item, and replaces this item by one item for each entry or
  // child of the page.
  absl::Status Expand() {
    const Item at = std::move(pending_.back());
    pending_.pop_back();
    if (at.depth > kMaxDepth) return DamagedScene("a tree too deep");
    absl::StatusOr<store::v1::Page> page = ReadPage(at.page, read_);
    if (!page.ok()) return page.status();
    if (page->content_case() == store::v1::Page::kChunk) return DamagedScene("a part of a polygon");
    const auto& entries = page->leaf().entries();
    for (int i = entries.size() - 1; i >= 0; --i) {
      pending_.push_back({.first_id = IdOf(entries[i]), .is_page = false, .entry = entries[i]});
    }
    const auto& children = page->inner().children();
    for (int i = children.size() - 1; i >= 0; --i) {
      const absl::StatusOr<PageHash> hash = HashFrom(children[i].page());
      if (!hash.ok()) return hash.status();
      // The first child may contain polygon ids less than its `first_id`, but none less than
      // `at.first_id`, the lower bound of all ids below the page `at`.
      const uint64_t first_id = i == 0 ? at.first_id : children[i].first_id();
      pending_.push_back({.first_id = first_id, .depth = at.depth + 1, .page = *hash});
    }
    return absl::OkStatus();
  }

 private:
  PageReader read_;
  std::vector<Item> pending_;  // the stack; `next` returns its last element
};

// Advances the cursors of two trees. The next item of a cursor is a page that the cursor has not
// read yet, or a polygon of a leaf that it has read. The next item of at least one cursor must be a
// page. If both cursors are at pages with equal hashes, skips these pages, because both trees have
// the polygons below them; otherwise reads the page of one cursor, or those of both.
absl::Status Approach(TreeCursor& a, TreeCursor& b) {
  if (a.is_at_page() && b.is_at_page() && a.next()->page == b.next()->page) {
    a.Skip();
    b.Skip();
    return absl::OkStatus();
  }
  // Reads the page with the lesser lower bound of ids. If both cursors are at pages and the bounds
  // are equal, reads both pages, so that the cursors stay on similar levels of their trees.
  const bool is_a =
      a.is_at_page() && (b.next() == nullptr || !b.is_at_page() || a.first_id() <= b.first_id());
  const bool is_b =
      b.is_at_page() && (a.next() == nullptr || !a.is_at_page() || b.first_id() <= a.first_id());
  if (is_a) {
    if (absl::Status status = a.Expand(); !status.ok()) return status;
  }
  return is_b ? b.Expand() : absl::OkStatus();
}

// Returns whether the next item of `cursor` is an entry (a polygon) and not a page that the cursor
// has not read yet, and no remaining polygon of `other` can have a lower id. If both cursors are at
// entries with equal ids, ComesFirst(a, b) and ComesFirst(b, a) are both true.
bool ComesFirst(const TreeCursor& cursor, const TreeCursor& other) {
  if (cursor.next() == nullptr || cursor.is_at_page()) return false;
  if (other.next() == nullptr) return true;
  return cursor.first_id() < other.first_id() ||
         (!other.is_at_page() && cursor.first_id() == other.first_id());
}

// Returns whether the encodings of two entries are equal; an entry is a polygon of a leaf, and has,
// instead of a large polygon, the hashes of the polygon's chunks (pages with parts of its bytes).
// If so, the polygons of the entries are equal. The polygons may be equal even if the encodings
// differ: different releases of the server may encode a polygon differently.
bool AreSame(const store::v1::LeafEntry& a, const store::v1::LeafEntry& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

}  // namespace

std::string TextOf(const PageHash& hash) { return {hash.data(), hash.size()}; }

absl::Status DamagedScene(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the stored scene is damaged: ", what));
}

PageHash HashOf(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_sha256(), nullptr);
  PageHash hash;
  std::memcpy(hash.data(), digest, hash.size());
  return hash;
}

absl::Status CheckPage(const PageHash& hash, const std::string& bytes) {
  return HashOf(bytes) == hash ? absl::OkStatus() : DamagedScene("a page has a wrong checksum");
}

TreeChange BuildTree(std::span<const Polygon* const> polygons) {
  TreeWriter writer;
  TreeWriter::Members entries, leaves;
  size_t bytes = 0;
  const auto write_leaves = [&] {
    const TreeWriter::Members written = writer.Pack(PageKind::kLeaf, entries);
    leaves.insert(leaves.end(), written.begin(), written.end());
    entries.clear();
    writer.ForgetEntries();
    bytes = 0;
  };
  // Writes the collected entries to leaves whenever they would fill about 100 leaves, so that only
  // few encoded polygons at a time are in memory beside the written pages.
  for (const Polygon* polygon : polygons) {
    entries.push_back(writer.EntryOf(*polygon));
    bytes += entries.back().bytes.size() + kMemberBytes;
    if (bytes >= 100 * kMaxPageBytes) write_leaves();
  }
  write_leaves();
  return writer.Finish(std::move(leaves));
}

absl::StatusOr<TreeChange> EditTree(const PageHash& root, const TreeEdits& edits, PageReader read) {
  if (edits.empty()) return TreeChange{.root = root, .added = {}, .dropped = {}};
  TreeWriter writer;
  absl::StatusOr<TreeWriter::Members> top = writer.Edit(root, edits.begin(), edits.end(), read, 0);
  if (!top.ok()) return top.status();
  return writer.Finish(*std::move(top));
}

absl::Status ReadTree(const PageHash& root, PageReader read,
                      absl::FunctionRef<absl::Status(Polygon)> visit) {
  return Walk(root, read, 0, [&](const PageHash&, const store::v1::Page& page) -> absl::Status {
    if (page.content_case() == store::v1::Page::kChunk) return DamagedScene("a part of a polygon");
    for (const store::v1::LeafEntry& entry : page.leaf().entries()) {
      absl::StatusOr<Polygon> polygon = DecodeStored(entry, read);
      if (!polygon.ok()) return polygon.status();
      if (absl::Status status = visit(*std::move(polygon)); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

// Merges the polygons of both trees by id, with one cursor for each tree. Skips, without reading
// it, a page that both cursors reach at the same time.
absl::Status CompareTrees(
    const PageHash& before, const PageHash& after, PageReader read,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) {
  const auto take = [&](TreeCursor& cursor, std::optional<Polygon>& polygon) -> absl::Status {
    absl::StatusOr<Polygon> decoded = DecodeStored(cursor.next()->entry, read);
    if (!decoded.ok()) return decoded.status();
    polygon = *std::move(decoded);
    cursor.Skip();
    return absl::OkStatus();
  };
  TreeCursor a(before, read);
  TreeCursor b(after, read);
  while (a.next() != nullptr || b.next() != nullptr) {
    const bool is_a = ComesFirst(a, b);
    const bool is_b = ComesFirst(b, a);
    absl::Status status;
    if (!is_a && !is_b) {
      status = Approach(a, b);
    } else if (is_a && is_b && AreSame(a.next()->entry, b.next()->entry)) {
      a.Skip();
      b.Skip();
    } else {
      std::optional<Polygon> old;
      std::optional<Polygon> current;
      if (is_a) status = take(a, old);
      if (is_b && status.ok()) status = take(b, current);
      if (status.ok()) status = visit(old ? &*old : nullptr, current ? &*current : nullptr);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds the hash of a leaf (a page of polygons) or of an inner page (which refers to other pages) to
// `pages` only after `read` has returned the page. So, if `read` fails, a later call with the same
// `pages` reads that page again, and again returns the error.
absl::Status CollectNewPages(const PageHash& root, PageReader read,
                             absl::flat_hash_set<PageHash>& pages) {
  std::vector<PageHash> left{root};
  while (!left.empty()) {
    const PageHash hash = left.back();
    left.pop_back();
    if (pages.contains(hash)) continue;
    const absl::StatusOr<store::v1::Page> page = ReadPage(hash, read);
    if (!page.ok()) return page.status();
    pages.insert(hash);
    const auto add = [&](const std::string& text, bool is_chunk) -> absl::Status {
      const absl::StatusOr<PageHash> below = HashFrom(text);
      if (!below.ok()) return below.status();
      if (is_chunk) {
        pages.insert(*below);
      } else {
        left.push_back(*below);
      }
      return absl::OkStatus();
    };
    absl::Status status;
    for (const store::v1::Child& child : page->inner().children()) {
      status.Update(add(child.page(), false));
    }
    for (const store::v1::LeafEntry& entry : page->leaf().entries()) {
      for (const std::string& chunk : entry.chunks()) status.Update(add(chunk, true));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
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
