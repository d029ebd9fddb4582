"""Text to functions: a typed expression tree, its parser, its derivatives and its back-ends.

Text is read by a whitelist over Python's own grammar into a tree (:mod:`.parser`, :mod:`.nodes`),
differentiated once (:mod:`.differentiation`) and evaluated by a back-end: a flat Python function
(:mod:`.python_function`), or any other algebra that :func:`.evaluation.evaluate` is given.
"""
