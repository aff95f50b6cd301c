#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What docker/sbom.py says of the programs that were built: is it CycloneDX 1.5, is it complete, is it always the same?

The programs are those of CAROMD_BINARY and CAROM_BINARY. docs/THIRD_PARTY.md must have the parts of these programs.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SBOM = ROOT / "docker/sbom.py"
PROGRAMS = [os.environ["CAROMD_BINARY"], os.environ["CAROM_BINARY"]]

# The parts of CycloneDX 1.5 that are used: what an object must have, and what it may have.
TOP = ({"bomFormat", "specVersion", "version"}, {"$schema", "serialNumber", "metadata", "components", "dependencies"})
METADATA = ({"component", "tools", "lifecycles"}, {"timestamp"})
COMPONENT = ({"type", "name"}, {"bom-ref", "supplier", "version", "description", "scope", "hashes", "licenses", "purl",
                                "externalReferences", "components", "evidence", "properties"})
TYPES = {"application", "library"}
SERIAL = r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
PURL = r"pkg:deb/debian/[a-z0-9.%A-F-]+@[A-Za-z0-9.:~%-]+\?arch=[a-z0-9]+&upstream=[A-Za-z0-9.:~%-]+"
LICENCE_ID = r"[A-Za-z0-9.+-]+"


def run(*command, **environment):
    base = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    return subprocess.run([str(word) for word in command], env={**base, "LC_ALL": "C", **environment},
                          capture_output=True, text=True)


def output(*command, **environment):
    done = run(*command, **environment)
    if done.returncode:
        raise AssertionError(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def dynamic(path, tag):
    """The names behind a tag, NEEDED or SONAME, in the dynamic section of a program or library."""
    return re.findall(rf"\({tag}\).*\[(.+)\]", output("readelf", "--dynamic", path))


class SbomTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = output(SBOM, *PROGRAMS)
        cls.bom = json.loads(cls.text)
        cls.parts = {part["name"]: part for part in cls.bom["components"]}

    def check_object(self, thing, shape):
        required, optional = shape
        self.assertLessEqual(required, thing.keys())
        self.assertLessEqual(thing.keys(), required | optional)

    def check_licences(self, licences):
        self.assertTrue(licences)
        for entry in licences:
            if "expression" in entry:
                self.assertEqual(len(licences), 1)  # never beside others
                self.assertRegex(entry["expression"], rf"^{LICENCE_ID}( (OR|AND|WITH) {LICENCE_ID})+$")
            else:
                [[kind, value]] = entry["license"].items()
                self.assertIn(kind, {"id", "name"})
                self.assertRegex(value, rf"^{LICENCE_ID}$" if kind == "id" else r"\S")

    def check_component(self, part):
        self.check_object(part, COMPONENT)
        self.assertIn(part["type"], TYPES)
        for word in ("name", "bom-ref", "version"):
            self.assertRegex(part[word], r"^\S+$")
        self.check_licences(part["licenses"])
        self.assertIn(part.get("scope", "required"), {"required", "optional", "excluded"})
        for value in part.get("hashes", []):
            self.assertEqual(value.keys(), {"alg", "content"})
            self.assertEqual(value["alg"], "SHA-256")
            self.assertRegex(value["content"], r"^[0-9a-f]{64}$")
        for reference in part.get("externalReferences", []):
            self.assertEqual(reference.keys(), {"type", "url"})
            self.assertRegex(reference["url"], r"^https?://\S+$")
        for entry in part.get("properties", []):
            self.assertEqual(entry.keys(), {"name", "value"})
        evidence = part.get("evidence", {"licenses": []})
        self.check_object(evidence, (set(), {"occurrences", "licenses"}))
        for occurrence in evidence.get("occurrences", []):
            self.assertEqual(occurrence.keys(), {"location"})
        if evidence.get("licenses"):
            self.check_licences(evidence["licenses"])

    def test_is_cyclonedx(self):
        self.check_object(self.bom, TOP)
        self.assertEqual((self.bom["bomFormat"], self.bom["specVersion"], self.bom["version"]), ("CycloneDX", "1.5", 1))
        self.assertRegex(self.bom["serialNumber"], f"^{SERIAL}$")
        metadata = self.bom["metadata"]
        self.check_object(metadata, METADATA)
        self.check_component(metadata["component"])
        self.assertEqual([program["name"] for program in metadata["component"]["components"]], ["carom", "caromd"])
        for program in metadata["component"]["components"]:
            self.check_component(program)
            self.assertTrue(program["hashes"])
        for part in self.bom["components"]:
            self.check_component(part)
            self.assertRegex(part["purl"], f"^{PURL}$")
        self.assertEqual(sorted(self.parts), [part["name"] for part in self.bom["components"]])

    def test_the_graph_reaches_every_part(self):
        component = self.bom["metadata"]["component"]
        known = {component["bom-ref"], *(part["bom-ref"] for part in component["components"]),
                 *(part["bom-ref"] for part in self.bom["components"])}
        graph = {}
        for entry in self.bom["dependencies"]:
            self.assertEqual(entry.keys(), {"ref", "dependsOn"})
            self.assertEqual(len(entry["dependsOn"]), len(set(entry["dependsOn"])))
            graph[entry["ref"]] = entry["dependsOn"]
        self.assertEqual(len(graph), len(self.bom["dependencies"]))
        self.assertEqual(graph.keys(), known)
        reached, left = set(), [component["bom-ref"]]
        while left:
            ref = left.pop()
            if ref not in reached:
                reached.add(ref)
                left += graph[ref]
        self.assertEqual(reached, known)

    def test_every_library_is_covered(self):
        """Follows the names of the needed libraries by itself, without the loader."""
        locations = [occurrence["location"] for part in self.bom["components"]
                     for occurrence in part.get("evidence", {}).get("occurrences", [])]
        by_name = {dynamic(path, "SONAME")[0]: path for path in locations}
        self.assertEqual(len(by_name), len(locations))
        needed = {name for program in PROGRAMS for name in dynamic(program, "NEEDED")}
        self.assertTrue(needed)
        left = list(needed)
        while left:
            name = left.pop()
            self.assertIn(name, by_name)
            more = set(dynamic(by_name[name], "NEEDED")) - needed
            needed |= more
            left += more
        self.assertEqual(needed, by_name.keys())

    def test_headers_are_covered(self):
        compiled = {name for name, part in self.parts.items()
                    if any("compiled in" in entry["value"] for entry in part["properties"])}
        self.assertLessEqual({"libabsl-dev", "libcli11-dev", "libhwy-dev", "nlohmann-json3-dev"}, compiled)
        self.assertTrue(any(re.fullmatch(r"libboost[\d.]+-dev", name) for name in compiled))
        self.assertTrue(any(re.fullmatch(r"libstdc\+\+-\d+-dev", name) for name in compiled))
        self.assertNotIn("cmake", self.parts)

    def test_versions_are_those_of_the_machine(self):
        for name, part in self.parts.items():
            [architecture] = re.findall(r"\?arch=([a-z0-9]+)&", part["purl"])
            version = output("dpkg-query", "-W", "-f", "${Version}", f"{name}:{architecture}")
            self.assertEqual(part["version"], version)

    def test_is_always_the_same(self):
        self.assertEqual(output(SBOM, *reversed(PROGRAMS)), self.text)
        self.assertNotIn("timestamp", self.bom["metadata"])
        dated = json.loads(output(SBOM, *PROGRAMS, SOURCE_DATE_EPOCH="1000000000"))
        self.assertEqual(dated["metadata"].pop("timestamp"), "2001-09-09T01:46:40Z")
        self.assertNotEqual(dated.pop("serialNumber"), self.bom["serialNumber"])
        self.assertEqual(dated, {key: value for key, value in self.bom.items() if key != "serialNumber"})

    def test_a_library_of_no_package_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            library = next(occurrence["location"] for occurrence in self.parts["zlib1g"]["evidence"]["occurrences"])
            shutil.copy(library, os.path.join(folder, dynamic(library, "SONAME")[0]))
            done = run(SBOM, *PROGRAMS, LD_LIBRARY_PATH=folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is of no Debian package", done.stderr)

    def test_a_slim_image_has_no_links_between_folders(self):
        """In Debian's slim images /usr/share/doc/libstdc++6, a link to gcc-12-base, is missing."""
        loader = importlib.machinery.SourceFileLoader("sbom", str(SBOM))
        sbom = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(sbom)
        package = sbom.Package("libstdc++6")
        usual = package.licences()
        with tempfile.TemporaryDirectory() as folder:
            target = (sbom.DOC / package.name).resolve()
            self.assertNotEqual(target.name, package.name)
            (pathlib.Path(folder) / target.name).mkdir()
            shutil.copy(target / "copyright", pathlib.Path(folder) / target.name)
            sbom.DOC = pathlib.Path(folder)
            self.assertEqual(package.licences(), usual)

    def test_copyrights_of_every_source(self):
        sources = {entry["value"].split()[0] for part in self.parts.values() for entry in part["properties"]
                   if entry["name"] == "carom:source"}
        with tempfile.TemporaryDirectory() as folder:
            output(SBOM, "--copyrights", folder, *PROGRAMS)
            written = {path.name.removesuffix(".xz"): path.stat().st_size for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(written.keys(), sources)
        self.assertGreater(min(written.values()), 500)
        self.assertLess(sum(written.values()), 1_000_000)  # the image has them

    def test_the_page_is_up_to_date(self):
        page = output(SBOM, "--notice", *PROGRAMS)
        self.assertEqual((ROOT / "docs/THIRD_PARTY.md").read_text(), page,
                         "write it by: docker/sbom.py --notice build/release/server/caromd "
                         "build/release/client/carom >docs/THIRD_PARTY.md")
        dated = output(SBOM, "--notice", "--versions", *PROGRAMS)
        for name, part in self.parts.items():
            self.assertIn(f"| {name} | {part['version']} |", dated)
            self.assertIn(f"| {name} |", page)


if __name__ == "__main__":
    unittest.main()
