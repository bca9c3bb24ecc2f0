#!/usr/bin/env python3
"""Compares the bill of materials of a daemon (deploy/sbom) with the daemon and the source.

  sbom.py SBOM EPSILOND VERSION

Every library that the loader finds must be from a package of the list, with the installed version; every digest must
be the file's; every file that the dashboard includes must be listed; every dependency must exist. Exit code 1 on a
fault.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

VENDOR = pathlib.Path(__file__).resolve().parents[2] / "service/ui/vendor"
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def check_packages(components, daemon):
    listed = {one["name"]: one["version"] for one in components if one["purl"].startswith("pkg:deb/")}
    check(len(listed) >= 10, f"only {len(listed)} packages")
    for path in re.findall(r"(/\S+) \(0x", run("ldd", daemon)):
        name = pathlib.Path(path).name
        owners = {line.split(":")[0] for line in run("dpkg-query", "-S", f"*/{name}").splitlines()}
        check(owners & listed.keys(), f"no package of the list owns {path}")
    for name, version in listed.items():
        installed = run("dpkg-query", "-W", "-f", "${Version}\n", name).split()
        check(version in installed, f"{name} {version} is not what is installed")


def check_carried(components):
    files = {part["name"]: part["hashes"][0]["content"] for one in components for part in one.get("components", [])}
    for path in VENDOR.iterdir():
        if path.suffix in (".js", ".css"):
            check(files.get(path.name) == sha256(path), f"{path.name} is not in the list as it is")
    carried = [one for one in components if "components" in one]
    check(all(one.get("licenses") for one in carried), "what is carried has no licence")


def main():
    bom = json.loads(pathlib.Path(sys.argv[1]).read_text())
    daemon, version = sys.argv[2:]
    itself, components = bom["metadata"]["component"], bom["components"]
    check((bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.5"), "the format")
    check(re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bom["serialNumber"]), "the serial number")
    check(itself["version"] == version and itself["hashes"][0]["content"] == sha256(daemon), "the daemon")
    refs = [one["bom-ref"] for one in components]
    check(len(set(refs)) == len(refs), "a component stands twice")
    name = pathlib.Path(daemon).name
    check(itself["name"] == name, "the name")
    check(bom["dependencies"] == [{"ref": name, "dependsOn": refs}], "the dependencies")
    check_packages(components, daemon)
    if name == "epsilond":
        check_carried(components)
    for fault in faults:
        print(f"sbom: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
