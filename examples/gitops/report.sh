#!/usr/bin/env bash
# Runs a step of pipeline.sh and writes its output to report.md, as Markdown for a comment or an issue; post.js posts it.
# Also prints the output, and exits with the step's exit code.
set -euo pipefail
cd "$(dirname "$0")"

step=${1:?"usage: report.sh <step of pipeline.sh>"}
stack=${STACK:?"report.sh: set STACK to the stack's name"}

rm -f check.md
output=$(mktemp)
trap 'rm -f "$output"' EXIT
code=0
./pipeline.sh "$step" 2>&1 | tee "$output" || code=$?

case "$step $code" in
  "preview 0") title="What a merge would do to the stack \`$stack\`" ;;
  "preview 3") title="A merge would exceed a cap of the stack \`$stack\`" ;;
  "preview 4") title="A merge would be dangerous for the stack \`$stack\`" ;;
  "up 3") title="The environment \`$stack\` would exceed a cap, and nothing was created" ;;
  "up 4") title="The environment \`$stack\` cannot start, and nothing was created" ;;
  "drift 0") title="No drift in the stack \`$stack\`" ;;
  "drift 7") title="Drift in the stack \`$stack\`: the service differs from what was last deployed" ;;
  *" 0") title="\`$step\` of the stack \`$stack\` succeeded" ;;
  *) title="\`$step\` of the stack \`$stack\` failed with exit code $code" ;;
esac

{
  # The subject. post.js finds the comment or the issue to update by this line.
  echo "<!-- pipeline $step $stack $code -->"
  echo "### $title"
  echo
  if [ "$step $code" = "drift 7" ]; then
    echo "To bring the service back, run the step \`repair\`. To keep the change, put it into the program and merge that."
    echo
  fi
  if [ -s check.md ]; then
    cat check.md
    echo
  fi
  # Indented, because the output could end a fenced block.
  sed 's/^/    /' "$output"
} >report.md
if [ -s check.md ]; then cat check.md; fi

exit "$code"
