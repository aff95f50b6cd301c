#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What is in carom.h, as data from which bindings and documentation are made?

    describe.py           writes core/abi/carom_abi.json, and the tables of docs/c-abi.md
    describe.py --check   fails if one of them is not what the header gives, or if a compiler finds other sizes,
                          offsets, numbers or parameters than the JSON has: gcc for this machine, clang for wasm32
    describe.py --stub    prints a C file that defines all functions of the header, with bodies that do nothing, and
                          uses all its types: for tools that read debug information

In the JSON, every entry has all its keys. `offset` and the like are those of LP64, `offset32` and the like those of
wasm32. docs/c-abi.md explains the keys.
"""
import difflib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from header import Parser
from header_tokens import HeaderError

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "core/include"
JSON = ROOT / "core/abi/carom_abi.json"
DOCUMENT = ROOT / "docs/c-abi.md"
BEGIN, END = "<!-- begin: written by core/abi/describe.py -->\n", "<!-- end: written by core/abi/describe.py -->\n"
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")


def as_json(value, indent=""):
    """JSON with one line for each entry that has no entries in it."""
    is_list = isinstance(value, list)
    parts = value if is_list else value.values() if isinstance(value, dict) else []
    if not any(isinstance(part, (dict, list)) for part in parts):
        return json.dumps(value)
    keys = [""] * len(value) if is_list else [f"{json.dumps(key)}: " for key in value]
    lines = [f"{indent} {key}{as_json(part, indent + ' ')}" for key, part in zip(keys, parts, strict=True)]
    return "\n".join(["[" if is_list else "{", ",\n".join(lines), indent + ("]" if is_list else "}")])


# --- The tables ----------------------------------------------------------------------------------------------


def first_sentence(doc):
    return re.split(r"(?<=[.?]) ", doc)[0].replace("|", "\\|")


def call_and_result(function):
    names = ", ".join(parameter["name"] for parameter in function["parameters"])
    returns = "a code" if function["returns_code"] else f"`{function['returns']}`".replace("`void`", "")
    return f"`{function['name']}({names})`", returns


def tables(api):
    kinds = {kind["function"]: kind for kind in api["kinds"]}
    text = ["### Kinds of questions\n\n| | function | question | answers | what it asks |",
            "| --- | --- | --- | --- | --- |"]
    asked = {struct["name"]: struct["doc"] for struct in api["structs"]}
    text += [f"| {kind['number']} | `{kind['function']}` | `{kind['question']}` | `{kind['answers']}` | "
             f"{first_sentence(asked[kind['question']])} |" for kind in api["kinds"]]
    others = [function for function in api["functions"] if function["name"] not in kinds]
    for section, in_section in itertools.groupby(others, lambda function: function["section"]):
        text.append(f"\n### {section}\n\n| function | returns | since | what it does |\n| --- | --- | --- | --- |")
        for (doc, since), functions in itertools.groupby(in_section, lambda each: (each["doc"], each["since"])):
            calls, returns = zip(*map(call_and_result, functions), strict=True)
            returns = returns if len({*returns}) > 1 else returns[:1]
            what = first_sentence(doc).removeprefix("These ")
            text.append(f"| {'<br>'.join(calls)} | {'<br>'.join(returns)} | {since} | {what[0].upper()}{what[1:]} |")
    return "\n" + "\n".join(text) + "\n\n"


def with_tables(document, api):
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"describe.py: {DOCUMENT.name} has no lines `{BEGIN.strip()}` and `{END.strip()}`")
    return before + begin + tables(api) + end + after


# --- What compilers say --------------------------------------------------------------------------------------


def stub(api):
    """Definitions of all functions, which a compiler refuses unless they are those of the header, and variables of all
    types, which so are in the debug information."""
    lines = ["/* Made by core/abi/describe.py --stub. */", '#include "carom/carom.h"', "#include <stddef.h>"]
    names = [*(f"enum {enum['name']}" for enum in api["enums"]), *(struct["name"] for struct in api["structs"])]
    lines += [f"static __attribute__((used)) {name} use_{i};" for i, name in enumerate(names)]
    for function in api["functions"]:
        parameters = ", ".join(f"{parameter['type']} {parameter['name']}" for parameter in function["parameters"])
        body = "" if function["returns"] == "void" else " return 0; "
        lines.append(f"{function['returns']} {function['name']}({parameters or 'void'}) {{{body}}}")
    return "\n".join(lines) + "\n"


def measures(api, suffix):
    """What a compiler has to agree with: expressions of C, and their values."""
    yield "sizeof(void*)", 4 if suffix else 8
    yield "CAROM_ABI_VERSION", api["abi_version"]
    for enum in api["enums"]:
        for value in enum["values"]:
            yield value["name"], value["value"]
    for struct in api["structs"]:
        name = struct["name"]
        yield f"sizeof({name})", struct["size" + suffix]
        yield f"_Alignof({name})", struct["alignment" + suffix]
        for field in struct["fields"]:
            yield f"offsetof({name}, {field['name']})", field["offset" + suffix]
            count = f"[{field['count']}]" if field["count"] else ""
            yield f"sizeof((({name}*)0)->{field['name']}) - sizeof({field['type']}{count})", 0
            yield f"_Generic(&(({name}*)0)->{field['name']}, {pointer_to(field)}: 1)", 1


def pointer_to(field):
    return f"{field['type']} (*)[{field['count']}]" if field["count"] else f"{field['type']}*"


def compiled(command, text):
    """What is wrong, by a compiler that reads `text`; empty if nothing is."""
    done = subprocess.run([*command, *WARNINGS, f"-I{INCLUDE}", "-x", "c", "-"], input=text, capture_output=True,
                          text=True, check=False)
    return f"{command[0]} refuses what the JSON says:\n{done.stderr}" if done.returncode else ""


def check_here(api):
    """Runs a program that prints all measures, and compares them with those of the JSON."""
    expected = [f"{expression} = {value}\n" for expression, value in measures(api, "")]
    prints = "".join(f'  printf("%s = %lld\\n", "{expression}", (long long)({expression}));\n'
                     for expression, _ in measures(api, ""))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "measures")
        text = f"{stub(api)}#include <stdio.h>\nint main(void) {{\n{prints}  return 0;\n}}\n"
        if wrong := compiled(["gcc", "-o", str(program)], text):
            return wrong
        printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return difference(expected, printed.splitlines(keepends=True), "carom_abi.json", "gcc")


def check_wasm(api):
    """Has clang compare all measures while it compiles: no program for wasm32 runs here."""
    asserts = "".join(f'_Static_assert(({expression}) == {value}, "");\n' for expression, value in measures(api, "32"))
    return compiled(["clang", "--target=wasm32", "-ffreestanding", "-fsyntax-only"], stub(api) + asserts)


def difference(old, new, old_name, new_name):
    return "".join(difflib.unified_diff(old, new, old_name, new_name))


def main():
    if sys.argv[1:] not in ([], ["--check"], ["--stub"]):
        sys.exit("usage: describe.py [--check | --stub]")
    try:
        api = Parser((INCLUDE / "carom/carom.h").read_text()).parse()
    except HeaderError as error:
        sys.exit(f"describe.py: {error}")
    if sys.argv[1:] == ["--stub"]:
        print(stub(api), end="")
        return
    document = DOCUMENT.read_text()
    made = {JSON: as_json(api) + "\n", DOCUMENT: with_tables(document, api)}
    if not sys.argv[1:]:
        for path, text in made.items():
            path.write_text(text)
        return
    wrong = [check_here(api), check_wasm(api)]
    for path, text in made.items():
        old = path.read_text() if path.exists() else ""
        wrong.append(difference(old.splitlines(keepends=True), text.splitlines(keepends=True), str(path), "carom.h"))
    if any(wrong):
        sys.exit("".join(wrong) + "describe.py: run core/abi/describe.py, and read what it changes")
    print(f"describe.py: {len(api['functions'])} functions, {len(api['structs'])} structs, {len(api['enums'])} "
          f"enumerations, and {len(list(measures(api, '')))} measures as compilers find them")


if __name__ == "__main__":
    main()
