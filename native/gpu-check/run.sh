#!/usr/bin/env bash
# Checks device times, and what taking them costs, on a machine with a CUDA device. Takes up to eight minutes. Says first
# what it runs on, prints a table and writes gpu-check.json into the current folder; --help names the options. Exit code 0 if
# nothing is broken and no bound missed, 1 if something is broken or there is no device, 2 after bad input, 3 if a bound is
# missed and nothing broken.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
    echo "gpu-check: $*" >&2
    exit 2
}

# The program: beside this file where it was packed, else what was built in the checkout.
if [[ -d $here/lib ]]; then
    jar=$here/lib/brick-profiler-cli.jar
else
    root=$here/../..
    jar=$(ls -t "$root"/target/brick-profiler-*-cli.jar 2>/dev/null | head -n 1)
fi
[[ -f $jar ]] || die "nothing is built here: run mvn -q package -DskipTests, or unpack what pack.sh made"
if [[ -n ${root:-} && -n $(find "$root/pom.xml" "$root/build" "$root"/src/{main,cli,fleet,readers,examples} "$root/native/gpu-check/java" -newer "$jar" -print -quit) ]]; then
    die "what is built is older than its sources: run mvn -q package -DskipTests"
fi

# What was packed names what its binaries need. What is not found may be there all the same, so the program goes on.
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

# Java 17 or later, if it is there; else the runtime that was packed.
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

# What PyTorch's profiler costs, where it is there.
torch=$(mktemp)
trap 'rm -f "$torch"' EXIT
if ! command -v python3 >/dev/null; then
    echo "reason=python3 is not there" >"$torch"
elif ! within 50 python3 "$here/torch_cost.py" >"$torch" 2>/dev/null; then
    echo "reason=torch_cost.py failed, or took more than 50 s" >"$torch"
fi

# The heap is in memory from the start, so that the process grows by what is not in it.
within 400 "$java" -Xms768m -Xmx768m -XX:+AlwaysPreTouch --enable-native-access=ALL-UNNAMED \
    -cp "$jar" org.brickprofiler.gpucheck.GpuCheck --torch "$torch" "$@"
code=$?
[[ $code -ne 124 && $code -ne 137 ]] || echo "gpu-check: stopped after 400 s; there is no result" >&2
exit $code
