"""The site: `nox -s docs` builds it in docs/_build/html, with warnings as errors."""

import re
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nameexpr

project = "nameexpr"
author = copyright = "the nameexpr authors"  # noqa: A001  the name that Sphinx reads
version = release = nameexpr.__version__
SOURCE = "https://github.com/nameexpr/nameexpr"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_typehints = "none"  # the docstrings give types, as people write them
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False
copybutton_exclude = ".linenos, .gp, .go"
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
nitpicky = False
linkcheck_anchors = False

html_theme = "furo"
html_title = f"nameexpr {release}"
html_theme_options = {
    "source_repository": f"{SOURCE}/",
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [],
}


class Blocks(SphinxPostTransform):
    """Drop the empty line at the end of sessions, and mark messages of errors for the style sheet."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        """Change literal blocks."""
        for block in list(self.document.findall(nodes.literal_block)):
            text = block.astext().rstrip("\n")
            block.children, block.rawsource = [nodes.Text(text)], text
            if re.match(r"\w+Error\[NE\d{3}\]: ", text):
                block["classes"].append("error-message")


class LinksInACheckout(SphinxPostTransform):
    """Adapt links that are written for a checkout.

    Files outside docs/ have no page: links to them lead to the repository. A link whose text is the name of
    a file gets the title of its page.
    """

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        """Replace what MyST left open."""
        for reference in list(self.document.findall(addnodes.pending_xref)):
            self._lead_out(reference)
            page = self.env.titles.get(reference["reftarget"])
            if page is not None and reference.astext() == Path(reference["reftarget"]).name + ".md":
                reference.children = [nodes.inline("", page.astext())]

    def _lead_out(self, reference: addnodes.pending_xref) -> None:
        pages = Path(self.env.srcdir)
        found = (pages / Path(self.env.docname).parent / reference["reftarget"]).resolve()
        found = found if found.exists() else found.with_name(f"{found.name}.md")
        if found.exists() and pages not in found.parents:
            kind = "tree" if found.is_dir() else "blob"
            address = f"{SOURCE}/{kind}/main/{found.relative_to(pages.parent).as_posix()}"
            reference.replace_self(nodes.reference("", "", *reference.children, refuri=address))


def link_pages(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Turn the names of pages in a docstring into links."""
    lines[:] = [re.sub(r"\bdocs/([a-z-]+)\.md\b", r":doc:`/\1`", line) for line in lines]


def tell_errors(app: Sphinx, document: nodes.document) -> None:
    """Add the first sentence of the entry of an error to its code in the contents of the page."""
    about = {
        identifier: re.split(r"(?<![. ])[.:;](?= |$)", section[1].astext().replace("\n", " "))[0]
        for section in document.findall(nodes.section)
        if re.fullmatch(r"NE\d{3}", section[0].astext())
        for identifier in section["ids"]
    }
    for entry in app.env.tocs[app.env.docname].findall(nodes.reference):
        if entry["anchorname"].lstrip("#") in about:
            entry += nodes.Text(f": {about[entry['anchorname'].lstrip('#')]}")


def skip_fields(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Leave out fields of tuples that have no docstring of their own; the signature shows them."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None


def pack_playground(app: Sphinx, fault: Exception | None) -> None:
    """Write what the playground loads: the package, Lark, which locates syntax errors, and the evaluator."""
    import lark

    pages = Path(app.srcdir)
    folders = {
        "nameexpr": Path(nameexpr.__file__).parent,
        "nameexpr/grammar": pages.parent / "grammar",
        "lark": Path(lark.__file__).parent,
        "playground": pages / "playground",
    }
    target = Path(app.outdir) / "_static" / "playground" / "nameexpr.zip"
    if fault is not None or not target.parent.exists():  # of another builder
        return
    with ZipFile(target, "w", ZIP_DEFLATED) as packed:
        for name, folder in folders.items():
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix in {".py", ".json", ".lark"}:
                    packed.write(path, f"{name}/{path.relative_to(folder).as_posix()}")


def setup(app: Sphinx) -> None:
    """Register what is ours."""
    app.add_post_transform(Blocks)
    app.add_post_transform(LinksInACheckout)
    app.connect("doctree-read", tell_errors, priority=600)  # after the contents were collected
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("build-finished", pack_playground)
