#!/usr/bin/env bash
# The steps of a deployment pipeline. A CI job calls one of them:
#
#   pipeline.sh preview    on a change that is proposed: what would it do? Needs no API key unless the program looks things up
#   pipeline.sh up         on a merge: apply it
#   pipeline.sh drift      on a schedule: exits with 7 when the service differs from the state
#   pipeline.sh repair     by hand, after drift: bring the service back to what the program says
#   pipeline.sh destroy    delete the endpoints; needs no program, only state and environment
#   pipeline.sh remove     the same, and forget the stack: for the stack of a pull request
#   pipeline.sh rehearse   on a change from a fork, which gets no secrets: apply and destroy it at the emulator
#
# Environment:
#   STACK                       the stack (default: dev); made on first use
#   PULUMI_BACKEND_URL          where state is kept; for Pulumi Cloud PULUMI_ACCESS_TOKEN instead
#   PULUMI_CONFIG_PASSPHRASE    or another secrets provider
#   SERVERLESS_GPU_API_KEY      the key; from the CI's secret store, so that a rotated key needs no change of state
#   SERVERLESS_GPU_SERVICE      runpod, or the three SERVERLESS_GPU_…_URL
set -euo pipefail
cd "$(dirname "$0")"

step=${1:?"usage: pipeline.sh preview|up|drift|repair|destroy|remove|rehearse"}

run() {
  local command=$1
  shift
  pulumi stack select --create "${STACK:-dev}" --non-interactive >/dev/null
  pulumi "$command" --stack "${STACK:-dev}" --non-interactive --color never "$@"
}

# Beside the emulator, with a backend that is thrown away: nothing of the real account or state can be reached.
rehearse() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export STACK=rehearsal PULUMI_BACKEND_URL="file://$scratch" PULUMI_CONFIG_PASSPHRASE=rehearsal
  unset PULUMI_ACCESS_TOKEN SERVERLESS_GPU_SERVICE
  npx serverless-gpu emulator exec --drain-ms 0 -- bash -c './pipeline.sh up && ./pipeline.sh destroy'
}

case $step in
  preview) run preview --diff ;;
  up) run up --yes ;;
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
