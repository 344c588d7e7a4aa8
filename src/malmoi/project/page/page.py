"""The projector's page: one HTML file that opens from disk, or the files of a live one.

Nothing is fetched from outside: styles, script and data are in the file, and its policy forbids
the rest. Keys are data, never markup: they are inside deflated sections.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

from malmoi.files.output import open_output
from malmoi.project.page.sections import PackedScene, pack
from malmoi.project.scene import Scene
from malmoi.web.self_contained import json_element, page_around_data

NAME = "projector"
HTML, JSON, BYTES = "text/html; charset=utf-8", "application/json", "application/octet-stream"


def write_page(scene: Scene, path: str | Path) -> int:
    """Write the page as one HTML file.

    Args:
        scene: The scene to show.
        path: The file to write.

    Returns:
        The size of the file in bytes.

    Raises:
        InvalidFileError: The file cannot be written.
        InvalidArgumentError: The scene is empty or holds numbers that are not finite.
    """
    size = 0
    with open_output(Path(path)) as [stream]:
        for part in _parts(pack(scene)):
            size += stream.write(part)
    return size


def page_html(scene: Scene) -> str:
    """The page of a scene as text: what `write_page` writes."""
    return b"".join(_parts(pack(scene))).decode()


def live_files(
    scene: Scene, more: Mapping[str, object] | None = None
) -> dict[str, tuple[str, bytes]]:
    """The page's files by relative path, each with its content type, for a server to mount.

    The page then requests from the server `neighbours`, `analogy` and, where it shows texts,
    `search`, relative to itself too.

    Args:
        scene: The scene to show.
        more: What else the page should know: `query`, a query string for its other requests;
            `models`, the names that the page offers in a list, each with `kind`; `computing`, the
            name of the reduction of a better picture that is being computed.

    Raises:
        InvalidArgumentError: The scene is empty or holds numbers that are not finite.
    """
    packed = pack(scene)
    described = {**packed.description, **(more or {})}
    description = json.dumps(described, ensure_ascii=False).encode()
    sections = {
        f"sections/{i}/{name}": (BYTES, data) for (i, name), data in packed.sections.items()
    }
    page = live_page(packed.description["title"])
    return {"index.html": (HTML, page), "scene.json": (JSON, description), **sections}


def live_page(title: str) -> bytes:
    """The page alone, which requests its data from the server when it is open."""
    return "".join(page_around_data(NAME, title, connect="'self'")).encode()


def _parts(packed: PackedScene) -> Iterator[bytes]:
    """The bytes of the file in parts."""
    before, after = page_around_data(NAME, packed.description["title"])
    yield before.encode()
    yield json_element("scene", packed.description)
    for (space, name), data in packed.sections.items():
        yield f'<script type="{BYTES}" id="section-{space}-{name}">'.encode()
        yield b64encode(data)
        yield b"</script>\n"
    yield after.encode()
