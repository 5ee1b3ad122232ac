# SPDX-License-Identifier: Apache-2.0
"""The documents of an installation: README and SECURITY, and the articles as plain Markdown.

In them every link leads to a document beside it, or else to the file in the repository of the release.
"""
import os
import pathlib
import re
import subprocess

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")
ARTICLE = re.compile(r"<doc:([^>]+)>")
DIRECTIVE = re.compile(r"^@\w+ \{\n.*?^\}\n+", re.M | re.S)


def places(root):
    """Where each document is below share/doc/ykit, by its path in the repository."""
    found = {pathlib.Path("README.md"): "README.md", pathlib.Path("SECURITY.md"): "SECURITY.md",
             pathlib.Path("CHANGELOG.md"): "changelog.gz"}
    for path in sorted(root.glob("Sources/**/*.docc/*.md")):
        if path.parent.name != "Arguments.docc":  # of a library that is no product
            found[path.relative_to(root)] = f"articles/{path.name}"
    return found


def title(text):
    """The first heading, without the marks of code."""
    return re.search(r"^# (.*)$", text, re.M)[1].strip("`")


def documents(root, url, version, program):
    """The text of each document by its place, its links adapted to the places; `program` is the ykit that writes parts of them."""
    def generated(what):
        return subprocess.run([program, "generate", what], check=True, capture_output=True, text=True).stdout

    found = places(root)
    texts = {path: (root / path).read_text(encoding="utf-8").replace("<!-- ykit generate formats -->\n", generated("formats"))
             for path, place in found.items() if place.endswith(".md")}
    answers = pathlib.Path("Sources/ykit/ykit.docc/JSONAnswers.md")
    found[answers], texts[answers] = "articles/JSONAnswers.md", generated("answers")
    return {found[path]: adapted(texts, path, found, f"{url}/blob/v{version}") for path in texts}


def adapted(texts, path, found, repository):
    by_name = {place.removeprefix("articles/").removesuffix(".md"): (source, place) for source, place in found.items()}
    folder = os.path.dirname(found[path])

    def relative(place):
        return os.path.relpath(place, folder or ".")

    def link(match):
        target, _, fragment = match[1].partition("#")
        place = pathlib.Path(os.path.normpath(path.parent / target))
        to = relative(found[place]) if place in found else f"{repository}/{place}"
        return f"]({to}{'#' + fragment if fragment else ''})"

    def article(match):
        name = match[1].rsplit("/", 1)[-1]
        if name not in by_name:
            raise ValueError(f"{path}: {match[0]} leads nowhere")
        source, place = by_name[name]
        return f"[{title(texts[source])}]({relative(place)})"

    return ARTICLE.sub(article, LINK.sub(link, DIRECTIVE.sub("", texts[path])))
