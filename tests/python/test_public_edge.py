"""What crates of users see of the engine: the public API compiles, and its insides are private.

The programs are checked against the release build of the engine, as other crates get it, without the feature
`internals`. They are not run.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "target/release/deps"
EXAMPLES = sorted((ROOT / "crates/flashwatt/examples").glob("*.rs"))


def messages(source: Path, made: Path) -> str:
    """Compile a program as far as its types, and give what the compiler says."""
    (*_, engine) = sorted(BUILT.glob("libflashwatt-*.rmeta"), key=lambda path: path.stat().st_mtime_ns)
    command = ["rustc", "--edition", "2024", "--emit", "metadata", "-o", str(made), "-L", f"dependency={BUILT}"]
    found = [f"--extern={name}={library}" for name, library in libraries(source).items()]
    done = subprocess.run(
        [*command, f"--extern=flashwatt={engine}", *found, str(source)], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == (re.search(r"^error", done.stderr, re.MULTILINE) is None)
    return done.stderr


def libraries(source: Path) -> dict[str, Path]:
    """Give the other libraries that a program names."""
    named = re.findall(r"\b(serde_json|toml)::", source.read_text())
    return {name: max(BUILT.glob(f"lib{name}-*.rmeta"), key=lambda path: path.stat().st_mtime_ns) for name in named}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_need_nothing_private(example: Path, tmp_path: Path) -> None:
    assert not re.search(r"^error", messages(example, tmp_path / "made.rmeta"), re.MULTILINE)


def test_a_program_cannot_name_the_array(tmp_path: Path) -> None:
    """Its tables are not checked in release builds: `erases` would read outside of them."""
    program = tmp_path / "program.rs"
    program.write_text(
        "#![forbid(unsafe_code)]\n"
        "use flashwatt::nand::Array;\n"
        "fn main() { let _: fn(&Array) -> u32 = |array| array.erases(flashwatt::units::BlockId(5000)); }\n"
    )
    assert "unresolved import `flashwatt::nand`" in messages(program, tmp_path / "made.rmeta")


@pytest.mark.parametrize(("depends", "checked"), [(("flashwatt",), False), (("flashwatt", "flashwatt-ssd"), True)])
def test_who_reaches_the_tables_gets_them_checked(tmp_path: Path, depends: tuple[str, ...], checked: bool) -> None:
    """The inner crates check every index by default, and cargo unites the features that programs ask for."""
    needs = "".join(f'{name} = {{ path = "{ROOT / "crates" / name}" }}\n' for name in depends)
    package = '[package]\nname = "user"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n'
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").touch()
    (tmp_path / "Cargo.toml").write_text(package + needs)
    (tmp_path / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    command = ["cargo", "tree", "--offline", "--edges", "normal", "--format", "{p} {f}"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    (base,) = {line for line in re.findall(r"flashwatt-base .*", listed) if "(*)" not in line}
    assert base.endswith(" checked") == checked
