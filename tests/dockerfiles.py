"""Reads a Dockerfile and a .dockerignore, as far as ours go. Knows nothing of Docker itself."""

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    """One instruction; `stage` is the number of the FROM that it belongs to."""

    name: str
    arguments: str
    stage: int

    @property
    def words(self) -> list[str]:
        """The words of the exec form, a JSON list, or else those between spaces."""
        if self.arguments.startswith("["):
            return [str(word) for word in json.loads(self.arguments)]
        return self.arguments.split()


def read_dockerfile(path: Path) -> list[Instruction]:
    """The instructions in order; lines that end in a backslash go on."""
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    instructions, stage = list[Instruction](), -1
    for line in filter(None, joined.splitlines()):
        name, _, arguments = line.partition(" ")
        stage += name == "FROM"
        instructions.append(Instruction(name, re.sub(r"\s+", " ", arguments.strip()), stage))
    return instructions


def is_ignored(path: str, rules: list[str]) -> bool:
    """Whether a .dockerignore leaves a path out: the last rule that matches it decides."""
    ignored = False
    for rule in rules:
        pattern = rule.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        prefixes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
        names = parts if rule.removeprefix("!").startswith("**/") else prefixes
        if any(fnmatch(name, pattern) for name in names):
            ignored = not rule.startswith("!")
    return ignored


def has_registry_host(image: str) -> bool:
    """Whether the name of an image begins with a host, which has a dot, a port, or is localhost."""
    first, slash, _ = image.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")
