#!/bin/sh
# A browser for the site check, if there is none: Debian's for root on Debian, elsewhere Playwright's,
# in the user's own cache. Run by `make browser`, and by `make test` only where CI=true.
for name in "$CHROMIUM" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then exit 0; fi
done
set -e
if [ "$(id -u)" = 0 ] && grep -qs '^ID=debian' /etc/os-release; then
    echo "No Chromium found: installing Debian's"
    apt-get update -q
    apt-get install -y -q --no-install-recommends chromium-headless-shell
else
    echo "No Chromium found: installing Playwright's"
    .venv/bin/playwright install chromium
fi
