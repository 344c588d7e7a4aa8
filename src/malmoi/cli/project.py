"""`malmoi project M --out page.html`: a page to look at vectors."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, open_model, print_json
from malmoi.cli.corpus import Settings
from malmoi.cli.progress import bar
from malmoi.errors import BadSetting
from malmoi.files.targets import check_folder
from malmoi.project.making import Projection, make_scene
from malmoi.project.page import write_page
from malmoi.project.points import Points
from malmoi.project.scene import Scene, Space
from malmoi.project.texts import text_points
from malmoi.project.words import word_points
from malmoi.search.building import open_index
from malmoi.search.folder import is_index

DRAWN = 20_000  # words, where nobody says how many
DEFAULT = Projection()


def project_command(
    *models: Annotated[
        str, Parameter(help="Vectors, an index of texts, or two of either to compare.")
    ],
    out: Annotated[Path, Parameter(help="The page to write: one HTML file.")],
    most_frequent: Annotated[int, Parameter(help="Draw so many of the words.")] = DRAWN,
    labels: Annotated[
        Path | None, Parameter(help="Lines of a key, a tab and a label to colour by.")
    ] = None,
    settings: Annotated[Projection, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """A page of vectors: points to search, circle, colour and compare."""
    check_folder(out)
    if not models:
        raise BadSetting("name a file of vectors or an index to draw")
    points = [_points(one, most_frequent, labels) for one in models]
    scene = make_scene(*points, settings=settings, watch=bar)
    size = write_page(scene, out)
    if json:
        print_json({"written": str(out), "bytes": size, "spaces": [*map(_record, scene.spaces)]})
    else:
        _say(scene, out, size)


def _points(model: str, most_frequent: int, labels: Path | None) -> Points:
    """What a file of vectors or the folder of an index holds."""
    path = Path(model)
    if is_index(path):
        if labels is not None:
            raise BadSetting(f"{model} is an index: its own fields are its labels")
        index = open_index(path)
        entries = [index[key] for key in index.vectors.keys]
        texts = [entry.text for entry in entries]
        return text_points(path.name, index.vectors, texts, [entry.fields for entry in entries])
    vectors = open_model(model)
    name = path.name if path.exists() else model
    return word_points(vectors, name, most_frequent=most_frequent, labels=labels, watch=bar)


def _record(space: Space) -> dict[str, object]:
    return {
        "name": space.name,
        "points": len(space.keys),
        "reduction": space.reduction,
        "kept": round(space.kept, 4),
        "fields": {field.name: list(field.labels) for field in space.fields},
        "notes": list(space.notes),
    }


def _say(scene: Scene, out: Path, size: int) -> None:
    print(f"{out}: {size / 1e6:.1f} MB, open it in a browser")
    for space in scene.spaces:
        print(f"{space.name}: {len(space.keys):,} points by {space.reduction}")
        print(f"  {space.kept:.0%} of each one's nearest are nearest in the picture too")
        for field in space.fields:
            if field.name == "sense":
                print("\n".join(f"  {label}" for label in field.labels))
        for note in space.notes:
            print(f"note: {note}", file=sys.stderr)
