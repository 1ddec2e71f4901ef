#!/usr/bin/env bash
# The steps of a deployment pipeline. A CI job calls one of them:
#
#   pipeline.sh preview    for a proposed change: shows what it would do. Needs no API key unless the program uses data sources
#                          With CHECK it also checks the change, and fails if a cap of CHECK is exceeded, or if there is a danger
#   pipeline.sh up         after a merge: applies it. With CHECK and without PLAN, for the environment of a request, it first
#                          checks the program, and creates nothing that exceeds a cap. If the state contains pending operations
#                          of a killed run, it reads the service first. With PLAN it then fails, unless only creates are pending
#   pipeline.sh drift      on a schedule: exits with 7 if the service differs from the state
#   pipeline.sh repair     manually, after drift: restores the values of the program
#   pipeline.sh auto-repair on a schedule: the same, unless the last up of this commit failed or was killed. A release that
#                          failed its test is then tried again only by a person, or by the next commit
#   pipeline.sh tick       on a schedule, such as every 15 minutes: applies the worker counts that schedules and getSpend decide, and
#                          nothing else. Fails if anything else differs. It must not run beside up. With --dry-run it lists the changes to come: tick --dry-run
#                          --from 2026-12-01 --to 2027-01-01
#   pipeline.sh deployed   prints the commit of the last up that succeeded, which tick applies
#   pipeline.sh destroy    deletes the endpoints; needs only state and environment, not the program
#   pipeline.sh remove     the same, and deletes the stack: for the stack of a pull request
#   pipeline.sh sweep      on a schedule: removes the environments of requests (stacks pr-…) that were not updated for TTL_HOURS,
#                          and those of killed jobs; then lists what no stack manages. Fails at the end if a removal failed
#                          or something is left, so that somebody looks. It must not run beside the up of an environment
#   pipeline.sh rehearse   for a change from a fork, which gets no secrets: creates everything at the emulator and destroys it. With
#                          REHEARSAL, for a trusted request: updates a copy of the stack at the emulator. Writes rehearsal.md
#
# Environment:
#   STACK                       the stack (default: dev); created on first use. With PLAN, commit its file, Pulumi.<stack>.yaml
#   PULUMI_BACKEND_URL          the backend of the state; for Pulumi Cloud set PULUMI_ACCESS_TOKEN instead
#   PULUMI_CONFIG_PASSPHRASE    or another secrets provider
#   SERVERLESS_GPU_API_KEY      the key; from the CI's secret store, so that a rotated key does not change the state
#   SERVERLESS_GPU_SERVICE      runpod, or set the three SERVERLESS_GPU_…_URL
#   CHECK                       optional: options of serverless-gpu check, such as --max-per-hour 20 --max-at-rest 2. Preview then writes
#                               check.md. With a key in the environment it also checks stock and the account's quota
#   REHEARSAL                   optional: options of serverless-gpu check --rehearse, such as --from-state --load load.csv. Without them,
#                               rehearse needs no backend, and uses only the config in Pulumi.<stack>.yaml
#   TTL_HOURS                   for sweep: how long an environment lives after its last update (default: 168, a week)
#   PLAN                        optional: the file in which preview saves its plan. up applies exactly this plan, or fails
set -euo pipefail
cd "$(dirname "$0")"

step=${1:?"usage: pipeline.sh preview|up|drift|repair|auto-repair|tick|deployed|destroy|remove|sweep|rehearse"}
shift

select_stack() { pulumi stack select --create "${STACK:-dev}" --non-interactive >/dev/null; }

run() {
  local command=$1
  shift
  select_stack
  pulumi "$command" --stack "${STACK:-dev}" --non-interactive --color never "$@"
}

preview() {
  if [ -n "${PLAN:-}" ]; then
    local pending had_file=
    if [ -f "$(stack_file)" ]; then had_file=yes; fi
    mkdir -p "$(dirname "$PLAN")"
    run preview --diff --save-plan "$PLAN"
    if [ -z "$had_file" ] && [ -f "$(stack_file)" ]; then uncommitted; fi
    before >"$PLAN.before"
    echo "$SERVERLESS_GPU_NOW" >"$PLAN.instant"
    pending=$(unfinished)
    if [ -n "$pending" ]; then interrupted "$pending"; fi
  else
    run preview --diff
  fi
  if [ -n "${CHECK+set}" ]; then check; fi
}

# Checks the whole change: cost against the caps in CHECK, what cannot start, and what would be lost.
check() {
  run preview --json --show-sames >preview.json
  local code=0
  # Without quotes: CHECK holds several options.
  npx pulumi-serverless-gpu check preview.json --markdown $CHECK >check.md || code=$?
  echo "The verdict is in check.md."
  return "$code"
}

# The file with the salt or the key that encrypts the stack's secrets. Pulumi makes a new one where it is missing, except with the
# secrets of Pulumi Cloud.
stack_file() { echo "Pulumi.${STACK:-dev}.yaml"; }

uncommitted() {
  rm -f "$PLAN"
  echo "pipeline.sh: $(stack_file) is not in the repository, so no plan was kept. It holds what encrypts the stack's secrets." >&2
  echo "Without it each checkout makes its own, and cannot read the secrets in another one's plan. Make it once, on your" >&2
  echo "machine, with the backend and the passphrase of this job: STACK=${STACK:-dev} ./pipeline.sh preview" >&2
  echo "Then commit it: git add $(stack_file). The secrets in it are encrypted, and the passphrase is not in it." >&2
  exit 1
}

# Prints the pending operations of a killed run.
unfinished() { pulumi stack export --stack "${STACK:-dev}" | node pending.js; }

# Says what a plan cannot know. Pulumi keeps pending operations to itself, and its preview does not mention them.
interrupted() {
  echo "pipeline.sh: the state contains pending operations of a run that was killed or is still active:" >&2
  echo "$1" >&2
  echo "Once no run is active, run the step repair: it reads the service, and applies the program (pulumi up --refresh)." >&2
}

# Prints what the stack holds of the resources that the plan changes.
before() { pulumi stack export --stack "${STACK:-dev}" | node plan.js before "$PLAN"; }

# Applies the plan. Pulumi compares it with the program, but not with the state from which the changes start.
apply() {
  select_stack
  local pending
  pending=$(unfinished)
  # A refresh does not end a create. The plan may create that resource: the provider refuses a second one, and names the first.
  if grep -Eq '^(updating|deleting|reading|importing) ' <<<"$pending"; then
    interrupted "$pending"
    echo "Nothing was applied. If the plan does not fit afterwards, open a new request: its preview makes a new plan." >&2
    exit 1
  fi
  before >"$PLAN.now"
  if ! cmp -s "$PLAN.before" "$PLAN.now"; then
    echo "pipeline.sh: the stack has changed since the preview, and nothing was applied" >&2
    stale
  fi
  local output code=0
  output=$(mktemp)
  run up --yes --plan "$PLAN" 2>&1 | tee "$output" || code=$?
  if grep -Eq 'violates plan|not allowed by the plan|expected resource operations' "$output"; then
    rm "$output"
    echo "pipeline.sh: the program or its config would now do something else than the preview showed, or another rule of a" >&2
    echo "schedule holds than at $(cat "$PLAN.instant" 2>/dev/null || echo "the time of the preview")" >&2
    stale
  fi
  if grep -q 'decrypting secret value' "$output"; then
    rm "$output"
    echo "pipeline.sh: the secrets in the plan cannot be read, and nothing was applied. The preview had another passphrase or" >&2
    echo "another $(stack_file). Commit that file, and use one passphrase in all jobs." >&2
    stale
  fi
  rm "$output"
  return "$code"
}

stale() {
  echo "The plan no longer fits. Open a new pull or merge request, an empty commit is enough. Its preview makes a new plan," >&2
  echo "and its merge applies it." >&2
  exit 1
}

# Creates or updates an environment, unless it would exceed a cap.
up() {
  if [ -n "${CHECK+set}" ]; then check; fi
  select_stack
  local pending
  pending=$(unfinished)
  if [ -z "$pending" ]; then
    run up --yes
  else
    echo "The state contains pending operations of a killed run, so the service is read first (pulumi up --refresh):"
    echo "$pending"
    run up --refresh --yes
  fi
}

# Repairs drift while nobody watches. Any up tries a failed release again, and each try replaces production's workers.
auto_repair() {
  select_stack
  local pending failed
  pending=$(unfinished)
  if [ -n "$pending" ]; then
    # A killed up may have no entry in the history.
    interrupted "$pending"
    exit 1
  fi
  failed=$(pulumi stack history --stack "${STACK:-dev}" --json --page-size 50 | node failed.js "$(git rev-parse HEAD 2>/dev/null)")
  if [ -n "$failed" ]; then
    echo "pipeline.sh: the last up of this commit, at $failed, failed, and nothing was repaired. Another try could fail in the" >&2
    echo "same way. Find out why it failed, then run the step repair, or merge a fix." >&2
    exit 1
  fi
  run up --refresh --yes
}

# Prints the commit of the last up that succeeded. If the history has none, it is this one.
deployed() {
  local commit
  commit=$(pulumi stack history --stack "${STACK:-dev}" --json --page-size 200 | node tick.js deployed)
  echo "${commit:-$(git rev-parse HEAD 2>/dev/null)}"
}

# Applies what schedules and getSpend decide at this instant. Whatever else differs is left to a reviewed up.
tick() {
  select_stack
  if [ "${1:-}" = --dry-run ]; then
    shift
    run preview --json --show-sames | npx pulumi-serverless-gpu schedule - "$@"
    return
  fi
  local folder pending head commit code=0 refresh=()
  head=$(git rev-parse HEAD 2>/dev/null || true)
  commit=$(deployed)
  if [ -n "$head" ] && [ "$commit" != "$head" ]; then
    echo "pipeline.sh: this is commit $head, and the last up that succeeded was of $commit. Nothing was changed." >&2
    echo "Check that commit out first: git checkout \"\$(./pipeline.sh deployed)\"" >&2
    exit 1
  fi
  # A tick that was killed may have changed counts that the state does not contain.
  pending=$(unfinished)
  if grep -Evq '^updating .*:ServerlessEndpoint::' <<<"${pending:-updating :ServerlessEndpoint::}"; then
    interrupted "$pending"
    exit 1
  fi
  if [ -n "$pending" ]; then refresh=(--refresh); fi
  folder=$(mktemp -d)
  run preview ${refresh[@]+"${refresh[@]}"} --json --save-plan "$folder/plan.json" >"$folder/preview.json" || code=$?
  if [ "$code" != 0 ]; then
    node tick.js messages <"$folder/preview.json" || true
    rm -r "$folder"
    echo "pipeline.sh: the preview failed, so nothing was changed" >&2
    return "$code"
  fi
  node tick.js changes ${pending:+interrupted} <"$folder/preview.json" || code=$?
  case $code in
    0) if [ -n "$pending" ]; then run up --yes --refresh --plan "$folder/plan.json" || code=$?; fi ;;
    10) code=0 && run up --yes ${refresh[@]+"${refresh[@]}"} --plan "$folder/plan.json" || code=$? ;;
    *)
      echo "pipeline.sh: more than scheduled worker counts differs. That was left as it is. Run the step up or repair." >&2
      # Without the refresh that an interrupted tick needs, the counts to change are not known.
      if [ -z "$pending" ]; then counts_alone "$folder" || true; fi
      ;;
  esac
  rm -r "$folder"
  return "$code"
}

# Applies the counts of those endpoints of which nothing else differs. Their workers cost money, whatever differs elsewhere.
counts_alone() {
  local folder=$1 urn targets=() code=0
  while read -r urn; do targets+=(--target "$urn"); done < <(node tick.js targets <"$folder/preview.json")
  if [ "${#targets[@]}" = 0 ]; then return; fi
  # Their own preview, because the plan must not contain the other changes.
  run preview "${targets[@]}" --json --save-plan "$folder/plan.json" >"$folder/preview.json" || return
  node tick.js changes <"$folder/preview.json" >/dev/null || code=$?
  # Without the commit's message, so that auto-repair can tell it from an up of the whole program.
  if [ "$code" = 10 ]; then run up --yes "${targets[@]}" --plan "$folder/plan.json" --message "pipeline.sh tick"; fi
}

# Removes each old environment, whatever happens to the others.
sweep() {
  local list stack failed=0 code ended=()
  list=$(old_environments)
  for stack in $list; do
    code=0
    end "$stack" || code=$?
    case $code in
      0) ended+=(--ended "organization/$(sed -n 's/^name: *//p' Pulumi.yaml)/$stack") ;;
      "$UPDATED") echo "The environment $stack was updated or removed meanwhile." ;;
      *) failed=1 ;;
    esac
  done
  code=0
  npx pulumi-serverless-gpu orphans ${ended[@]+"${ended[@]}"} || code=$?
  # 5: no environment is left, and the other states are of another account, as that of production should be.
  if [ "$code" != 0 ] && [ "$code" != 5 ]; then exit "$code"; fi
  exit "$failed"
}

old_environments() { pulumi stack ls --json | node ended.js "${TTL_HOURS:-168}"; }

# Exit code of `end` for an environment that is no longer old.
readonly UPDATED=9

# Removes an environment, if it is still old. A killed job leaves a lock, which is as old as the environment's last update. A
# younger one is of a job that has just begun, and stays.
end() {
  local output since code=0
  output=$(mktemp)
  # Not --remove-pending: what a killed run created, but did not record, is an orphan, which sweep lists.
  remove_old "$1" 2>&1 | tee "$output" || code=$?
  since=$(sed -n 's/.*: created by .* at \([^ ]*\)$/\1/p' "$output" | sort | tail -1)
  rm "$output"
  if [ -n "$since" ] && is_old "$since"; then
    pulumi cancel --yes --stack "$1" --non-interactive </dev/null
    code=0
    remove_old "$1" || code=$?
  fi
  return "$code"
}

# Nothing comes between reading the time of the last update and the destroy, which takes the stack's lock a second or two later.
# No command can hold that lock for both, so an update that begins and ends in these seconds is not seen.
remove_old() {
  local list
  list=$(old_environments) || return 1
  if ! grep -qx "$1" <<<"$list"; then return "$UPDATED"; fi
  echo "The environment $1 has ended."
  pulumi destroy --remove --yes --stack "$1" --non-interactive --color never </dev/null
}

is_old() { node -e 'process.exit(Date.now() - Date.parse(process.argv[1]) >= process.argv[2] * 3_600_000 ? 0 : 1)' "$1" "${TTL_HOURS:-168}"; }

# Applies the change to a copy, with the emulator and a temporary backend, so that it cannot reach the real account or state.
rehearse() {
  local code=0
  # Without quotes: REHEARSAL holds several options.
  npx pulumi-serverless-gpu check --rehearse --stack "${STACK:-dev}" ${REHEARSAL:---creation} --markdown >rehearsal.md || code=$?
  cat rehearsal.md
  return "$code"
}

# One instant for the preview and the update of a run, because another rule of a schedule may begin to hold in between.
export SERVERLESS_GPU_NOW=${SERVERLESS_GPU_NOW:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}

case $step in
  preview) preview ;;
  up) if [ -n "${PLAN:-}" ]; then apply; else up; fi ;;
  drift) run refresh --preview-only --expect-no-changes --diff ;;
  repair) run up --refresh --yes ;;
  auto-repair) auto_repair ;;
  tick) tick "$@" ;;
  deployed) select_stack && deployed ;;
  destroy) run destroy --yes ;;
  remove) run destroy --remove --yes ;;
  sweep) sweep ;;
  rehearse) rehearse ;;
  *)
    echo "pipeline.sh: there is no step \"$step\": use preview, up, drift, repair, auto-repair, tick, deployed, destroy, remove, sweep or rehearse" >&2
    exit 2
    ;;
esac
