// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A sorted sequence of entries in immutable pages, which an edit changes without copying all
// entries.
//
// A page has at most 1024 entries, in an order of the page's own, and all versions of the sequence
// with these entries share the page. An edit copies only the pages that it changes, and the table
// of pointers to all pages: O(n / kPageSize) plus the size of the changed pages. An edit leaves no
// maintenance work to later calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace carom::internal {

// The number of entries of a page of ordinary size. An edit divides a page of more than twice this
// size, and joins a page of less than a quarter of this size with the next page (`IsOrdinary`). 8^3
// items fill a `BoxTree` of three levels.
inline constexpr size_t kPageSize = 512;

// A pointer to a page (an immutable group of consecutive entries), with a copy of the page's head:
// the summary that edits and loops over all pages read. The copy is stored beside the pointer,
// since reading the head in the page itself would likely miss the cache.
template <class Page>
struct PageRef {
  PageRef(std::shared_ptr<const Page> its_page)  // NOLINT: pages are made as pointers
      : page(std::move(its_page)), head(page->head()) {}

  std::shared_ptr<const Page> page;
  typename Page::Head head;
};

// A sequence of pages (groups of consecutive entries). `Page` has the types Entry, Key, and Head (a
// summary of the page) with the member first_key, and the function head(). A page is constructed
// from sorted entries.
template <class Page>
using Pages = std::vector<PageRef<Page>>;

// Appends the entries to `pages` as one page (a group of consecutive entries) if there are at most
// 2 kPageSize entries, or else as several pages of about equal size.
template <class Page, class MakePage>
void AppendPages(std::vector<typename Page::Entry> entries, const MakePage& make_page,
                 Pages<Page>& pages) {
  const size_t count =
      entries.size() <= 2 * kPageSize ? 1 : (entries.size() + kPageSize - 1) / kPageSize;
  for (size_t i = 0; i < count && !entries.empty(); ++i) {
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>(i * entries.size() / count);
    const auto last =
        entries.begin() + static_cast<std::ptrdiff_t>((i + 1) * entries.size() / count);
    pages.push_back(make_page(std::vector<typename Page::Entry>(std::make_move_iterator(first),
                                                                std::make_move_iterator(last))));
  }
}

// What a commit changes in a sequence of pages (groups of consecutive entries, sorted by key): the
// keys of the entries to remove (`removed`), and the entries to add (`arriving`). `removed` and
// `arriving` are sorted by key. No entry of `arriving` has the key of an entry that stays.
template <class Page>
struct PageEdit {
  std::vector<typename Page::Key> removed;
  std::vector<typename Page::Entry> arriving;
};

// The functions by which `Edited` changes pages (groups of consecutive entries, sorted by key):
// `key_of(entry)` returns the key, `sorted(page)` the entries of a page by key, and
// `make_page(entries)` makes a page of sorted entries. `patched(page, removed keys, added entries)`
// returns the edited form of a page whose size stays ordinary (`IsOrdinary`), and may move from the
// added entries.
template <class KeyOf, class Sorted, class MakePage, class Patched>
struct PageRules {
  KeyOf key_of;
  Sorted sorted;
  MakePage make_page;
  Patched patched;
};
// Clang before version 17 deduces no parameters of aggregates.
template <class KeyOf, class Sorted, class MakePage, class Patched>
PageRules(KeyOf, Sorted, MakePage, Patched) -> PageRules<KeyOf, Sorted, MakePage, Patched>;

// Returns the keys of the entries, in the order of `entries`.
template <class Page, class Rules>
std::vector<typename Page::Key> KeysOf(const std::vector<typename Page::Entry>& entries,
                                       const Rules& rules) {
  std::vector<typename Page::Key> keys;
  keys.reserve(entries.size());
  for (const typename Page::Entry& entry : entries) keys.push_back(rules.key_of(entry));
  return keys;
}

// Returns whether a page (a group of entries) of `size` entries need be neither split nor joined
// with the next page after it grows by `growth` entries.
inline bool IsOrdinary(size_t size, std::ptrdiff_t growth) {
  const std::ptrdiff_t after = static_cast<std::ptrdiff_t>(size) + growth;
  return after >= static_cast<std::ptrdiff_t>(kPageSize / 4) &&
         after <= static_cast<std::ptrdiff_t>(2 * kPageSize);
}

// Returns `pages` (groups of consecutive entries) after the edit. The result shares the pages that
// do not change. The entries of a page that would have fewer than kPageSize / 4 entries move to the
// next page, so that repeated edits do not accumulate small pages.
template <class Page, class Rules>
Pages<Page> Edited(const Pages<Page>& pages, PageEdit<Page> edit, const Rules& rules) {
  auto& [removed, arriving] = edit;
  using Entry = typename Page::Entry;
  const auto by_key = [&](const Entry& a, const Entry& b) {
    return rules.key_of(a) < rules.key_of(b);
  };
  Pages<Page> result;
  result.reserve(pages.size() + arriving.size() / kPageSize + 1);
  std::vector<Entry> kept;
  const std::vector<typename Page::Key> arriving_keys = KeysOf<Page>(arriving, rules);
  auto next_removed = removed.begin();
  auto next_arriving = arriving.begin();
  for (size_t i = 0; i < pages.size(); ++i) {
    const bool is_last = i + 1 == pages.size();
    const auto is_later = [&](const typename Page::Key& key) {
      return !is_last && !(key < pages[i + 1].head.first_key);
    };
    const auto after_removed = std::find_if(next_removed, removed.end(), is_later);
    const auto after_arriving =
        arriving.begin() + (std::find_if(arriving_keys.begin() + (next_arriving - arriving.begin()),
                                         arriving_keys.end(), is_later) -
                            arriving_keys.begin());
    const bool is_touched = after_removed != next_removed || after_arriving != next_arriving;
    if (!is_touched && kept.empty()) {
      result.push_back(pages[i]);
      continue;
    }
    const std::ptrdiff_t growth = (after_arriving - next_arriving) - (after_removed - next_removed);
    if (kept.empty() && IsOrdinary(pages[i].page->entries().size(), growth)) {
      result.push_back(rules.patched(*pages[i].page, std::span(next_removed, after_removed),
                                     std::span(next_arriving, after_arriving)));
      next_removed = after_removed;
      next_arriving = after_arriving;
      continue;
    }
    const auto middle = static_cast<std::ptrdiff_t>(kept.size());
    for (Entry& entry : rules.sorted(*pages[i].page)) {
      while (next_removed != after_removed && *next_removed < rules.key_of(entry)) ++next_removed;
      if (next_removed == after_removed || rules.key_of(entry) < *next_removed)
        kept.push_back(std::move(entry));
    }
    const auto staying = static_cast<std::ptrdiff_t>(kept.size());
    kept.insert(kept.end(), std::make_move_iterator(next_arriving),
                std::make_move_iterator(after_arriving));
    std::inplace_merge(kept.begin() + middle, kept.begin() + staying, kept.end(), by_key);
    next_removed = after_removed;
    next_arriving = after_arriving;
    if (kept.size() >= kPageSize / 4 || is_last) {
      AppendPages(std::exchange(kept, {}), rules.make_page, result);
    }
  }
  // If `pages` is not empty, the last page has taken all remaining entries of `arriving`.
  if (next_arriving != arriving.end()) {
    AppendPages(std::vector<Entry>(std::make_move_iterator(next_arriving),
                                   std::make_move_iterator(arriving.end())),
                rules.make_page, result);
  }
  return result;
}

}  // namespace carom::internal
