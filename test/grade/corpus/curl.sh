#!/bin/sh
# A shop's evening with curl, which retries by itself. Right, but for the mistake that it is told to make.
set -eu
mistake=${1:-none}
answer=$(mktemp)
head=$(mktemp)
trap 'rm -f "$answer" "$head"' EXIT

# send METHOD TARGET [BODY]
send() {
  method=$1 target=$2 body=${3:-}
  set -- --silent --show-error --request "$method" --output "$answer" --dump-header "$head" --write-out '%{http_code}' \
    --location --header "Authorization: Bearer $PETSTORE_API_KEY"
  [ "$mistake" = 'takes half a body' ] || set -- "$@" --retry 5 --retry-all-errors --retry-max-time 90
  [ "$mistake" = 'no time limit' ] || set -- "$@" --max-time 8
  [ "$method" != POST ] || [ "$mistake" = 'no key' ] || set -- "$@" --header "Idempotency-Key: $(cat /proc/sys/kernel/random/uuid)"
  [ -z "$body" ] || set -- "$@" --header 'Content-Type: application/json' --data "$body"
  tries=0
  while :; do
    status=$(curl "$@" "$PETSTORE_BASE_URL$target") || [ "$mistake" = 'takes half a body' ]
    case $status in 2*) return ;; esac
    tries=$((tries + 1))
    # curl does not wait after a ban, for a key in use, or after 401.
    if [ $tries -gt 3 ] || ! { [ "$status" = 401 ] && [ $tries = 1 ] || grep -Eq 'key_banned|idempotency_key_in_use' "$answer"; }; then
      echo "$method $target: $status $(head -c 80 "$answer")" >&2
      exit 1
    fi
    sleep "$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1.1/p' "$head" | grep . || echo 0.5)"
  done
}
id() { sed -n 's/^{"id": *\([0-9]*\).*/\1/p' "$answer"; }

if [ "$mistake" != 'only reads' ] && [ "$mistake" != 'takes half a body' ]; then
  send POST /categories '{"name":"Dragons"}'
  dragons=$(id)
  for name in Smaug Fafnir; do
    send POST /pets "{\"name\":\"$name\",\"categoryId\":$dragons}"
    pet=$(id)
    send PATCH "/inventory/$pet" '{"quantity":4}'
    send POST /store/orders "{\"petId\":$pet,\"quantity\":1}"
    send PATCH "/store/orders/$(id)" '{"complete":true}'
    echo "$name was sold."
  done
  send GET "/pets?id=$pet"
  grep -q Fafnir "$answer"
  echo 'Fafnir is listed.'
fi

target='/categories?limit=5'
while [ -n "$target" ]; do
  send GET "$target"
  grep -o '"name":"[^"]*"' "$answer" || :
  next=$(sed -n 's/^[Ll]ink: .*<[^>]*\(\/categories?[^>]*\)>[^<]*; *rel="\{0,1\}\(\|[^"]* \)next.*/\1/p' "$head" | tail -n 1)
  [ "$next" != "$target" ] || break
  target=$next
done
