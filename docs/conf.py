"""Sphinx builds the site from the pages in this directory: `make docs`.

rosdoc2 runs this file from a copy of the directory; nothing here may depend on where it stands.
"""

import re
from pathlib import Path

project = "uk_dynamics"
author = "uk_dynamics maintainers"
copyright = "uk_dynamics maintainers, Apache-2.0"  # noqa: A001
release = "0.1.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "generators"]
html_theme = "furo"
html_title = "uk_dynamics"

myst_heading_anchors = 4  # headings are anchors, as on GitHub

# What docstrings say of types is enough; signatures show the rest.
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

nitpicky = True
nitpick_ignore_regex = [
    (r"py:class", r".*"),  # signatures name types that have no entry of their own
    (r"py:.*", r"(?!uk_dynamics\b).*"),  # other projects' documentation needs a network
]


def _pages(table):
    """Pages that the rows of a table begin with."""
    return re.findall(r"^\| \[[^\]]*\]\(([^)#]+)\.md\)", table, flags=re.MULTILINE)


# A row of reference/api.md: a name, and the file that defines it.
_NAME = re.compile(r"^\| \[`(\w+)`\]\(\.\./\.\./([\w/]+)\.py\)", flags=re.MULTILINE)
_MEMBERS = {"MechanismSpec": "from_file, from_text", "TasksSpec": "from_file, from_text"}


def _write_api_pages(app):
    """Write a page for each name of reference/api.md, before Sphinx looks which pages there are."""
    reference = Path(app.srcdir) / "reference"
    (reference / "api").mkdir(exist_ok=True)
    for name, source in _NAME.findall((reference / "api.md").read_text(encoding="utf-8")):
        module = source.replace("/", ".")
        kind = "autofunction" if name[0].islower() else "autoclass"
        members = f"   :members: {_MEMBERS.get(name, '')}" if kind == "autoclass" else ""
        lines = [name, "=" * len(name), "", f".. {kind}:: {module}.{name}", members, ""]
        page, text = reference / "api" / f"{name}.rst", "\n".join(lines)
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _add_navigation(app, docname, source):
    """Make navigation of the tables in README.md, papers/README.md and reference/api.md."""
    if docname == "index":
        listing = (Path(app.srcdir) / "README.md").read_text(encoding="utf-8")
        for section in re.split(r"^## ", listing, flags=re.MULTILINE)[1:]:
            caption, _, table = section.partition("\n")
            lines = ["", ".. toctree::", "   :hidden:", f"   :caption: {caption}", ""]
            source[0] += "\n".join([*lines, *(f"   {page}" for page in _pages(table)), ""])
    if docname == "reference/api":  # from a name to its page, not to its file as on GitHub
        names = [name for name, _ in _NAME.findall(source[0])]
        pages = "\n".join(f"api/{name}" for name in names)
        source[0] = _NAME.sub(r"| [`\1`](api/\1.rst)", source[0])
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    if docname == "papers/README":
        pages = "\n".join(_pages(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


# Names of topics, types and keys are long words: they may break, so that tables fit the page.
_TABLES = """<style>
@media (min-width: 75em) { .main .content { width: 52em } }
table.docutils td { white-space: normal }
table.docutils td:not(:first-child) code { white-space: normal; overflow-wrap: anywhere }
table.docutils td:not(:first-child):has(code) { min-width: 6em }
table.docutils td:last-child { overflow-wrap: anywhere; min-width: 13em }
</style>"""


def _let_tables_wrap(app, pagename, templatename, context, doctree):
    """Style of tables, in the head of the page: a file of its own rosdoc2 would not find."""
    context["metatags"] = context.get("metatags", "") + _TABLES


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", _let_tables_wrap)
    app.connect("builder-inited", _write_api_pages)
    app.connect("source-read", _add_navigation)
