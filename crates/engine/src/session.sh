# Runs one command of a persistent session in bash:
#   bash -c THIS umbo STATE PROFILE SAVE DIRECTORY COMMAND [NAME=VALUE...]
# STATE is what the session has so far, if there is such a file by now; otherwise PROFILE is what
# it begins with ("" for neither). SAVE is where the state goes when the command ends, however it
# ends ("" for nowhere). DIRECTORY overrides the state's own ("" keeps it).
__umbo_load=$1 __umbo_profile=$2 __umbo_save=$3 __umbo_directory=$4 __umbo_command=$5
shift 5
__umbo_set=("$@")
set --
shopt -s expand_aliases

__umbo_dump() {
  local __umbo_name
  for __umbo_name in $(compgen -v); do
    case $__umbo_name in
      BASH* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | IFS | LINENO | OPTIND | PIPESTATUS | \
      PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | UMBO_JOB | _ | __umbo_*) ;;
      *) declare -p -- "$__umbo_name" ;;
    esac
  done 2>/dev/null
  for __umbo_name in $(compgen -A function); do
    case $__umbo_name in
      __umbo_*) ;;
      *)
        declare -f -- "$__umbo_name"
        # An exported function stays exported.
        [[ $(declare -pF -- "$__umbo_name") == 'declare -fx '* ]] &&
          printf 'export -f -- %q\n' "$__umbo_name"
        ;;
    esac
  done 2>/dev/null
  alias -p
  printf 'umask %s\n' "$__umbo_umask"
  printf '__umbo_place=%q\n' "$PWD"
  shopt -p
  printf '%s\n' "$__umbo_options"
}

__umbo_keep() {
  local __umbo_options __umbo_umask IFS=$' \t\n'
  __umbo_options=$(set +o)
  # A command substitution has no errexit, whatever the shell has.
  [[ -o errexit ]] && __umbo_options+=$'\nset -e'
  __umbo_umask=$(umask)
  # What is saved is the command's; how it is saved is not to stop at an error of ours.
  set +eu
  if [[ -n $__umbo_save ]]; then
    (umask 077; __umbo_dump >"$__umbo_save.new") &&
      command -p mv -f -- "$__umbo_save.new" "$__umbo_save"
  fi
}

__umbo_leave() {
  local __umbo_status=$?
  __umbo_keep
  exit "$__umbo_status"
}

if [[ ! -f $__umbo_load ]]; then
  # A profile was read elsewhere; its directory is not where this command is to run.
  __umbo_load=$__umbo_profile __umbo_directory=${__umbo_directory:-$PWD}
fi
if [[ -n $__umbo_load ]]; then
  # Read-only variables complain when they are set again; they have their value already.
  . "$__umbo_load" 2>/dev/null
fi
__umbo_directory=${__umbo_directory:-${__umbo_place-}}
if [[ -n $__umbo_directory ]] && ! cd -- "$__umbo_directory"; then
  # Somewhere else the command could do harm.
  echo "umbo: the session's directory is gone; run it once with --cwd to choose another" >&2
  exit 125
fi
for __umbo_each in ${__umbo_set[@]+"${__umbo_set[@]}"}; do
  export -- "$__umbo_each"
done
unset __umbo_each
trap __umbo_leave EXIT
eval "$__umbo_command"
__umbo_status=$?
# The command may have a trap of its own for the end, in the place of this one.
if [[ $(trap -p EXIT) != *__umbo_leave* ]]; then
  __umbo_keep
fi
exit "$__umbo_status"
