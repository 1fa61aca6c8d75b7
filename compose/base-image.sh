#!/bin/sh
# Makes the image that Kafka's jars are put on where no image can be pulled: a small Debian with a headless Java, from
# the packages that this machine's apt is configured to use. Needs root and debootstrap; takes a minute.
#
#   usage: base-image.sh [NAME]        NAME defaults to fencepost/java
set -eu

name=${1:-fencepost/java}
fail() { echo "base-image.sh: $*" >&2; exit 10; }

[ "$(id -u)" = 0 ] || fail "making a base image needs root; or pull one: docker pull eclipse-temurin:17-jre && docker tag eclipse-temurin:17-jre $name"
command -v debootstrap >/dev/null || fail "debootstrap is not on the PATH; install it (Debian: apt install debootstrap)"

# Whatever mirror apt uses, so that no host is written here; the release is the one that this machine runs.
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' | awk -v s="$suite" '$1 == s { print $2; exit }')
[ -n "$mirror" ] || fail "apt knows no source for $suite, so there is nothing to make a base image from"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

debootstrap --variant=minbase --include=default-jre-headless "$suite" "$root" "$mirror"

# What a container never reads: package lists, packages, manuals, translations.
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* \
       "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/* "$root"/usr/share/info/*
tar -C "$root" --numeric-owner -c . | docker import --change 'LABEL fencepost.image=base' - "$name"
