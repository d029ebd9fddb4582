# Every command runs in the project's own environment, which tools/run makes on first use.
# NAME chooses the mechanism of the demo, ARGS adds arguments: make test ARGS="-k four_bar"

.PHONY: help demo test test-all test-beside test-alone test-compilers lint docs format clean distclean
.DEFAULT_GOAL := help

help:
	@echo 'make demo [NAME=...]  a closed-loop mechanism moves under servo control'
	@echo 'make test [ARGS=...]  tests, in some minutes'
	@echo 'make test-all         all tests, also slow ones and matrices: what CI runs'
	@echo 'make test-compilers   compiled code of every GCC and Clang, for every processor; ARGS=--help'
	@echo 'make lint             style, types and layers'
	@echo 'make docs             the documentation as a site, in out/docs'
	@echo 'make format           put the code in its usual form'
	@echo 'make clean            remove what was built'
	@echo 'make distclean        remove the environments too'

demo:
	@tools/run uk_dynamics demo $(NAME) --out out/demo $(ARGS)

# With -O1, tests of compiled code take two thirds of the time. At the package's own levels they run
# in test-all, at every level in test-compilers.
test:
	@CC="$${CC:-$$(command -v cc || command -v gcc || command -v clang) -O1}" \
		tools/run pytest --numprocesses auto --dist loadgroup -m "not slow" $(ARGS)

test-all: test-beside test-alone

# Exit code 5: ARGS has chosen none of them.
test-beside:
	@tools/run pytest --numprocesses auto --dist loadgroup -m "not alone" $(ARGS) || [ $$? = 5 ]

test-alone:
	@tools/run pytest -m alone $(ARGS) || [ $$? = 5 ]

test-compilers:
	@tools/run python test/compilers $(ARGS)

lint:
	@tools/run ruff check .
	@tools/run ruff format --check .
	@tools/run mypy
	@tools/run python tools/lint_c.py
	@tools/run pytest --quiet test/test_layers.py .ci/test_typing.py

docs:
	@tools/run python -m docs.generate
	@tools/run sphinx-build --quiet --fail-on-warning --keep-going docs out/docs
	@echo "out/docs/index.html"

format:
	@tools/run ruff check --fix .
	@tools/run ruff format .

clean:
	rm -rf build install log out *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .venv-kilted
