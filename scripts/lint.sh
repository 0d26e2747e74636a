# Shared by ./test: layout and types of everything in the tree. Sourced after setup.sh.

sources() { git ls-files -co --exclude-standard -- "$@" | while read -r f; do [ -e "$f" ] && echo "$f"; done; }

lint() {
  say "Checking layout and types"
  local failed=0
  sources '*.cpp' '*.h' '*.cu' '*.cuh' | xargs "$venv/bin/clang-format" --dry-run --Werror --ferror-limit=3 \
    || { echo "clang-format would change these: $venv/bin/clang-format -i FILE" >&2; failed=1; }
  "$venv/bin/ruff" check --quiet . && "$venv/bin/ruff" format --check --quiet . \
    || { echo "ruff would change these: $venv/bin/ruff check --fix . && $venv/bin/ruff format ." >&2; failed=1; }
  MYPYPATH=python "$venv/bin/mypy" --python-executable "$venv/bin/python" --no-error-summary || failed=1
  return $failed
}

# Outside the ordinary tests: it reads every file as a compiler does, which takes a while.
tidy() {
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$tidy_package" >"$root/build/pip.log" 2>&1 \
    || { tail -n 20 "$root/build/pip.log" >&2; die "pip failed; see build/pip.log"; }
  say "Reading every file with clang-tidy"
  # omp.h comes with the compiler, not with clang-tidy.
  local omp; omp=$(dirname "$(g++ -print-file-name=include/omp.h)")
  "$venv/bin/run-clang-tidy.py" -quiet -p "$root/build/release" -extra-arg=-w -extra-arg=-idirafter"$omp" \
    -clang-tidy-binary "$venv/bin/clang-tidy" -j "$(nproc)" "$root/(holdfast|python/bind|tests|examples)/" >"$root/build/tidy.log" 2>&1 \
    || { grep -E 'error|warning' "$root/build/tidy.log" | sort -u | head -n 60 >&2; die "clang-tidy found something; see build/tidy.log"; }
}
