#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Which third-party parts do the programs have, in which versions, under which licences?

    sbom.py PROGRAM…                        prints a bill of materials: CycloneDX 1.5, as JSON
    sbom.py --notice [--versions] PROGRAM…  prints the same parts as a page; docs/THIRD_PARTY.md is this page
                                            without versions
    sbom.py --copyrights DIR PROGRAM…       writes the copyright notices of the parts to files in DIR

Runs on the Debian system on which the programs were built. The parts are Debian packages of two kinds: those
of the shared libraries that the loader finds for the programs, and those whose headers and static libraries
can be compiled in. The first kind is read from the programs. The second kind is each `-dev` package of the
section [build] of docker/packages.txt, and what the compiler adds to each program.

Equal programs and packages give equal output. The only time is that of SOURCE_DATE_EPOCH, if it is set.
"""
import argparse
import datetime
import hashlib
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = pathlib.Path("/usr/share/doc")
# Files of the packages that the compiler adds to each program: start-up code, a static library, and the templates
# of the C++ library.
COMPILER_FILES = ("crt1.o", "libgcc.a", "libstdc++.so")
# A copyright file that is larger than this is compressed: Boost's has 2 MB.
MAX_PLAIN_BYTES = 1 << 17

# Licences of source packages whose copyright file is not machine-readable, and the words of this file that say so.
# A file without these words is an error: the table is out of date.
LICENCES_READ_BY_HAND = {
    r"c-ares": ("MIT", "The project in general is under the MIT License"),
    r"gcc-\d+": ("GPL-3.0-or-later WITH GCC-exception-3.1",
                 "(v3 or later) with version 3.1 of the GCC Runtime Library Exception"),
    r"glibc": ("LGPL-2.1-or-later", "GNU Lesser General Public License as published by the Free Software Foundation; "
                                    "either version 2.1 of the License, or (at your option) any later version"),
}
# SPDX's identifiers for Debian's short names, which are in lower case here. A licence that is in neither of the two
# tables is called by Debian's name.
SPDX_OF_DEBIAN = {
    "bsd2": "BSD-2-Clause",
    "bsd-3-clause~google": "BSD-3-Clause",
    "bsd-3-google": "BSD-3-Clause",
    "bsd3_google": "BSD-3-Clause",
    "expat": "MIT",
    "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later",
    "gpl-3": "GPL-3.0-only",
    "gpl-3+": "GPL-3.0-or-later",
    "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later",
}
SPDX = {name.lower(): name for name in (
    "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Zlib")}
SPDX_IDS = {*SPDX.values(), *SPDX_OF_DEBIAN.values()}


def run(*command):
    """The output of a command, which must succeed."""
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"sbom.py: {command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def project():
    """Version and description of the project, from CMakeLists.txt."""
    text = (ROOT / "CMakeLists.txt").read_text()
    match = re.search(r'^project\(carom VERSION ([\d.]+)[^)]*DESCRIPTION "([^"]+)"', text, re.M)
    return match.groups()


def build_packages():
    """The names in the section [build] of docker/packages.txt."""
    section = None
    for line in (ROOT / "docker/packages.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            section = line
        elif line and section == "[build]":
            yield line


def needed(path):
    """The names of the libraries that a program or library asks for itself."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "--dynamic", path))


def loaded(program):
    """The libraries that the loader finds for a program: paths by name."""
    found = {}
    for line in run("ldd", program).splitlines():
        match = re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line)
        if match:
            found[match[1] or os.path.basename(match[2])] = match[2]
        elif "not found" in line:
            sys.exit(f"sbom.py: {program}: {line.strip()}")
    return found


def spellings(path):
    """The paths under which dpkg may list a file: /lib is a link to /usr/lib."""
    for name in (os.path.normpath(path), os.path.realpath(path)):
        yield name
        yield name[4:] if name.startswith("/usr/") else "/usr" + name


def owners(paths):
    """The packages of files, as NAME:ARCHITECTURE, by path."""
    wanted = sorted({name for path in paths for name in spellings(path)})
    # Fails where a single file is unknown, as some spellings always are: so the exit code says nothing.
    done = subprocess.run(["dpkg", "-S", *wanted], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
    known = {}
    for line in done.stdout.splitlines():
        packages, _, name = line.partition(": ")
        if not packages.startswith("diversion "):
            known[name] = packages.split(", ")[0]
    result = {path: next((known[name] for name in spellings(path) if name in known), None) for path in paths}
    for path, package in result.items():
        if package is None:
            sys.exit(f"sbom.py: {path} is of no Debian package")
    return result


class Package:
    """A Debian package, as it is installed."""

    FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version", "binary:Summary", "Homepage",
              "Depends")

    def __init__(self, name):
        values = run("dpkg-query", "-W", "-f", "\n".join(f"${{{field}}}" for field in self.FIELDS), name).split("\n")
        (self.name, self.version, self.architecture, self.source, self.source_version, self.summary, self.homepage,
         self.depends) = values
        self.files = set()  # libraries of it that are loaded, by the loader's paths, which are those of the image
        self.is_compiled_in = False

    def purl(self):
        upstream = self.source if self.source_version == self.version else f"{self.source}@{self.source_version}"
        quote = urllib.parse.quote
        return (f"pkg:deb/debian/{quote(self.name, safe='')}@{quote(self.version, safe=':~')}"
                f"?arch={self.architecture}&upstream={quote(upstream, safe=':~')}")

    def copyright(self):
        """The copyright file. Its folder can be a link to that of another package of the same source, and slim
        images of Debian have no such links: then the file of that other package serves."""
        path = DOC / self.name / "copyright"
        if not path.is_file():
            lines = run("dpkg-query", "-W", "-f", "${source:Package} ${Package}\n").splitlines()
            siblings = sorted(name for source, name in map(str.split, lines) if source == self.source)
            path = next(file for name in siblings if (file := DOC / name / "copyright").is_file())
        return path.read_text(errors="replace")

    def licences(self):
        """The licence of the package as a whole, and the other licences that its copyright file names for single
        files."""
        text = self.copyright()
        if not text.startswith("Format:"):
            return self.licence_read_by_hand(" ".join(text.split())), []
        whole, parts = None, set()
        # A paragraph has the names of files and, some lines later, their licence. Files that Debian added are not part
        # of the programs.
        for files, licence in re.findall(r"^Files:((?:.*\n)(?:[ \t].*\n)*)(?:\S.*\n|[ \t].*\n)*?License:[ \t]*(.*)",
                                         text, re.M):
            if files.split()[:1] == ["*"]:
                whole = spdx(licence.strip())
            elif not all(name.startswith("debian/") for name in files.split()):
                parts.update(spdx(word) for word in re.split(r"\s+(?:or|and)\s+", licence.strip()))
        if whole is None:
            sys.exit(f"sbom.py: {self.name}: its copyright file names no licence for all files")
        return whole, sorted(parts - {whole})

    def licence_read_by_hand(self, words):
        for source, (licence, reason) in LICENCES_READ_BY_HAND.items():
            if re.fullmatch(source, self.source):
                if reason not in words:
                    break
                return licence
        return sys.exit(f"sbom.py: {self.source}: read its copyright file, and add it to LICENCES_READ_BY_HAND")


def spdx(debian):
    """A licence, or licences joined by `or` or `and`, in SPDX's words if it has words for all of them."""
    words = re.split(r"\s+(or|and)\s+", debian)
    known = [SPDX_OF_DEBIAN.get(word.lower()) or SPDX.get(word.lower()) for word in words[::2]]
    if not all(known):
        return debian
    joints = [word.upper() for word in words[1::2]]
    if len(set(joints)) > 1:
        return debian
    return f" {joints[0] if joints else ''} ".join(known)


def header_packages(name):
    """The package itself. A package that has only documentation, such as libboost-dev, stands for `-dev` packages that
    it depends on: these."""
    files = [line for line in run("dpkg", "-L", name).splitlines() if os.path.isfile(line)]
    if any(not line.startswith(str(DOC)) for line in files):
        return [Package(name)]
    depends = re.findall(r"(?:^|, )([^ ,|(]+-dev)\b", Package(name).depends)
    return [package for depend in depends for package in header_packages(depend)]


class Parts:
    """The packages of which programs have parts, and which of them need which others."""

    def __init__(self, programs):
        self.packages = {}  # by name
        self.needs = {}     # sets of names of packages, by program and by name of package
        found = {program: loaded(program) for program in programs}
        path_of = {}
        for libraries in found.values():
            path_of.update(libraries)
        owner = owners(path_of.values())
        for path in sorted(set(path_of.values())):
            self.add(Package(owner[path])).files.add(path)
        compiled = self.compiled_in()
        for program in programs:
            direct = {self.name_of(owner[path_of[name]]) for name in needed(program)}
            self.needs[program] = direct | compiled
        for path in set(path_of.values()):
            name = self.name_of(owner[path])
            self.needs.setdefault(name, set()).update(
                self.name_of(owner[path_of[other]]) for other in needed(path) if other in path_of)
        for name, others in self.needs.items():
            others.discard(name)

    @staticmethod
    def name_of(package):
        return package.split(":")[0]

    def add(self, package):
        return self.packages.setdefault(package.name, package)

    def compiled_in(self):
        """Adds the packages that are compiled in; returns their names."""
        packages = [part for name in build_packages() if name.endswith("-dev") for part in header_packages(name)]
        files = [run("g++", f"-print-file-name={name}").strip() for name in COMPILER_FILES]
        packages += [Package(name) for name in owners(files).values()]
        for package in packages:
            self.add(package).is_compiled_in = True
        return {package.name for package in packages}

    def sorted(self):
        return [self.packages[name] for name in sorted(self.packages)]


# --- The bill of materials -----------------------------------------------------------------------------------


def licence_entry(licence):
    return {"license": {"id" if licence in SPDX_IDS else "name": licence}}


def licence_choice(licence):
    """A list of one licence, or of one expression: CycloneDX has a form for each."""
    if licence not in SPDX_IDS and re.search(r" (OR|AND|WITH) ", licence):
        return [{"expression": licence}]
    return [licence_entry(licence)]


def component(package):
    whole, parts = package.licences()
    use = [word for word, holds in (("linked", package.files), ("compiled in", package.is_compiled_in)) if holds]
    entry = {
        "type": "library",
        "bom-ref": package.purl(),
        "supplier": {"name": "Debian", "url": ["https://www.debian.org/"]},
        "name": package.name,
        "version": package.version,
        "description": package.summary,
        "scope": "required",
        "licenses": licence_choice(whole),
        "purl": package.purl(),
    }
    if package.homepage:
        entry["externalReferences"] = [{"type": "website", "url": package.homepage}]
    evidence = {}
    if package.files:
        evidence["occurrences"] = [{"location": path} for path in sorted(package.files)]
    if parts:
        evidence["licenses"] = [licence_entry(part) for part in parts]
    if evidence:
        entry["evidence"] = evidence
    entry["properties"] = [
        {"name": "carom:source", "value": f"{package.source} {package.source_version}"},
        {"name": "carom:use", "value": ", ".join(use)},
    ]
    return entry


def program_entry(path, version):
    return {
        "type": "application",
        "bom-ref": os.path.basename(path),
        "name": os.path.basename(path),
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}],
        "licenses": [licence_entry("Apache-2.0")],
    }


def bill(parts, programs):
    version, description = project()
    by_name = sorted(programs, key=os.path.basename)
    top = f"pkg:generic/carom@{version}"
    metadata = {
        "lifecycles": [{"phase": "build"}],
        "tools": {"components": [{"type": "application", "name": "docker/sbom.py", "version": version}]},
        "component": {
            "type": "application", "bom-ref": top, "name": "carom", "version": version, "description": description,
            "licenses": [licence_entry("Apache-2.0")], "purl": top,
            "components": [program_entry(path, version) for path in by_name],
        },
    }
    if os.environ.get("SOURCE_DATE_EPOCH"):
        moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        metadata["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def refs(names):
        return [parts.packages[name].purl() for name in sorted(names)]

    dependencies = [{"ref": top, "dependsOn": [os.path.basename(path) for path in by_name]}]
    dependencies += [{"ref": os.path.basename(path), "dependsOn": refs(parts.needs[path])} for path in by_name]
    dependencies += [{"ref": package.purl(), "dependsOn": refs(parts.needs.get(package.name, ()))}
                     for package in parts.sorted()]
    content = {"metadata": metadata, "components": [component(package) for package in parts.sorted()],
               "dependencies": dependencies}
    # Computed from the content, so that equal contents have equal numbers.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX",
            "specVersion": "1.5", "serialNumber": f"urn:uuid:{number}", "version": 1, **content}


# --- The page and the notices ----------------------------------------------------------------------------------

NOTICE = """\
<!-- docker/sbom.py --notice writes this page: do not edit it. -->
# Third-party parts of Carom's programs

`caromd` and `carom` consist of Carom itself, whose licence is Apache-2.0, and of parts of these Debian packages.
Each part has the licence of its package. The last column lists other licences that single files of the package
have; such a file may or may not be part of the programs.

The container image has the copyright notices in `/usr/share/doc/carom/third-party`, a file for each source package,
and the texts of common licences in `/usr/share/common-licenses`. On Debian the notices are in
`/usr/share/doc/PACKAGE/copyright`. `apt-get source SOURCE` fetches the source code.
"""
LINKED = """
## Shared libraries

The programs load these libraries. The image contains them; Carom's Debian packages depend on them.
"""
COMPILED_IN = """
## Headers and static libraries

The build compiles with these headers and links these static libraries, so parts of them can be in the programs.
"""


def table(packages, has_versions):
    def row(cells):
        return f"| {' | '.join(cells)} |\n"

    heads = ["package", *(["version"] if has_versions else []), "source", "licence", "other licences"]
    text = "\n" + row(heads) + row(["---"] * len(heads))
    for package in packages:
        whole, parts = package.licences()
        version = [package.version] if has_versions else []
        text += row([package.name, *version, package.source, whole, ", ".join(parts)]).replace("  |", " |")
    return text


def notice(parts, has_versions):
    return (NOTICE + LINKED + table([package for package in parts.sorted() if package.files], has_versions) +
            COMPILED_IN + table([package for package in parts.sorted() if package.is_compiled_in], has_versions))


def write_copyrights(parts, folder):
    """Writes a file for each source package: the copyright files of its packages, which are mostly equal."""
    texts = {}
    for package in parts.sorted():
        known = texts.setdefault(package.source, [])
        if package.copyright() not in known:
            known.append(package.copyright())
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for source, known in texts.items():
        content = ("\n" + "-" * 80 + "\n\n").join(known).encode()
        if len(content) > MAX_PLAIN_BYTES:
            (folder / f"{source}.xz").write_bytes(lzma.compress(content))
        else:
            (folder / source).write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notice", action="store_true", help="print a page instead of the bill of materials")
    parser.add_argument("--versions", action="store_true", help="name versions on the page")
    parser.add_argument("--copyrights", metavar="DIR", help="write copyright notices to files in DIR")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="program whose parts are asked for")
    arguments = parser.parse_args()
    parts = Parts(arguments.programs)
    if arguments.copyrights:
        write_copyrights(parts, arguments.copyrights)
    elif arguments.notice:
        print(notice(parts, arguments.versions), end="")
    else:
        print(json.dumps(bill(parts, arguments.programs), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
