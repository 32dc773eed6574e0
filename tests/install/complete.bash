# complete.bash FOLDER LINE: prints what bash offers at the end of LINE, with the completions in FOLDER.
# Words are split as Readline does it, at = and : too.
folder=$1 COMP_LINE=$2
source /usr/share/bash-completion/bash_completion
program=${COMP_LINE%% *}
source "$folder/$program"
compopt() { :; }
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
COMP_KEY=9
split=$(sed 's/[=:]\+/ & /g' <<<"$COMP_LINE")
read -ra COMP_WORDS <<<"$split"
[[ "$COMP_LINE" == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
function=$(complete -p "$program" | sed 's/.*-F \([^ ]*\).*/\1/')
"$function" "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
for word in "${COMPREPLY[@]}"; do
  # Readline marks folders itself.
  [[ -d "$word" && $word != */ ]] && word+=/
  echo "$word"
done
