#!/bin/sh
# Runs a hook with the Python that `graph-memory connect` wrote down, else with python3. Whatever goes wrong,
# the program gets an empty answer and a good exit: a broken memory never breaks a session.
case $1 in
codex) home=${CODEX_HOME:-$HOME/.codex} ;;
*) home=${CLAUDE_CONFIG_DIR:-$HOME/.claude} ;;
esac
python=$(cat "$home/graph-memory/python" 2>/dev/null)
[ -x "$python" ] || python=python3
"$python" -s -S -E -B "$(dirname "$0")/hook.py" "$1" "$home" 2>/dev/null || echo '{}'
exit 0
