#!/usr/bin/env bash
# Packs the check for a machine that has no Java and no network: one tar.gz with a runtime, the program, JCuda's native
# library and run.sh.
#
#   native/gpu-check/pack.sh [FILE]        target/gpu-check.tar.gz unless a file is named
#
# The runtime is made of the JDK that JAVA_HOME names, else of the one on the path; it runs where that JDK runs. That of
# JDK 25 needs Linux on x86-64 with glibc 2.17 or later. What is not built is built first.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
file=${1:-$root/target/gpu-check.tar.gz}
jlink=${JAVA_HOME:+$JAVA_HOME/bin/}jlink
command -v "$jlink" >/dev/null || {
    echo "pack: no jlink: set JAVA_HOME to a JDK" >&2
    exit 2
}

built() {
    ls -t "$root"/target/brick-profiler-*-cli.jar 2>/dev/null | head -n 1
}
[[ -n $(built) && -d $root/target/natives ]] || (cd "$root" && mvn -q package -DskipTests)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/gpu-check/lib"
cp "$here/run.sh" "$here/torch_cost.py" "$here/README.md" "$stage/gpu-check/"
cp "$(built)" "$stage/gpu-check/lib/brick-profiler-cli.jar"
cp -r "$root/target/natives" "$stage/gpu-check/natives"
"$jlink" --add-modules java.base,java.logging,java.management,jdk.jfr,jdk.unsupported \
    --strip-debug --no-header-files --no-man-pages --output "$stage/gpu-check/runtime"
tar -C "$stage" -czf "$file" gpu-check
echo "$file: $(du -h "$file" | cut -f 1)"
