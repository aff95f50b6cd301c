# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What are the words of carom.h, once its macros are expanded?

Understands no more of C's preprocessor than carom.h uses: three conditions, and macros that are not nested. The rest is
an error that names the line. core/abi/header.py reads what comes out.
"""
import collections
import re

# Directives beside #define and #undef, and whether what follows a condition is read. What is not read, is the same for
# every caller in C: a linkage, and a CAROM_API of nothing.
CONDITIONS = {"#ifndef CAROM_CAROM_H_": True, "#ifdef __cplusplus": False,
              "#if defined(_WIN32) || !defined(__GNUC__)": False}
IGNORED = {"#include <stddef.h>", "#include <stdint.h>", "#define CAROM_CAROM_H_",
           '#define CAROM_API __attribute__((visibility("default")))'}

Token = collections.namedtuple("Token", "kind text line end")
TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/) | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*) | (?P<space>(?:\s|\\\n)+)
                     | (?P<word>[A-Za-z_]\w*) | (?P<number>(?:0x[0-9a-fA-F]+|\d+)u?\b) | (?P<string>"[^"\n]*")
                     | (?P<mark>\#\#|[{}()[\];,=*])""", re.DOTALL | re.MULTILINE | re.VERBOSE)


class HeaderError(Exception):
    def __init__(self, token, text):
        super().__init__(f"carom.h:{token.line}: {text}")


def scan(text, line=1):
    """The tokens of a text, without spaces."""
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise HeaderError(Token("", "", line, line), f"cannot be read: {text[at:].splitlines()[0]}")
        end = line + match[0].count("\n")
        if match.lastgroup != "space":
            yield Token(match.lastgroup, match[0], line, end)
        at, line = match.end(), end


def substitute(body, arguments):
    """The body of a macro with its arguments, and with the words beside ## joined."""
    result = []
    for token in body:
        new = arguments.get(token.text, [token])
        if result and result[-1].text == "##":
            result.pop()
            left = result.pop()
            new = [left._replace(text=left.text + new[0].text), *new[1:]]
        result += new
    return result


class Preprocessor:
    """Expands macros. A directive stays as a token, since a comment before a #define is that of the macro."""

    def __init__(self, text):
        self.macros = {}  # names: (parameters or None, tokens)
        self.conditions = []  # whether the parts at hand are read
        self.tokens = []
        pending = collections.deque(scan(text))
        while pending:
            token = pending.popleft()
            if token.kind == "directive":
                self.direct(token)
            if all(self.conditions):
                if token.text in self.macros and token.kind == "word":
                    pending.extendleft(reversed(self.expand(token, pending)))
                else:
                    self.tokens.append(token)
        if self.conditions:
            raise HeaderError(token, "#endif is missing")

    def direct(self, token):
        text = " ".join(re.sub(r"/\*.*\*/$", "", token.text.strip()).split())
        if text in CONDITIONS:
            self.conditions.append(CONDITIONS[text])
        elif text in ("#else", "#endif") and self.conditions:
            self.conditions[-1:] = [not self.conditions[-1]] if text == "#else" else []
        elif all(self.conditions) and text not in IGNORED:
            match = re.match(r"[ \t]*#(define|undef) (\w+)(?:\(([\w, ]*)\))?", token.text)
            if not match or (match[1] == "define") == (match[2] in self.macros):
                raise HeaderError(token, f"no directive that is known: {text}")
            if match[1] == "undef":
                del self.macros[match[2]]
            else:
                parameters = None if match[3] is None else match[3].replace(" ", "").split(",")
                self.macros[match[2]] = (parameters, list(scan(token.text[match.end():], token.line)))

    def expand(self, token, pending):
        parameters, body = self.macros[token.text]
        if parameters is None:
            return body
        arguments = [[]]
        if not pending or pending.popleft().text != "(":
            raise HeaderError(token, f"{token.text} has no arguments")
        while (word := pending.popleft()).text != ")":
            if word.text == "(" or not pending:
                raise HeaderError(word, f"arguments of {token.text} cannot be read")
            if word.text == ",":
                arguments.append([])
            else:
                arguments[-1].append(word)
        if len(arguments) != len(parameters):
            raise HeaderError(token, f"{token.text} takes {len(parameters)} arguments")
        return substitute(body, dict(zip(parameters, arguments)))


def text_of(comment):
    """The text of a comment: a line for each paragraph, with an empty line between; indented lines stay as they are."""
    text = re.sub(r"(?m)^\s*\* ?", "", comment.text[2:-2]).rstrip()
    paragraphs = re.split(r"\n\s*\n", text.lstrip())
    return "\n\n".join(part if part.startswith("  ") else " ".join(part.split()) for part in paragraphs)
