#!/bin/sh
# The matches behind ENGINE_RESULTS.md; each goes on from its file when it was stopped. Arguments: folder, pairs, jobs.
set -eu
folder=$1 pairs=${2:-200} jobs=${3:-2}
pools="--pool winder --pool ratchet --pool fulcrum --pool anchor --pool mainspring --pool eclipse"
match="python -m bridge.cli.main match kiri:stockfish stockfish --openings held-out --nodes 4000 --seed 1 --jobs $jobs"
# shellcheck disable=SC2086  # words are meant to be split
$match $pools --pairs "$pairs" -o "$folder/fixed.jsonl"
# shellcheck disable=SC2086
$match $pools --pairs "$pairs" --time own -o "$folder/own.jsonl"
# shellcheck disable=SC2086
python -m bridge.cli.main match kiri,builtin=true random $pools --nodes 300 --pairs 20 --jobs "$jobs" -o "$folder/random.jsonl"
