#!/usr/bin/env bash
# Packs the checks for a machine without Java and without a network: one tar.gz with a Java runtime, the program, which
# contains JCuda's native library, and run.sh.
#
#   native/gpu-check/pack.sh [FILE]        default: target/gpu-check.tar.gz
#
# The runtime is made from the JDK in JAVA_HOME, or otherwise from the one on the path. If the program is missing or
# older than its sources, it is built first. The requirements on the other machine are read from the binaries, printed,
# and packed as NEEDS.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
file=${1:-$root/target/gpu-check.tar.gz}
jlink=${JAVA_HOME:+$JAVA_HOME/bin/}jlink
command -v "$jlink" >/dev/null || {
    echo "pack: no jlink: set JAVA_HOME to a JDK" >&2
    exit 2
}

# Builds the program if it is missing or older than its sources.
"$root/brick" --version >/dev/null

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/gpu-check/lib"
cp "$here/run.sh" "$here/torch_cost.py" "$here/README.md" "$stage/gpu-check/"
cp "$root/tools/target/brick.jar" "$stage/gpu-check/lib/brick.jar"
"$jlink" --add-modules java.base,java.logging,java.management,jdk.jfr,jdk.unsupported \
    --strip-debug --no-header-files --no-man-pages --output "$stage/gpu-check/runtime"

# A binary contains the symbol versions that it needs as texts. The highest version of each kind is the requirement.
highest() {
    grep -ahoE "$1_[0-9.]+" "${@:2}" | sort -uV | tail -n 1
}
binding=$stage/binding.so
(cd "$stage" && "${jlink%jlink}jar" xf gpu-check/lib/brick.jar META-INF/natives)
mv "$stage"/META-INF/natives/libJCudaDriver-*-linux-x86_64.so "$binding"
mapfile -t binaries < <(find "$stage/gpu-check/runtime" -name '*.so' -o -path '*/bin/java')
{
    echo "machine $(uname -m)"
    echo "version libc.so.6 $(highest GLIBC "$binding" "${binaries[@]}")"
    echo "version libstdc++.so.6 $(highest GLIBCXX "$binding")"
    echo "version libstdc++.so.6 $(highest CXXABI "$binding")"
    echo "library libcuda.so.1, the NVIDIA driver's, for CUDA 11.0 or later"
} >"$stage/gpu-check/NEEDS"

tar -C "$stage" -czf "$file" gpu-check
echo "$file: $(du -h "$file" | cut -f 1). It needs:"
sed 's/^/  /' "$stage/gpu-check/NEEDS"
