#!/usr/bin/env bash
# The steps of a deployment pipeline. A CI job calls one of them:
#
#   pipeline.sh preview    for a proposed change: shows what it would do. Needs no API key unless the program uses data sources
#                          With a load.csv it also forecasts delay and cost
#   pipeline.sh up         after a merge: applies it
#   pipeline.sh drift      on a schedule: exits with 7 if the service differs from the state
#   pipeline.sh repair     manually, after drift: restores the values of the program
#   pipeline.sh destroy    deletes the endpoints; needs only state and environment, not the program
#   pipeline.sh remove     the same, and deletes the stack: for the stack of a pull request
#   pipeline.sh rehearse   for a change from a fork, which gets no secrets: applies it to the emulator and destroys it
#
# Environment:
#   STACK                       the stack (default: dev); created on first use
#   PULUMI_BACKEND_URL          the backend of the state; for Pulumi Cloud set PULUMI_ACCESS_TOKEN instead
#   PULUMI_CONFIG_PASSPHRASE    or another secrets provider
#   SERVERLESS_GPU_API_KEY      the key; from the CI's secret store, so that a rotated key does not change the state
#   SERVERLESS_GPU_SERVICE      runpod, or set the three SERVERLESS_GPU_…_URL
#   PLAN                        optional: the file in which preview saves its plan, and which up applies and nothing else
set -euo pipefail
cd "$(dirname "$0")"

step=${1:?"usage: pipeline.sh preview|up|drift|repair|destroy|remove|rehearse"}

run() {
  local command=$1
  shift
  pulumi stack select --create "${STACK:-dev}" --non-interactive >/dev/null
  pulumi "$command" --stack "${STACK:-dev}" --non-interactive --color never "$@"
}

# Also forecasts delay and cost, before and after, if the repository has a log of jobs. Limits such as --max-cost 50/month would
# fail the step.
preview() {
  run preview --diff ${PLAN:+--save-plan "$PLAN"}
  if [ -f load.csv ]; then npx serverless-gpu forecast --load load.csv --stack "${STACK:-dev}" --program; fi
}

# Uses the emulator and a temporary backend, so that it cannot reach the real account or state.
rehearse() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export STACK=rehearsal PULUMI_BACKEND_URL="file://$scratch" PULUMI_CONFIG_PASSPHRASE=rehearsal
  unset PULUMI_ACCESS_TOKEN SERVERLESS_GPU_SERVICE
  npx serverless-gpu emulator exec --drain-ms 0 -- bash -c './pipeline.sh up && ./pipeline.sh destroy'
}

case $step in
  preview) preview ;;
  up) run up --yes ${PLAN:+--plan "$PLAN"} ;;
  drift) run refresh --preview-only --expect-no-changes --diff ;;
  repair) run up --refresh --yes ;;
  destroy) run destroy --yes ;;
  remove) run destroy --remove --yes ;;
  rehearse) rehearse ;;
  *)
    echo "pipeline.sh: there is no step \"$step\": use preview, up, drift, repair, destroy, remove or rehearse" >&2
    exit 2
    ;;
esac
