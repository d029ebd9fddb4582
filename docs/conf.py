# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Sphinx builds the site from the pages in this directory: `make docs`.

rosdoc2 runs this file from a copy of the directory; nothing here may depend on where it stands.
"""

import importlib
import re
from pathlib import Path

import uk_dynamics

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
# These are shown by name, not spelt out.
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "NonidealFunction")}
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

nitpicky = True
nitpick_ignore_regex = [
    (r"py:class", r".*"),  # signatures name types that have no entry of their own
    (r"py:.*", r"(?!uk_dynamics\b).*"),  # other projects' documentation needs a network
]


def _pages(table):
    """Pages that the rows of a table begin with."""
    return re.findall(r"^\| \[[^\]]*\]\(([^)#]+)\.md\)", table, flags=re.MULTILINE)


def _add_navigation(app, docname, source):
    """Make navigation of the tables of pages in README.md and papers/README.md."""
    if docname == "index":
        listing = (Path(app.srcdir) / "README.md").read_text(encoding="utf-8")
        for section in re.split(r"^## ", listing, flags=re.MULTILINE)[1:]:
            caption, _, table = section.partition("\n")
            lines = ["", ".. toctree::", "   :hidden:", f"   :caption: {caption}", ""]
            source[0] += "\n".join([*lines, *(f"   {page}" for page in _pages(table)), ""])
    if docname == "papers/README":
        pages = "\n".join(_pages(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


# A row of reference/api.md: a name, in bold or not, and the module that it lives in.
_NAME = re.compile(r"^\| (\**)\[`(\w+)`\]\(\.\./\.\./(\S+)\.py\)", flags=re.MULTILINE)


def _api_page(name, module):
    """The page about a name; errors share one."""
    return "errors" if module.endswith("/exceptions") else name


def _api_text(name, module):
    """The page about a name, or about all errors, for autodoc to fill in."""
    home = module.replace("/", ".")
    if _api_page(name, module) == "errors":
        return f"Errors\n======\n\n.. automodule:: {home}\n   :members:\n   :show-inheritance:\n"
    if name in uk_dynamics.__all__:
        home = "uk_dynamics"
    is_class = isinstance(getattr(importlib.import_module(home), name), type)
    directive = "autoclass" if is_class else "autofunction"
    members = "   :members:\n" if is_class else ""
    title = f"{name}\n{'=' * len(name)}\n\n``from {home} import {name}``\n\n"
    return f"{title}.. {directive}:: {home}.{name}\n{members}"


def _write_api_pages(app):
    """Write a page for each name that reference/api.md lists."""
    directory = Path(app.srcdir) / "reference" / "api"
    index = directory.with_suffix(".md").read_text(encoding="utf-8")
    rows = [(name, module) for _, name, module in _NAME.findall(index)]
    pages = {f"{_api_page(*row)}.rst": _api_text(*row) for row in rows}
    directory.mkdir(exist_ok=True)
    for path in directory.iterdir():
        if path.name not in pages:
            path.unlink()
    for file, text in pages.items():
        path = directory / file
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")  # only then is it rendered again


def _link_api_pages(app, docname, source):
    """Names in reference/api.md lead to their pages; on GitHub they lead to their source."""
    if docname == "reference/api":
        pages = dict.fromkeys(
            _api_page(name, module) for _, name, module in _NAME.findall(source[0])
        )
        links = "\n".join(f"api/{page}" for page in pages)
        source[0] = _NAME.sub(
            lambda row: f"| {row[1]}[`{row[2]}`](api/{_api_page(row[2], row[3])}.rst)", source[0]
        )
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{links}\n```\n"


def _skip_tuple_fields(app, what, name, obj, skip, options):
    """Fields of named tuples are described by the docstring of their class."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def _name_types(app, what, name, obj, options, signature, result):
    """Sphinx writes aliases within other types as it keeps them; only their names are of use."""
    alias = re.compile(r"(?:\w+\.)*TypeAliasForwardRef\('(\w+)'\)")
    if signature is None:
        return None
    return alias.sub(r"\1", signature), alias.sub(r"\1", result) if result else result


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
    app.connect("source-read", _add_navigation)
    app.connect("builder-inited", _write_api_pages)
    app.connect("source-read", _link_api_pages)
    app.connect("autodoc-process-signature", _name_types)
    app.connect("autodoc-skip-member", _skip_tuple_fields)
