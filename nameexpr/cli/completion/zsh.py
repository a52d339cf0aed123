"""The completion script for zsh: a list of commands, and the specifications of `_arguments` for each."""

from __future__ import annotations

from nameexpr.cli.completion.completion import Completed, Option, completed

_SCRIPT = r"""#compdef nameexpr
# zsh completion of nameexpr, made by: nameexpr completion zsh

_nameexpr_files() {  # files with one of the suffixes, also behind name=
    compset -P '[^=]#='
    _files -g "*($1)(-.)"
}

_nameexpr_operand() {  # $1 words, $2 suffixes, as patterns
    [[ -n $1 && $PREFIX != *=* ]] && compadd -- ${=1}
    [[ -n $2 ]] && _nameexpr_files "$2"
}

_nameexpr() {
    local curcontext=$curcontext state line
    local -a commands
    typeset -A opt_args
    setopt localoptions extendedglob
    commands=(
@COMMANDS@
    )
    _arguments -C '(- *)'{-h,--help}'[show help]' '(- *)--version[show the version]' \
        '1:command:->command' '*::argument:->argument' && return
    case $state in
        command) _describe -t commands command commands ;;
        argument)
            case $words[1] in
                help) (( CURRENT == 2 )) && _describe -t commands command commands ;;
@TABLE@
            esac ;;
    esac
}

if [[ $funcstack[1] == _nameexpr ]]; then
    _nameexpr "$@"
else
    compdef _nameexpr nameexpr
fi
"""


def script() -> str:
    """Return the script."""
    commands = completed()
    listed = [f"        {_quoted(_escaped(one.row.name) + ':' + one.row.summary)}" for one in commands]
    listed.append("        'help:show the help of a command'")
    table = "\n".join(_row(command) for command in commands)
    return _SCRIPT.replace("@COMMANDS@", "\n".join(listed)).replace("@TABLE@", table)


def _row(command: Completed) -> str:
    specifications = [spec for option in command.options for spec in _option(option)]
    if command.is_text_first:
        specifications.append(_quoted("1:expression: "))
    if command.words or command.suffixes:
        call = f"_nameexpr_operand {_quoted(' '.join(command.words))} {_quoted('|'.join(command.suffixes))}"
        # The space keeps `_arguments` from putting words of its own before ours.
        specifications.append(_quoted(f"*:operand: {call}"))
    lines = " \\\n".join(f"                        {one}" for one in specifications)
    return f"                {command.row.name})\n                    _arguments -S \\\n{lines} ;;"


def _option(option: Option) -> list[str]:
    value = ""
    if option.takes_value:
        words = f"({' '.join(option.words)})" if option.words else "_files" if option.is_file else " "
        value = f":value:{words}"
    # Both spellings of a value are taken: --name value, --name=value.
    joint = {name: "=" if name.startswith("--") and value else "" for name in option.names}
    return [_quoted(f"{name}{joint[name]}[{_escaped(option.help)}]{value}") for name in option.names]


def _escaped(text: str) -> str:
    for mark in ("\\", "[", "]", ":"):
        text = text.replace(mark, f"\\{mark}")
    return text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
