#!/usr/bin/env bash
# The steps of a deployment pipeline. A CI job calls one of them:
#
#   pipeline.sh preview   on a change that is proposed: what would it do?
#   pipeline.sh up        on a merge: apply it
#   pipeline.sh drift     on a schedule: exits with 7 when the service differs from the state
#   pipeline.sh destroy   when the stack is no longer wanted; needs no program, only state and environment
#
# Environment:
#   STACK                       the stack (default: dev); made on first use
#   PULUMI_BACKEND_URL          where state is kept
#   PULUMI_CONFIG_PASSPHRASE    or another secrets provider
#   SERVERLESS_GPU_API_KEY      the key; from the CI's secret store, so that a rotated key needs no change of state
#   SERVERLESS_GPU_SERVICE      runpod, or the three SERVERLESS_GPU_…_URL
set -euo pipefail

step=${1:?"usage: pipeline.sh preview|up|drift|destroy"}
stack=${STACK:-dev}
common=(--stack "$stack" --non-interactive --color never)

cd "${PROGRAM_DIR:-$(dirname "$0")}"
pulumi stack select --create "$stack" --non-interactive >/dev/null

case $step in
  preview) pulumi preview "${common[@]}" --diff ;;
  up) pulumi up "${common[@]}" --yes ;;
  drift) pulumi refresh "${common[@]}" --preview-only --expect-no-changes --diff ;;
  destroy) pulumi destroy "${common[@]}" --yes ;;
  *)
    echo "pipeline.sh: there is no step \"$step\": use preview, up, drift or destroy" >&2
    exit 2
    ;;
esac
