"""Makes the extension of a wheel: `python blender/package.py WHEEL`. What it writes, Blender installs from disk."""

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
# What a wheel says of its system, and what Blender calls that system.
PLATFORMS = {
    "manylinux": {"x86_64": "linux-x64", "aarch64": "linux-arm64"},
    "linux": {"x86_64": "linux-x64", "aarch64": "linux-arm64"},
    "macosx": {"x86_64": "macos-x64", "arm64": "macos-arm64"},
    "win": {"amd64": "windows-x64", "arm64": "windows-arm64"},
}


def platform(wheel):
    """The system that a wheel is for, in Blender's words."""
    tag = wheel.stem.split("-")[-1]
    for system, machines in PLATFORMS.items():
        for machine, name in machines.items():
            if tag.startswith(system) and tag.endswith(machine):
                return name
    raise SystemExit(f"{wheel.name}: is for {tag}, which no Blender runs on; name another wheel")


def package(wheel, folder):
    """Writes the extension into a folder; its path."""
    name = platform(wheel)
    manifest = (HERE / "blender_manifest.toml").read_text(encoding="utf-8")
    manifest = manifest.replace("wheels = []", f'wheels = ["./wheels/{wheel.name}"]\nplatforms = ["{name}"]')
    version = manifest.split('\nversion = "')[1].split('"')[0]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"taffeta-{version}-{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("blender_manifest.toml", manifest)
        for source in sorted(HERE.glob("*.py")):
            if source != Path(__file__):
                archive.write(source, source.name)
        # A wheel is packed already.
        archive.write(wheel, f"wheels/{wheel.name}", zipfile.ZIP_STORED)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(package(Path(sys.argv[1]), HERE / "dist"))
