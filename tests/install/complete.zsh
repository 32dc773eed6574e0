# complete.zsh FOLDER LINE: prints what zsh offers at the end of LINE, with the completions in FOLDER. A
# second zsh completes on a terminal of its own, and every word that it is given is written to a file.
zmodload zsh/zpty
folder=$1 line=$2
seen=$(mktemp)
zpty shell zsh -f -i
zpty -w shell "PROMPT= fpath=('$folder' \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "zstyle ':completion:*' list-max 0; unsetopt list_ambiguous automenu; LISTMAX=1000"
# What compadd would add, after it has taken out what does not match.
zpty -w shell "compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
  typeset -a found hidden; local suffix=
  builtin compadd -A found \"\$@\"
  [[ -n \${(M)@:#-(S|qS)} ]] && suffix=\${@[\$@[(i)-S]+1]}
  local word; for word in \$found; do
    [[ -d \$IPREFIX\$PREFIX && -z \$word ]] && continue
    print -r -- \"\$IPREFIX\$word\" >> '$seen'
  done
  builtin compadd \"\$@\"
}"
zpty -w shell "done-with-it() { print -r -- '=done=' >> '$seen' }; zle -N done-with-it; bindkey '^X^D' done-with-it"
zpty -w shell "print ready > '$seen.ready'"
for _ in {1..200}; do [[ -e $seen.ready ]] && break; sleep 0.05; done
: > $seen
zpty -n -w shell "$line"$'\t\x18\x04'
for _ in {1..200}; do grep -q '^=done=$' $seen && break; sleep 0.05; done
grep -v '^=done=$' $seen | while read -r word; do [[ -d $word && $word != */ ]] && word+=/; print -r -- $word; done
zpty -d shell
rm -f $seen $seen.ready
