"""What builds the wheels, and what the manual says of them."""

from __future__ import annotations

import re

import tomli
import yaml

from building import ROOT

INSTALL = (ROOT / "docs/install.md").read_text()
FORGE = yaml.safe_load((ROOT / "packaging/forge-ci.yml").read_text())
WHEELS = FORGE["jobs"]["wheel"]["strategy"]["matrix"]["include"]


def actions(job: str) -> list[dict[str, str]]:
    """Give the inputs of a job's calls of maturin."""
    steps = FORGE["jobs"][job]["steps"]
    return [step["with"] for step in steps if step.get("uses", "").startswith("PyO3/maturin-action@")]


def test_the_manual_lists_the_wheels_that_the_forge_builds() -> None:
    documented = re.findall(r"^\| [^|]+ \| `(\w+)` \|", INSTALL, re.MULTILINE)
    assert documented == [wheel["tag"] for wheel in WHEELS]
    assert len(documented) == 7


def test_a_wheel_has_the_tag_of_its_target() -> None:
    for wheel in WHEELS:
        processor = wheel["target"].split("-")[0]
        names = {"aarch64": ("aarch64", "arm64"), "x86_64": ("x86_64", "amd64")}[processor]
        assert wheel["tag"].endswith(names)
        assert ("linux" in wheel["target"]) == ("libc" in wheel)
        assert wheel.get("libc", "") in wheel["tag"]
        assert wheel.get("macos", "").replace(".", "_") in wheel["tag"]


def test_the_forge_builds_with_the_tools_that_are_pinned() -> None:
    (maturin,) = tomli.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    rust = tomli.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    called = [*actions("wheel"), *actions("sdist")]
    assert [one["maturin-version"] for one in called] == [maturin.replace("maturin==", "v")] * 2
    assert called[0]["rust-toolchain"] == rust
    assert f"rustup toolchain install {rust} " in str(FORGE["jobs"]["sdist"])


def test_wheels_have_the_same_limits_wherever_they_are_built() -> None:
    script = (ROOT / "tools/wheel.sh").read_text()
    limit = re.search(r"^largest_bytes=(\d+)$", script, re.MULTILINE)
    assert limit
    assert f"-le {limit[1]}" in str(FORGE["jobs"]["wheel"]["steps"])
    assert f"at most {int(limit[1]) // 1_000_000} MB" in INSTALL
    assert "--compatibility manylinux_2_28" in script
    assert WHEELS[0]["tag"] == "manylinux_2_28_x86_64"
