#!/bin/sh
# Chromium and fonts for Chinese, for tests/browser. Does nothing where they are; without them those tests are skipped.
set -eu
if command -v chromium >/dev/null && fc-list ":lang=zh" 2>/dev/null | grep -q .; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Chromium, and no way to install it here: the browser tests will be skipped. Install the packages" >&2
    echo "chromium and a font for Chinese to run them." >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fontconfig >/dev/null
