#!/usr/bin/env bash
# Checks device times, and the cost of measuring them, on a machine with a CUDA device. Takes up to ten minutes.
# Prints a description of the machine and a table, and writes gpu-check.json to the current folder. --help lists the
# options.
#
# Exit code: 0 if nothing is broken, no bound is missed and at least one claim held; 1 if something is broken, no claim
# held or there is no device; 2 after bad input, or if nothing is built; 3 if a bound is missed and nothing is broken.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
    echo "gpu-check: $*" >&2
    exit 2
}

# The program: in a pack, it is beside this file; in a checkout, it was built into tools/target.
if [[ -d $here/lib ]]; then
    jar=$here/lib/brick.jar
else
    root=$here/../..
    jar=$root/tools/target/brick.jar
fi
[[ -f $jar ]] || die "nothing is built here: run ./brick --version, or unpack what pack.sh made"
if [[ -n ${root:-} && -n $(find "$root"/pom.xml "$root"/*/pom.xml "$root"/build/parent.xml "$root"/agent/assembly.xml "$root"/src/main "$root"/*/src/main \
    -newer "$jar" -print -quit) ]]; then
    die "what is built is older than its sources: run ./brick --version"
fi

# NEEDS lists the requirements of the packed binaries. The search may miss a library that exists, so it only warns.
has_version() {
    local library=$1 version=$2 found
    for found in $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | sed -n "s|.*$library .*=> ||p") \
        $(tr : '\n' <<<"${LD_LIBRARY_PATH:-}" | sed "s|\$|/$library|") {,/usr}/lib{,64,/*-linux-gnu}/"$library"; do
        [[ -r $found ]] && grep -aqF "$version" "$found" && return 0
    done
    return 1
}
if [[ -f $here/NEEDS ]]; then
    while read -r kind name version; do
        if [[ $kind == machine && $name != "$(uname -m)" ]]; then
            die "this was packed for $name, and this machine is $(uname -m)"
        elif [[ $kind == version ]] && ! has_version "$name" "$version"; then
            echo "gpu-check: $name with $version was not found here; it is needed" >&2
        fi
    done <"$here/NEEDS"
fi

# Uses an installed Java 17 or later, or otherwise the packed runtime.
major() {
    "$1" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1
}
java=
for candidate in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)" "$here/runtime/bin/java"; do
    if [[ -n $candidate && -x $candidate && $(major "$candidate") -ge 17 ]]; then
        java=$candidate
        break
    fi
done
[[ -n $java ]] || die "there is no Java 17 or later, and none was packed with this"

within() {
    local seconds=$1
    shift
    if command -v timeout >/dev/null; then
        timeout --kill-after=10 "$seconds" "$@"
    else
        "$@"
    fi
}

# Measures the cost of PyTorch's profiler, if it is installed.
torch=$(mktemp)
trap 'rm -f "$torch"' EXIT
if ! command -v python3 >/dev/null; then
    echo "reason=python3 is not there" >"$torch"
elif ! within 50 python3 "$here/torch_cost.py" >"$torch" 2>/dev/null; then
    echo "reason=torch_cost.py failed, or took more than 50 s" >"$torch"
fi

# The whole heap is resident from the start, so that only memory outside of the heap makes the process grow.
within 540 "$java" -Xms768m -Xmx768m -XX:+AlwaysPreTouch --enable-native-access=ALL-UNNAMED \
    -cp "$jar" org.brickprofiler.gpucheck.GpuCheck --torch "$torch" "$@"
code=$?
[[ $code -ne 124 && $code -ne 137 ]] || echo "gpu-check: stopped after 540 s; there is no result" >&2
exit $code
