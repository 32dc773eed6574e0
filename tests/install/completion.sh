#!/usr/bin/env bash
# completion.sh WORK_DIR TEST_DIR: bash, zsh and fish complete the command lines of the installed programs.
# A shell that is not installed is left out, with a message.
set -euo pipefail
work=$1 tests=$2
share=$work/prefix/share
export PATH=$work/prefix/bin:$PATH

folder=$work/completion
rm -rf "$folder"
mkdir -p "$folder/photos"
cd "$folder"
touch a.jpg b.png c.toml d.tree e.npy f.txt g.safetensors h.mtx h.json i.npz
export HOME=$folder

# Each line: what is typed, "|", words that must be offered, "|", words that must not.
cases() {
  cat <<'TEXT'
segment --reg|--regions|--method recut
segment --m|--method --max-ncut --min-size --matvec --memory|--regions
segment --method |hierarchy kway|a.jpg
segment --boundary |learned gradient|f.txt
segment --solver |auto multilevel lanczos spectra|a.jpg
segment --matvec sym|symmetric|naive
segment --config |fast quality c.toml|f.txt
segment --weights |fast default nuclei g.safetensors|f.txt
segment --weights fast,n|fast,nuclei|
segment --set eigen.vec|eigen.vectors=|a.jpg
segment --tree |d.tree|f.txt
segment -o |b.png e.npy|f.txt
segment --eigenvectors |photos/|f.txt
segment --device |auto gpu cpu|f.txt
segment |recut annotate graph tile join paint doctor a.jpg b.png photos/|f.txt
segment recut |d.tree|f.txt
segment recut --|--regions --threshold --image --auto|--method
segment graph |i.npz|f.txt
segment graph --|--vectors --clusters --labels --device|--method
segment doctor --|--json --device --kernel-dir|--method
segment doctor --json |h.json|f.txt
diacut-evaluate --k|--kind|--truth
diacut-evaluate --kind |auto contours labels ultrametric|a.jpg
diacut-evaluate --truth |photos/|f.txt
diacut-bench |control spmv formats eigen tune|f.txt
diacut-bench eigen --boundary |learned gradient|f.txt
diacut-bench eigen --solvers multilevel,l|multilevel,lanczos|f.txt
diacut-bench formats --|--formats --classes|--solvers
diacut-bench formats |h.mtx|f.txt
TEXT
}

failures=0
# check SHELL: `complete_in SHELL LINE` prints what the shell offers, a word on each line.
check() {
  local shell=$1 line wanted unwanted offered word
  while IFS='|' read -r line wanted unwanted; do
    offered=$("complete_in_$shell" "$line")
    for word in $wanted; do
      if ! grep -qxF -- "$word" <<<"$offered"; then
        printf "%s: '%s' does not offer '%s', only:\n%s\n" "$shell" "$line" "$word" "$offered" >&2
        failures=$((failures + 1))
      fi
    done
    for word in $unwanted; do
      if grep -qxF -- "$word" <<<"$offered"; then
        echo "$shell: '$line' offers '$word'" >&2
        failures=$((failures + 1))
      fi
    done
  done < <(cases)
}

complete_in_bash() { bash --norc "$tests/complete.bash" "$share/bash-completion/completions" "$1"; }
complete_in_zsh() { zsh -f "$tests/complete.zsh" "$share/zsh/vendor-completions" "$1"; }
complete_in_fish() {
  # A description follows each word after a tab.
  fish --no-config --command "source '$share/fish/vendor_completions.d/${1%% *}.fish'
    complete --do-complete '$1'" | cut -f 1
}

for shell in bash zsh fish; do
  for program in segment diacut-evaluate diacut-bench; do
    case $shell in
      bash) file=$share/bash-completion/completions/$program ;;
      zsh) file=$share/zsh/vendor-completions/_$program ;;
      fish) file=$share/fish/vendor_completions.d/$program.fish ;;
    esac
    [[ -s "$file" ]] || { echo "$file is not there" >&2; exit 1; }
    if command -v "$shell" >/dev/null; then "$shell" -n "$file"; fi
  done
  if ! command -v "$shell" >/dev/null; then
    echo "$shell is not installed: its completions are not tried"
  elif [[ $shell == bash && ! -e /usr/share/bash-completion/bash_completion ]]; then
    echo "bash-completion is not installed: bash's completions are not tried"
  else
    check "$shell"
    echo "$shell: completions tried"
  fi
done
((failures == 0))
