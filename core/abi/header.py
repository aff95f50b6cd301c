# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does carom.h declare? `Parser(text).parse()` is the content of carom_abi.json.

A parser of exactly the form that carom.h has: enumerations, structs that are typedefs, handles, functions that begin
with CAROM_API, and comments, which have their own form. Everything else is an error that names the line.
"""
import re

from header_tokens import HeaderError, Preprocessor, Token, text_of

# Sizes of types, which are their alignments too, in bytes: LP64 and wasm32. On i386, where the alignment of 8 bytes is
# 4, the second layout does not hold.
SIZES = {"char": (1, 1), "uint8_t": (1, 1), "uint32_t": (4, 4), "uint64_t": (8, 8), "double": (8, 8), "size_t": (8, 4)}
POINTER = (8, 4)
ELEMENTS = ("f64", "u64", "u32", "u8")
UNITS = ("1", "length", "length^2", "radians", "mass", "time", "ticks", "length/time", "length/time^2")
# Nullability of pointers by their parameter's name, where no comment says otherwise. Others are not null.
NULLABLE = {"status": True, "limits": True, "out": False, "answers": False}
# The one function whose uint32_t is no carom_code.
NO_CODE = {"carom_abi_version"}
# The doc of functions that need none: it is in the comment at the begin of carom.h.
DESTROY = "Destroys the handle; does nothing for a null pointer."
# Words of comments that look like names of carom.h.
NO_NAMES = {"carom_abi", "CAROM_CAROM_H_"}


class Parser:
    def __init__(self, text):
        self.text = text
        source = Preprocessor(text)
        self.macros = source.macros
        self.tokens = [*source.tokens, Token("end", "the end", text.count("\n") + 1, 0)]
        self.at = 0
        self.lines = {}  # of each name that is declared
        # (size, alignment) of each type, for LP64 and for wasm32
        self.layouts = {name: tuple((size, size) for size in sizes) for name, sizes in SIZES.items()}
        self.result = {"abi_version": int(self.macros["CAROM_ABI_VERSION"][1][0].text.rstrip("u"), 0),
                       "library": "libcarom.so.1", "doc": "", "remarks": [], "enums": [], "handles": [], "structs": [],
                       "kinds": [], "functions": []}
        self.section = "Version"  # what the last comment with dashes says

    def names(self, what):
        return [entry["name"] for entry in self.result[what]]

    def here(self):
        return self.tokens[self.at]

    def take(self, *expected):
        """The next token, which must be one of the texts or of the kinds."""
        token = self.here()
        if expected and token.text not in expected and token.kind not in expected:
            raise HeaderError(token, f"`{' or '.join(expected)}` is expected, not `{token.text}`")
        self.at += 1
        return token

    def is_trailing(self):
        """Whether a comment comes next that is on the line of the last token."""
        return self.here().kind == "comment" and self.at > 0 and self.here().line == self.tokens[self.at - 1].end

    def trailing(self):
        return text_of(self.take()) if self.is_trailing() else ""

    def declare(self, *expected):
        token = self.take(*expected)
        if token.text in self.lines:
            raise HeaderError(token, f"{token.text} was declared in line {self.lines[token.text]}")
        self.lines[token.text] = token.line
        return token.text

    def type(self):
        """A type as a text, with its pointers."""
        const = "const " if self.here().text == "const" and self.take() else ""
        token = self.take("word")
        stars = ""
        while self.here().text == "*":
            stars += self.take().text
        if token.text not in self.layouts and not (stars and token.text in ("void", *self.names("handles"))):
            raise HeaderError(token, f"{token.text} is no type here")
        return const + token.text + stars

    def parse(self):
        doc, shared, last = "", "", 0  # the comment above, that of the paragraph, the line of the last declaration
        while self.here().kind != "end":
            if self.is_trailing():
                raise HeaderError(self.here(), "a comment that belongs to nothing")
            token = self.take()
            if token.kind == "comment":
                doc, shared, text = "", "", text_of(token)
                if match := re.fullmatch(r"-+ (.+?) -+", text):
                    self.section = match[1]
                elif self.here().line == token.end + 1:
                    doc, shared = text, text if text.startswith("These ") else ""
                elif not text.startswith("SPDX-"):
                    self.result["remarks"].append(text)
            elif token.kind == "directive":
                if token.text == "#ifndef CAROM_CAROM_H_":
                    self.result["doc"] = doc
                doc = ""
            else:
                if not doc and token.line > last + 1:
                    shared = ""
                self.declaration(token, doc or shared)
                doc, last = "", self.tokens[self.at - 1].end
        self.kinds()
        self.check_words()
        return self.result

    def declaration(self, token, doc):
        if token.text == "enum":
            self.enum(doc)
        elif token.text == "CAROM_API":
            self.function(doc)
        elif token.text == "typedef" and self.take("struct") and doc:
            name = self.declare("word")
            if self.here().text == "{":
                self.struct(name, doc)
            else:
                self.result["handles"].append({"name": name, "doc": doc, "thread_safe": doc.endswith(" Thread-safe."),
                                               "destroy": f"{name}_destroy"})
            self.take(name)
            self.take(";")
        else:
            raise HeaderError(token, f"no declaration that is known, or one without a comment: {token.text}")

    def enum(self, doc):
        name, values, value = self.declare("word"), [], -1
        self.take("{")
        while self.here().text != "}":
            if self.here().kind == "directive":
                self.take()
                continue
            entry, value = self.declare("word"), value + 1
            if self.here().text == "=" and self.take():
                is_enclosed = self.here().text == "(" and self.take()
                value = int(self.take("number").text)
                if is_enclosed:
                    self.take(")")
            if self.here().text != "}" and self.here().kind != "comment":
                self.take(",")
            values.append({"name": entry, "value": value, "doc": self.trailing()})
        self.take("}")
        self.take(";")
        doc = " ".join(filter(None, [doc, self.trailing()]))
        self.result["enums"].append({"name": name, "doc": doc, "values": values})

    def struct(self, name, doc):
        fields, sizes, alignments = [], [0, 0], [1, 1]
        self.take("{")
        while self.here().text != "}":
            for field in self.members(fields, doc):
                layout = [(size, size) for size in POINTER] if "*" in field["type"] else self.layouts[field["type"]]
                for i, (size, alignment) in enumerate(layout):
                    offset = -(-sizes[i] // alignment) * alignment
                    field["offset32" if i else "offset"] = offset
                    sizes[i] = offset + size * (field["count"] or 1)
                    alignments[i] = max(alignments[i], alignment)
                fields.append(field)
        self.take("}")
        sizes = [-(-size // alignment) * alignment for size, alignment in zip(sizes, alignments)]
        self.layouts[name] = tuple(zip(sizes, alignments))
        self.result["structs"].append({
            "name": name, "doc": doc, "size": sizes[0], "alignment": alignments[0], "size32": sizes[1],
            "alignment32": alignments[1], "grows": fields[0]["name"] == "struct_size", "fields": fields})

    def members(self, before, struct_doc):
        """The fields of one declaration of members."""
        start, kind, declared = self.here(), self.type(), []
        while True:
            name, count = self.take("word").text, None
            if self.here().text == "[":
                self.take()
                count = int(self.take("number").text)
                self.take("]")
            declared.append((name, count))
            if self.take(",", ";").text == ";":
                break
        doc, unit, optional, where = self.trailing(), None, False, None
        column = re.fullmatch(r"carom_(\w+)_column", kind)
        if (column or kind == "double") and not doc.startswith("["):
            raise HeaderError(start, "the comment of a column or double must begin with its unit in brackets")
        if doc.startswith("["):
            tag = re.fullmatch(r"\[([^],]+)(, optional)?(?:, where (\w+))?\] ?(.*)", doc)
            known = [field["name"] for field in before]
            if not tag or tag[1] not in UNITS or tag[3] not in [None, *known] or not (column or kind == "double"):
                raise HeaderError(start, f"a tag that is not known here: {doc}")
            unit, optional, where, doc = tag[1], bool(tag[2]), tag[3], tag[4]
        if len({*known_names(before), *known_names(declared)}) != len(before) + len(declared):
            raise HeaderError(start, "two members have one name")
        if "*" in kind and len(declared) > 1:
            raise HeaderError(start, "a pointer is declared alone")
        enum = next((enum["name"] for word in re.findall(r"\b\w+", doc) for enum in self.result["enums"]
                     if word in (enum["name"], *known_names(enum["values"]))), None)
        for name, count in declared:
            null = "*" in kind and ("may be null" in doc or f"`{name}` may be null" in struct_doc)
            yield {"name": name, "type": kind, "count": count, "elements": column[1] if column else None, "unit": unit,
                   "optional": optional, "where": where, "enum": enum, "nullable": null, "doc": doc}

    def function(self, doc):
        returns = self.take().text if self.here().text == "void" else self.type()
        name, parameters = self.declare("word"), []
        doc = DESTROY if name.endswith("_destroy") else doc
        self.take("(")
        if self.here().text == "void" and self.tokens[self.at + 1].text == ")":
            self.take()
        while self.here().text != ")":
            kind, parameter = self.type(), self.take("word").text
            parameters.append({"name": parameter, "type": kind, "nullable": is_nullable(parameter, kind, doc)})
            if self.here().text != ")":
                self.take(",")
        self.take(")")
        self.take(";")
        since = re.search(r"\bSince (\d+\.\d+)\.", doc)
        self.result["functions"].append({
            "name": name, "section": self.section, "doc": doc, "since": since[1] if since else "1.0",
            "returns": returns, "returns_code": returns == "uint32_t" and name not in NO_CODE,
            "parameters": parameters})

    def kinds(self):
        """Reads CAROM_KINDS, and checks that the structs and functions of a kind belong together."""
        text = "".join(token.text + " " for token in self.macros["CAROM_KINDS"][1])
        row = r"KIND \( (\d+) , (\w+) , (\w+) , (\w+) , (\w+) \) "
        line = self.macros["CAROM_KINDS"][1][0]
        if not re.fullmatch(f"(?:{row})*", text):
            raise HeaderError(line, "CAROM_KINDS cannot be read")
        structs = {struct["name"]: struct for struct in self.result["structs"]}
        functions = {function["name"]: function for function in self.result["functions"]}
        errors = [token.text for token in self.macros["CAROM_ITEM_ERRORS"][1] if token.text.startswith("error_")]
        for number, name, question, answers, function in re.findall(row, text):
            called = functions[function]
            if f"const {question}*" not in [parameter["type"] for parameter in called["parameters"]]:
                raise HeaderError(line, f"{function} does not take {question}")
            names = [field["name"] for field in structs[answers]["fields"]]
            if not any(names[i:i + len(errors)] == errors for i in range(len(names))):
                raise HeaderError(line, f"{answers} has no CAROM_ITEM_ERRORS")
            called["doc"] = structs[question]["doc"]
            self.result["kinds"].append({"number": int(number), "name": name, "question": question,
                                         "answers": answers, "function": function})
        for function in functions.values():
            if not function["doc"]:
                raise HeaderError(line._replace(line=self.lines[function["name"]]), "a function without comment")

    def check_words(self):
        """Comments name only what exists."""
        known = {*self.lines, *self.macros, *NO_NAMES}
        for number, line in enumerate(self.text.splitlines(), 1):
            for comment in re.findall(r"(?:/\*|^\s*\*).*", line):
                for word in re.findall(r"\b(?:carom|CAROM)_\w+", comment):
                    if word not in known:
                        raise HeaderError(Token("", "", number, number), f"a comment names {word}, which is nothing")


def known_names(fields):
    return [field["name"] if isinstance(field, dict) else field[0] for field in fields]


def is_nullable(name, kind, doc):
    if "*" not in kind:
        return False
    said = re.findall(r"((?:`\w+`(?:, | and | or )?)+) may be null", doc)
    if doc == DESTROY or "for a null pointer" in doc or any(f"`{name}`" in words for words in said):
        return True
    return NULLABLE.get(name, False)
