# Loads a persistent session into a bash, for the command that the caller evaluates next:
#   bash -c '. "$1"; eval "$__umbo_text"; …' umbo THIS STATE PROFILE SAVE DIRECTORY COMMAND [NAME...]
# STATE is what the session has so far, if there is such a file by now; otherwise PROFILE is what
# it begins with ("" for neither). SAVE is where the state goes when the command ends, however it
# ends ("" for nowhere). DIRECTORY overrides the state's own ("" keeps it). The variables NAME have
# the value that the environment gives them, not the state.
#
# What runs after the command runs in a subshell whose errors and traces nobody sees: there neither
# a DEBUG trap nor `set -x` of the command shows anything of this.
__umbo_load=$2 __umbo_profile=$3 __umbo_save=$4 __umbo_directory=$5 __umbo_text=$6
shift 6
__umbo_names=() __umbo_values=()
for __umbo_each; do
  # Others are no variables of a shell; what the command starts has them all the same.
  if [[ $__umbo_each == [[:alpha:]_]*([[:alnum:]_]) && -v $__umbo_each ]]; then
    __umbo_names+=("$__umbo_each") __umbo_values+=("${!__umbo_each}")
  fi
done
set --
shopt -s expand_aliases

# All that the next command is to find.
__umbo_dump() {
  local __umbo_name __umbo_options __umbo_trace IFS=$' \t\n'
  for __umbo_name in $(compgen -v); do
    case $__umbo_name in
      BASH* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | IFS | LINENO | OPTIND | PIPESTATUS | \
      PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | UMBO_JOB | _ | __umbo_*) ;;
      *) declare -p -- "$__umbo_name" ;;
    esac
  done
  for __umbo_name in $(compgen -A function); do
    case $__umbo_name in
      __umbo_*) ;;
      exit) [[ $(declare -f exit) == *__umbo_leave* ]] || declare -f exit ;;
      *)
        declare -f -- "$__umbo_name"
        # An exported function stays exported.
        [[ $(declare -pF -- "$__umbo_name") == 'declare -fx '* ]] &&
          printf 'export -f -- %q\n' "$__umbo_name"
        ;;
    esac
  done
  alias -p
  printf 'umask %s\n' "$1"
  printf '__umbo_place=%q\n' "$PWD"
  shopt -p
  # The options come last, and those that show what runs only with the command itself.
  __umbo_options= __umbo_trace=
  while read -r __umbo_name; do
    case $__umbo_name in
      'set -o xtrace' | 'set -o verbose') __umbo_trace+="$__umbo_name; " ;;
      *xtrace | *verbose | *noexec) ;;
      *) __umbo_options+="$__umbo_name;" ;;
    esac
  done <<<"$2"
  printf '__umbo_options=%q __umbo_trace=%q\n' "$__umbo_options" "$__umbo_trace"
}

# Saves the state of the shell that this is a subshell of, and ends with the status before it.
__umbo_keep() {
  local __umbo_status=$? __umbo_options __umbo_umask
  __umbo_options=$(builtin set +o)
  # A command substitution has no errexit, whatever the shell has.
  [[ -o errexit ]] && __umbo_options+=$'\nset -o errexit'
  __umbo_umask=$(umask)
  # What is saved is the command's; how it is saved is not to stop at an error of ours.
  set +euxC
  if [[ -n $__umbo_save ]]; then
    umask 077
    __umbo_dump "$__umbo_umask" "$__umbo_options" >"$__umbo_save.new" &&
      command -p mv -f -- "$__umbo_save.new" "$__umbo_save"
  fi
  builtin exit "$__umbo_status"
}

# The same, unless it is done at the end anyway: the command may have a trap of its own for the
# end, in the place of this one.
__umbo_leave() {
  local __umbo_status=$?
  if [[ $BASH_SUBSHELL == 1 && $(builtin trap -p EXIT) != *__umbo_keep* ]]; then
    (builtin exit "$__umbo_status")
    __umbo_keep
  fi
  builtin exit "$__umbo_status"
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
for __umbo_each in "${!__umbo_names[@]}"; do
  export -- "${__umbo_names[__umbo_each]}=${__umbo_values[__umbo_each]}"
done
if ! declare -F exit >/dev/null; then
  # With a trap of the command's own, this is the last moment to save anything.
  exit() {
    (__umbo_leave) 2>/dev/null {BASH_XTRACEFD}>/dev/null && {
      builtin exit "$@"
    } {BASH_XTRACEFD}>/dev/null || {
      builtin exit "$@"
    } {BASH_XTRACEFD}>/dev/null
  }
fi
__umbo_text=${__umbo_trace-}$__umbo_text
unset __umbo_each __umbo_names __umbo_values __umbo_load __umbo_profile __umbo_directory __umbo_trace
trap '(__umbo_keep) 2>/dev/null {BASH_XTRACEFD}>/dev/null' EXIT
eval "${__umbo_options-}"
