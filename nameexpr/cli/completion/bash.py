"""The completion script for bash, 3.2 and later: a function over tables that are made from the commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from nameexpr.cli.completion.completion import Completed, completed
from nameexpr.cli.rows import NAMES

_SCRIPT = r"""# bash completion of nameexpr, made by: nameexpr completion bash

_nameexpr_words() {  # the words that begin with $1, of those in $2
    local word
    for word in $2; do
        [[ $word == "$1"* ]] && COMPREPLY+=("$word")
    done
}

_nameexpr_files() {  # folders, and files with one of the suffixes behind $1, or any without suffixes
    local typed=$1 file suffix
    shift
    case $typed in
        [\'\"]*) typed=${typed:1} ;;
        *) typed=${typed//\\/} ;;
    esac
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do
        if [[ $# -eq 0 || -d ${file/#\~\//$HOME/} ]]; then
            COMPREPLY+=("$file")
            continue
        fi
        for suffix in "$@"; do
            [[ $file == *"$suffix" ]] && COMPREPLY+=("$file")
        done
    done < <(compgen -f -- "$typed")
}

_nameexpr_table() {  # what the command $1 has: options, those with a value, operands
    words='' suffixes='' text=''
    case $1 in
@TABLE@
    esac
}

_nameexpr_value() {  # the values of the option $2 of the command $1
    case $1:$2 in
@VALUES@
    esac
}

_nameexpr() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} options valued words suffixes text word place
    local operands=0 is_plain=0 is_named=0
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        _nameexpr_words "$current" '@COMMANDS@ help --help --version'
        return
    fi
    if [[ $command == help ]]; then
        [[ $COMP_CWORD -eq 2 ]] && _nameexpr_words "$current" '@COMMANDS@'
        return
    fi
    _nameexpr_table "$command"
    for ((place = 2; place < COMP_CWORD; place++)); do
        word=${COMP_WORDS[place]}
        if [[ $is_plain -eq 0 && $word == -- ]]; then
            is_plain=1
        elif [[ $is_plain -eq 0 && $word == -?* ]]; then
            [[ " $valued " == *" $word "* ]] && ((place++))
        # Bash parts words at equals signs: what stands behind one is a value.
        elif [[ $word != = && ${COMP_WORDS[place-1]} != = ]]; then
            ((operands++))
        fi
    done
    if [[ $current == = ]]; then
        current='' word=$previous is_named=1
    elif [[ $previous == = ]]; then
        word=${COMP_WORDS[COMP_CWORD-2]} is_named=1
    else
        word=$previous
    fi
    if [[ $is_plain -eq 0 && $word == -?* && " $valued " == *" $word "* ]]; then
        _nameexpr_value "$command" "$word"
    elif [[ $is_named -eq 0 && $is_plain -eq 0 && $current == -* ]]; then
        _nameexpr_words "$current" "$options"
    elif [[ -n $text && $operands -eq 0 ]]; then
        return  # an expression
    else
        [[ $is_named -eq 0 ]] && _nameexpr_words "$current" "$words"
        # shellcheck disable=SC2086  suffixes are words
        [[ -n $suffixes ]] && _nameexpr_files "$current" $suffixes
    fi
}

complete -F _nameexpr nameexpr
"""


def script() -> str:
    """Return the script."""
    commands = completed()
    table = "\n".join(_row(command) for command in commands)
    values = "\n".join(_values(commands))
    return (
        _SCRIPT.replace("@TABLE@", table).replace("@VALUES@", values).replace("@COMMANDS@", " ".join(NAMES))
    )


def _row(command: Completed) -> str:
    valued = [name for option in command.options if option.takes_value for name in option.names]
    parts = {
        "options": " ".join(name for option in command.options for name in option.names),
        "valued": " ".join(valued),
        "words": " ".join(command.words),
        "suffixes": " ".join(command.suffixes),
        "text": "1" if command.is_text_first else "",
    }
    assigned = " ".join(f"{name}={shlex.quote(value)}" for name, value in parts.items())
    return f"        {command.row.name}) {assigned} ;;"


def _values(commands: Sequence[Completed]) -> Iterator[str]:
    """Yield a line for all options that take the same values."""
    patterns: dict[str, list[str]] = {}
    for name, option in ((one.row.name, option) for one in commands for option in one.options):
        if option.words:
            call = f'_nameexpr_words "$current" {shlex.quote(" ".join(option.words))}'
        elif option.is_file:
            call = '_nameexpr_files "$current"'
        else:
            continue
        patterns.setdefault(call, []).extend(f"{name}:{spelling}" for spelling in option.names)
    for call, names in patterns.items():
        yield f"        {'|'.join(names)}) {call} ;;"
