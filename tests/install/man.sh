#!/usr/bin/env bash
# man.sh WORK_DIR: the installed manual pages are formatted without a warning, have the sections that
# a reader expects, and name no option that the program's help does not have.
set -euo pipefail
prefix=$1/prefix
command -v man >/dev/null || { echo "man-db is not installed; nothing is checked"; exit 77; }

for program in segment diacut-evaluate diacut-bench; do
  page=$prefix/share/man/man1/$program.1.gz
  warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
    man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
  [[ -z "$warnings" ]] || { echo "$program.1: $warnings" >&2; exit 1; }
  if command -v mandoc >/dev/null; then
    gzip -dc "$page" | mandoc -Tlint -Wwarning
  fi
  text=$(LC_ALL=C.UTF-8 MANWIDTH=80 man -l "$page" | sed 's/.\x08//g')
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES 'SEE ALSO'; do
    grep -qx "$section" <<<"$text" || { echo "$program.1 has no section $section" >&2; exit 1; }
  done

  help=$("$prefix/bin/$program" --help all)
  if [[ $program == segment ]]; then
    for subcommand in recut annotate graph tile join paint doctor; do
      help+=$'\n'$("$prefix/bin/segment" "$subcommand" --help)
    done
  fi
  if [[ $program == diacut-bench ]]; then
    while read -r subcommand; do
      help+=$'\n'$("$prefix/bin/$program" "$subcommand" --help)
    done < <(sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p' <<<"$help")
  fi
  options() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }
  # A name that is broken at the end of a line is not looked at.
  unknown=$(comm -23 <(gzip -dc "$page" | sed 's/\\-/-/g; s/^\.\\".*//' | options) \
    <(options <<<"$help"$'\n--generate'))
  if [[ $program == diacut-bench ]]; then unknown=$(grep -vx -- '--matvec' <<<"$unknown" || true); fi
  [[ -z "$unknown" ]] || { echo "$program.1 names options that there are not: $unknown" >&2; exit 1; }
  missing=$(comm -13 <(gzip -dc "$page" | sed 's/\\-/-/g' | options) \
    <(sed -n 's/^ *\(-[a-z], *\|-[a-z],\)\{0,1\}\(--[a-z-]*\).*/\2/p' <<<"$help" | sort -u))
  [[ -z "$missing" ]] || { echo "$program.1 lacks options: $missing" >&2; exit 1; }
done
