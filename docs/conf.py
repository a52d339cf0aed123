"""The site: `nox -s docs` builds it in docs/_build/html, with warnings as errors."""

import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nameexpr

project = "nameexpr"
author = copyright = "the nameexpr authors"
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
html_title = "nameexpr"
html_theme_options = {
    "source_repository": f"{SOURCE}/",
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [],
}


class LinksToSources(SphinxPostTransform):
    """Turn links to files outside docs/, which work in a checkout, into links to the repository."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        """Replace the references of MyST to files that have no page."""
        pages = Path(self.env.srcdir)
        for reference in list(self.document.findall(addnodes.pending_xref)):
            found = (pages / Path(self.env.docname).parent / reference["reftarget"]).resolve()
            found = found if found.exists() else found.with_name(f"{found.name}.md")
            if found.exists() and pages not in found.parents:
                kind = "tree" if found.is_dir() else "blob"
                address = f"{SOURCE}/{kind}/main/{found.relative_to(pages.parent).as_posix()}"
                reference.replace_self(nodes.reference("", "", *reference.children, refuri=address))


def setup(app: Sphinx) -> None:
    """Register what is ours."""
    app.add_post_transform(LinksToSources)
